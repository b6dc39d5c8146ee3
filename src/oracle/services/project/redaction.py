"""Replaces what looks like a secret in a text, before the text leaves the process.

`SHAPES` lists what secrets look like. Each pattern is bounded or cannot start inside its own match,
so that time is linear in the input. The number of lines stays the same, so that citations of lines
stay right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# What documentation and code write in place of a secret: words such as `example` and `your-key`,
# markers such as `<token>` and `${TOKEN}`, names of types, and one character repeated.
_PLACEHOLDER: Final = re.compile(
    r"""(?xi)
    .*(?:example|dummy|placeholder|change[-_]?me|redacted|xxxx|\*\*\*|\.\.\.|…|1234567890|abcdefghij
        |(?:your|my|the|some)[-_]?(?:api|key|secret|token|pass|own|access)).*
    | (?:.*[-_])?(?:sample|insert|replace|todo|fixme|fake|test|here)(?:[-_].*)?
    | [<{\[$%].* | .*[>}\]]
    | (?:str|string|text|bytes|bool|int|float|number|object|null|none|nil|true|false|undefined|any
        |optional|required|hidden|env|user|admin|root|foo|bar|baz
        |[iuf]\d{1,3}|u?int\d{1,3}|float\d\d|sha\d{1,3}|utf-?\d{1,2}|md5
        |pass(?:word|wd|phrase)?|pwd|secret|token|key|api_?key|bearer|basic)s?
    | (.)\1*
    """
)
_NAMES_A_PASSWORD: Final = r"(?:pass(?:word|wd|phrase)|passwd|pwd)"
_PASSWORD_MARKS: Final = "passw passphrase pwd"
_KEY_MARKS: Final = "secret token key credential"
_NAMES_A_KEY: Final = (
    r"(?:secret|(?:api|access|secret|private|signing|encryption|account|auth)[_-]?key"
    r"|token|credentials?)"
)


def _is_random(value: str) -> bool:
    """Letters and digits mixed, or long with both cases, which names seldom are."""
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    long_mixed = len(value) >= 24 and not value.islower() and not value.isupper()
    return letters and (digits or (long_mixed and not re.search(r"[ ._/-]", value)))


def _is_real(value: str) -> bool:
    return not _PLACEHOLDER.fullmatch(value)


def _is_real_key(value: str) -> bool:
    """Not for a snake_case or dotted name, also with a number at its end (`token_v2`)."""
    return _is_real(value) and _is_random(value) and not re.fullmatch(r"[a-z_.]+\d{0,2}", value)


def _is_real_password(value: str) -> bool:
    return _is_real(value) and not any(map(str.isspace, value))


def _always(value: str) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A kind of secret. The group `secret` of a match, or else all of it, is replaced.

    `is_secret` may still refuse a match, such as a placeholder. One of `marks`, in lower case, is
    in every text that can match. Looking for the marks first is enough for most texts, and far
    faster than the pattern.
    """

    name: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool] = _always


def _shape(
    name: str, marks: str, pattern: str, is_secret: Callable[[str], bool] = _always
) -> Shape:
    """`marks` are separated by blanks; a blank inside one is written as `~`."""
    words = tuple(mark.replace("~", " ") for mark in marks.split())
    return Shape(name=name, marks=words, pattern=re.compile(pattern), is_secret=is_secret)


def _prefixed(name: str, marks: str, pattern: str) -> Shape:
    """A well-known prefix at the start of a word. So a long word is scanned only once."""
    return _shape(name, marks, rf"(?<![\w-])(?:{pattern})(?![\w-])", _is_real)


# Specific shapes come first: they name what was found, and the general ones at the end skip
# `[redacted: …]`, which begins like a placeholder.
SHAPES: Final = (
    _shape(
        # Up to the end marker, or, where that is missing, as far as the lines look like a key. The
        # quantifiers are possessive (`*+`, `++`): what they matched is never tried again.
        "private key",
        "private~key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,60}-----"
        r"|(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]{40,}+)++(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]++)?)",
    ),
    _prefixed("AWS key", "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}"),
    _prefixed(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}",
    ),
    _prefixed("GitLab token", "glpat- glptt- gldt- glrt-", r"gl(?:pat|ptt|dt|rt)-[\w-]{20,255}"),
    _prefixed(
        "Slack token", "xox xapp-", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{20,255}"
    ),
    _shape(
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/(?P<secret>T\w{6,20}/B\w{6,20}/\w{16,40})",
    ),
    _shape(
        "API key",
        "sk-",
        r"(?<![\w-])(?P<secret>sk-(?:ant-|proj-|svcacct-|or-)?[\w-]{20,255})(?![\w-])",
        _is_real_key,
    ),
    _prefixed(
        "Google key",
        "aiza gocspx- ya29.",
        r"AIza[\w-]{35}|GOCSPX-[\w-]{20,40}|ya29\.[\w-]{20,1000}",
    ),
    _prefixed(
        "Stripe key",
        "sk_ rk_ whsec_",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9]{24,255}",
    ),
    _prefixed("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _prefixed("PyPI token", "pypi-", r"pypi-[\w-]{50,500}"),
    _prefixed("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    _prefixed("SendGrid key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _prefixed("Twilio key", "sk", r"SK[0-9a-f]{32}"),
    _prefixed("Tavily key", "tvly-", r"tvly-[\w-]{20,255}"),
    _prefixed("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,255}"),
    _prefixed("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _prefixed("Telegram token", ":aa", r"\d{8,10}:AA[\w-]{33}"),
    _prefixed("age key", "age-secret-key-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _prefixed("JWT", "eyj", r"eyJ[\w-]{10,8000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}"),
    _shape(
        "authorization",
        "authorization",
        r"(?i)authorization[\"']?\s{0,5}[:=]\s{0,5}[\"']?(?:basic|bearer|token)\s{1,5}"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{8,4000})",
        _is_real,
    ),
    _shape(
        "bearer token",
        "bearer",
        r"(?i)(?<!\w)bearer\s{1,5}(?P<secret>[A-Za-z0-9._~+/=-]{16,4000})",
        _is_real_key,
    ),
    _shape(
        # In an address: `postgresql://user:password@host`.
        "password",
        "://",
        r"://[^\s/:@'\"<>]{0,200}+:"
        r"(?P<secret>[^\s/@'\"<>]{1,200}+)@",
        _is_real,
    ),
    _shape(
        "account key", "accountkey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/=]{40,200})", _is_real
    ),
    # In quotes, as code has it. Any text in quotes may be a password; a key has to look random.
    _shape(
        "password",
        _PASSWORD_MARKS,
        rf"(?i){_NAMES_A_PASSWORD}[\"']?\]?\s{{0,20}}(?:=|:|=>|:=)\s{{0,20}}[rbuf]?"
        r"(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote))[^\n]){4,500})(?P=quote)",
        _is_real_password,
    ),
    _shape(
        "secret",
        _KEY_MARKS,
        rf"(?i){_NAMES_A_KEY}[\"']?\]?\s{{0,20}}(?:=|:|=>|:=)\s{{0,20}}[rbuf]?"
        r"(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote))\S){8,500})(?P=quote)",
        _is_real_key,
    ),
    # Without quotes, as settings files have it. Words alone are more likely a name than a password.
    _shape(
        "password",
        _PASSWORD_MARKS,
        rf"(?im)^[ \t]{{0,40}}(?:-[ \t])?(?:export[ \t]+)?[\w.-]{{0,60}}{_NAMES_A_PASSWORD}"
        r"(?:[ \t]{0,5}=[ \t]{0,5}|:[ \t]{1,5})"
        r"(?P<secret>[^\s\"'()\[\]{}<>$,;]{4,200}+)[ \t]{0,20}$",
        lambda value: _is_real_password(value) and not re.fullmatch(r"[A-Za-z_.|]+", value),
    ),
    # Environment variables in capitals: their values count as real without looking random.
    _shape(
        "secret",
        "password= passwd= pwd= secret= token= key=",
        r"(?m)^(?:export )?[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PWD|SECRET|TOKEN|KEY)="
        r"(?P<secret>[^\s\"'()\[\]{}<>$,;]{6,400}+)$",
        _is_real,
    ),
    # Anything else that is called a key or a password, also in the middle of a line or an address.
    _shape(
        "secret",
        f"{_KEY_MARKS} {_PASSWORD_MARKS}",
        rf"(?i)(?:{_NAMES_A_KEY}|{_NAMES_A_PASSWORD})(?:[ \t]{{0,5}}=[ \t]{{0,5}}|:[ \t]{{0,5}})"
        r"(?P<secret>[^\s\"'()\[\]{}<>$,;&]{8,400}+)(?=[\s&;]|$)",
        _is_real_key,
    ),
)


def redact(text: str) -> str:
    """The same lines without what looks like a secret. Calling it again changes nothing."""
    folded = text.lower()
    for shape in SHAPES:
        if any(mark in folded for mark in shape.marks):
            text = shape.pattern.sub(lambda found, shape=shape: _replaced(found, shape), text)
    return text


def _replaced(found: re.Match[str], shape: Shape) -> str:
    group = "secret" if "secret" in shape.pattern.groupindex else 0
    secret = found[group]
    if not shape.is_secret(secret):
        return found[0]
    start, end = (place - found.start() for place in found.span(group))
    mark = f"[redacted: {shape.name}]" + "\n" * secret.count("\n")
    return found[0][:start] + mark + found[0][end:]
