"""An own tree replaces the built-in one of its name, and its leaves come with the project."""

import pytest

from oracle import Oracle
from oracle.bt.core.leaves import LEAVES as REGISTRY
from oracle.bt.wrappers.own_trees import trees_in_use, with_built_in
from oracle.bt.wrappers.recipe import built_in_trees
from oracle.errors import InputError
from oracle.services.own_code.files import find_code
from oracle.services.own_code.trust import remember_trust
from oracle.settings import load_settings
from oracle.testing import ScriptedModel
from tests.services.own_code.projects import project_with, trust_all

LEAVES = """from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus


@action(reads=["answer"], writes=["answer"])
def sign_off(ctx: TickContext, name: str) -> RunStatus:
    answer = ctx.blackboard.get("answer")
    ctx.blackboard.set("answer", f"{answer} Yours, {name}")
    return SUCCESS
"""


def finish_with(stem):
    ours = built_in_trees()["finish.lua"]
    return ours.replace(
        "finish.sum_up,", f'finish.sum_up, BT.leaves("{stem}").sign_off {{ name = "Ada" }},'
    )


def polite(folder, stem, leaves=LEAVES):
    """A project that signs its answers."""
    project_with(folder, **{f"leaves__{stem}": leaves})
    (folder / "oracle.toml").write_text('[trees]\nfolder = "trees"\n')
    (folder / "trees").mkdir()
    (folder / "trees" / "finish.lua").write_text(finish_with(stem))
    return folder


async def answer_of(root):
    model = ScriptedModel("Hello.", repeats_last=True)
    return str(await Oracle(project=root, model=model, remembers=False).ask("hello"))


@pytest.mark.extra
async def test_one_own_tree_with_own_leaves_answers_a_question(tmp_path):
    root = polite(tmp_path / "p", "polite_one")
    trust_all(root)
    assert await answer_of(root) == "Hello. Yours, Ada"
    (root / ".oracle/leaves/polite_one.py").write_text(LEAVES.replace("Yours", "Regards"))
    trust_all(root)
    assert await answer_of(root) == "Hello. Regards, Ada"


def test_a_leaf_that_is_not_trusted_is_named_with_the_next_step(tmp_path):
    root = polite(tmp_path / "p", "polite_two")
    with pytest.raises(InputError) as raised:
        trees_in_use(load_settings(root))
    told = str(raised.value)
    assert "no leaf 'polite_two.sign_off' is registered" in told
    assert "finish.lua:" in told
    assert "polite_two.py; look at it, then run `oracle tools trust`" in told


def test_a_leaf_file_that_fails_is_named_with_its_line(tmp_path):
    root = polite(tmp_path / "p", "polite_three", "x = 1\nimport nothing_at_all\n")
    trust_all(root)
    with pytest.raises(InputError, match=r"polite_three\.py:2: ModuleNotFoundError"):
        trees_in_use(load_settings(root))


@pytest.mark.extra
async def test_two_projects_in_one_process_do_not_share_leaves(tmp_path):
    first, second = (polite(tmp_path / name, "polite_four") for name in "pq")
    trust_all(first)
    trust_all(second)
    assert await answer_of(first) == "Hello. Yours, Ada"
    _, problems = trees_in_use(load_settings(second))
    assert "has leaves of the same name in this process; rename the file" in problems[0]


def test_only_the_built_in_trees_that_are_used_are_added():
    own = 'BT.tree("oracle-agent", { root = BT.expect("x", "true") })'
    assert list(with_built_in({"a.lua": own})) == ["a.lua"]
    assert "built-in/finish.lua" not in with_built_in({"b.lua": finish_with("x")})
    assert "built-in/oracle-agent.lua" in with_built_in({"b.lua": finish_with("x")})


BROKEN = f"{LEAVES}\nraise RuntimeError('half of it')\n"


def test_leaves_of_a_file_that_fails_later_are_not_used(tmp_path):
    root = polite(tmp_path / "p", "polite_half", leaves=BROKEN)
    trust_all(root)
    with pytest.raises(InputError, match=r"no leaf 'polite_half.sign_off'.*RuntimeError: half"):
        trees_in_use(load_settings(root))
    assert "polite_half.sign_off" not in list(REGISTRY)


def test_a_leaf_that_is_not_trusted_any_more_is_named_with_the_next_step(tmp_path):
    root = polite(tmp_path / "p", "polite_gone")
    trust_all(root)
    trees_in_use(load_settings(root))
    code = find_code(root)
    names = [file.name for file in code.files]
    remember_trust(code, "refused", names)
    with pytest.raises(
        InputError, match=r"polite_gone.py is not trusted; run `oracle tools trust`"
    ):
        trees_in_use(load_settings(root))
    remember_trust(code, "trusted", names)
    assert trees_in_use(load_settings(root))[1] == []
