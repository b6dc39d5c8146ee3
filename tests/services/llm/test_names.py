"""Short names of models. The table on disk decides; these claims hold for any newer table too."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError
from oracle.services.llm.catalogue import (
    DEFAULTS,
    known_models,
    newest_models,
    parts_of,
)
from oracle.services.llm.names import full_name, is_name_of_ollama
from oracle.services.llm.opening import open_model
from oracle.testing.servers import Reply, ScriptedServer
from tests.tables import each_row

NOWHERE = {"OLLAMA_BASE_URL": "http://127.0.0.1:1/v1"}


def meant(name, **options):
    return full_name(name, NOWHERE, **options)


def newest(*words):
    return next(known.name for known in known_models() if known.parts.family == set(words))


@each_row("family", ["sonnet", "opus", "haiku"])
@each_row("form", ["{}", "claude-{}", "claude-{}-latest", "anthropic:{}"])
def test_a_family_means_its_newest_model(family, form):
    found = meant(form.format(family))
    assert found == newest(family)
    others = [known for known in known_models() if known.parts.family == {family}]
    assert found == max(others, key=lambda known: known.parts.version).name


@each_row(
    ("name", "full"),
    [
        ("gpt-5", "openai:gpt-5"),
        ("GPT-5", "openai:gpt-5"),
        ("gpt5", "openai:gpt-5"),
        ("gpt-5-mini", "openai:gpt-5-mini"),
        (" gpt-5 ", "openai:gpt-5"),
        ("4o-mini", "openai:gpt-4o-mini"),
        ("o3", "openai:o3"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("claude-sonnet-4.5", "anthropic:claude-sonnet-4-5"),
        ("Sonnet 4.5", "anthropic:claude-sonnet-4-5"),
        ("opus-4", "anthropic:claude-opus-4-0"),
        ("claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5-20250929"),
        ("gpt-4o-2024-05-13", "openai:gpt-4o-2024-05-13"),
        ("anthropic/claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("openai:anything", "openai:anything"),
        ("ollama:llama3.2:3b", "ollama:llama3.2:3b"),
        ("Embedded", "embedded"),
    ],
)
def test_a_name_means_one_model(name, full):
    assert meant(name) == full


@each_row(
    ("name", "said"),
    [
        ("claude", "could be"),
        ("gpt", "could be"),
        ("openai", "could be"),
        ("mini", "could be"),
        ("sonet", "did you mean 'sonnet'?"),
        ("embeded", "did you mean 'embedded'?"),
        ("antropic:x", "did you mean 'anthropic:x'?"),
        ("gpt:5", "did you mean 'openai:gpt-5'?"),
        ("sonnet:latest", "did you mean 'anthropic:claude-sonnet-"),
        ("sonnet-99", "did you mean 'sonnet'?"),
        ("gpt-image-1", "to try it all the same, write openai:gpt-image-1"),
        ("llama3.2:3b", "ollama does not answer at http://127.0.0.1:1"),
        ("", "is not the name of a model; `oracle models --all`"),
        ("x" * 10_000, "is not the name of a model"),
        ("\x1b[31mgpt-5", "is not the name of a model"),
        (":x", "is not the name of a model"),
        ("google:gemini-2.5-pro", "there is no provider 'google' (providers: anthropic, openai,"),
        ("foo:bar", "`oracle models use openai:bar --base-url URL`"),
        ("openai:", "the name of the model is missing after the colon"),
    ],
)
def test_a_name_that_is_not_clear_is_never_guessed(name, said):
    with pytest.raises(InputError) as caught:
        meant(name)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "\x1b" not in str(caught.value)


@each_row("known", known_models(), ids=lambda known: known.name)
def test_each_known_model_is_meant_by_its_own_name(known):
    assert meant(known.model) == meant(known.name) == known.name


@each_row("known", newest_models(), ids=lambda known: known.name)
def test_the_short_name_that_is_shown_means_the_model(known):
    assert meant(known.short_name) == known.name


@pytest.mark.parametrize("provider", DEFAULTS)
def test_the_model_to_offer_exists(provider):
    assert meant(DEFAULTS[provider]).startswith(f"{provider}:")


@given(st.text(max_size=60))
def test_any_text_is_a_model_or_an_error_of_one_line(text):
    try:
        found = meant(text, abbreviated=True)
    except InputError as problem:
        found = f"error: {problem}"
    assert found == "embedded" or ":" in found
    assert "\n" not in found


def test_the_start_of_a_name_counts_only_where_it_is_asked_for():
    assert meant("son", abbreviated=True) == newest("sonnet")
    assert meant("claude-op", abbreviated=True) == newest("opus")
    with pytest.raises(InputError):
        meant("son")


def test_a_server_of_ones_own_keeps_its_names():
    assert meant("openai:sol", base_url="http://127.0.0.1:8080/v1") == "openai:sol"
    with pytest.raises(InputError, match="write openai:qwen3"):
        meant("qwen3", base_url="http://127.0.0.1:8080/v1")


def test_an_opened_model_has_its_full_name():
    environment = {"ANTHROPIC_API_KEY": "sk-a"}
    assert open_model("claude-opus-4.1", environment=environment).name == (
        "anthropic:claude-opus-4-1"
    )


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("llama3.2:3b", "ollama:llama3.2:3b"),
        ("qwen3", "ollama:qwen3:latest"),
        ("gemma3", "ollama:gemma3:4b"),
    ],
)
async def test_a_model_of_ollama_is_meant_by_its_tag(name, full):
    assert await meant_beside(name, "llama3.2:3b", "qwen3:latest", "gemma3:4b") == full


async def meant_beside(name, *local, **options):
    """With these models at ollama."""
    import asyncio

    tags = {"models": [{"name": each} for each in local]}
    async with ScriptedServer(Reply(body=[json.dumps(tags).encode()])) as server:
        environment = {"OLLAMA_BASE_URL": f"{server.url}/v1"}
        return await asyncio.to_thread(full_name, name, environment, **options)


async def test_the_start_of_a_name_at_ollama_is_enough_if_it_is_the_only_one():
    names = ("qwen2.5-coder:7b", "llama3.2:3b", "llama3.2:1b")
    assert await meant_beside("qwen", *names, abbreviated=True) == "ollama:qwen2.5-coder:7b"
    for abbreviated in (True, False):
        with pytest.raises(InputError, match=r"could be ollama:llama3\.2:1b or ollama:llama3.2:3b"):
            await meant_beside("lla", *names, abbreviated=abbreviated)


@pytest.mark.parametrize("name", ["gpt", "claude"])
def test_the_choices_are_the_same_with_and_without_abbreviation(name):
    said = []
    for abbreviated in (True, False):
        with pytest.raises(InputError) as caught:
            meant(name, abbreviated=abbreviated)
        said.append(str(caught.value))
    assert said[0] == said[1]


@each_row(
    ("name", "is_meant"),
    [
        ("sonnet", False),
        ("claude-sonnet-5", False),
        ("openai/gpt-oss:20b", False),
        ("embedded", False),
        ("sonnet:latest", True),
        ("qwen3", True),
    ],
)
def test_a_model_of_ollama_may_have_a_name_that_means_another(name, is_meant):
    assert is_name_of_ollama(name) is is_meant


@each_row(
    ("name", "words", "version"),
    [
        ("claude-sonnet-4-5", {"claude", "sonnet"}, (4, 5)),
        ("claude-opus-4-0", {"claude", "opus"}, (4,)),
        ("gpt-4o-mini", {"gpt", "4o", "mini"}, ()),
        ("o4-mini", {"o4", "mini"}, ()),
        ("gpt5.4mini", {"gpt", "mini"}, (5, 4)),
    ],
)
def test_a_name_has_words_and_a_version(name, words, version):
    parts = parts_of(name)
    assert (parts.words, parts.version) == (words, version)
