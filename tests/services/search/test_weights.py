"""How much things count, by the size of a project."""

from oracle.services.search.weights import CODE, LARGE_CODE, NOTES, weights_for


def test_small_and_large_projects_have_weights_of_their_own():
    assert weights_for("code", 0) == weights_for("code", 500) == CODE
    assert weights_for("code", 1_000_000).coverage == LARGE_CODE.coverage


def test_between_them_the_weights_change_by_degrees():
    sizes = (8_000, 12_000, 20_000, 30_000)
    shares = [weights_for("code", size).coverage for size in sizes]
    assert shares == sorted(shares)
    assert 0.0 == shares[0] < shares[1] < shares[2] < shares[3] == LARGE_CODE.coverage


def test_the_size_does_not_matter_for_notes():
    assert weights_for("vault", 10) is weights_for("vault", 10**6) is NOTES
