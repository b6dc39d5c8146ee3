"""Translates errors of providers and connections to our own errors, with advice what to do."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import cast

import httpx2
from pydantic_ai import exceptions as direct

from oracle.errors import (
    ContextTooLong,
    ModelBrokeOff,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnreachable,
    did_you_mean,
)
from oracle.lazy_dataclass import dataclass
from oracle.services.llm.providers import NO_KEY, Endpoint
from oracle.services.llm.too_long import is_too_long
from oracle.services.settings.value_types import masked

_MOST_QUOTED = 300
_NEVER_TOO_LONG = (401, 402, 403, 404)
"""Statuses whose meaning does not depend on the words."""
_WAIT = (408, 409, 425)
"""Statuses, besides 429 and 5xx, that may succeed later: timeout, conflict, too early."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failures:
    """Quotes the provider's message, without the key and without control characters, which could
    change the state of a terminal.
    """

    endpoint: Endpoint
    stall_seconds: float

    def translated(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        if isinstance(error, direct.ModelAPIError):
            return self._from_provider(error)
        if isinstance(error, httpx2.TimeoutException):
            return self._stalled()
        if isinstance(error, httpx2.HTTPError | httpx2.StreamError):
            return self._broke_off(error)
        return self._unreadable(error)

    def broke_off(self) -> ModelError:
        return ModelBrokeOff(f"{self.endpoint.name} broke off before its answer ended; ask again")

    def _unreadable(self, error: Exception) -> ModelError:
        what = self._clean(str(error) or type(error).__name__)
        if what.startswith("Failed to decode response as JSON"):
            what = "it is not JSON"
        provider, name = self.endpoint.provider.name, self.endpoint.name
        if self.endpoint.is_home:
            return ModelError(f"the response of {name} cannot be read ({what}); ask again")
        # Asking again rarely helps: most often something else answers at that address.
        return ModelError(
            f"what {masked(self.endpoint.address)} answered for {name} cannot be read ({what}); "
            f"check that a server with the protocol of {provider} is there (model.base_url)"
        )

    def _from_provider(self, error: direct.ModelAPIError) -> ModelError:
        if self._is_too_long(error):
            return ContextTooLong(
                f"the text is too long for {self.endpoint.name}{self._quoted(error)}; send less, "
                "or choose a model with a larger context window (`oracle models` lists them)"
            )
        for kind, translate in self._kinds():
            if isinstance(error, kind):
                return translate(error)
        return self._by_status(error)

    def _kinds(
        self,
    ) -> tuple[
        tuple[type[direct.ModelAPIError], Callable[[direct.ModelAPIError], ModelError]], ...
    ]:
        return (
            (direct.ModelAuthenticationError, self._bad_key),
            (direct.ModelNotFoundError, self._unknown_model),
            (direct.ModelQuotaExceededError, self._no_credit),
            (direct.ModelRateLimitError, self._overloaded),
            (direct.ModelUnavailableError, self._overloaded),
            (direct.ModelServerError, self._overloaded),
            (direct.ModelTimeoutError, self._timed_out),
            (direct.ModelConnectionError, self._no_connection),
            (direct.ModelRequestRejectedError, self._rejected),
        )

    def _is_too_long(self, error: direct.ModelAPIError) -> bool:
        if isinstance(error, direct.ModelContextWindowExceededError):
            return True
        status = getattr(error, "status_code", None)
        if status == 413:
            return True
        said = f"{_field(_field(error.body, 'error'), 'code')}. {_message_of(error)}"
        return status not in _NEVER_TOO_LONG and is_too_long(said)

    def _bad_key(self, error: direct.ModelAPIError) -> ModelError:
        setting = self.endpoint.key_setting
        if self.endpoint.key == NO_KEY:
            return ModelRefused(f"{self._server()} needs a key and got none: set {setting}")
        return ModelRefused(
            f"{self._server()} refused the key{self._quoted(error)}: check {setting}, "
            f"and that it may use {self.endpoint.model}"
        )

    def _unknown_model(self, error: direct.ModelAPIError) -> ModelError:
        if not self.endpoint.is_home and self.endpoint.model not in _message_of(error):
            return self._nothing_there(error)
        near = getattr(error, "suggested_model_id", None)
        hint = did_you_mean(near, [near]) if near else ""
        return ModelRefused(
            f"{self._server()} has no model {self.endpoint.model!r}{hint}{self._quoted(error)}; "
            "check the name (`oracle models --all` lists known ones), and model.base_url if you "
            "set it"
        )

    def _nothing_there(self, error: direct.ModelAPIError) -> ModelError:
        """A server that lacks a model names it. One that does not lacks the whole path."""
        speaks_openai = self.endpoint.provider.name != "anthropic"
        lacks_version = speaks_openai and not self.endpoint.address.rstrip("/").endswith("/v1")
        often = " (such addresses often end in /v1)" if lacks_version else ""
        return ModelRefused(
            f"{self._server()} does not know this address{self._quoted(error)}; check "
            f"model.base_url{often}, and that the server has a model {self.endpoint.model!r}"
        )

    def _no_credit(self, error: direct.ModelAPIError) -> ModelError:
        return ModelRefused(
            f"the account at {self._server()} has no credit left{self._quoted(error)}; "
            f"top it up, or choose another model with `{self.endpoint.selecting}`"
        )

    def _overloaded(self, error: direct.ModelAPIError) -> ModelError:
        after = error.retry_after
        when = f"in {_duration(after)}" if after else "later"
        return ModelOverloaded(
            f"{self._server()} cannot answer at the moment{self._quoted(error)}; try again {when}",
            retry_after=after,
        )

    def _timed_out(self, error: direct.ModelAPIError) -> ModelError:
        if getattr(error, "phase", None) == "connect":
            # A busy machine may take that long, so it is worth another attempt.
            return ModelOverloaded(str(self._no_connection(error)))
        return self._stalled()

    def _no_connection(self, error: direct.ModelAPIError) -> ModelError:
        if getattr(error, "phase", None) == "read":
            return self._broke_off(error)
        return ModelUnreachable(
            f"cannot reach {self.endpoint.name} at {masked(self.endpoint.address)}"
            f" ({self._clean(str(error.__cause__ or error))}); "
            "check the connection, and model.base_url if you set it"
        )

    def _rejected(self, error: direct.ModelAPIError) -> ModelError:
        return ModelRefused(
            f"{self._server()} rejected the request{self._quoted(error)}; "
            "choose another model with --model"
        )

    def _by_status(self, error: direct.ModelAPIError) -> ModelError:
        status = getattr(error, "status_code", 0)
        if not status:  # the server's answer was not an error, but it was not JSON either
            return self._unreadable(error)
        if status in _WAIT:
            return self._overloaded(error)
        if 400 <= status < 500:
            return self._rejected(error)
        return ModelError(f"{self.endpoint.name} failed{self._quoted(error)}; ask again")

    def _stalled(self) -> ModelError:
        return ModelError(
            f"{self.endpoint.name} sent nothing for {self.stall_seconds:g} seconds; ask again, or "
            f"wait longer: `oracle config set model.stall_seconds {2 * self.stall_seconds:g}`"
        )

    def _broke_off(self, error: Exception) -> ModelError:
        what = self._clean(str(error) or type(error).__name__)
        return ModelBrokeOff(
            f"{self.endpoint.name} broke off before its answer ended ({what}); ask again"
        )

    def _server(self) -> str:
        provider = self.endpoint.provider.name
        return (
            provider if self.endpoint.is_home else f"{provider} at {masked(self.endpoint.address)}"
        )

    def _quoted(self, error: direct.ModelAPIError) -> str:
        status = getattr(error, "status_code", None)
        said = self._clean(_message_of(error))
        inside = ": ".join(part for part in (str(status or ""), said) if part)
        return f" ({inside})" if inside else ""

    def _clean(self, text: str) -> str:
        printable = "".join(char if char.isprintable() else " " for char in text)
        hidden = masked(printable.replace(self.endpoint.key, "…"))
        return hidden if len(hidden) <= _MOST_QUOTED else f"{hidden[:_MOST_QUOTED]}…"


def _duration(seconds: float) -> str:
    """`40 s`, `5 min`, `2 h`: rounded up, because earlier would be too early."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds > unit or seconds == unit:
            return f"{ceil(seconds / unit)} {name}"
    return f"{ceil(seconds)} s"


def _message_of(error: direct.ModelAPIError) -> str:
    """The provider's own message, taken out of the JSON around it."""
    said = _field(_field(error.body, "error"), "message")
    if said is None and not isinstance(error, direct.ModelHTTPError):
        return str(error)
    return str(said or "")


def _field(value: object, name: str) -> object:
    """The field of an object. Anything else, or an object without the field, is returned as is."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return fields.get(name, fields)
    return value
