"""Routes a request to its handler. No framework: there are nine routes."""

import json
import logging
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harbour.api import auth
from harbour.api.ratelimit import RateLimit
from harbour.errors import HarbourError

log = logging.getLogger("harbour.api")

MAX_BODY_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    caller: auth.Caller | None = None
    params: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Response:
    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Response]


def problem(code: str, message: str, status: int) -> Response:
    return Response(status=status, body={"error": {"code": code, "message": message}})


class App:
    def __init__(self, keys: Any, pepper: str, limit: RateLimit | None = None):
        self._keys = keys
        self._pepper = pepper
        self._limit = limit or RateLimit()
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []

    def route(self, method: str, pattern: str, handler: Handler) -> None:
        compiled = re.compile("^" + re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern) + "$")
        self._routes.append((method, compiled, handler))

    def __call__(self, request: Request) -> Response:
        if len(request.body) > MAX_BODY_BYTES:
            return problem("too_large", "the body may have 64 KiB", 413)
        try:
            caller = auth.identify(request.headers.get("authorization"), self._keys, self._pepper)
            wait = self._limit.wait_for(caller)
            if wait:
                refused = problem("slow_down", "too many calls with this key", 429)
                return Response(
                    status=429,
                    body=refused.body,
                    headers={"Retry-After": str(math.ceil(wait))},
                )
            return self._dispatch(request, caller)
        except HarbourError as error:
            return problem(error.code, str(error), error.status)
        except (ValueError, KeyError, json.JSONDecodeError) as error:
            return problem("bad_request", str(error), 400)
        except Exception:
            log.exception("unexpected")
            return problem("HB-000", "something broke, the office has been told", 500)

    def _dispatch(self, request: Request, caller: auth.Caller) -> Response:
        known = False
        for method, pattern, handler in self._routes:
            match = pattern.match(request.path)
            if match is None:
                continue
            known = True
            if method == request.method:
                return handler(
                    Request(
                        method=method,
                        path=request.path,
                        headers=request.headers,
                        body=request.body,
                        caller=caller,
                        params=match.groupdict(),
                    )
                )
        return problem("no_route", request.path, 405 if known else 404)
