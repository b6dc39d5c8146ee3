"""Which value belongs to a name, where several are side by side: in lists, calls and unpacking."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.secret_values import is_random, is_real_key

# `user, password = "bob", "…"`: the names before this one, the rest of the names, one value.
_NAMES_BEFORE: Final = lazy_pattern(r"(?:[\w.$]{1,60}[ \t]{0,3},[ \t]{0,3}){1,9}[\w.$]{0,60}\Z")
_NAMES_AFTER: Final = lazy_pattern(
    r"\w{0,20}(?:[ \t]{0,3},[ \t]{0,3}[\w.$]{1,60}){0,9}[ \t]{0,3}[)\]]?[ \t]{0,3}:?=(?!=)"
    r"[ \t]{0,3}[(\[]?\s{0,20}"
)
_ITEM: Final = lazy_pattern(
    r"[rbuf]{0,2}(?:\"(?P<double>[^\"\n]{0,300})\"|'(?P<single>[^'\n]{0,300})'"
    r"|[\w.$-]{1,60}(?:\([^()\n]{0,100}\)|\[[^\[\]\n]{0,60}\])?)[ \t]{0,3}"
)
_NEXT_ITEM: Final = lazy_pattern(r",\s{0,20}")

# `next_token`, `public_key`: not secrets. `"AWS::IAM::AccessKey"`, `arn:aws:…:secret:`: types and
# addresses of things.
_NO_TOKEN: Final = lazy_pattern(
    r"(?i)(?:next|page|paging|continuation|forward|backward|change|lock|idempotency|cancellation"
    r"|xsrf_cookie|cancel)[_-]?\Z"
)
_NO_KEY: Final = lazy_pattern(r"(?i)public[_-]?\Z")
_TYPE_NAME: Final = lazy_pattern(r"[\"']\w{1,40}(?:::\w{1,40}){1,4}\Z|arn:aws[\w:/-]{1,80}\Z")

_SETTER: Final = lazy_pattern(r"(?i)(?:set|with|user|db|admin|root|\.)_?pass\Z")
_CLASS_NAME: Final = lazy_pattern(r"(?:[A-Z][a-z]+[0-9a-z]*|[A-Z]\d[a-z]+\d?)(?:[A-Z][a-z]+\d?)+")
_WORDS: Final = lazy_pattern(r"[A-Za-z0-9]+(?:[_.:/ -]+[A-Za-z0-9]+)+|/[\w/]+")
_PAIR_BEFORE: Final = lazy_pattern(r"[(\[{]\s{0,40}[rbuf]?[\"'`:][\w.-]{0,60}\Z")
_SETS_NAME: Final = lazy_pattern(
    r"(?i)(?:put|set\w{0,12}|define\w{0,10}|add\w{0,8}|header|env\w{0,6}|getenv|environ\.\w{3,10}|config)"
    r"\s?\(\s{0,40}[rbuf]?[\"'`][\w.-]{0,60}\Z"
)
_IS_NAME_ITSELF: Final = lazy_pattern(r"\\?[\"'`]?[\])]?\s{0,20}(?::|=>|=(?!=))")
_ENDS_PAIR: Final = lazy_pattern(r"\\?[\"'`]\s{0,20},?\s{0,20}[)\]}]")


def is_harmless_name(before: str, name: str) -> bool:
    """Whether the words before a name make it one of something that everybody may know."""
    if name.startswith("token") and _NO_TOKEN.search(before[-14:]):
        return True
    if name.startswith("key") and _NO_KEY.search(before[-8:]):
        return True
    return ("::" in before or "arn:" in before) and _TYPE_NAME.search(before) is not None


def unpacked_at(text: str, before: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the value of the name at `start:end` is in `user, password = "bob", "…"`.

    An empty place if the value is not in quotes. None if it is another kind of statement.
    """
    names = _NAMES_BEFORE.search(before) if "," in before else None
    after = (
        _NAMES_AFTER.match(text, end) if names or text[end : end + 9].lstrip()[:1] == "," else None
    )
    if after is None:
        return None
    wanted = names[0].count(",") if names else 0
    count = wanted + after[0].count(",") + 1
    place, found = after.end(), list[re.Match[str]]()
    while item := _ITEM.match(text, place):
        found.append(item)
        following = _NEXT_ITEM.match(text, item.end())
        if following is None or len(found) == count:
            break
        place = following.end()
    # In `f(a, password="…")` there are fewer values than names.
    if len(found) != count:
        return None
    group = next((group for group in ("double", "single") if found[wanted][group]), None)
    return found[wanted].span(group) if group else (end, end)


def is_other_call(name: str, value: str, *, is_quoted: bool) -> bool:
    """`set_password("…")` gives a value; `is_password(text)` and `should_pass("f()")` do not."""
    if not is_quoted or re.search(r"[()\[\]]", value):
        return True
    return name.lower().endswith("pass") and not _SETTER.search(name)


def is_class_name(value: str) -> bool:
    """`Field('NotifierSecretRef')` names a type."""
    return _CLASS_NAME.fullmatch(value) is not None


def is_other_item(before: str, sign: str, value: str, after: str) -> bool:
    """Whether the text after `"password",` is only the next of a list, or another key of a map."""
    if _IS_NAME_ITSELF.match(after[1:]) or value.startswith("-"):
        return True
    is_set = _SETS_NAME.search(before) is not None
    is_pair = is_set or bool(_PAIR_BEFORE.search(before) and _ENDS_PAIR.match(after))
    if is_pair and (is_set or not _WORDS.fullmatch(value)):
        return False
    has_signs = re.search(r"[^\w.:/ -]", value) and re.search(r"\d", value)
    return not (
        has_signs or (not _WORDS.fullmatch(value) and is_random(value) and is_real_key(value))
    )
