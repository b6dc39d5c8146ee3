import subprocess
import sys

import pytest

from oracle.errors import InputError
from oracle.services.llm.opening import open_model
from oracle.services.llm.protocol import Prices
from tests.tables import each_row

KEYS = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o"}


@pytest.mark.extra
def test_nothing_heavy_is_imported_before_a_model_is_opened():
    code = (
        "import sys, oracle.services.llm.opening, oracle.testing.servers.openai; "
        "print({'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'httpx2', 'genai_prices'}"
        " & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "set()\n", done.stderr


def test_a_model_has_its_name_its_sizes_and_its_prices():
    model = open_model("anthropic:claude-opus-4-1", environment=KEYS)
    assert model.name == "anthropic:claude-opus-4-1"
    assert (model.context_window, model.longest_output) == (200_000, 16_384)
    assert model.prices == Prices(input=15, output=75)


def test_settings_say_it_better_than_the_table():
    prices = Prices(input=1, output=2)
    model = open_model(
        "openai:gpt-5", environment=KEYS, context_window=8_000, longest_output=500, prices=prices
    )
    assert (model.context_window, model.longest_output) == (8_000, 500)
    assert model.prices is prices


def test_a_smaller_window_makes_for_shorter_output():
    model = open_model("openai:gpt-5", environment=KEYS, context_window=8_000)
    assert model.longest_output == 2_000


def test_elsewhere_the_prices_of_the_provider_do_not_hold():
    assert open_model("openai:gpt-5", base_url="http://localhost:1/v1").prices is None


@each_row("setting", ["context_window", "longest_output", "stall_seconds"])
@each_row("value", [0, -1, float("nan")])
def test_a_setting_that_makes_no_sense_is_refused(setting, value):
    with pytest.raises(InputError, match=f"{setting} must be above 0"):
        open_model("ollama:some", environment={}, **{setting: value})


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTPS_PROXY", "gopher://x"), ("HTTPS_PROXY", "http://[::1"), ("SSL_CERT_FILE", "/no/such")],
)
def test_an_environment_that_cannot_be_used_is_explained(monkeypatch, variable, value):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=f"check .*{variable}"):
        open_model("ollama:some", environment={})
