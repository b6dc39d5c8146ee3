import math

import pytest

from oracle.services.settings.value_types import (
    LARGEST_NUMBER,
    LONGEST_TEXT,
    Address,
    Choice,
    Folder,
    Number,
    Text,
    Unfit,
    VariableName,
    WholeNumber,
    holds_password,
    masked,
)
from tests.tables import each_row

CHOICE = Choice(("stop", "memory"))
COUNT = WholeNumber(least=1)
MONEY = Number(can_be_off=True)

FITTING = [
    (Text(), "a:b", "a:b"),
    (COUNT, 1, 1),
    (COUNT, LARGEST_NUMBER, LARGEST_NUMBER),
    (Number(), 2, 2.0),
    (MONEY, 0.5, 0.5),
    (MONEY, "off", None),
    (CHOICE, "memory", "memory"),
    (Folder(), "~/trees", "~/trees"),
    (Folder(inside=True), "docs/notes", "docs/notes"),
    (Address(), "https://[::1]:8080/v1", "https://[::1]:8080/v1"),
    (VariableName(), "TEAM_KEY_2", "TEAM_KEY_2"),
]

UNFIT = [
    (Text(), 3, "is 3; write a text in quotes"),
    (Text(), "  ", "is '  '; write a text"),
    (Text(), "a\x1b[2J", r"is 'a\\x1b\[2J'"),
    (Text(), "x" * (LONGEST_TEXT + 1), "is 'xxx.*…; write"),
    (COUNT, 0, "is 0; write a whole number from 1"),
    (COUNT, True, "is true; write a whole number"),
    (COUNT, 3.0, r"is 3\.0; write a whole number"),
    (COUNT, "30", "is '30'; write a whole number from 1, without quotes"),
    (COUNT, 10**400, "is 1000.*…; write"),
    (COUNT, [1], "is a list; write"),
    (COUNT, {"a": 1}, "is a section; write"),
    (Number(), -0.1, r"is -0\.1; write a number from 0"),
    (Number(), math.nan, "is nan; write"),
    (Number(), math.inf, "is inf; write"),
    (Number(), "off", "is 'off'; write a number from 0"),
    (MONEY, "of", "is 'of'; write a number from 0, or \"off\""),
    (CHOICE, "memroy", "is 'memroy'; use stop or memory; did you mean 'memory'?"),
    (CHOICE, 1, "is 1; use stop or memory"),
    (CHOICE, ["stop"], "is a list; use stop or memory"),
    (Folder(inside=True), "/etc", "write a folder below the project's root"),
    (Folder(inside=True), "~", "write a folder below the project's root"),
    (Folder(inside=True), "a/../../b", "write a folder below the project's root"),
    (Address(), "localhost:8080", "write an address that starts with http"),
    (Address(), "http://", "write an address"),
    (Address(), "http://[::1", "write an address"),
    (Address(), "http://h:99999/", "write an address"),
    (Address(), "file:///etc/passwd", "write an address"),
    (Address(), "http://[::1].evil.test/v1", "write an address"),
    (Address(), "http://[::1]evil.test/v1", "write an address"),
    (Address(), "http://[::1%25evil.test]/v1", "write an address"),
    (Address(), "http://[1.2.3.4]/v1", "write an address"),
    (Address(), "http://localhost%2eevil.test/v1", "write an address"),
    (Address(), "http://a b/v1", "write an address"),
    (Address(), " http://a/v1", "write an address"),
    (Address(), "http://localhost\\.evil.test/v1", "write an address"),
    (Address(), "http://h:0/v1", "write an address"),
    (Address(), "http://localhost。evil.test/v1", "not ASCII; write it as xn--"),
]


@each_row(("kind", "raw", "value"), FITTING)
def test_what_fits_becomes_the_value(kind, raw, value):
    assert kind.check(raw) == value


@each_row(("kind", "raw", "told"), UNFIT)
def test_what_does_not_fit_is_told_with_what_to_write(kind, raw, told):
    with pytest.raises(Unfit, match=told):
        kind.check(raw)


@pytest.mark.parametrize(
    ("kind", "text", "raw"),
    [(COUNT, "400_000", 400_000), (COUNT, "x", "x"), (MONEY, "0.5", 0.5), (MONEY, "off", "off")],
)
def test_a_variable_is_read_as_the_file_would_be(kind, text, raw):
    assert kind.from_text(text) == raw


@each_row("key", ["sk-ant-hush", "BSAhushhush", "0123hush", "", 5])
def test_what_might_be_a_key_is_refused_without_being_shown(key):
    with pytest.raises(Unfit, match="never into a file") as refusal:
        VariableName().check(key)
    assert "hush" not in str(refusal.value)


def test_an_address_with_a_password_is_refused_without_showing_it():
    with pytest.raises(Unfit, match="contains a name or password") as refusal:
        Address().check("https://me:hush@host/v1")
    assert "hush" not in str(refusal.value)


@each_row(
    ("address", "shown"),
    [
        ("postgresql://me:hu/sh@host:5432/db", "postgresql://me:••••@host:5432/db"),
        ("postgresql://:hu@sh@host/db", "postgresql://:••••@host/db"),
        (
            "postgresql://h/db?user=u&password=hush&x=1",
            "postgresql://h/db?user=u&password=••••&x=1",
        ),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("sqlite:////srv/a:b.db", "sqlite:////srv/a:b.db"),
    ],
)
def test_a_password_is_masked_and_nothing_else(address, shown):
    assert masked(address) == shown
    assert holds_password(address) == (address != shown)
