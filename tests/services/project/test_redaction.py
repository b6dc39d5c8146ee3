"""Secrets are removed. Names and placeholders that only resemble one stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.project.redaction import _redacted, hide, redact
from tests.default_run import thinned
from tests.services.project import redaction_cases as cases
from tests.services.project import redaction_cases_defaults as defaults
from tests.services.project import redaction_cases_forms as forms
from tests.services.project import redaction_cases_groups as groups
from tests.services.project import redaction_cases_later as later
from tests.services.project import redaction_cases_nearby as nearby
from tests.tables import each_row
from tests.timing import seconds, takes_less

TABLES = (cases, later, forms, defaults, groups, nearby)
SECRETS = dict(enumerate(case for table in TABLES for case in table.SECRETS))
HARMLESS = dict(enumerate(text for table in TABLES for text in table.HARMLESS))


@each_row(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_taken_out(text, secret):
    assert secret in text
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted: " in redacted


@each_row("text", HARMLESS.values(), ids=HARMLESS)
def test_what_only_resembles_a_secret_stays(text):
    assert redact(text) == text


@each_row("text", [text for text, _ in SECRETS.values()], ids=SECRETS)
def test_a_second_time_changes_nothing_and_lines_stay_where_they_are(text):
    once = redact(f"before\n{text}\nafter")
    assert redact(once) == once
    assert once.count("\n") == text.count("\n") + 2
    assert once.startswith("before\n")
    assert once.endswith("\nafter")


TOKEN = "ghp_Fx3gxODYfjuMbwrHMbgcn33KFLKnq7XrBg8C"
DISGUISES = {
    "colour": f"\x1b[32m{TOKEN}\x1b[m",
    "colour inside": f"{TOKEN[:9]}\x1b[1;31m{TOKEN[9:]}",
    "link": f"\x1b]8;;http://x\x07{TOKEN[:20]}\x1b]8;;\x07{TOKEN[20:]}",
    "colour in JSON": f'{{"line": "{TOKEN[:9]}\\u001b[32m{TOKEN[9:]}"}}',
    "cat -v": f"^[[32m{TOKEN[:9]}^[[m{TOKEN[9:]}",
    "manual page": "".join(f"{letter}\b{letter}" for letter in TOKEN),
    "zero width": f"{TOKEN[:2]}\u200b{TOKEN[2:]}",
    "soft hyphen": f"{TOKEN[:20]}\u00ad{TOKEN[20:]}",
    "NUL": TOKEN.replace("_", "\0_"),
    "JSON escape": TOKEN.replace("_", "\\u005f"),
    "address": f"https://x.test/?t={TOKEN.replace('_', '%5F')}",
    "mail": f"t=3D{TOKEN}",
    "letters before": f"xx{TOKEN}",
    "name before": f"DEPLOY_{TOKEN}",
}


@each_row("text", DISGUISES.values(), ids=DISGUISES)
def test_escape_codes_invisible_characters_and_neighbours_do_not_hide_a_key(text):
    once = redact(text)
    assert "[redacted: GitHub token]" in once
    assert TOKEN[21:] not in once
    assert redact(once) == once


@pytest.mark.parametrize("text", ["\x1b[32mok\x1b[m", "👩\u200d💻 a\u00adb", "100%5F \\u005f"])
def test_hidden_characters_that_hide_nothing_stay(text):
    assert redact(text) == text


@given(st.lists(st.sampled_from([*SECRETS.values()]), min_size=1, max_size=6), st.data())
def test_neighbours_do_not_hide_a_secret(chosen, data):
    between = data.draw(st.sampled_from(["\n", "\n\n", "\r\n", "\n+", "\n-- \n"]))
    text = between.join(text for text, _ in chosen)
    once = redact(text)
    assert [secret for _, secret in chosen if secret in once] == []
    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_keeps_its_lines_and_is_not_changed_again(text):
    once = redact(text)
    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


@pytest.mark.extra
@pytest.mark.parametrize(
    "unit",
    thinned(
        [
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n" + "A" * 50,
            "eyJ-eyJ.",
            "eyJaaaaaaaaaaaa.eyJaaaaaaaaaaaa.",
            "sk-",
            "password=",
            "password = '",
            "bearer ",
            "://a:",
            "://a:b",
            "secret: ",
            "token=a1",
            "authorization: bearer ",
            "export PASSWORD",
            " ",
            "A1b2",
            "PASSWORD_1=",
            "cookie: a=",
            "AAAAAAAA\n-----END PRIVATE KEY-----\n",
            "api_key: |\n  ",
            "\x1b[",
            "\x1b]8;;",
            "ghp%5F",
            "github_pat_",
            "a\b",
            'password", ',
            "password or ",
            'password") if ',
            "password = get(",
            "name: PASSWORD\n a: b\n",
            "value: a1b2c\n name: ",
            "aB3" * 21 + "a\n",
            "token:",
            "token=token:",
            "a, password = 1, ",
            "insert into t (password) values ('a1b2'), ",
            "user,password\n",
            "| password |\n|---|\n",
            '"aB3" + ',
            "'" + "password" * 5 + "' == ",
        ],
        6,
    ),
)
def test_time_is_linear_whatever_comes(unit):
    def reading(size):
        text = unit * (size // len(unit))
        return lambda: _redacted(text)

    small = max(min(seconds(reading(10_000)) for _ in range(3)), 0.002)
    assert takes_less(reading(80_000), 24 * small)


@pytest.mark.extra
def test_names_without_values_cost_a_bounded_multiple_of_plain_text():
    """As a ratio, because machines differ. What is plain has no name of a secret in it at all."""

    def reading(unit):
        text = (unit * 20_000)[:20_000]
        return lambda: _redacted(text)

    plain_words = reading("some plain words of a text, and a number: 12.\n")
    plain = min(seconds(plain_words) for _ in range(3))
    units = ("token:", "secret:", "token=token:", "token::", "api_key:", "auth:auth,key:key,")
    # Of plain text, each word is looked at once. Without a limit for the values of names it would
    # be some 3,500 times as much.
    assert [unit for unit in units if not takes_less(reading(unit), 1_200 * plain)] == []


@pytest.mark.extra
def test_a_long_text_that_was_redacted_is_not_read_again():
    once = redact(f"token={TOKEN}\n" + "token:" * 5_000)
    assert takes_less(lambda: redact(once), seconds(lambda: redact(f"{once}.")) / 5)
    hide("token:token:token:token:")
    assert "token:token:token:token:" not in redact(once)


@pytest.mark.parametrize("sign", ["+", "-", "> "])
@pytest.mark.parametrize(
    ("text", "secret"),
    thinned([case for case in SECRETS.values() if not case[0][:1].isdigit()], 10),
)
def test_the_sign_of_a_diff_or_a_quotation_does_not_hide_a_secret(sign, text, secret):
    lines = text.split("\n")
    signed = "\n".join(sign + line for line in lines)
    redacted = redact(signed).split("\n")
    # Lines with numbers in front are not those of a diff.
    if not any(line.lstrip()[:2].isdigit() or line[:1] == sign for line in lines):
        assert secret not in "\n".join(redacted)
    assert len(redacted) == len(lines)
