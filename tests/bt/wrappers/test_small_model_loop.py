"""A real language model in the whole loop: too small to emit signals, so the tree carries it."""

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.services.control.ledger import Limits
from oracle.services.tools.project_tools import project_tools
from oracle.testing.small_model import small_model

pytestmark = pytest.mark.extra

SECONDS = 240


@pytest.mark.parametrize(
    "question", ["Thanks, that helps!", "How does the login function in auth.py check a token?"]
)
async def test_a_model_that_knows_no_signals_comes_to_a_decent_end(
    question, small_model_url, tmp_path
):
    (tmp_path / "auth.py").write_text("def login(token):\n    return token in TOKENS\n")
    model = small_model(small_model_url, longest_output=40, stall_seconds=SECONDS)
    wrapper = OracleBTWrapper(
        model=model, tools=project_tools(tmp_path), limits=Limits(turns=2, seconds=SECONDS)
    )
    chunks = [chunk async for chunk in wrapper.process_query(question)]
    done = chunks[-1]
    assert done.type == "done"
    assert done["answer"].strip()
    # On a busy machine a real model may need all of the time.
    decent = ("answered", "partial_answer", "stuck", "turn_limit", "time_limit")
    # Its server may then give up before the tree does.
    is_late = done["usage"]["seconds"] > SECONDS / 2
    assert done["stop_reason"] in (*decent, *(["model_unavailable"] if is_late else []))
    assert "<signal" not in done["answer"]
    assert 1 <= done["usage"]["turns"] <= 2
