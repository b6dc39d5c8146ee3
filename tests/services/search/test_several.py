"""The files of several indexes are ranked as if they were in one."""

import pytest

from oracle.services.search import Index
from oracle.services.search.several import search_several

MAIN = {
    "auth/login.py": "def login(user):\n    # The password of a user.\n    return token(user)\n",
    "auth/tokens.py": "def token(user):\n    # Issue a token that expires.\n    return user.id\n",
    "shop/basket.py": "class Basket:\n    def total(self):\n        return sum(self.items)\n",
    **{f"pages/p_{n}.py": f"def p_{n}(user):\n    return basket(user, {n})\n" for n in range(30)},
}
OTHER = {
    "mail/send.py": "def send_mail(user):\n    # Send mail to a user.\n    return smtp(user)\n",
    "auth/tokens.py": "def refresh_token(token):\n    # A token that expires.\n    return token\n",
    "docs/mail.md": "# Mail\n\nMail is sent at night.\n",
}
QUESTIONS = ["token expires", "password of a user", "send mail", "basket total", "refresh_token"]


def written(folder, files):
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def indexes(tmp_path):
    whole = written(tmp_path / "whole", MAIN)
    written(whole / "other", OTHER)
    folders = {
        "whole": whole,
        "": written(tmp_path / "main", MAIN),
        "other/": written(tmp_path / "side", OTHER),
    }
    opened = {name: Index.in_memory(folder) for name, folder in folders.items()}
    for index in opened.values():
        index.refresh()
    yield opened
    for index in opened.values():
        index.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_two_indexes_give_the_hits_of_one(indexes, question):
    whole = indexes.pop("whole")
    expected = whole.search(question, "code", 3)
    found = search_several(indexes, question, "code", 3)
    assert [hit.path for hit in found] == [hit.path for hit in expected]
    assert found[0].score == 1.0
    whole.close()


@pytest.mark.parametrize("question", ["", "???", "zeppelin", "\ud800"])
def test_what_no_index_knows_is_not_found(indexes, question):
    del indexes["whole"]
    assert search_several(indexes, question, "code", 3) == []
