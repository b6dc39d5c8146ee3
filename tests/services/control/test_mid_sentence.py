"""A text that stops in the middle was cut, even if the provider calls it whole."""

from oracle.services.control.mid_sentence import stops_in_mid_sentence
from tests.tables import each_row

CUT = [
    "The token is checked in `auth.py:3`. After that the session is written to the",
    "The token is checked first. Then the handler loads the session and compares",
    "It is read from the file,",
    "The limits are (",
    "The most relevant place is `auth.py:3`: `def login(user",
    "It looks like this:\n\n```python\ndef login():\n    check(",
    "1. It reads the file.\n2. It checks the token.\n3. Then the session is stored together",
    "- It reads the file.\n- It checks the token.\n- It stores the session with",
    "Die Sitzung wird gelesen. Danach prüft die Funktion, ob der Schlüssel und",
]
WHOLE = [
    "",
    "Yes",
    "It is in auth.py:3.",
    "It is in `auth.py:3`",
    "See auth.py:3 and https://example.org/a",
    "The token is checked. The rest is in src/auth/session.py",
    "**It is checked in `auth.py:3`.**",
    'He said "no."',
    "It does (see auth.py:3).",
    "- the token\n- the session\n- the name of the user who asks",
    "1. read the file\n2. check the token\n3. store the session for later use",
    "It looks like this:\n\n```\ndef login():\n    check(\n```",
    "| name | meaning |\n| --- | --- |\n| login | checks the token of the user",
    "It is checked twice. Anything else?",
    "# Login and logout of a user with a token",
    "It is 42",
    "令牌在登录时检查",
    "トークンを確認します",
    "You are welcome! 🙂",
    "Use ``a`b`` for that.",
    "$ python -m apiary serve the whole page with",
]


@each_row("text", CUT)
def test_it_stops_in_the_middle(text):
    assert stops_in_mid_sentence(text)


@each_row("text", WHOLE)
def test_it_has_an_end(text):
    assert not stops_in_mid_sentence(text)
