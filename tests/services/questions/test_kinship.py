"""Words that may mean the same as those of a question."""

import re

from oracle.services.questions.kinship import idioms, kin_groups, kin_in


def test_a_word_and_its_forms_have_the_same_kin():
    assert "remove" in kin_in(["deleting"])["deleting"]
    assert "backoff" in kin_in(["retries"])["retries"]
    assert "halt" in kin_in(["stopped"])["stopped"]
    assert "delete" not in kin_in(["delete"])["delete"]


def test_two_words_side_by_side_have_kin_of_their_own():
    kin = kin_in(["let", "at", "most", "three", "run"])
    assert "maximum" in kin["at most"]
    assert "three" not in kin


def test_an_idiom_counts_in_one_direction():
    assert "limit" in kin_in(["too", "big"])["too big"]
    assert not {"too_big", "how_big"} & set(kin_in(["limit"])["limit"])


def test_every_group_has_two_plain_words_or_more():
    for group in kin_groups():
        assert len(set(group)) == len(group) >= 2, group
        assert all(re.fullmatch(r"[a-z0-9_]+", word) for word in group), group


def test_every_idiom_has_plain_words_on_both_sides():
    for said, meant in idioms():
        assert len(set(meant)) == len(meant) >= 1, said
        assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)?", word) for word in said), said
        assert all(re.fullmatch(r"[a-z0-9_]+", word) for word in meant), meant
