import doctest
import re
from pathlib import Path

from oracle.models.signals import SIGNALS

PAGE = (Path(__file__).parents[3] / "docs" / "signals.md").read_text(encoding="utf-8")


def test_the_table_of_fields_is_the_one_that_the_parser_reads_by() -> None:
    row = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \| (yes|no) \| (.+) \|$", re.MULTILINE)
    assert row.findall(PAGE) == [
        (type_.value, field.name, field.kind, "yes" if field.required else "no", field.meaning)
        for type_, spec in SIGNALS.items()
        for field in spec.fields
    ]


def test_the_examples_do_what_the_page_says() -> None:
    blocks = re.findall(r"```pycon\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    session = "\n".join(blocks)
    examples = doctest.DocTestParser().get_doctest(session, {}, "docs/signals.md", None, 0)
    report: list[str] = []
    results = doctest.DocTestRunner().run(examples, out=report.append)
    assert results.attempted > 20
    assert not results.failed, "".join(report)


def test_every_rule_has_an_example() -> None:
    rules = re.split(r"^### ", PAGE.partition("## The rules")[2], flags=re.MULTILINE)[1:]
    assert [rule[:2] for rule in rules] == [f"{number}." for number in range(1, 9)]
    assert all("```pycon" in rule for rule in rules)
