import pytest

from oracle.errors import InputError, NotFound
from oracle.models.session import Session
from oracle.services.storage.sessions import Sessions, shortened
from tests.tables import each_row


@pytest.fixture
async def sessions(database):
    sessions = Sessions(database)
    for name, at in [("abc1", 1.0), ("abc2", 3.0), ("xyz", 2.0)]:
        await sessions.create(session_id=name, title=f"about {name}", at=at)
    return sessions


async def test_what_is_created_can_be_read_back(sessions):
    expected = Session(id="xyz", title="about xyz", created_at=2.0, updated_at=2.0)
    assert await sessions.get("xyz") == expected


async def test_the_last_used_is_listed_first(sessions):
    listed = await sessions.newest()
    assert [item.session.id for item in listed] == ["abc2", "xyz", "abc1"]
    assert [item.session.id for item in await sessions.newest(1)] == ["abc2"]


async def test_exchanges_are_counted(conversation):
    assert [item.exchanges for item in await Sessions(conversation).newest()] == [4]


async def test_a_prefix_that_only_one_has_will_do(sessions):
    assert (await sessions.get("x")).id == "xyz"


async def test_a_whole_id_wins_over_longer_ones(sessions):
    await sessions.create(session_id="abc", title="short", at=1.0)
    assert (await sessions.get("abc")).title == "short"


async def test_an_ambiguous_prefix_lists_what_it_may_mean(sessions):
    with pytest.raises(InputError, match="'abc' is ambiguous: abc1, abc2; type more"):
        await sessions.get("abc")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("xyy", "did you mean 'xyz'"),
        ("ABC1", "`oracle sessions list` shows"),
        ("", "`oracle sessions list` shows"),
        ("%", "`oracle sessions list` shows"),
        ("\udcff\0", "`oracle sessions list` shows"),
    ],
)
async def test_an_unknown_id_gets_a_hint(sessions, typed, hint):
    with pytest.raises(NotFound, match=hint):
        await sessions.get(typed)


async def test_renaming_changes_the_title_and_nothing_else(sessions):
    renamed = await sessions.rename("x", "  a better\n title ")
    assert renamed == await sessions.get("xyz")
    assert renamed == Session(id="xyz", title="a better title", created_at=2.0, updated_at=2.0)


async def test_a_blank_title_is_refused(sessions):
    with pytest.raises(InputError):
        await sessions.rename("xyz", " \n")


@each_row(
    ("text", "title"),
    [
        ("How is it flushed?", "How is it flushed?"),
        ("two\n lines", "two lines"),
        ("", "untitled"),
        ("word " * 30, "word " * 14 + "word…"),
        ("x" * 200, "x" * 79 + "…"),
    ],
)
def test_a_title_is_one_short_line(text, title):
    assert shortened(text) == title
