"""Whether the event log has every signal that a model wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

from oracle.evaluation.agent_runs import ask
from oracle.evaluation.criteria import WITHOUT_MODEL, Figure
from oracle.evaluation.harbour import harbour, questions
from oracle.evaluation.intervals import share
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import open_events, pages
from oracle.services.ans.writer import recording
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model, ModelRequest, Part
from oracle.services.signals.parser import SignalStreamParser
from oracle.services.storage.database import Database, as_url
from oracle.testing.simulated import CHARACTERS, STRENGTHS, simulated_model


class Overheard:
    """Another model, and what it has written, response by response."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.prices = model.name, model.prices
        self.context_window, self.longest_output = model.context_window, model.longest_output
        self.responses: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        place = len(self.responses)
        self.responses.append("")
        async for part in self._model.stream(request):
            self.responses[place] += part.get("text", "")
            yield part


async def figure_of_logging() -> Figure:
    """Whether each signal that a model wrote can be read in the event log, as it was written."""
    with TemporaryDirectory() as folder:
        url = as_url(Path(folder) / "events.db")
        await (await Database.open(url)).close()
        with recording(url):
            written = [signal async for signal in _signals_written()]
        table = open_events(url)
        types = frozenset({"signal.received", "signal.ignored", "signal.malformed"})
        logged = [
            stored.event.payload["raw_xml"]
            for page in pages(table, EventQuery(types=types))
            for stored in page
        ]
        table.close()
    both = (Counter(written) & Counter(logged)).total()
    return Figure(
        measure="logged",
        on="simulated: all about signals",
        command=WITHOUT_MODEL,
        count=len(written),
        value=share(both, len(written)),
    )


async def _signals_written() -> AsyncIterator[str]:
    characters = [each for each in CHARACTERS.values() if each.group in ("control", "signals")]
    async with harbour() as world, world.index.at_hand():
        for character in characters:
            for strength in STRENGTHS:
                model = Overheard(simulated_model(character.name, strength))
                await ask(
                    world, questions()[0], model=model, loop="tree", repeat=0, limits=Limits()
                )
                for response in model.responses:
                    parser = SignalStreamParser()
                    parser.feed(response)
                    parser.close()
                    for element in parser.found:
                        yield element.raw_xml
