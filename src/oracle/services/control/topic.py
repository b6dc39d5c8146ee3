"""Decides whether a question changes the topic of the conversation.

A question stays on the topic if one of these is true:
- It shares a word with the last exchanges.
- It has no subject of its own (`why?`, `give an example`).
- It refers back by its words (`and …`, `what about …`, `again`).
- It says what the last answer should look like (`shorter please`, `as a table`).
- It has a pronoun that nothing before it in the question explains.

A question can stay on the topic and still ask about something new (`and how does the worker consume
the queue?`). Then what the last exchanges gathered does not answer it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from oracle.patterns import lazy_pattern

RECENT_EXCHANGES: Final = 3
LONGEST_READ: Final = 4_000
"""Characters of each answer that are compared. An answer names its subject early."""
FEW_WORDS: Final = 5
"""A question with this many words of its own is complete, even if it begins with `and`."""
SHORTEST_STEM: Final = 4
"""Words are equal if they share one letter more than this, or if one of them is only this long."""

MOST_NEW_WORDS: Final = 1
"""So many words that are not in the last exchanges are still about them: `where are tokens
refreshed?`
"""
MOST_NAMES: Final = 50
"""Names of a question that are looked up: a pasted log can have thousands."""

_WORD: Final = lazy_pattern(r"[^\W\d_]+")
# A file, a symbol or code: `mail.py`, `send_mail`, `sendMail`.
_NAME: Final = lazy_pattern(
    r"`(?P<code>[^`\n]{1,200})`|\b\w++(?:[./]\w++)++|\b[^\W_]++_\w++|\b[^\W\d_]+[a-z][A-Z]\w*+"
)
# Phrases that announce another topic.
_BREAKS_OFF: Final = lazy_pattern(
    r"(?i)\b(?:something else|(?:different|another|new|unrelated) (?:question|topic|subject)|"
    r"unrelated(?:ly)?\b|chang(?:e|ing) (?:the )?(?:topic|subject)|by the way|btw)\b"
)
# A first word that continues, a word that refers back anywhere, or `the second one`.
_LEANS_BACK: Final = lazy_pattern(
    r"(?i)^\W*(?:and|but|so|then|or|also|ok|okay|yes|no|yeah|thanks|thank|"
    r"(?:what|how) about|what if|why not)\b"
    r"|\b(?:above|previous|previously|earlier|again|instead|so far|you (?:said|wrote|mentioned))\b"
    r"|\b(?:a|the|which|that|this|another) (?:\w+ )?ones?\b"
)
# What the last answer should look like: `shorter please`, `as a table`, `now in German`.
_REWORKS: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:now|please|can you|could you|make|a bit|much|even|say|put|give)\s+)*"
    r"(?:short(?:er|en)|longer|simpler|simplify|brief(?:er|ly)?"
    r"|more (?:briefly|concise|detail)|less technical|rephrase|reword|paraphrase|translate"
    r"|summari[sz]e|tl;?dr|eli5)\b"
    r"|\bin (?:a|one|two|three|few(?:er)?|a few|plain|simple|other|your own)"
    r" (?:sentences?|words?|lines?|english)\b"
    r"|\b(?:as|into) (?:a |an )?(?:\w+ )?(?:table|list|bullets?|bullet points|haiku|e-?mail)\b"
    r"|\b(?:one|two|three) (?:short )?(?:sentences?|lines?|paragraphs?|bullet points)\b"
    r"|^\W*(?:now |and |please |same )*in (?:english|german|french|spanish|italian|polish|dutch"
    r"|portuguese|chinese|japanese|russian)\b"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of English alone: the list of common words below does not know those of other languages.
_ENGLISH: Final = _words("the and how does what which where when why who with")
_PRONOUNS: Final = _words("it its that this those these they them their he she him her")
_THE_PROJECT: Final = _words("project repo repository codebase code workspace")
# Words that say nothing about the topic of a question about code.
_COMMON: Final = _words(
    "a about actually after again against ago all also although always an and any anyone anything "
    "anywhere are around as at bad be because been before best better between both but by came can "
    "class code come comes correct could describe detail details did different do does done down "
    "during each early elaborate else enough ever every everyone everything exactly example "
    "explain false far file files find first for from function get gets give go goes going gone "
    "good got had happen happens has have he her here him his how however i if in into is it its "
    "just kind know last late later let like line lines list long look made make makes many matter "
    "may maybe me mean means method might more most much must my need never new next no not "
    "nothing now of off often ok okay old on once one ones only or other our out over part parts "
    "perhaps place places please project question quite rather read really rest right said same "
    "say says second see set shall she should show since so some someone something somewhere soon "
    "still such summarize sure tell than thank thanks that the their them then there these they "
    "thing things this those though through till to too topic true twice two under until up us use "
    "used uses using usually very want was way we well went were what when where whether which "
    "while who whole whose why will with within without work works worse would write wrong yeah "
    "yes yet you your"
)


def is_topic_shift(query: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the query shares nothing with the last exchanges and does not refer to them."""
    subject = _subject(query)
    if not history or not subject:
        return False
    if _BREAKS_OFF.search(query):
        return True
    said = " ".join(
        f"{exchange['question']} {exchange['answer'][:LONGEST_READ]}"
        for exchange in history[-RECENT_EXCHANGES:]
    )
    if _shared(subject, _subject(said)):
        return False
    leans = len(subject) < FEW_WORDS and _LEANS_BACK.search(query)
    return not (leans or _has_an_open_pronoun(query) or _is_about_the_form(query))


def asks_for_something_new(query: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether it is about something that the last exchanges neither mention nor have read.

    That is a name, or more new words than known ones. A question with an open pronoun is about what
    was said before.
    """
    if not history or _has_an_open_pronoun(query) or _is_about_the_form(query):
        return False
    said = " ".join(map(_all_of, history[-RECENT_EXCHANGES:]))
    folded = said.casefold()
    names = [found["code"] or found[0] for found in _NAME.finditer(query)]
    if any(_has_letters(name) and name.casefold() not in folded for name in names[:MOST_NAMES]):
        return True
    subject = _subject(query)
    new = len(subject) - len(_shared(subject, _subject(said)))
    is_english = any(word.lower() in _ENGLISH for word in _WORD.findall(query))
    return is_english and new > max(MOST_NEW_WORDS, len(subject) - new)


def _is_about_the_form(query: str) -> bool:
    """Whether it only says how the last answer should be written."""
    return len(_subject(query)) < FEW_WORDS and _REWORKS.search(query) is not None


def _all_of(exchange: Mapping[str, Any]) -> str:
    """What was asked, said and read. Places have no texts here, but their names say a lot."""
    places: Sequence[Mapping[str, Any]] = exchange.get("metadata", {}).get("places", ())
    read = " ".join(str(place.get("where", "")) for place in places)
    return f"{exchange['question']} {exchange['answer'][:LONGEST_READ]} {read}"


def last_topic(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The exchanges since the topic changed last, oldest first."""
    first = len(history) - 1
    while first > 0 and not is_topic_shift(history[first]["question"], history[:first]):
        first -= 1
    return [*history[max(first, 0) :]]


def _subject(text: str) -> set[str]:
    """The words that name the topic."""
    words = (word.lower() for word in _WORD.findall(text))
    return {word for word in words if len(word) > 2 and word not in _COMMON}


def _has_letters(name: str) -> bool:
    """`3.9` is a number and no name."""
    return _WORD.search(name) is not None


def _shared(one: Iterable[str], other: Iterable[str]) -> list[str]:
    """Words of the first that the second has. They are compared by their first letters, as rough
    stems: `auth` and `authentication` are equal.
    """
    stems = {word[: SHORTEST_STEM + 1] for word in other}
    short = {stem[:SHORTEST_STEM] for stem in stems}
    return [
        word
        for word in one
        if word[: SHORTEST_STEM + 1] in stems
        or word[:SHORTEST_STEM] in stems
        or (len(word) == SHORTEST_STEM and word in short)
    ]


def _has_an_open_pronoun(query: str) -> bool:
    """True for `who calls it?`. False for `does the parser skip comments, is it fast?`, where the
    question explains the pronoun, and for `this repo`.
    """
    words = [word.lower() for word in _WORD.findall(query)]
    explained = 0
    for place, word in enumerate(words):
        if word in _PRONOUNS:
            follower = words[place + 1] if place + 1 < len(words) else ""
            before = words[place - 1] if place else ""
            # `the file that …`: here `that` is not a pronoun that refers back.
            is_relative = word == "that" and before in _THE_PROJECT | {"file", "function", "class"}
            if follower not in _THE_PROJECT and not is_relative:
                return True
        elif len(word) > 2 and word not in _COMMON:
            explained += 1
        # Two words of its own: from here on a pronoun refers to the question itself.
        if explained > 1:
            return False
    return False
