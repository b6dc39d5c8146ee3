"""Enough, nothing, or open: a table of evidence and verdicts. None is a call without a result."""

from oracle.services.control.sufficiency import Evidence, Verdict, heuristic_sufficiency
from tests.tables import each_row


def place(path="a.py", score=0.9):
    return {"where": f"{path}:1", "path": path, "text": "x", "score": score}


def verdict(places=(), new=(), offered=("code",), tried=("code",)):
    return heuristic_sufficiency(
        Evidence(
            places=places,
            new_by_result=[n for n in new if n is not None],
            barren_calls=new.count(None),
            sources_offered=offered,
            sources_tried=tried,
        )
    )


@each_row(
    ("places", "new", "offered", "tried", "expected"),
    [
        ([], [], ["code"], [], Verdict.OPEN),
        ([], [], [], [], Verdict.OPEN),
        ([], [0], ["code"], ["code"], Verdict.NOTHING),
        ([], [0], ["code", "web"], ["code"], Verdict.OPEN),
        ([], [0, 0, 0], ["code", "web"], ["code"], Verdict.NOTHING),
        ([place()], [1], ["code"], ["code"], Verdict.OPEN),
        ([place()], [1, 0], ["code"], ["code"], Verdict.OPEN),
        ([place()], [1, 0, 0], ["code"], ["code"], Verdict.ENOUGH),
        ([place()], [1, None, None, None], ["code"], ["code"], Verdict.OPEN),
        ([place()], [1, 0, None, 0], ["code"], ["code"], Verdict.ENOUGH),
        ([], [None, None, None], ["code", "web"], ["code"], Verdict.NOTHING),
        ([place("a"), place("b")], [2], ["code"], ["code"], Verdict.OPEN),
        ([place("a"), place("b")], [2, 0], ["code"], ["code"], Verdict.ENOUGH),
        ([place("a"), place("a")], [2, 0], ["code"], ["code"], Verdict.OPEN),
        ([place("a", 0.5), place("b", 0.5)], [2, 0], ["code"], ["code"], Verdict.OPEN),
        ([place(str(n)) for n in range(5)], [5], ["code"], ["code"], Verdict.OPEN),
        ([place(str(n)) for n in range(6)], [6], ["code"], ["code"], Verdict.ENOUGH),
        ([place(str(n), 0.59) for n in range(9)], [9], ["code"], ["code"], Verdict.OPEN),
        ([{"where": "x", "text": ""}] * 9, [9], ["code"], ["code"], Verdict.OPEN),
    ],
)
def test_verdicts(places, new, offered, tried, expected):
    assert verdict(places, new, offered, tried) is expected
