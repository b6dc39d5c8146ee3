"""Broad questions on generated projects: the answer names the right files, in a sensible order."""

import re

import pytest

from oracle import Oracle
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.services.tools.project_tools import project_tools
from oracle.testing import ScriptedModel
from tests.asking import ask, edited, enough
from tests.scenarios import BROAD, part_of

FLOW = (
    ("shop/cli.py", "order_command", "parse_order", "Take an order on the command line."),
    ("shop/parsing.py", "parse_order", "dispatch_order", "Read an order from its arguments."),
    ("shop/commands.py", "dispatch_order", "place_order", "Hand an order to the right service."),
    ("shop/service.py", "place_order", "check_order", "Place an order."),
    ("shop/checks.py", "check_order", "price_order", "Refuse an order without items."),
    ("shop/pricing.py", "price_order", "store_order", "Sum up what an order costs."),
    ("shop/repository.py", "store_order", "order_row", "Keep an order."),
    ("shop/rows.py", "order_row", "insert_row", "An order as a row of a table."),
    ("shop/database.py", "insert_row", "execute", "The database: rows of orders go in here."),
)
LIST_EVERY_CALL = "list every place that calls audit_log"
ALL_READ = edited(
    "coverage.lua",
    ("local QUOTED_AS_READ = 30", "local QUOTED_AS_READ = 1000"),
    ("local QUOTED_AT_LENGTH = 12", "local QUOTED_AT_LENGTH = 1000"),
)
"""Our trees, but each part is read, however much of it the search has quoted."""


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def filler(name, lines):
    """Lines that have nothing to do with the question."""
    body = "return brush(wall, coats=2, colour='a very light grey', by_hand=True)"
    return "".join(f"def {name}_{n}(wall):\n    {body}\n\n\n" for n in range(lines))


def flow_project(root, padding):
    (root / "oracle.toml").touch()
    modules = {function: path for path, function, _, _ in FLOW}
    for path, function, following, says in FLOW:
        source = modules.get(following, "").replace("/", ".").removesuffix(".py")
        text = f'"""{says}"""\n\n' + (f"from {source} import {following}\n\n\n" if source else "")
        text += f"def {function}(order):\n    return {following}(order)\n\n\n"
        write(root, path, text + filler("paint", padding))
    for number in range(12):
        write(root, f"paint/wall{number}.py", filler(f"coat{number}", 8))
    return [path for path, *_ in FLOW]


def calls_project(root):
    (root / "oracle.toml").touch()
    write(root, "app/audit.py", "def audit_log(event):\n    print(event)\n")
    paths = [f"app/part{number:02}.py" for number in range(15)]
    for path in paths:
        text = "from app.audit import audit_log\n\n\n" + filler("paint", 30)
        write(root, path, text + 'def act(event):\n    audit_log(f"done {event}")\n')
    return paths


def cited_files(text):
    return list(dict.fromkeys(re.findall(r"`([\w/]+\.py):\d", text)))


@pytest.mark.extra
@pytest.mark.parametrize("padding", [1, 40], ids=["handed over whole", "in extracts"])
async def test_embedded_tells_a_flow_over_nine_files_from_its_beginning(tmp_path, padding):
    right = flow_project(tmp_path, padding)
    answer = await Oracle(project=tmp_path).ask(BROAD)
    found = [path for path in cited_files(answer.text) if path in right]
    assert len(found) >= 0.8 * len(right)
    assert found == [path for path in right if path in found]
    assert not any(path.startswith("paint/") for path in cited_files(answer.text))
    assert "on to `shop/commands.py` by `dispatch_order`" in answer.text
    assert (answer.stop_reason, answer.usage["turns"]) == ("answered", 1)


async def test_what_connects_two_parts_is_read_though_it_has_no_word_of_the_question(tmp_path):
    (tmp_path / "oracle.toml").touch()
    cli = "from core.relay import Relay\n\n\ndef order_command(order):\n    Relay().send(order)\n"
    relay = "from shop.database import Table\n\n\nclass Relay:\n    def send(self, it):\n"
    write(tmp_path, "shop/cli.py", cli)
    write(tmp_path, "core/relay.py", relay + "        Table().insert(it)\n")
    write(tmp_path, "core/paint.py", filler("paint", 5))
    write(tmp_path, "shop/database.py", "class Table:\n    def insert(self, order): ...\n")
    answer = await Oracle(project=tmp_path).ask(BROAD)
    assert cited_files(answer.text) == ["shop/cli.py", "core/relay.py", "shop/database.py"]


@pytest.mark.extra
async def test_embedded_lists_each_of_fifteen_calls_by_path(tmp_path):
    right = calls_project(tmp_path)
    answer = await Oracle(project=tmp_path).ask(LIST_EVERY_CALL)
    assert [path for path in cited_files(answer.text) if path in right] == right
    assert answer.text.count("audit_log(f") == 15
    assert (answer.stop_reason, answer.missing) == ("answered", [])


async def test_files_that_begin_with_imports_are_told_by_the_lines_that_use_them(tmp_path):
    (tmp_path / "oracle.toml").touch()
    write(tmp_path, "lib/retrying.py", 'def retry(times):\n    """Retry a failed call."""\n')
    users = ["billing.py", "fetch.py", "mailer.py", "upload.py"]
    for user in users:
        code = (
            "import logging\nfrom lib.retrying import retry\n\n\n@retry(times=3)\ndef send(x): ..."
        )
        write(tmp_path, user, f"{code}\n")
    answer = await Oracle(project=tmp_path).ask("list every place that retries a failed call")
    assert {*users, "lib/retrying.py"} <= set(cited_files(answer.text))
    assert all(f"`{user}:5`: `@retry(times=3)`" in answer.text for user in users)
    assert "retrying import" not in answer.text


async def test_the_lines_of_a_file_are_told_in_its_order(tmp_path):
    (tmp_path / "oracle.toml").touch()
    early = "def travel_home(x):\n    return x\n\n\n"
    late = "def order_to_database(order):\n    database.insert(order)\n"
    write(tmp_path, "app.py", early + filler("paint", 60) + late)
    write(tmp_path, "cli.py", "def order_command(order):\n    order_to_database(order)\n")
    answer = await Oracle(project=tmp_path).ask(BROAD)
    lines = [int(number) for number in re.findall(r"`app\.py:(\d+)`", answer.text)]
    assert len(lines) > 1
    assert lines == sorted(lines)


@pytest.mark.extra
async def test_more_uses_than_are_listed_are_counted_and_named(tmp_path):
    (tmp_path / "oracle.toml").touch()
    write(tmp_path, "lib.py", "def audit_log(event): ...\n")
    for number in range(30):
        write(tmp_path, f"app/m{number:02}.py", "audit_log(1)\n" * 6)
    answer = await Oracle(project=tmp_path).ask("list every place that uses audit_log")
    assert "`audit_log` is used on 180 lines in 30 files. Of these, 100 places" in answer.text
    assert len(set(cited_files(answer.text)) - {"lib.py"}) == 30
    assert answer.missing == ["80 of 180 lines that use audit_log (not read)"]


@pytest.mark.extra
@pytest.mark.parametrize("question", ["Who calls audit_log?", "all callers of `audit_log`"])
async def test_a_question_for_each_use_needs_no_other_word_to_be_broad(tmp_path, question):
    right = calls_project(tmp_path)
    answer = await Oracle(project=tmp_path).ask(question)
    assert set(right) <= set(cited_files(answer.text))


@pytest.mark.extra
async def test_a_name_in_code_without_a_grammar_is_listed_too(tmp_path):
    calls_project(tmp_path)
    write(tmp_path, "hooks.lua", 'hook("app.audit.audit_log")\n')
    answer = await Oracle(project=tmp_path).ask("Where is audit_log used?")
    assert '`hooks.lua:1`: `hook("app.audit.audit_log")`' in answer.text


async def test_a_model_gets_the_list_of_uses_and_what_each_file_says(tmp_path):
    right = calls_project(tmp_path)
    model = ScriptedModel(_reads_or_answers, repeats_last=True)
    heard = await ask(model=model, tools=project_tools(tmp_path), query=LIST_EVERY_CALL)
    uses, *others = heard.results(-1)
    assert uses.count("audit_log(f") == 15
    read = [re.findall(r"From (\S+?):", result)[0] for result in others]
    assert read == ["app/audit.py", *right]
    assert heard.done["missing"] == []


@pytest.mark.extra
async def test_a_flow_costs_the_conversation_less_than_its_parts(tmp_path):
    flow_project(tmp_path, padding=40)
    model = ScriptedModel(_reads_or_answers, repeats_last=True)
    heard = await ask(model=model, tools=project_tools(tmp_path), query=BROAD, trees=ALL_READ)
    small = heard.model.requests[:-1]
    in_parts = sum(len(request.messages[1]["content"]) for request in small)
    assert len(small) == len(FLOW)
    assert 4 * sum(map(len, heard.results(-1))) < in_parts
    assert "shop/rows.py -> shop/database.py (insert_row)" in heard.told(-1)


async def test_two_places_of_a_long_file_are_both_read(tmp_path):
    (tmp_path / "oracle.toml").touch()
    text = "def take_order(order):\n    check(order)\n\n\n" + filler("paint", 220)
    write(
        tmp_path, "shop.py", text + "def insert_order(database, order):\n    database.add(order)\n"
    )
    model = ScriptedModel(_reads_or_answers, repeats_last=True)
    tools = project_tools(tmp_path)
    agent = OracleBTWrapper(model=model, tools=tools, trees=ALL_READ)
    calls = [chunk async for chunk in agent.process_query(BROAD) if chunk.type == "tool_call"]
    read = [c["arguments"]["start"] for c in calls if c["name"] == "read_file"]
    assert len(read) == 2
    assert min(read) == 1
    assert max(read) > 800


def _reads_or_answers(request):
    if where := part_of(request):
        return f"- `{where}:1`: it hands the order on."
    place = "app/audit.py" if "app/audit.py" in str(request.messages) else "shop/cli.py"
    return enough(f"From the CLI to the database, see `{place}:1`; audit_log is called.")
