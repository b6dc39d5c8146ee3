"""get_project_facts: what the project says about itself, by topic."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final, cast

from oracle.errors import named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source import Source
from oracle.services.background import in_thread
from oracle.services.overview.finding import name_of, places_for
from oracle.services.overview.git_log import newest_commits
from oracle.services.overview.layout import layout_rows
from oracle.services.overview.topics import TOPICS, Topic
from oracle.services.tools.answer import Answer
from oracle.services.tools.files import ProjectFiles
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.project_reader import ProjectReader
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace

# A section whose heading and lines both fit has about this worth. It becomes a score of 1.
_BEST_WORTH: Final = 6.0
LOG: Final = "git log"


@dataclass(frozen=True, kw_only=True)
class GetProjectFacts(PlainArguments):
    topic: str = argument(
        choices=TOPICS,
        description="What is asked about the project as a whole; changes with a version, or with "
        "words to find the release that brought them; option with its name, text with a message.",
    )
    version: str | None = argument(
        default=None, max_length=40, description="Only for changes: a version, such as 2.1."
    )
    words: str | None = argument(
        default=None, max_length=200, description="Only lines that have all of these words."
    )
    name: str | None = argument(
        default=None,
        max_length=100,
        description="The name by which the user calls the project: another name finds nothing.",
    )


def get_project_facts(work: Workspace) -> Tool[GetProjectFacts]:
    async def run(given: GetProjectFacts) -> Answer:
        return await in_thread(lambda: _facts(work.files, given))

    return Tool(
        name="get_project_facts",
        description=(
            "Quote what the project says about itself: what it is, how to install, run, build and "
            "test it, what changed, who maintains it, its licence, layout and requirements."
        ),
        arguments=GetProjectFacts,
        run=run,
        query_types=frozenset({QueryType.CODE, QueryType.DOCUMENTATION, QueryType.RESEARCH}),
        source="code",
        role="facts",
    )


def _facts(files: ProjectFiles, given: GetProjectFacts) -> Answer:
    """Of the project itself, or of the further root that is called so."""
    if given.name and (root := files.called(given.name)):
        prefix, other = root
        answer = _facts(other, replace(given, name=None))
        return replace(answer, findings=[_below(prefix, each) for each in answer.findings])
    # An option or a text may be of any root; the other topics are about one project.
    reader = ProjectReader(files if given.topic in ("option", "text") else files.main)
    if given.name and not _is_called(given.name, name_of(reader), files.root.name):
        return Answer(summary=f"The project is not called {named(given.name)}.", empty=True)
    words = (given.words or "").split()
    # One of the choices.
    topic = cast("Topic", given.topic)
    places = places_for(reader, topic, version=given.version or "", words=words)
    sources = [
        source for place in places for source in reader.quoted(place, place.worth / _BEST_WORTH)
    ]
    if given.topic == "layout":
        sources.insert(0, _as_source(".", "\n".join(layout_rows(ProjectReader(files).paths))))
    is_about_now = given.topic == "changes" and not (given.version or words)
    if is_about_now and (log := newest_commits(files.root)):
        sources.append(_as_source(LOG, log))
    if not sources:
        return Answer(
            summary=f"The project says nothing about {given.topic} where projects usually say it. "
            "Search for it, or say that it was not found.",
            empty=True,
        )
    return Answer(
        summary=f"What the project says about {given.topic}, best first.", findings=sources
    )


def _below(prefix: str, source: Source) -> Source:
    found = source.copy()
    found["where"] = f"{LOG} of {prefix}" if source["where"] == LOG else prefix + source["where"]
    if "path" in source:
        found["path"] = prefix + source["path"]
    return found


def _as_source(where: str, text: str) -> Source:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Source(kind="code", where=where, text=text, digest=digest, score=1.0)


def _is_called(name: str, *known: str) -> bool:
    wanted = _plain(name)
    return any(wanted == _plain(each) for each in known)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum()).removeprefix("python")
