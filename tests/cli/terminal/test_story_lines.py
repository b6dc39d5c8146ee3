"""A story as lines: merged places, reasons of failures, and no more than a reader needs."""

from oracle.cli.terminal.story_lines import Heading, story_lines
from oracle.services.story.story import Step, Story, Turn
from tests.tables import each_row

HEADING = Heading(run="0a1b", question="why?", about=["model x"], has_costs=True, state="")


def place(path, start, end):
    where = f"{path}:{start}-{end}"
    return {"where": where, "path": path, "start": start, "end": end, "cited": None}


def shown(story, width=None):
    return "\n".join(line.text for line in story_lines(HEADING, story, width))


def test_overlapping_sources_are_one():
    story = Story(sources=(place("a.py", 1, 20), place("a.py", 15, 40)), stop_reason="answered")
    assert "\n  sources: a.py:1-40\n" in f"{shown(story)}\n"


def test_all_sources_of_the_answer_are_listed():
    sources = tuple(place(f"f{number}.py", 1, 2) for number in range(12))
    story = Story(sources=sources, stop_reason="answered")
    assert "f11.py:1-2" in shown(story)
    assert "f11.py:1-2" in shown(story, 80)


@each_row(
    ("step", "line"),
    [
        (Step(kind="call", text="f(1)", result="Not run: why.", ok=False), "f(1) → not run: why."),
        (Step(kind="call", text="f(1)", result="f failed: OSError", ok=False), "→ failed: OSError"),
        (Step(kind="call", text="f(1)", result="no result", ok=False), "→ failed: no result"),
        (
            Step(kind="call", text="f()", result="2", found=(place("a", 1, 2), place("b", 3, 4))),
            "f() → 2\n      at a:1-2, b:3-4",
        ),
        (Step(kind="call", text="f()", result="a:1-2", found=(place("a", 1, 2),)), "f() → a:1-2\n"),
        (Step(kind="decision", text="granted", node="a/turn/turn/b/b/c"), "      by b › c"),
    ],
)
def test_a_step_is_a_sentence(step, line):
    assert line in shown(Story(turns=(Turn(number=1, steps=(step,)),)))
