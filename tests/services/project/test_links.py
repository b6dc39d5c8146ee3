"""Where a path ends, and whether a link on the way led out of a folder."""

from oracle.services.project.links import way_of


def test_a_way_ends_where_the_system_would_end(tmp_path):
    for name in ("a/b", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "c/file").touch()
    (tmp_path / "a/b/up").symlink_to("../..")
    (tmp_path / "a/round").symlink_to("round")
    for path in ("a/b/up/c/file", "a/b/../b/up/c/file", "c/none", "a/b/up/c/../c/file"):
        assert way_of(tmp_path / path, ()).end == (tmp_path / path).resolve(), path
    # A circle has no end, but the way through it does.
    assert way_of(tmp_path / "a/round", ()).left is None


def test_a_link_out_is_noticed_unless_the_way_comes_back(tmp_path):
    for name in ("in/x", "out"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "in/away").symlink_to("../out")
    (tmp_path / "out/back").symlink_to("../in/x")
    (tmp_path / "enters").symlink_to("in")
    kept = tmp_path / "in"

    def left(path):
        return way_of(tmp_path / path, [kept]).left

    assert left("in/away/f") == left("enters/away/f") == left("in/x/../away/f") == kept
    assert left("in/away/back/f") is None
    assert left("out/f") is left("in/../out/f") is left("in/x/f") is None
