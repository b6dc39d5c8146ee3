"""What a new user asks, asked of a small project: found, quoted whole, and never wrongly sure."""

import pytest

from oracle.agent import Oracle
from oracle.services.embedded.model import EmbeddedModel
from oracle.services.embedded.own_words import ONLY_QUOTES
from oracle.services.tools.lookup import NOT_ALL_SEARCHED
from oracle.services.tools.project_index import ProjectIndex

FILES = {
    "README.md": (
        "# Shop\n\nShop is a small library for baskets.\n\n## Install\n\n```sh\npip install "
        "shop\n```\n"
    ),
    "pyproject.toml": '[project]\nname = "shop"\nlicense = "MIT"\n',
    "CHANGES.md": "# Changes\n\n## 1.2\n\n- Added coupons.\n\n## 1.1\n\n- Fixed tax.\n",
    "docs/workers.md": (
        "# Workers\n\nWorkers print receipts.\n\n## Starting workers\n\nStart one like this:\n\n"
        "```console\n$ shop worker `hostname`\n```\n\nIt runs until it is stopped.\n"
    ),
    "docs/settings.md": (
        "# Settings\n\n### `basketLimit`\n\n+ Default: `64`\n\nHow many items a basket may hold.\n"
    ),
    "shop/status.py": (
        'class OrderStatus(Enum):\n    NEW = "new"\n    PAID = "paid"\n    SENT = "sent"\n'
    ),
    "docs/receipts.md": (
        "# Receipts\n\n## Printing coupons\n\nEach coupon has a final line. A printer that "
        "stops may enable the spare one.\n"
    ),
    "tests/test_tax.py": "TAX_RATE = 2\n",
    "package.json": (
        '{\n  "scripts": {\n    "lint": "eslint",\n    "test": "npm run lint && npm run unit",\n'
        '    "test:ci": "npm test",\n    "unit": "borp"\n  }\n}\n'
    ),
    "bin/pack.sh": (
        "#!/bin/sh\n# Packs a zipped bundle for the printer.\n\n[ -z $out ] && out=bundle\n\n"
        "LEVEL=9 zip -r $out shop\n"
    ),
    "lib/weigh.js": (
        "function weighBasket (items) {\n  return 1\n}\n\nmodule.exports = weighBasket\n"
    ),
    "shop/tax.py": "def add_tax(price):\n    return price * 2\n",
    "shop/sell.py": (
        "from shop.tax import add_tax\n\n\nclass Till:\n    def sell(self, item):\n"
        "        return add_tax(item.price)\n"
    ),
}


@pytest.fixture
def ask(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    async def asked(question):
        async with Oracle(project=tmp_path, model=EmbeddedModel(), remembers=False) as oracle:
            return await oracle.ask(question)

    return asked


@pytest.mark.parametrize(
    ("question", "place", "text"),
    [
        ("What is this project?", "`README.md:1-3`", "small library for baskets"),
        ("How do I install it?", "`README.md:5-9`", "pip install shop"),
        ("What changed in 1.1?", "`CHANGES.md:7-9`", "Fixed tax."),
        ("Which licence does it have?", "`pyproject.toml:3`", 'license = "MIT"'),
        ("List every order status", "`shop/status.py:1-4`", 'SENT = "sent"'),
        ("Who calls add_tax?", "`shop/sell.py:6`", "in `Till.sell`"),
        ("How do I run the tests?", "`package.json:6`", '"unit": "borp"'),
        ("How do I pack a zipped bundle?", "`bin/pack.sh:1-6`", "zip -r $out shop"),
        ("How do I start a worker?", "`docs/workers.md:5-", "$ shop worker `hostname`"),
        ("What is the default basket limit?", "`docs/settings.md:", "+ Default: `64`"),
        ("order status, all of them", "`shop/status.py:1-4`", 'SENT = "sent"'),
        ("what did 1.1 fix?", "`CHANGES.md:7-9`", "Fixed tax."),
        ("was ist neu in 1.2?", "`CHANGES.md:3-5`", "Added coupons."),
        ("whats this good for?", "`README.md:1-3`", "small library for baskets"),
    ],
)
async def test_a_new_user_gets_the_place_and_the_text(ask, question, place, text):
    answer = await ask(question)
    assert answer.stop_reason == "answered"
    assert place in answer.text
    assert text in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How do I configure the Kafka backend?",
        "What is the average salary of the maintainers?",
        "What changed in 7.0?",
        "Which database does the session store use?",
        "When will version 2.0 of the basket be released?",
        # A heading with the word that is about something else, and two everyday words.
        "What is a coupon?",
        "How do I enable a printer?",
        # A word in a sentence is not the name.
        "What does till.final do?",
        # A test shows a use.
        "What is TAX_RATE?",
        # Lines about the things are not a list of them.
        "Which printers are supported?",
    ],
)
async def test_what_the_project_does_not_say_is_not_answered(ask, question):
    answer = await ask(question)
    assert answer.stop_reason != "answered"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie installiere ich das Paket?", "de"),
        ("Comment installer le paquet ?", "fr"),
        ("¿Cómo se instala?", "es"),
        ("如何安装?", "zh"),
        ("インストールする方法は？", "ja"),
    ],
)
async def test_it_says_in_the_questions_language_that_it_only_quotes(ask, question, language):
    answer = await ask(question)
    assert answer.text.startswith(ONLY_QUOTES[language])
    assert "pip install shop" in answer.text


async def test_a_version_that_the_changelog_lacks_is_not_found(ask):
    answer = await ask("What changed in 1.9?")
    assert "no entry for `1.9`. Its newest one is at `CHANGES.md:3`: `## 1.2`" in answer.text


async def test_places_that_may_be_the_list_are_shown_with_a_doubt(ask, tmp_path):
    (tmp_path / "shop/printers").mkdir(parents=True)
    for name in ("laser", "inkjet", "matrix", "thermal"):
        (tmp_path / f"shop/printers/{name}.py").write_text(f'"""Prints by {name} it is."""\n')
    answer = await ask("which printers are there?")
    assert answer.stop_reason == "partial_answer"
    assert answer.text.startswith("I am not sure")
    assert "`shop/printers/matrix.py:1`" in answer.text


async def test_a_list_of_one_line_is_quoted_with_what_is_around_it(ask, tmp_path):
    (tmp_path / "docs/hooks.md").write_text(
        "# Notes\n\n## Closing hooks\n\nThey come one after the other:\n\n- `drain`\n- `bolt`\n"
    )
    answer = await ask("in what order are the closing hooks called?")
    assert "- `bolt`" in answer.text
    assert "1 place in 1 file" not in answer.text


async def test_what_was_taken_for_talk_is_searched_for_if_it_is_about_the_project(ask):
    answer = await ask("run only the unit tests")
    assert "No search was allowed" not in answer.text


async def test_a_question_for_the_web_is_answered_at_once(ask):
    answer = await ask("What does the internet say about Shop?")
    assert answer.stop_reason == "partial_answer"
    assert "web" in answer.text
    assert not answer.sources


async def test_an_export_is_not_a_caller(ask):
    answer = await ask("Who calls weighBasket?")
    assert "`lib/weigh.js:5`" in answer.text
    assert answer.stop_reason == "partial_answer"


async def test_files_that_were_not_searched_make_the_answer_partial(ask, monkeypatch):
    monkeypatch.setattr(
        ProjectIndex, "left_out", property(lambda self: f"{NOT_ALL_SEARCHED}: 3 were left out.")
    )
    answer = await ask("Where is add_tax defined?")
    assert "`shop/tax.py:1`" in answer.text
    assert f"{NOT_ALL_SEARCHED}: 3 were left out." in answer.text
    assert answer.stop_reason == "partial_answer"


async def test_two_questions_about_the_project_are_both_answered(ask):
    answer = await ask("How do I install it and which licence does it have?")
    assert "pip install shop" in answer.text
    assert 'license = "MIT"' in answer.text


async def test_the_constant_that_holds_a_value_is_looked_up(ask, tmp_path):
    names = "\n\n\n".join(f"def unused_{n}(x):\n    y = x\n    return y + {n}" for n in range(60))
    (tmp_path / "shop/limits.py").write_text(f"{names}\n\n\nDEFAULT_PATIENCE = 45\n")
    (tmp_path / "shop/queueing.py").write_text(
        "from shop.limits import DEFAULT_PATIENCE\n\n\n"
        "def join_queue(customer, patience=DEFAULT_PATIENCE):\n    return customer\n"
    )
    answer = await ask("What is the default patience of a customer who joins the queue?")
    assert "DEFAULT_PATIENCE = 45" in answer.text


async def test_an_answer_that_is_not_sure_shows_several_places_and_stays_short(ask):
    answer = await ask("How does printing work when the basket stops?")
    assert answer.stop_reason == "partial_answer"
    assert answer.text.count("```") >= 4
    assert len(answer.text.splitlines()) <= 48
