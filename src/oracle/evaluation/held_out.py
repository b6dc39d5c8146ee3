"""The held-out check: the notes of another made-up project, and questions for their files.

The trees were changed until figures on "harbour" were good, so those may be better than elsewhere.
No number was fitted to these questions. Nobody wrote what an answer has to contain: it is complete
if it cites a file that answers the question. The project has neither code nor web pages.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oracle.evaluation.harbour import DATA, Question, World
from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.project_tools import project_tools

GROUP: Final = "notebook"
SEED: Final = 1_000
"""The simulated models throw other dice here than with harbour, where they begin with 0."""


def held_out_questions() -> list[Question]:
    lines = (DATA / "retrieval_test_notebook_k.jsonl").read_text("utf-8").splitlines()
    return [
        Question(
            id=f"{GROUP}-{number:02}",
            question=row["question"],
            type="documentation",
            needs=(row["kind"],),
            contains=(),
            cites=(tuple(row["files"]),),
            answerable=True,
            broad=False,
        )
        for number, row in enumerate(map(json.loads, lines), 1)
    ]


def is_held_out(question: str) -> bool:
    """Whether this is the id of a held-out question."""
    return question.startswith(f"{GROUP}-")


@asynccontextmanager
async def notebook() -> AsyncGenerator[World]:
    with TemporaryDirectory() as folder:
        root = Path(folder) / GROUP
        shutil.copytree(DATA / GROUP, root)
        index = ProjectIndex(root, on_disk=False)
        tools = project_tools(root, index=index, dry_run=True)
        yield World(root=root, tools=tools, index=index, web="")
