"""What may be changed in a recorded run, and what is said about a change that cannot be made."""

from dataclasses import replace

import pytest

from oracle.bt.wrappers.decisions.change import BUILT_IN, Change, classifier_from
from oracle.bt.wrappers.recipe import AgentSetup
from oracle.errors import InputError, PromptFileError, TreeFileError
from oracle.models.query_classification import QueryType
from tests.tables import each_row

RECIPE = AgentSetup().recipe("where is it?")


def after(*settings):
    return Change(settings=settings).applied(RECIPE)


def test_a_limit_is_changed_on_the_board():
    assert after("limits.turns=5").board["limits"]["turns"] == 5
    assert after("can_ask=true").board["can_ask"] is True
    assert after("limits.money=null").board["limits"]["money"] is None
    assert after("model.prices.input=2.5").board["model"]["prices"]["input"] == 2.5
    assert RECIPE.board["limits"]["turns"] == 30


def test_a_constant_of_a_tree_is_changed_in_its_file_alone():
    changed = after("escalate.WEAK_SIGNAL=0.55").sources
    assert "local WEAK_SIGNAL = 0.55 " in changed["escalate.lua"]
    assert changed["decide.lua"] == RECIPE.sources["decide.lua"]


@each_row(
    ("text", "said"),
    [
        ("limits.turns", "write it as key=value"),
        ("=5", "write it as key=value"),
        ("limits.turns=five", "the recorded value is 30"),
        ("limits.turns=-1", "not negative"),
        ("limits.turns=1.5", "of the same kind"),
        ("limits.turns=true", "of the same kind"),
        ("limits.turns=null", "of the same kind"),
        ("limits.seconds=Infinity", "of the same kind"),
        ("limits.seconds=NaN", "of the same kind"),
        ("limits.turn=5", "did you mean 'limits.turns'"),
        ("limits=5", "one of: limits.turns, "),
        ("query=x", "decide.DOUBTS"),
        ("decide.DOUBTS=os.exit()", "give a number; it is 1 in decide.lua"),
        ("decide.DOUBTS=", "give a number"),
    ],
)
def test_a_value_that_cannot_be_set_says_why_and_what_there_is(text, said):
    with pytest.raises(InputError, match=r"^--set ") as problem:
        after(text)
    assert said in str(problem.value)


def test_one_tree_file_replaces_its_trees_and_the_others_stay_as_recorded(tmp_path):
    (tmp_path / "decide.lua").write_text(RECIPE.sources["decide.lua"] + "-- mine\n")
    sources = Change(trees=[str(tmp_path / "decide.lua")]).applied(RECIPE).sources
    assert sum("-- mine" in text for text in sources.values()) == 1
    assert len(sources) == len(RECIPE.sources)


def test_a_tree_that_the_run_does_not_use_is_refused(tmp_path):
    """It would change nothing, and "no decision differs" would be said of a slip of the pen."""
    renamed, folder = tmp_path / "decide.lua", tmp_path / "trees"
    source = RECIPE.sources["decide.lua"]
    renamed.write_text(source.replace('BT.tree("decide"', 'BT.tree("decided"'))
    with pytest.raises(InputError, match=r"does not use decided; did you mean 'decide'\?"):
        Change(trees=[str(renamed)]).applied(RECIPE)
    plain = tmp_path / "baseline.lua"
    plain.write_text(RECIPE.sources["baseline.lua"])
    with pytest.raises(InputError, match=r"does not use .*plain turn.*; it uses .*assess, "):
        Change(trees=[str(plain)]).applied(RECIPE)
    folder.mkdir()
    for file, text in RECIPE.sources.items():
        (folder / file).write_text(text)  # all of ours, those of other runs too
    assert Change(trees=[str(folder)]).applied(RECIPE)
    renamed.rename(folder / "twice.lua")
    with pytest.raises(InputError, match="does not use decided"):
        Change(trees=[str(folder)]).applied(RECIPE)


def test_a_constant_of_a_tree_that_the_run_does_not_use_cannot_be_set():
    plain = replace(RECIPE, tree="baseline")
    with pytest.raises(InputError, match=r"decide\.DOUBTS: there is no such value"):
        Change(settings=["decide.DOUBTS=0"]).applied(plain)


def test_the_built_in_trees_and_prompts_can_be_named():
    recipe = Change(trees=[BUILT_IN], prompts=BUILT_IN).applied(RECIPE)
    assert (recipe.sources, recipe.prompts) == (RECIPE.sources, RECIPE.prompts)


def test_files_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "x.md").write_text("no front matter")
    (tmp_path / "broken.lua").write_text("BT.tree(")
    with pytest.raises(PromptFileError, match=r"x\.md:1: no front matter"):
        Change(prompts=str(tmp_path)).applied(RECIPE)
    with pytest.raises(TreeFileError, match=r"broken\.lua:1"):
        Change(trees=[str(tmp_path / "broken.lua")]).applied(RECIPE)
    with pytest.raises(InputError, match="no such folder"):
        Change(prompts=str(tmp_path / "none")).applied(RECIPE)


def test_a_classifier_gives_each_question_a_type():
    found = classifier_from("research:0.4", None)("Where is the login?", [], None)
    assert (found.query_type, found.confidence) == (QueryType.RESEARCH, 0.4)


def test_a_function_classifies_and_what_it_returns_is_checked():
    own = classifier_from("mine:of", lambda _: lambda *_: "code")
    assert own("x").query_type == QueryType.CODE
    with pytest.raises(InputError, match="mine:of returned 7"):
        classifier_from("mine:of", lambda _: lambda *_: 7)("x")
    with pytest.raises(InputError, match=r"mine:of raised KeyError\('x'\)"):
        classifier_from("mine:of", lambda _: lambda query, *_: {}[query])("x")


@each_row("text", ["cod", "", "code:2", "code:x", "code:nan"])
def test_what_is_no_classifier_is_refused(text):
    with pytest.raises(InputError, match=f"^--classifier {text}: "):
        classifier_from(text, None)
