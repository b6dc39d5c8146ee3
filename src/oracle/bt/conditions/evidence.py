"""What has been gathered, and whether it is enough for this question."""

from __future__ import annotations

import re
from itertools import compress, takewhile
from typing import Any

from oracle.bt.board import (
    OFFER,
    all_tools,
    bb_get,
    board_of,
    classification_of,
    granted_tools,
    known_terms_of,
    services_of,
    shares_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.bt.shortfall import GROUNDS, NAMED, lacks_evidence, names_not_found
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.logs import logger_of
from oracle.models.query_classification import QueryType
from oracle.patterns import lazy_pattern
from oracle.services.classification.known_terms import RARE
from oracle.services.classification.parsed_query import ParsedQuery, parse_query
from oracle.services.control.needs import (
    is_only_words_to_look_for,
    last_in_vain,
    share_of_words,
    words_in,
)
from oracle.services.control.overlap import OVERVIEW_ROLES
from oracle.services.control.sufficiency import Evidence, Verdict, heuristic_sufficiency
from oracle.services.questions.project_topics import project_question
from oracle.services.tools.offered import with_role

log = logger_of(__name__)

_OUTSIDE = frozenset({"world", "time", "others"})
"""Words of the classifier's lexicon: the weather, the latest version, other projects."""

_ASKS_FOR_A_WAY = lazy_pattern(
    r"\W*how (?:can|do|could|would|should) (?:i|we|you)\b|\W*how to\b", re.I
)

_FACTS = frozenset(
    {"who", "when", "which", "is", "are", "was", "were", "has", "have", "did", "does"}
)
"""How a question for a fact begins, in the classifier's sketch."""

_NAMES_THE_WEB = lazy_pattern(
    r"(?i)\b(?:(?:on|from|of|search|browse|check|ask) the (?:inter)?(?:net|web)|the internet says?|"
    r"does the internet|online|google|googlen?|im (?:inter)?netz?|im web|aus dem netz|en ligne|"
    r"sur (?:le )?(?:web|net|internet)|en (?:línea|internet)|na internet|w internecie|"
    r"в интернете)\b|网上|上网|ネットで|インターネットで"
)

_MEANS_THE_PROJECT = lazy_pattern(
    r"(?i)\b(?:do|does|did|can|could|will|would|should|has) it\b(?! (?:rain|snow))"
    r"|\b(?:with|for|to|of|from|by|about|use|using|run|install|is) it\s*[?.!]*$"
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:supported|available|included|provided|accepted|allowed"
    r"|required|needed|shipped|bundled|built[- ]in|installed|enabled|used|possible)\s*[?.!]*$"
)
"""`it`, where no weather and no time of day is meant: nothing else is at hand. What is supported,
without a word for by whom, is supported by the project.
"""

_READING = frozenset({QueryType.CODE, QueryType.DOCUMENTATION})
_WEIGHED = ("evidence", "new_by_call", "tool_results", "sources_tried")


@condition(reads=GROUNDS)
def backs_the_claim(ctx: TickContext) -> bool:
    """Whether an answer, or a claim to know enough, can be believed.

    Evidence was gathered, or the question needs none.
    """
    return not lacks_evidence(board_of(ctx))


@condition(reads=GROUNDS)
def is_missing(ctx: TickContext) -> bool:
    """Whether the question needs sources, and nothing was gathered for it."""
    return lacks_evidence(board_of(ctx))


@condition(reads=NAMED)
def lacks_what_was_asked_for(ctx: TickContext) -> bool:
    """Whether the question calls something by name, and nothing that was found mentions it."""
    return bool(names_not_found(board_of(ctx)))


@condition(reads=[*NAMED, "sources_tried", "strategies_tried", "tool_list"])
def no_source_knows_the_name(ctx: TickContext) -> bool:
    """Whether the question calls something by name, every source that can be searched was tried,
    in another way too, and nothing that was found mentions it.
    """
    bb = board_of(ctx)
    if not bb_get(bb, "strategies_tried") or not names_not_found(bb):
        return False
    searched = {spec.source for spec in with_role(all_tools(bb), "search")}
    return searched <= {*bb_get(bb, "sources_tried")}


@condition(reads=["evidence"])
def was_gathered(ctx: TickContext) -> bool:
    """Whether this run has found anything."""
    return bool(bb_get(board_of(ctx), "evidence"))


@condition(reads=["tool_results", "tool_list"])
def is_only_an_overview(ctx: TickContext) -> bool:
    """Whether all that was found are lists and maps: they show what there is, and answer little."""
    bb = board_of(ctx)
    over = {spec.name for spec in all_tools(bb) if spec.role in OVERVIEW_ROLES}
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    return all(each["name"] in over for each in results if each["success"] and not each["empty"])


@condition(reads=["query", "facts", "classification", "history", "topic_shift"])
def is_a_search_for_what_is_here(ctx: TickContext) -> bool:
    """Whether it seems to need no source, is nothing but words to look for, and one place of the
    project has all of them. In a conversation such words may answer something.
    """
    bb = board_of(ctx)
    if classification_of(bb).needs_any_source or (
        bb_get(bb, "history") and not bb_get(bb, "topic_shift")
    ):
        return False
    return _is_here(bb, 1.0) and is_only_words_to_look_for(bb_get(bb, "query"))


def _is_here(bb: TypedBlackboard, share: float) -> bool:
    """Whether a place of the project has this share of the question's words."""
    return max(shares_of(bb).values(), default=0.0) >= share


@condition(reads=[*GROUNDS, "tool_list", "known_terms"])
def only_the_web_could_bring_it(ctx: TickContext, sure: float, here: float = 2.0) -> bool:
    """Whether the question is surely about the world outside, and no tool here searches the web.

    If one place of the project has the share `here` of its words, that is not sure.

    An address in the question can be fetched without a search. "What is a thread?" is general, but
    the project may say it: only words for the world, the present or other people are clear. Who
    asks where something is mostly means a place in the project: looking costs less than refusing.
    Who names the web as the place to look means it. Who asks for a fact (who, when, which, if),
    and says nothing that is known in the project, means the world: "Is GitHub down?".
    """
    bb = board_of(ctx)
    if backs_the_claim(ctx) or "://" in bb_get(bb, "query"):
        return False
    asked, query = classification_of(bb), bb_get(bb, "query")
    if with_role(all_tools(bb), "search", "web"):
        return False
    is_research = asked.query_type == QueryType.RESEARCH
    if (is_research or asked.query_type in _READING) and (named := _NAMES_THE_WEB.search(query)):
        # What is online may be a part of the project; what is on the web is not.
        return is_research or named[0].lower() != "online"
    if not is_research or _is_here(bb, here):
        return False
    # The project itself says what its licence is, what is new in it, and which versions it needs.
    about = project_question(query)
    if (about is not None and not about.may_be_a_name) or _MEANS_THE_PROJECT.search(query):
        return False
    parsed = parse_query(query)
    words = {*parsed.tags, *(name.removeprefix("has ") for name in asked.keywords_matched)}
    if asked.confidence < sure or "where" in parsed.sketch:
        return False
    outside = _OUTSIDE & words
    # "How can I go on with it tomorrow?" asks for a way to do it, not what will be tomorrow.
    if outside == frozenset({"time"}) and _ASKS_FOR_A_WAY.match(query):
        return False
    return bool(outside) or _asks_for_a_fact_of_the_world(bb, parsed)


def _asks_for_a_fact_of_the_world(bb: TypedBlackboard, parsed: ParsedQuery) -> bool:
    """A question that begins with `what` or `how` may be about a thing that the project explains in
    its texts. The names in texts are not looked up, so such a question is left to a search.
    """
    known = known_terms_of(bb)
    # A term that many files have is an everyday word. The project's own name has the number 0.
    if known is None or any(files <= RARE for files in known.values()):
        return False
    if parsed.core[:1] == [] or parsed.core[0] not in _FACTS or "inside" in parsed.tags:
        return False
    # Something outside has a name. "Are there any plugins?" names nothing.
    names_some = any(token.raw[:1].isupper() for token in parsed.tokens[1:])
    return names_some or "tech" in parsed.tags


@condition(reads=OFFER)
def a_reading_tool_is_on_offer(ctx: TickContext) -> bool:
    return not no_reading_tool_is_on_offer(ctx)


@condition(reads=OFFER)
def no_reading_tool_is_on_offer(ctx: TickContext) -> bool:
    """Whether no tool on offer reads anything."""
    return all(spec.writes for spec in granted_tools(board_of(ctx)))


@condition(reads=[*OFFER, "tool_results"])
def a_reading_tool_is_unused(ctx: TickContext) -> bool:
    """Whether a tool on offer reads something and was not run yet."""
    bb = board_of(ctx)
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    used = {result["name"] for result in results if result["run"]}
    return any(not spec.writes and spec.name not in used for spec in granted_tools(bb))


@condition(reads=[*_WEIGHED, *OFFER])
def is_enough(ctx: TickContext) -> bool:
    return _verdict(ctx) is Verdict.ENOUGH


@condition(reads=[*_WEIGHED, *OFFER])
def was_not_found_anywhere(ctx: TickContext) -> bool:
    """Whether nothing was found, in no source on offer."""
    return _verdict(ctx) is Verdict.NOTHING


@condition(reads=["query", "facts", "evidence", "tool_results", "tool_list"])
def nothing_better_is_here(ctx: TickContext, searches: int) -> bool:
    """Whether so many searches were run, and a place was found that has as many of the question's
    words as any place that the index knows. False if the index was not looked into.

    Other searches for these words find worse places, in whatever source.
    """
    bb = board_of(ctx)
    query, best = bb_get(bb, "query"), max(shares_of(bb).values(), default=0.0)
    searching = {spec.name for spec in with_role(all_tools(bb), "search")}
    ran = [each["name"] for each in bb_get(bb, "tool_results") if each["run"]]
    if not best or sum(name in searching for name in ran) < searches:
        return False
    texts = (
        f"{place.get('path', '')}\n{place.get('text', '')}" for place in bb_get(bb, "evidence")
    )
    return any(share_of_words(query, words_in(query, text)) >= best for text in texts)


@condition(reads=["query", "words_found", "yields", "strategies_tried"])
def strategies_keep_finding_nothing(ctx: TickContext, calls: int, share: float = 1.0) -> bool:
    """Whether less than this share of the question's words was found, and the last calls brought
    none of the others: this many for each strategy tried, and as many before.

    A call that finds something else is in vain too. But if no word was found at all, only calls
    that find nothing are: the sources may have other words for it, or another language.
    """
    bb = board_of(ctx)
    found: list[str] = bb_get(bb, "words_found")
    if share_of_words(bb_get(bb, "query"), found) >= share:
        return False
    last = last_in_vain(bb_get(bb, "yields"))
    if not found:
        last = [*takewhile(lambda one: one == "nothing", reversed(last))]
    in_vain = len(last) - last.count("lead")
    return in_vain // calls > bb_get(bb, "strategies_tried")


@condition(reads=["calls"])
def only_repeats_searches_in_vain(ctx: TickContext) -> bool:
    """Whether all calls of the response were refused because their words were not found before."""
    calls: list[dict[str, Any]] = bb_get(board_of(ctx), "calls")
    return bool(calls) and all(call.get("is_in_vain") for call in calls)


@condition(reads=["calls"])
def only_guesses_places(ctx: TickContext) -> bool:
    """Whether all calls of the response were refused because they only guess at places."""
    calls: list[dict[str, Any]] = bb_get(board_of(ctx), "calls")
    return bool(calls) and all(call.get("is_guess") for call in calls)


@condition(reads=["query", "words_found", "yields"])
def more_calls_add_nothing(ctx: TickContext, calls: int, share: float) -> bool:
    """Whether this share of the question's words was found, and the last calls brought no other."""
    bb = board_of(ctx)
    last = last_in_vain(bb_get(bb, "yields"))
    is_found = share_of_words(bb_get(bb, "query"), bb_get(bb, "words_found")) >= share
    return is_found and len(last) - last.count("lead") >= calls


@condition(reads=["words_found", "words_at_strategies"])
def strategies_brought_nothing(ctx: TickContext, strategies: int) -> bool:
    """Whether so many strategies in a row have brought no new word of the question."""
    bb = board_of(ctx)
    before: list[int] = bb_get(bb, "words_at_strategies")[-strategies:]
    return len(before) == strategies and before[0] == len(bb_get(bb, "words_found"))


@condition(reads=["tool_results"])
def calls_have_failed(ctx: TickContext, failures: int) -> bool:
    """Whether so many calls of this run have failed, in a row or not."""
    results: list[dict[str, Any]] = bb_get(board_of(ctx), "tool_results")
    failed = [result for result in results if result["run"] and not result["success"]]
    return len(failed) >= failures


def _brought(bb: TypedBlackboard) -> list[bool]:
    """For each call that was run: whether it has a result. A failure or an empty one is none."""
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    return [result["success"] and not result["empty"] for result in results if result["run"]]


def _verdict(ctx: TickContext) -> Verdict:
    bb = board_of(ctx)
    brought = _brought(bb)
    evidence = Evidence(
        places=bb_get(bb, "evidence"),
        new_by_result=[*compress(bb_get(bb, "new_by_call"), brought)],
        barren_calls=brought.count(False),
        sources_offered={spec.source for spec in granted_tools(bb) if spec.source},
        sources_tried=bb_get(bb, "sources_tried"),
    )
    try:
        return Verdict(services_of(ctx).is_sufficient(evidence))
    except Exception as problem:
        log.warning("the heuristic judges, because the function in place failed: %r", problem)
        return heuristic_sufficiency(evidence)
