import pytest

from oracle.errors import InputError, ModelRefused
from oracle.services.llm.providers import NO_KEY, PROVIDERS, find_endpoint, split_name
from tests.tables import each_row

HOME = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o", "OLLAMA_API_KEY": "sk-l"}


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("anthropic:claude-sonnet-5", "anthropic", "claude-sonnet-5"),
        ("ollama:llama3.2:3b", "ollama", "llama3.2:3b"),
        ("openai:qwen/qwen3-coder@q4", "openai", "qwen/qwen3-coder@q4"),
    ],
)
def test_a_name_is_a_provider_and_a_model(name, provider, model):
    found, rest = split_name(name)
    assert (found.name, rest) == (provider, model)


@each_row(
    ("name", "said"),
    [
        ("claude-sonnet-5", "has no provider; write it as 'anthropic:claude-sonnet-5'"),
        ("gpt-5", "has no provider; write it as 'openai:gpt-5'"),
        ("", "model '' has no provider"),
        ("antropic:claude", "no provider 'antropic'; did you mean 'anthropic'?"),
        ("Anthropic:claude", "no provider 'Anthropic'; did you mean 'anthropic'?"),
        ("zzz:claude", "no provider 'zzz' (providers: anthropic, openai, ollama)"),
        ("anthropic:", "the name of the model is missing after the colon"),
        ("anthropic:claude sonnet", "'claude sonnet' is not a valid name of a model"),
        ("anthropic:a\nb", "is not a valid name of a model"),
        ("openai:" + "x" * 100_000, "is not a valid name of a model"),
        ("y" * 100_000, "has no provider"),
    ],
)
def test_a_name_that_cannot_be_used_is_explained(name, said):
    with pytest.raises(InputError) as caught:
        split_name(name)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_without_a_key_the_variable_is_named(name):
    with pytest.raises(ModelRefused, match=f"set {name.upper()}_API_KEY"):
        find_endpoint(f"{name}:some", {})


def test_ollama_wants_no_key():
    assert find_endpoint("ollama:some", {}).key == NO_KEY


@pytest.mark.parametrize("name", PROVIDERS)
def test_at_home_the_key_is_the_variable_s_unless_one_is_given(name):
    variable = HOME[PROVIDERS[name].key_variable]
    assert find_endpoint(f"{name}:some", HOME).key == variable
    assert find_endpoint(f"{name}:some", HOME, api_key="sk-mine").key == "sk-mine"
    home = PROVIDERS[name].address
    assert find_endpoint(f"{name}:some", HOME, base_url=home + "/").key == variable


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_key_follows_an_address_from_the_environment_but_no_other(name):
    moved = {**HOME, PROVIDERS[name].address_variable: "http://gateway:1/v1"}
    assert find_endpoint(f"{name}:some", moved).key != NO_KEY
    assert find_endpoint(f"{name}:some", moved, base_url="http://else:1/v1").key == NO_KEY


@each_row(
    "address",
    ["localhost:8080", "ftp://host/", "http://", "http://[::1", "http://h:99999"],
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InputError, match="is not the address of a server"):
        find_endpoint("openai:some", HOME, base_url=address)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(InputError) as caught:
        find_endpoint("openai:some", HOME, base_url="http://me:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-\n1", "sk-ü", "sk\x00"])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(key):
    with pytest.raises(InputError, match="not allowed in a key") as caught:
        find_endpoint("openai:some", {}, api_key=key)
    assert key not in str(caught.value)
