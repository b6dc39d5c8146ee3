"""Lists of words: those not searched for, those that count little, and synonyms."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern

_STOP_WORDS: Final = """
a about above actually after again all also am an and another any anyone anything are around as
ask at be because been before behind being below between both but by call called calls can
cannot code codebase come comes could currently define defined definition describe detail
details did didnt difference do does doesnt doing done dont down each either else ever every
everything exactly explain few find first for from gave get gets getting give given gives go
goes going good got had happen happened happens has have having hello her here hey hi him his
how however hows i if im implementation implemented in instead into is isnt it it's its
itself ive just keep know last let lets like list live lives located look looking looks made
make makes many may maybe me mean means might mine more most much must my need needs no nor not
now of off ok okay on once one ones only or other others our out over overview own part parts
per place places please possible project purpose quite rather really repo repository responsible
same say says see seen shall she should show shown shows since so some somehow something soon
still such summarise summarize sure take taken takes talk tell than thank thanks that the their
them then there there's these they thing things this those through to together too under until
up upon us use used uses using very via want was way ways we well were what what's whatever
whats when where wheres whether which while who whole whom whose why will with within without
wondering work working works would yes yet you your
"""
# Stop words that say something after all: they are searched for if a question has nothing else.
_LAST_RESORT: Final = """
call called calls code codebase define defined definition difference first implementation
implemented keep last list once only order own parts place purpose same together within without
"""
_GENERIC: Final = """
bug cover covered covers default fix tests treat
add added adds allow allowed applied apply ask asked asks based become begin begins belong build
built change changed changes check checked checks choose chose chosen class classes come contain
calculate calculated contains compute computed computes control create created creates deal
decide decided decides depend depends determine
different emit emits end ends ensure enter error exist exists expect fail fails file files flow
flows follow follows function functions general generate generated generates handle handled
handles handling help implement implements important include input involve keep kept kind logic
long main manage managed manages mechanism method methods model module modules move name named
names new number occur option order output pass passed passes perform prevent process produce
project protect provide provides put question questions raise reach read reads reason receive
related remain represent result results return returns run runs send sends set sets simple
single specific start starts state stay step steps stop stops support supports system thrown
time trigger triggered try turn type types value values wait write writes written
"""
_ENDINGS: Final = """
c cc cfg cpp css csv env go h hpp html ini java js json jsx kt lock lua md py pyi rb rs rst sh
sql toml ts tsx txt xml yaml yml
"""
# One group of synonyms a line.
_GROUPS: Final = """
delete remove drop purge
create make new open
error exception failure problem
fetch get load read
store save persist write database
config configuration settings options
auth login authentication authorization session
start begin init launch boot
stop end finish halt close
test spec check
retry retries attempt backoff
cache caching memoize
log logging logger
limit limits budget maximum quota
timeout deadline seconds
parse parser parsing
convert transform encode decode
send post emit publish
route routing endpoint url
user account
message messages chunk
schedule queue worker job task
install setup
version release changelog
search find lookup query
permission grant allow access
secret key credential redact
encrypt cipher hash
render draw format display print
"""

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Not searched for."""

LAST_RESORT: Final = frozenset(_LAST_RESORT.split())
"""Stop words that are searched for if a question has no other words."""

GENERIC: Final = frozenset(_GENERIC.split())
"""Searched for, but with a low weight. An answer need not have them."""

ENDINGS_OF_FILES: Final = frozenset(_ENDINGS.split())

SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(other for other in group.split() if other != word)
    for group in _GROUPS.strip().splitlines()
    for word in group.split()
}
"""Synonyms to try if a word finds nothing."""

# `walk me through`, `could you please`, `in detail`, `Reply in English.`: they say how to answer.
# Their words (`walk`, `step`) must not be searched for. Alone, such a word is searched for.
_WAYS_OF_ASKING: Final = lazy_pattern(
    r"\b(?:(?:walk|talk|take|run|guide|lead)\s+(?:me|us)\s+through|step\s+by\s+step"
    r"|(?:from\s+)?(?:end[\s-]+to[\s-]+end|start[\s-]+to[\s-]+finish)|all\s+the\s+way"
    r"|in\s+(?:detail|depth|a\s+nutshell|short|general)|at\s+a\s+high\s+level"
    r"|(?:(?:can|could|might|may|would)\s+)?go(?:es)?\s+wrong|wrong\s+(?:with|in|here)"
    r"|(?:can|could|would)\s+you(?:\s+please)?|i(?:\s+would|'d)\s+like\s+to\s+know)\b"
    # A sentence of its own, which some chat clients add to each question.
    r"|(?:^|(?<=[.?!:;\n])|(?<=[.?!:;] ))(?:please\s+)?(?:always\s+)?(?:reply|answer|respond|speak)"
    r"\s+(?:only\s+|back\s+)?in\s+(?:\w+\s+)?\w+(?=[.!]?\s*$|[.!]\s)",
    re.IGNORECASE,
)


def without_ways_of_asking(question: str) -> str:
    """Remove phrases that only ask. If nothing else is left, they are the subject and stay."""
    bare = _WAYS_OF_ASKING.sub(" ", question)
    return bare if any(letter.isalnum() for letter in bare) else question
