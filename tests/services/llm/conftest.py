"""Each test that asks for `dialect` runs against both protocols, over a socket."""

import pytest

from tests.services.llm.dialects import DIALECTS, Dialect


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in ("ANTHROPIC", "OPENAI", "OLLAMA"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture(params=["anthropic", "openai"])
def dialect(request) -> Dialect:
    return DIALECTS[request.param]
