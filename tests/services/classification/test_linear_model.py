"""The weights are the same, whether they are looked for in the text or in a dictionary."""

from importlib.resources import files

import pytest

from oracle.services import classification
from oracle.services.classification import linear_model
from oracle.services.classification.linear_model import SHARES, parse_weights

TEXT = files(classification).joinpath("weights.txt").read_text("utf-8")
LINES = TEXT.splitlines()[1:]


def test_the_lines_of_the_file_are_sorted():
    assert sorted(LINES) == LINES


@pytest.mark.parametrize("most", [0, 10**9], ids=["in a dictionary", "in the text"])
def test_every_feature_of_the_file_is_found(monkeypatch, most):
    monkeypatch.setattr(linear_model, "_MOST_SEARCHES", most)
    weights = parse_weights(TEXT).weights
    for line in LINES[::7]:
        group, name, code = line.split("\t")
        assert weights[group].get(name) == code


@pytest.mark.parametrize("most", [0, 10**9], ids=["in a dictionary", "in the text"])
def test_other_features_have_none(monkeypatch, most):
    monkeypatch.setattr(linear_model, "_MOST_SEARCHES", most)
    known = {tuple(line.split("\t")[:2]) for line in LINES}
    for group, weights in parse_weights(TEXT).weights.items():
        for name in ("", "!", "a", "zzzz", "\U0001f375", "the\t", "th"):
            is_known = (group, name) in known
            assert (weights.get(name) is not None) == is_known
            assert (weights.get(name, "nothing") == "nothing") != is_known


def test_a_group_is_a_mapping_of_its_lines():
    weights = parse_weights(TEXT).weights
    assert sum(map(len, weights.values())) == len(LINES)
    assert {group: len(list(names)) for group, names in weights.items()} == {
        group: sum(line.startswith(f"{group}\t") for line in LINES) for group in SHARES
    }


def test_a_file_without_a_line_of_a_group_is_read():
    head = TEXT.partition("\n")[0]
    weights = parse_weights(f"{head}\nword\ta\tOOOOOO\nword\tb\tPPPPPP\n").weights
    assert dict(weights["word"]) == {"a": "OOOOOO", "b": "PPPPPP"}
    assert dict(weights["sketch"]) == {}
    assert weights["sketch"].get("a") is None
