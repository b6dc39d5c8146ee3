"""Secrets that are known by the name in front of them: `password = …`, `api_key: …`.

The forms are those of code, JSON, YAML, TOML, environment files, command lines, addresses and
connection strings. A name is found with `str.find`, and only there the rest is matched: this is
many times faster than one pattern over the whole text, and each name costs a bounded number of
steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.secret_nearby import nearby
from oracle.services.project.secret_neighbours import (
    is_class_name,
    is_harmless_name,
    is_other_call,
    is_other_item,
    unpacked_at,
)
from oracle.services.project.secret_values import (
    is_bare_key,
    is_bare_password,
    is_passphrase,
    is_real,
    is_real_key,
    is_real_password,
)

_IN_OTHER_LANGUAGES: Final = (
    *("kennwort", "contraseña", "contrasena", "mot_de_passe", "mot-de-passe", "mot de passe"),
    *("motdepasse", "wachtwoord", "senha", "hasło", "haslo", "пароль", "пароля", "密码", "密碼"),
    *(
        "パスワード",
        "비밀번호",
        "lösenord",
        "şifre",
        "parola",
        "salasana",
        "passord",
        "adgangskode",
    ),
    *("heslo", "jelszó", "كلمة المرور", "סיסמה", "mật khẩu", "รหัสผ่าน"),
)
# The beginning of a name, and the whole name from there on.
_PASSWORDS: Final = {
    "pass": lazy_pattern(r"pass(?:words?|w[oö]rte?r?|wd|phrase|code)?"),
    "pwd": lazy_pattern(r"pwd"),
    "pw": lazy_pattern(r"pw(?![a-z])"),
    "psk": lazy_pattern(r"psk(?![a-z])"),
    # As other languages call it.
    **{word: lazy_pattern(word) for word in _IN_OTHER_LANGUAGES},
}
_KEYS: Final = {
    "secret": lazy_pattern(r"secrets?"),
    "token": lazy_pattern(r"tokens?"),
    "key": lazy_pattern(r"keys?(?:_?base)?"),
    "cred": lazy_pattern(r"cred(?:ential)?s?"),
    "auth": lazy_pattern(r"auth(?:orization)?"),
    "bearer": lazy_pattern(r"bearer"),
    "_pat": lazy_pattern(r"_pat(?![a-z])"),
    "sess": lazy_pattern(r"sess(?:ion)?[_-]?id"),
    "jwt": lazy_pattern(r"jwt"),
    "dsn": lazy_pattern(r"dsn"),
    "conn": lazy_pattern(r"conn(?:ection)?[_-]?str(?:ing)?"),
}
_COMMON_WORDS: Final = ("pass", "pw", "psk")
"""Alone they may mean anything: `pass` is a word of many languages."""
NAMES: Final = (*_PASSWORDS, *_KEYS)
# `key` alone is a key of a map. These words before it make it one that opens something.
_KEY_BEFORE: Final = lazy_pattern(
    r"(?:api|app|access|secret|private|pre_?shared|sign(?:ing|ature)|encrypt(?:ion)?|account|auth"
    r"|master|licen[cs]e|service|consumer|client|storage|shared|session|webhook|deploy|admin|hmac"
    r"|aes|jwt|crypto|cipher|decryption|root|team|project|bot|ssh|gpg|subscription|function|host"
    r"|write|integration|ingest(?:ion)?|instrumentation|server)[_. -]?\Z"
)
_LONGEST_BEFORE: Final = 20
# What may follow a name: `PASSWORD_2`, `API_KEY_PROD`. Other words change its meaning.
_FOLLOWED: Final = lazy_pattern(
    r"(?:[_.-]?\d{1,3}|[_.-](?:prod(?:uction)?|dev|stag(?:e|ing)|live|test|main|primary|secondary"
    r"|value|string|text|old|new|current|previous|default|b(?:ase)?64|raw|plain|clear|hex|db|api"
    r"|admin|root|user|ro|rw)|_for_\w{1,20})?"
    r"(?P<close>\\{0,7}[\"'`])?(?:\[\d{0,4}\]|[\])]{0,2})"
    r"(?P<sign>\s{0,20}(?:=>|:=|[=!]==?|\?=|\|\|=?|->|=|:|：|＝|,|\()(?:\*\*|[ ]!!str)?\s{0,20}"
    r"(?:[(\[]\s{0,20}(?=[\"']))?|%3[ad]|[ \t]{1,3}(?:is[ \t]{1,3})?)"
    r"(?:[rbuf@$](?=\\?[\"'`]))?(?P<open>\\{0,7}(?:\"{3}|'{3}|[\"'`]))?"
)
# What else can be between a name and its value. The value is always in quotes or in an element.
_LINKED: Final = lazy_pattern(
    r"(?P<close>[\"'`])?(?P<sign>"
    # A declared type: `password: str =`, `password: &'static str =`, `password string =`.
    r"\??\s{0,3}:\s{0,3}&?[\w.'\[\]<>|? ]{1,40}?\s{0,3}=\s{0,5}"
    r"|[ ](?:string|str|String)\s{0,3}:?=\s{0,5}"
    # A fallback: `= os.getenv("P") or`, `= process.env.P ||`.
    r"|\s{0,3}[:=]\s{0,3}[\w.$]{1,60}(?:[(\[]\s?[\"'][\w.-]{1,60}[\"']\s?[)\]])?"
    r"\s{0,3}(?:or|\|\||\?\?|\?:)\s{1,3}"
    # A pair of a name and a value: in JSON, YAML, HTML and Terraform. In YAML and in a diff, there
    # may be other lines of the entry between them.
    r"|[\s,+-]{1,60}"
    r"(?:[\"']?(?!name|key|value)\w{1,20}[\"']?[:=][ ][^\n]{0,100}\n[\s+-]{0,40}){0,2}?"
    r"[\"']?value[\"']?\s{0,3}[:=]\s{0,3}|[^<>\n]{0,80}?[ ]value=(?=[\"'])"
    r"|[ ]\{[^{}]{0,300}?default\s{0,5}=\s{0,5}"
    # `password.equals("…")`
    r"|\.\s?(?:equals\w{0,12}|eql?|compare\w{0,10}|is_?equal\w{0,6})\??\(\s{0,3}"
    # `<property name="password">…`, `<key>password</key> <string>…`.
    r"|[^<>\n]{0,80}>(?=[^\s<]{4,300}</)|</key>\s{1,20}<string>)"
    r"(?P<open>[\"'])?"
)
# The value that is used if a variable of this name is not set. It is always in quotes.
_DEFAULTED: Final = lazy_pattern(
    r"(?P<close>[\"'`])?(?P<sign>"
    # `config("PASSWORD", default=`, `add_argument("--password", help="…", default=`.
    r"(?<=[\"'`])\s{0,5},[^()]{0,200}?\b(?:default\w{0,6}|fallback)\s{0,3}[=:]\s{0,3}"
    # `env["PASSWORD"] ??`, `env.PASSWORD or`, `getenv("PASSWORD") ?:`.
    r"|[\])]{0,2}\s{0,20}(?:or|\|\||\?\?|\?:)\s{1,20}"
    # `var("PASSWORD").unwrap_or(`, `.Values.password | default`, `fetch("PASSWORD") {`.
    r"|[\])]{0,2}\s{0,20}(?:\.\s?(?:unwrap_or(?:_else)?|get_?or_?else|or_?else(?:_?get)?|value_or)"
    r"\s?\((?:\|\w{0,9}\|\s?|\(\)\s?[-=]>\s?)?|\|\s?default\s)\s{0,20}"
    r"|(?<=[\"'])[\])]\s?\{\s?"
    # `env["PASSWORD"] if … else`.
    r"|[\])]\s[^\n]{0,120}?\selse\s{1,3}"
    # The variable on the left has the name: `PASSWORD = getenv("DB", `, `password = x if … else`.
    r"|(?:\??\s{0,3}:\s{0,3}[\w.\[\]| ]{1,40}?)?\s{0,3}:?=\s{0,3}(?:"
    r"[\w.:$>-]{0,60}(?:get\w{0,12}|fetch|env\w{0,6}|config\w{0,6}|pop|var|lookup\w{0,6})"
    r"\(\s{0,40}[\"'][\w.-]{1,60}[\"']\s{0,5},\s{0,40}(?:default\w{0,6}\s{0,3}=\s{0,3})?"
    r"|[\w.]{1,60}\([^()\n]{0,100}?\bdefault\w{0,6}\s{0,3}=\s{0,3}"
    r"|[\w.]{0,30}(?:field|secretstr|secretbytes)\(\s{0,20}"
    r"|[^\n=]{1,120}?\selse\s{1,3}))"
    r"(?P<open>[\"'`])"
)
_READS_VARIABLE: Final = lazy_pattern(
    r"(?i)(?:get_?env\w{0,6}|environ\.\w{3,10}|\benv(?:\.\w{3,12})?|config|property)"
    r"\s?\(\s{0,40}[\"'][\w.-]{0,40}\Z"
)
# In a block below its name, as YAML has it: `password: |`.
_BLOCK: Final = lazy_pattern(r"[|>][-+\d]{0,2}[ \t]{0,5}\r?\n[ \t]{1,40}")
_BARE: Final = lazy_pattern(r"[^\s\"'`()\[\]{}<>,;&|]{4,300}+")
_REST_OF_BARE: Final = lazy_pattern(r"[^\s\"'`()\[\]{}<>,;&|]*+")
_MAY_LINK: Final = lazy_pattern(r"[\"'`?:=<>\n,]|[ ](?:[:={|?]|st|or[ ])|\.\s?(?:eq|com|is)")
_CONTINUED: Final = lazy_pattern(r"(?:[\"'][ \t]{0,3}\+\s{0,20}[\"'][^\"'\n]{1,300}){1,5}")
_NEXT_LINE: Final = lazy_pattern(r"[^\s\"'`()\[\]{}<>,;&|:]{6,300}+[ \t]{0,5}(?=\r?\n|\Z)")
# The rest of a line in a file of settings. A password may have signs that end a value in code.
_WHOLE_LINE: Final = lazy_pattern(
    r"(?=\S{0,100}\d)[^\s\"'`()\[\]]{6,200}(?=[ \t]{0,5}\r?(?:\n|\Z))"
)
_LINE_START: Final = lazy_pattern(r"[+\- \t]{0,20}(?:export[ ]|set[ ])?[\w.-]{0,60}\Z")
_SETS: Final = lazy_pattern(
    r"(?:^|[\s;&|`$+])(?:ENV|ARG|setenv|setx|set[ ]-[a-zA-Z-]{1,12}|config(?:ure)?[ ]set)"
    r"[ ]{1,3}\S{0,60}\Z|(?:^|\s)require\Z"
)
_FLAG: Final = lazy_pattern(r"(?<![\w-])--?[\w-]{0,30}\Z")
_VARIABLE: Final = lazy_pattern(
    r"(?:^|[\s;&|\"'`+#>(,-])(?:export\s+|set\s+|env\s+|ENV\s+|ARG\s+)?[A-Z0-9_]{0,60}\Z"
)
_PAT_BEFORE: Final = lazy_pattern(r"(?i)(?:git\w{3}|azure|devops|ado|gh|access|my)\Z")
_WORDS_BEFORE: Final = lazy_pattern(r"[\"'],\s?[\"']\Z")
_LONGEST_VALUE: Final = 2_000
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_KEY: Final = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text, from `start` up to `end`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    text: str
    is_quoted: bool
    sign: str


def assigned(text: str, folded: str, marks: Container[str]) -> Iterator[Found]:
    """The secrets that follow their names. They may overlap and are in no order.

    `folded` is the text in lower case, and `marks` has those of the `NAMES` that it has.
    """
    for names, is_password in ((_PASSWORDS, True), (_KEYS, False)):
        for name, whole in names.items():
            start = folded.find(name) if name in marks else -1
            while start >= 0:
                found = _at(text, folded, start, whole, is_password=is_password)
                start += len(name)
                if found is not None:
                    yield found
                    # Names inside a secret are part of it. Looking at them costs linear time each.
                    start = max(start, found.end)
                start = folded.find(name, start)


def _at(
    text: str, folded: str, start: int, whole: re.Pattern[str], *, is_password: bool
) -> Found | None:
    name = whole.match(folded, start)
    if not name:
        return None
    # Mostly it is a part of another word, and none of the forms below begins with a letter.
    if (
        (not is_password or name[0] in _COMMON_WORDS)
        and folded[name.end() : name.end() + 1].isalpha()
        and text.find(",", max(0, start - _LONGEST_BEFORE * 4), start) < 0
    ):
        return None
    around = text[max(0, start - _LONGEST_BEFORE * 4) : start]
    before = around.rpartition("\n")[2]
    if is_harmless_name(before, name[0]):
        return None
    kind = "password" if is_password else "secret"
    if (unpacked := unpacked_at(text, before, start, name.end())) is not None:
        start, end = unpacked
        is_secret = _is_password if is_password else _is_key
        return Found(start, end, kind) if is_secret(text[start:end]) else None
    for form in (_FOLLOWED, _LINKED, _DEFAULTED):
        # Most names are words of a sentence or parts of a longer name.
        if form is _LINKED and not _MAY_LINK.match(folded, name.end()):
            break
        followed = form.match(folded, name.end())
        if not followed or not _is_named(around, name[0], text[start : name.end()], followed):
            continue
        value = _value(text, followed)
        if value is None or (form is _LINKED and not value.is_quoted and not _ends_bare(followed)):
            continue
        whole_name = before + text[start : name.end()]
        is_secret = _judge(whole_name, value, is_password=is_password)
        if is_secret(value.text) and not _is_other(text, whole_name, followed, value):
            return Found(value.start, _end(text, value), kind)
    if is_password and name[0] not in _COMMON_WORDS:
        near = nearby(text, before, name.end())
        return Found(*near, kind) if near else None
    return None


def _is_other(text: str, name: str, followed: re.Match[str], value: _Value) -> bool:
    """Whether the value has nothing to do with the name, or only repeats it."""
    sign = followed["sign"].strip()
    # `--password` or `--password-file`: a flag is not a value.
    if name.endswith(value.text) or re.match(r"--[a-z]", value.text):
        return True
    if sign == "(":
        return is_other_call(name, value.text, is_quoted=value.is_quoted)
    if sign == ",":
        before = text[max(0, followed.start() - 200) : followed.start()]
        end = value.start + len(value.text)
        after = text[end : end + 40]
        return not value.is_quoted or is_other_item(before, followed["sign"], value.text, after)
    return sign.endswith("field(") and is_class_name(value.text)


def _ends_bare(followed: re.Match[str]) -> bool:
    """Whether the value after it may be without quotes: in an element, or in a line of YAML."""
    sign = followed["sign"]
    return sign.endswith(">") or (sign.rstrip().endswith("value:") and "\n" in sign)


def _end(text: str, value: _Value) -> int:
    end = value.start + len(value.text)
    if value.is_quoted:
        # `"first half" + "second half"`
        more = _CONTINUED.match(text, end)
        return more.end() if more else end
    rest = _REST_OF_BARE.match(text, end)
    return rest.end() if rest else end


def _is_named(around: str, name: str, written: str, followed: re.Match[str]) -> bool:
    """Whether the name is one, and the sign after it gives it a value."""
    before = around.rpartition("\n")[2]
    sign = followed["sign"].strip()
    if name == "pass" and before[-3:].lower() == "ask":
        return False
    # The plain tests come first: they are cheap, and nearly always enough.
    is_set = (" " in before or before.endswith("require")) and bool(_SETS.search(before))
    if name in _COMMON_WORDS and before[-1:].isalpha() and not is_set:
        is_capital = name == "pass" and before[-1:].isupper()
        if not is_capital:
            return False
    # `pat` alone is short for a pattern.
    if name == "_pat" and not _PAT_BEFORE.search(before):
        return False
    is_flag = "-" in before and bool(_FLAG.search(before))
    if name.startswith("key") and not is_flag:
        folded = before[-_LONGEST_BEFORE:].lower()
        # `S3Key` is not a variable in capitals, but `key` alone may have been one.
        alone = written if before[-1:].isalnum() else name.upper()
        if not _KEY_BEFORE.search(folded) and not _VARIABLE.search(before + alone):
            return False
    if not sign:
        # `[--password] must be given`, and what follows a flag in quotes, are sentences.
        return (is_flag or is_set) and followed[0][:1] not in tuple("])\"'`")
    # `("password", "…")` gives a value; in `f(password, "…")` the two have nothing in common.
    # In a list of words, such as `'pass', 'raise'`, the name is one of the words.
    is_word = name in ("pass", "pwd", "pw") or _WORDS_BEFORE.search(before)
    return sign != "," or (
        followed["close"] is not None and (not is_word or bool(_READS_VARIABLE.search(around)))
    )


def _value(text: str, followed: re.Match[str]) -> _Value | None:
    start, quote, sign = followed.end(), followed["open"], followed["sign"]
    if quote:
        end = text.find(quote, start, start + _LONGEST_VALUE)
        is_one_line = end >= 0 and ("\n" not in text[start:end] or len(quote) >= 3)
        if is_one_line:
            return _Value(start, text[start:end], True, sign)
    elif block := _BLOCK.match(text, start):
        start = block.end()
    elif "\n" in sign and not sign.endswith(">") and not _ends_bare(followed):
        alone = _NEXT_LINE.match(text, start) if sign.lstrip().startswith(":") else None
        return _Value(start, alone[0].rstrip(), False, ":") if alone else None
    elif sign.strip(" \t") in ("=", ":") and (line := _WHOLE_LINE.match(text, start)):
        begin = text.rfind("\n", max(0, followed.start() - 100), followed.start()) + 1
        if _LINE_START.match(text[begin : followed.start()]) and _is_odd(line[0]):
            # Judged as an argument, because its signs look like code.
            return _Value(start, line[0].rstrip(",;"), False, "")
    bare = _BARE.match(text, start)
    # What is called or subscripted is code.
    code = "([{" if sign.endswith(">") else "([{<"
    if bare is None or text[bare.end() : bare.end() + 1] in tuple(code):
        return None
    # The name of an argument: `get("password", default="…")`.
    if (
        sign.strip() == ","
        and bare[0].endswith("=")
        and text[bare.end() : bare.end() + 1] in ("'", '"')
    ):
        return None
    return _Value(start, bare[0].rstrip(".:"), False, sign)


def _is_odd(value: str) -> bool:
    """Letters, digits and a sign that code would not have there."""
    is_code = re.search(r"[A-Za-z_]\w*\.[A-Za-z_]|::|->|=>|\$\{|\{\{", value)
    return bool(not is_code and re.search(r"[A-Za-z]", value) and re.search(r"[$,;%{}&<>].", value))


def _judge(name: str, value: _Value, *, is_password: bool) -> Callable[[str], bool]:
    is_tight = value.sign == "="
    if is_password and not value.is_quoted and "\n" in value.sign and name[-1:].isupper():
        return _is_variable
    if is_tight and not value.is_quoted and _VARIABLE.search(name) and name[-1:].isupper():
        is_named = (
            is_password
            or not name.endswith("KEY")
            or _KEY_BEFORE.search(name[-3 - _LONGEST_BEFORE : -3].lower())
        )
        return _is_variable if is_named else is_bare_key
    if is_password:
        if value.sign.strip(" \t") in ("", "%3d", "%3D") or _is_in_pairs(name, value):
            return _is_argument
        return _is_password if value.is_quoted else is_bare_password
    return _is_key if value.is_quoted else _is_bare_key


def _is_in_pairs(name: str, value: _Value) -> bool:
    """In a connection string or an address: `;Password=…`, `&password=…`."""
    return value.sign == "=" and re.search(r"[;&?][ ]?(?:user[ _]?)?\w{3,10}\Z", name) is not None


def _is_password(value: str) -> bool:
    return len(value) >= _SHORTEST_PASSWORD and (is_real_password(value) or is_passphrase(value))


def _is_argument(value: str) -> bool:
    return is_real_password(value) and value[:1] not in "-/"


def _is_variable(value: str) -> bool:
    """The value of an environment variable: a word alone counts too."""
    return (
        len(value) >= 6 and is_real(value) and not re.fullmatch(r"[A-Z_]+|\d{1,5}|[~.]?/.*", value)
    )


def _is_key(value: str) -> bool:
    return len(value) >= _SHORTEST_KEY and " " not in value and is_real_key(value)


def _is_bare_key(value: str) -> bool:
    return len(value) >= _SHORTEST_KEY and is_bare_key(value)
