"""The models that ollama has on this machine.

Asked are loopback, or the address that the user has put into OLLAMA_BASE_URL. The answer is not
trusted: it must arrive soon, be of a limited size, and have names that could be names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlsplit

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.services.llm.providers import PROVIDERS, checked_address, is_model_name

Found = TypeVar("Found")

SECONDS: Final = 1.0
"""A running ollama lists its models in a few milliseconds."""

SECONDS_FOR_WINDOWS: Final = 0.5
_LARGEST_ANSWER: Final = 8_000_000
_CLOUD: Final = re.compile(r"[:-]cloud$")


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalModel:
    """`context_window` is the largest that the model can have; None if that is not known."""

    name: str
    context_window: int | None = None

    @property
    def is_remote(self) -> bool:
        return runs_elsewhere(self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalModels:
    """`problem` says why there are none, if ollama could not be asked, and `step` what to do."""

    address: str
    models: Sequence[LocalModel] = ()
    problem: str = ""
    step: str = ""

    def has(self, name: str) -> bool:
        """A name without a tag means the tag `latest`."""
        return any(model.name in (name, f"{name}:latest") for model in self.models)


def address_of_ollama(environment: Mapping[str, str]) -> str:
    provider = PROVIDERS["ollama"]
    return environment.get(provider.address_variable) or provider.address


def runs_elsewhere(model: str) -> bool:
    """Whether ollama passes requests on to its paid service, with the account of this machine."""
    return _CLOUD.search(model) is not None


def local_models(environment: Mapping[str, str], *, windows: int = 0) -> LocalModels:
    """What ollama has, and the windows of that many models. It never takes longer than 1.5 s."""
    from oracle.services.settings.keys import key_for

    variable = PROVIDERS["ollama"].address_variable
    try:
        given = checked_address(address_of_ollama(environment))
    except InputError as problem:
        return LocalModels(address="", problem=f"{variable}: {problem}", step=f"change {variable}")
    # The model API that we chat by is below /v1, and ollama's own API is not.
    address = given.removesuffix("/v1")
    key = key_for("ollama", environment)
    ask = _Asker(address=address, key=key.value if key else "")
    names = _within(SECONDS, lambda: _names(ask("GET", "/api/tags")))
    if isinstance(names, Exception):
        is_set = bool(environment.get(variable))
        return _without_models(address, names, f"check {variable}" if is_set else "")
    models = [LocalModel(name=name) for name in names]
    if windows:
        _within(SECONDS_FOR_WINDOWS, lambda: _add_windows(models, ask, windows))
    return LocalModels(address=address, models=tuple(models))


def _without_models(address: str, problem: Exception, step: str) -> LocalModels:
    if isinstance(problem, _Unexpected):
        return LocalModels(
            address=address,
            problem=f"what answers at {address} is not ollama ({problem})",
            step=step or f"check what runs at {address}",
        )
    if isinstance(problem, TimeoutError):
        return LocalModels(
            address=address,
            problem=f"ollama does not answer at {address} within {SECONDS:g} s",
            step="try again, or start it again with `ollama serve`",
        )
    # Imported here, because it takes long and only those without a server need it.
    from shutil import which

    is_here = which("ollama") is not None
    return LocalModels(
        address=address,
        problem=f"ollama does not answer at {address}",
        step="start it with `ollama serve`" if is_here else "if you use ollama, start it",
    )


class _Unexpected(Exception):  # noqa: N818 - it says what an answer is
    """An answer that ollama would not give."""


def _add_windows(models: list[LocalModel], ask: _Asker, most: int) -> bool:
    """In place, so that those found in time are kept."""
    for at, model in enumerate(models[:most]):
        window = _window(ask("POST", "/api/show", {"model": model.name}))
        models[at] = replace(model, context_window=window)
    return True


def _names(answer: Any) -> list[str]:
    listed: Any = answer.get("models") if isinstance(answer, dict) else None  # pyright: ignore
    if not isinstance(listed, list):
        raise _Unexpected("it lists no models")
    names = (
        cast("dict[str, Any]", item).get("name")
        for item in cast("list[Any]", listed)
        if isinstance(item, dict)
    )
    return list(dict.fromkeys(n for n in names if isinstance(n, str) and is_model_name(n)))


def _window(answer: Any) -> int | None:
    facts: Any = answer.get("model_info") if isinstance(answer, dict) else None  # pyright: ignore
    if not isinstance(facts, dict):
        return None
    sizes = [
        value
        for name, value in cast("dict[str, Any]", facts).items()
        if name.endswith(".context_length") and type(value) is int and 0 < value < 1 << 40
    ]
    return sizes[0] if sizes else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asker:
    address: str
    key: str = field(repr=False)

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        # The standard library, because it starts fast and uses no proxy for loopback.
        from http.client import HTTPConnection, HTTPSConnection

        parts = urlsplit(self.address)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"{parts.path}{path}", sent, headers)
            response = connection.getresponse()
            if response.status != 200:
                raise _Unexpected(f"status {response.status}")
            return json.loads(response.read(_LARGEST_ANSWER))
        except (ValueError, RecursionError):
            raise _Unexpected("its answer is not JSON") from None
        finally:
            connection.close()


def _within(seconds: float, work: Callable[[], Found]) -> Found | Exception:
    """The result, or the error; after this time a `TimeoutError`.

    In a thread, because a server that sends a byte now and then never lets a socket time out.
    """
    found: list[Found | Exception] = []

    def run() -> None:
        from http.client import HTTPException

        try:
            found.append(work())
        except (OSError, HTTPException, _Unexpected) as problem:
            found.append(problem.with_traceback(None))  # which would keep the socket

    thread = Thread(target=run, daemon=True, name="ollama")
    deadline = monotonic() + seconds
    thread.start()
    thread.join(max(0.0, deadline - monotonic()))
    return found[0] if found else TimeoutError()
