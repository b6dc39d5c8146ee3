import json

from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.export import as_json, as_markdown
from oracle.services.storage.sessions import Sessions

MARKDOWN = """\
# On tea

## 1

> question e1

answer e1

## 2

> question e2

answer e2

## 3

> question e3

answer e3

## 4

*continues from 2*

> question e4

answer e4

## 5

*starts again*

> two
>
> lines

answer e5
"""


async def exported(database):
    return await Sessions(database).get("s1"), await Exchanges(database).of_session("s1")


async def test_markdown_follows_the_branches(conversation, exchange):
    from dataclasses import replace

    session, exchanges = await exported(conversation)
    anew = replace(exchange("e5"), question="two\n\nlines")
    assert as_markdown(session, [*exchanges, anew]) == MARKDOWN


async def test_json_holds_everything(conversation):
    session, exchanges = await exported(conversation)
    document = json.loads(json.dumps(as_json(session, exchanges)))
    assert document["session"]["title"] == "On tea"
    assert document["exchanges"][3] == {
        "id": "e4",
        "session_id": "s1",
        "parent_id": "e2",
        "run_id": None,
        "question": "question e4",
        "answer": "answer e4",
        "metadata": {},
        "created_at": 4.0,
    }
