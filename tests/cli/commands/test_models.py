"""`oracle models` and `oracle models use`: rendered here, and as a user calls them."""

import json
from pathlib import Path

import pytest

from oracle.cli.commands.models import as_json, listing_lines, names_beginning, notes_on
from oracle.cli.terminal.model_consent import dollars
from oracle.services.llm.catalogue import newest_models
from oracle.services.llm.listing import FREE, ListedModel, Listing, Selected, list_models
from oracle.services.llm.listing import _local as listed_local
from oracle.services.llm.ollama import LocalModel
from oracle.services.llm.protocol import Prices
from oracle.services.settings.own_changes import trust_project
from oracle.settings import load_settings
from tests.cli.processes import oracle

NOWHERE = {"OLLAMA_BASE_URL": "http://127.0.0.1:1/v1"}
KEY = {"OPENAI_API_KEY": "sk-test-0123456789"}


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_BASE_URL", NOWHERE["OLLAMA_BASE_URL"])
    (tmp_path / "oracle.toml").touch()
    return tmp_path


def listing(every=False, **environment):
    environment = {**NOWHERE, **environment}
    return list_models(load_settings(environment=environment), environment, every=every)


def page(found, width=80, **options):
    return "\n".join(listing_lines(found, width=width, **options))


def named(name, **given):
    given = {"short_name": "", "key": "", "prices": FREE, "context_window": None, **given}
    return ListedModel(name=name, **given)


def test_without_a_key_each_provider_has_one_line_with_the_next_step():
    text = page(listing())
    assert "* embedded" in text
    assert "anthropic: no key; `oracle keys set anthropic` stores one\n" in text
    assert "openai: no key; `oracle keys set openai` stores one\n" in text
    assert "ollama: does not answer at http://127.0.0.1:1" in text
    assert "claude-" not in text


def test_with_a_key_its_place_and_the_prices_are_shown_but_not_the_key():
    known = [model for model in newest_models() if model.provider == "openai"]
    text = " ".join(page(listing(**KEY)).split())
    assert "openai (key: OPENAI_API_KEY)" in text
    for model in known:
        paid, received = dollars(model.prices.input), dollars(model.prices.output)
        assert f"{model.name} {model.short_name} {paid} in {received} out" in text
    assert "sk-test" not in text


def test_all_lists_older_models_and_those_without_a_key():
    found = listing(every=True)
    names = [model.name for model in found.models]
    assert {"anthropic:claude-sonnet-4-5", "openai:gpt-5-mini", "embedded"} <= set(names)
    assert len(names) < 100
    assert "anthropic (no key; `oracle keys set anthropic` stores one)" in page(found, every=True)


def test_the_selected_model_is_marked_and_its_place_is_named():
    text = page(listing(**KEY, ORACLE_MODEL_NAME="gpt-4o-2024-05-13"))
    assert "selected: openai:gpt-4o-2024-05-13\n(from ORACLE_MODEL_NAME;" in text
    assert "* openai:gpt-4o-2024-05-13" in text


def test_a_selected_name_that_means_nothing_does_not_hide_the_others():
    text = page(listing(**KEY, ORACLE_MODEL_NAME="sonet"), width=200)
    assert "nothing that can be used (ORACLE_MODEL_NAME: there is no model 'sonet'" in text
    assert "openai (key: OPENAI_API_KEY)" in text


def test_a_server_of_ones_own_is_shown_with_its_address():
    address = "http://127.0.0.1:8080/v1"
    text = page(listing(ORACLE_MODEL_NAME="openai:mine", ORACLE_MODEL_BASE_URL=address))
    assert f"selected: openai:mine at {address}" in text
    assert "* openai:mine" in text


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_names_are_never_cut_and_lines_fit(width):
    found = listing(every=True)
    lines = list(listing_lines(found, width=width, every=True))
    shown = {word for line in lines for word in line.split()}
    assert {model.name for model in found.models} <= shown
    assert all(len(line) <= width for line in lines if "http" not in line)


def test_thousands_of_models_are_shortened_but_the_selected_one_stays():
    many = [named(f"ollama:model{n}:1b", is_selected=n == 9_000) for n in range(10_000)]
    selected = Selected(name="ollama:model9000:1b", place="default")
    text = page(Listing(selected=selected, models=many, missing={}))
    assert len(text.splitlines()) < 60
    assert "* ollama:model9000:1b" in text
    assert "more; --json lists all" in text


def test_json_has_everything():
    model = named("openai:x", key=None, prices=Prices(input=1, output=2), context_window=5)
    selected = Selected(name="embedded", place="default")
    data = as_json(Listing(selected=selected, models=[model], missing={"openai": "no key"}))
    assert json.loads(json.dumps(data))["models"] == [
        {
            "name": "openai:x",
            "short_name": "",
            "provider": "openai",
            "key": None,
            "is_usable": False,
            "is_selected": False,
            "input_price": 1,
            "output_price": 2,
            "context_window": 5,
        }
    ]


# -- as a user calls them --------------------------------------------------------------------------


def use(*arguments, **environment):
    done = oracle("models", "use", *arguments, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_use_writes_the_full_name_to_the_user_s_file_and_says_so():
    code, out, err = use("gpt-5-m")
    assert (code, out) == (0, "openai:gpt-5-mini is selected, in ~/.config/oracle/oracle.toml\n")
    file = Path.home() / ".config/oracle/oracle.toml"
    assert file.read_text() == '[model]\nname = "openai:gpt-5-mini"\n'
    assert "it costs $0.25 in, $2 out per million tokens" in err
    assert "`oracle keys set openai` stores one" in err
    listed = json.loads(oracle("models", "--json").stdout)
    assert listed["selected"]["name"] == "openai:gpt-5-mini"


def test_use_says_what_wins_over_it(project):
    (project / "oracle.toml").write_text('[model]\nname = "opus"\n')
    _, _, err = use("gpt-5", **KEY)
    assert (
        "here oracle.toml:2 selects opus, which wins; `oracle models use openai:gpt-5 --project`"
        in err
    )
    _, _, err = use("gpt-5", "--project", **KEY, ORACLE_MODEL_NAME="haiku")
    wins = "here ORACLE_MODEL_NAME selects haiku, which wins"
    assert f"{wins}; `export ORACLE_MODEL_NAME=openai:gpt-5` changes it" in err
    assert (project / "oracle.toml").read_text() == '[model]\nname = "openai:gpt-5"\n'


def test_the_list_says_how_to_change_the_selected_model_where_it_is_selected(project):
    (project / "oracle.toml").write_text('[model]\nname = "opus"\n')
    assert "(from oracle.toml:2; `oracle models use NAME --project` changes it)" in page(listing())
    named = page(listing(ORACLE_MODEL_NAME="haiku"))
    assert "(from ORACLE_MODEL_NAME; `export ORACLE_MODEL_NAME=NAME` changes it)" in named


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sonet"], "did you mean 'sonnet'?"),
        (["claude"], "could be anthropic:claude-"),
        (["\x1b[31mred"], "is not the name of a model"),
        ([""], "is not the name of a model"),
        (["openai:"], "the name of the model is missing after the colon"),
        (["google:gemini-2.5-pro"], "there is no provider 'google'"),
        (["x", "--base-url", "https://h.test/?key=hush"], "has a ? or a # in it"),
    ],
)
def test_a_name_that_is_not_clear_selects_nothing(arguments, said):
    code, out, err = use(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "\x1b" not in err
    assert "hush" not in err
    assert not (Path.home() / ".config/oracle/oracle.toml").exists()


def test_a_server_of_ones_own_is_written_with_the_model():
    code, out, err = use("local-7b", "--base-url", "http://127.0.0.1:1/v1")
    assert (code, out) == (0, "openai:local-7b is selected, in ~/.config/oracle/oracle.toml\n")
    settings = load_settings(environment={})
    assert (settings.model.name, settings.model.base_url) == (
        "openai:local-7b",
        "http://127.0.0.1:1/v1",
    )
    assert "requests go to http://127.0.0.1:1/v1" in err
    assert "`oracle config unset model.base_url --user` removes that" in err


def test_another_model_does_not_inherit_the_address_key_and_prices_of_the_one_before():
    use("local-7b", "--base-url", "http://127.0.0.1:1/v1")
    for name, value in (("key_variable", "TEAM_KEY"), ("input_price", "1")):
        oracle("config", "set", "--user", f"model.{name}", value)
    _, _, err = use("local-7b")
    assert "removed" not in err  # it is the same model
    code, _, err = use("embedded")
    assert (code, "requests go to" in err) == (0, False)
    told = "removed, because it was for the model before: "
    assert f"oracle: {told}model.base_url, model.key_variable, model.input_price\n" in err
    file = Path.home() / ".config/oracle/oracle.toml"
    assert file.read_text() == '[model]\nname = "embedded"\n'


def test_another_address_does_not_get_the_key_of_the_one_before():
    use("local-7b", "--base-url", "http://127.0.0.1:1/v1")
    oracle("config", "set", "--user", "model.key_variable", "TEAM_KEY")
    _, _, err = use("local-7b", "--base-url", "http://127.0.0.1:2/v1")
    assert "removed, because it was for the model before: model.key_variable\n" in err
    settings = load_settings(environment={})
    assert (settings.model.base_url, settings.model.key_variable) == ("http://127.0.0.1:2/v1", None)


def test_a_name_that_the_table_lacks_says_where_requests_go():
    notes = " ".join(notes_on("openai:local-7b"))
    assert "requests go to https://api.openai.com/v1" in notes
    assert "`oracle models use openai:local-7b --base-url URL`" in notes


def test_a_project_s_price_for_another_model_is_not_repeated(project):
    prices = "input_price = 0\noutput_price = 0\n"
    (project / "oracle.toml").write_text(f'[model]\nname = "openai:cheap"\n{prices}')
    trust_project(project)
    assert "it costs $1.25 in, $10 out per million tokens" in list(notes_on("openai:gpt-5"))


def test_a_provider_without_a_key_is_named_once():
    text = page(listing(ORACLE_MODEL_NAME="gpt-5"))
    assert text.count("no key") == 2  # for both providers
    assert "openai (no key; `oracle keys set openai` stores one)" in text


def test_a_short_name_is_shown_only_if_it_leads_to_its_row():
    def short_name(name):
        return listed_local(LocalModel(name=name)).short_name

    assert [short_name(name) for name in ("sonnet", "claude-sonnet-5", "qwen3:4b")] == [
        "",
        "",
        "qwen3:4b",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sonnet"], "write `oracle models use sonnet`"),
        (["sonnet", "--project"], "write `oracle models use sonnet`"),
        (["lst"], "did you mean 'list'?"),
        (["of", "the", "database"], 'put it in quotes: oracle "models of the database"'),
    ],
)
def test_a_word_that_is_no_command_is_explained(words, said):
    done = oracle("models", *words)
    assert done.returncode == 2
    assert said in done.stderr.decode()


def test_the_word_list_can_be_written():
    assert oracle("models", "list", "--json").stdout == oracle("models", "--json").stdout != b""


def test_prices_are_explained_only_if_some_are_shown():
    assert "dollars" not in page(listing())
    assert "dollars" in page(listing(OPENAI_API_KEY="sk-test-0123456789"))


def test_names_are_completed():
    assert names_beginning("son") == ["sonnet"]
    assert "gpt-5-mini" in names_beginning("GPT-5-m")
    assert "embedded" in names_beginning("")


def test_outside_a_project_there_is_no_project_s_file(project):
    (project / "oracle.toml").unlink()
    code, _, err = use("gpt-5", "--project")
    assert (code, "leave --project out" in err) == (2, True)


def test_a_folder_that_cannot_be_written_is_explained():
    (Path.home() / ".config").write_text("not a folder")
    code, out, err = use("gpt-5")
    assert (code, out) == (74, "")
    assert "cannot be written" in err
