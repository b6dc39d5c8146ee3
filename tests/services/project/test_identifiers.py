"""Names are cut in the same places everywhere."""

from oracle.services.project.identifiers import parts_of, without_ending
from tests.tables import each_row


@each_row(
    ("text", "parts"),
    [
        ("HTTPServerError", ["http", "server", "error"]),
        ("get_repo_map", ["get", "repo", "map"]),
        ("getRepoMap", ["get", "repo", "map"]),
        ("utf8 text", ["utf", "8", "text"]),
        ("Größe", ["gr", "öß", "e"]),
        ("???", []),
    ],
)
def test_names_are_cut_into_their_parts(text, parts):
    assert parts_of(text) == parts


@each_row(
    ("word", "beginning"),
    [("caches", "cach"), ("caching", "cach"), ("retries", "retr"), ("bus", "bus"), ("red", "red")],
)
def test_relatives_of_a_word_share_its_beginning(word, beginning):
    assert without_ending(word) == beginning
