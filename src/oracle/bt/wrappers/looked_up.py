"""What is known about a question and its project before the tree begins."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from oracle.bt.actions.assess import turns_of
from oracle.bt.wrappers.recipe import GatherFacts
from oracle.errors import OracleError
from oracle.logs import logger_of
from oracle.models.session import Exchange
from oracle.services.agent_services import Sources
from oracle.services.classification.classifier import terms_to_look_up
from oracle.services.control.first_look import Searched, shares_of

log = logger_of(__name__)

FACTS_SECONDS: Final = 1.0
SHARE_FOR_FACTS: Final = 0.25


class LookedUp(NamedTuple):
    """Both are None if the sources could not be asked, as in `AgentSetup.recipe`."""

    known_terms: Mapping[str, int] | None = None
    shares: Mapping[str, float] | None = None


async def looked_up(sources: Sources, query: str, history: Sequence[Exchange]) -> LookedUp:
    """Which terms of the question the project has, and how much of it each source has."""
    before = [{"question": each.question, "answer": each.answer} for each in history]
    known = await sources.known(terms_to_look_up(query, turns_of(before)))
    # A source of which files are missing would look as if it had few of the words.
    if known is None or not isinstance(sources, Searched) or sources.left_out:
        return LookedUp(known)
    try:
        return LookedUp(known, await shares_of(query, sources))
    except (OracleError, OSError) as problem:
        log.warning("no source is kept for later, because a search failed: %s", problem)
        return LookedUp(known)


async def gathered(facts: GatherFacts | None, seconds_left: float) -> Mapping[str, Any]:
    """Facts about the project. They help, but no question waits long for them."""
    if facts is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(min(FACTS_SECONDS, SHARE_FOR_FACTS * seconds_left)):
                return await facts()
    return {}
