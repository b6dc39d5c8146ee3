"""An answer rests on what its model was shown: attacks with small windows, cuts and blank files."""

import pytest

from oracle import Oracle
from oracle.testing import Reply, ScriptedModel
from tests.asking import enough
from tests.default_run import thinned

ASKED = "How does the cache in src/cache.py evict entries?"
BLANK = {"src/empty.py": "", "src/blank.py": "\n\n\n", "src/line.py": "\n"}


@pytest.fixture
def project(tmp_path):
    files = {"oracle.toml": "", **BLANK}
    for name in ("cache", *(f"mod{n}" for n in range(8))):
        files[f"src/{name}.py"] = "".join(
            f'def {name}_{n}(cache):\n    """Evict entry {n} of it."""\n    return evict({n})\n\n'
            for n in range(140)
        )
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


async def answer(project, *replies, window=200_000, **given):
    model = ScriptedModel(*replies, repeats_last=True, context_window=window)
    async with Oracle(project=project, model=model) as oracle:
        return await oracle.ask(ASKED, **given), model


def reads(*calls):
    return Reply(calls=[("read_file", arguments) for arguments in calls])


def seen(model, request=-1):
    return [m["content"] for m in model.requests[request].messages if m["role"] == "tool"]


QUARTERS = reads(*({"path": "src/cache.py", "start": n, "end": n + 99} for n in (1, 101, 201, 301)))
EIGHT = reads(*({"path": f"src/mod{n}.py"} for n in range(8)))


async def test_results_that_had_no_room_back_nothing(project):
    said = enough("It is LRU, see src/cache.py:2-3 and src/cache.py:300-303.")
    heard, model = await answer(project, QUARTERS, said, window=6_000)
    assert not any("Evict entry" in content for content in seen(model, 1))
    assert heard.stop_reason == "partial_answer"
    assert heard.text.count("⚠ not read") == 2
    assert heard.sources == []
    assert "no room to show it to the model" in heard.missing[0]


@pytest.mark.parametrize("window", thinned([4_000, 4_500, 6_000, 8_192, 16_384, 32_768], 3))
@pytest.mark.parametrize("calls", [QUARTERS, EIGHT], ids=["quarters", "eight files"])
async def test_no_line_counts_as_read_that_was_cut_before_the_model_saw_it(project, window, calls):
    heard, model = await answer(project, calls, enough("It evicts."), window=window)
    shown = "\n".join(seen(model, 1))
    for source in heard.sources:
        lines = (project / source["path"]).read_text().split("\n")
        for line in lines[source["start"] - 1 : source["end"]]:
            assert line in shown, source["where"]
    assert (heard.stop_reason == "answered") is bool(heard.sources)


async def test_a_citation_of_lines_that_were_cut_is_marked(project):
    said = enough("It has an LRU (src/mod7.py:450-460), see src/mod7.py:2.")
    heard, _ = await answer(project, EIGHT, said, window=32_768)
    assert "src/mod7.py:450-460 (⚠ lines not read)" in heard.text
    assert heard.text.endswith("see src/mod7.py:2.")


async def test_what_was_shown_before_it_was_compacted_may_be_cited(project):
    """Six results later the first one is a stub, but the model has read it."""
    first = reads({"path": "src/cache.py", "start": 1, "end": 60})
    others = reads(*({"path": f"src/mod{n}.py", "start": 1, "end": 60} for n in range(6)))
    heard, model = await answer(
        project, first, others, enough("See src/cache.py:50."), window=16_384
    )
    assert any("more characters were here" in content for content in seen(model))
    assert (heard.stop_reason, heard.text) == ("answered", "See src/cache.py:50.")


@pytest.mark.parametrize("path", BLANK)
async def test_a_file_without_visible_text_is_not_evidence(project, path):
    said = enough("It is LRU.")
    for replies, given in [([reads({"path": path}), said], {}), ([said], {"attachments": [path]})]:
        heard, _ = await answer(project, *replies, **given)
        assert (heard.stop_reason, heard.sources) == ("partial_answer", [])


async def test_a_blank_attachment_backs_neither_its_own_answer_nor_the_next(project):
    said = enough("It is LRU.")
    first, _ = await answer(project, said, attachments=["src/blank.py"], attachment=" \n")
    assert first.stop_reason == "partial_answer"
    model = ScriptedModel(said, repeats_last=True)
    async with Oracle(project=project, model=model) as oracle:
        second = await oracle.ask("And why does the cache do that?", first.context_id)
    assert second.stop_reason == "partial_answer"
