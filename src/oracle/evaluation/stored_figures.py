"""The figures of the success criteria as `make eval` has stored them, and what they depend on.

The table in docs/evaluation.md is rendered from this file. It is stale if a tree, a prompt, a
question or a simulated model is another one than at the time, or if a sample of the runs gives
other results. Comments and white space do not count.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

import oracle
from oracle.evaluation.agent_runs import Outcome
from oracle.evaluation.criteria import Figure
from oracle.evaluation.criteria_table import markdown
from oracle.evaluation.plan import Part, Simulated, simulated_parts

EVERY: Final = 12
"""Of 81 questions, each simulated model is asked every twelfth."""
EVERY_HELD_OUT: Final = 24
"""Of 70 held-out questions, each that misbehaves is asked every so many."""
SAMPLED: Final = (
    Simulated("competent", "marked"),
    Simulated("gatherer", "mild"),
    Simulated("failing_caller", "marked"),
    Simulated("silent", "extreme"),
    Simulated("malformed", "marked"),
    Simulated("baseless", "extreme"),
    Simulated("premature", "marked"),
    Simulated("refuser", "extreme"),
)
"""The models whose first question a test asks again."""
BEGIN: Final = "<!-- made by `make eval`: begin -->\n"
END: Final = "<!-- made by `make eval`: end -->\n"

_PACKAGE: Final = Path(oracle.__file__).parent


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFigures:
    """`depends_on` has a digest of each kind of thing that the figures depend on."""

    figures: Sequence[Figure]
    depends_on: Mapping[str, str]
    sample: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, file: Path) -> Self:
        data = json.loads(file.read_text("utf-8"))
        figures = [*map(Figure.from_data, data["figures"])]
        return cls(figures=figures, depends_on=data["depends_on"], sample=data["sample"])

    def write(self, file: Path) -> None:
        data = {
            "depends_on": self.depends_on,
            "figures": [figure.as_data() for figure in self.figures],
            "sample": self.sample,
        }
        file.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")

    def written_into(self, page: str) -> str:
        """A page with the table between its two marks."""
        before, _, rest = page.partition(BEGIN)
        _, mark, after = rest.partition(END)
        if not mark:
            raise ValueError(f"the page lacks the marks {BEGIN.strip()} and {END.strip()}")
        return f"{before}{BEGIN}{markdown(self.figures)}{END}{after}"


def sample_parts() -> Iterator[Part]:
    for part in simulated_parts("all", EVERY):
        if part.make_model in SAMPLED:
            yield Part(make_model=part.make_model, asked=part.asked[:1])


def sampled(outcome: Outcome) -> dict[str, Any]:
    """What must be the same when the question is asked again: not its time, and not its wording."""
    facts = outcome.facts
    return {
        "model": outcome.model,
        "loop": outcome.loop,
        "question": outcome.question,
        "stop_reason": facts.stop_reason,
        "turns": facts.turns,
        "calls": facts.calls,
        "needless_calls": facts.needless_calls,
        "complete": round(outcome.complete, 4),
        "signals": outcome.apt_signals,
    }


def digests() -> dict[str, str]:
    data = _PACKAGE / "evaluation" / "data"
    return {
        "trees": _digest(_PACKAGE / "bt" / "trees", "*.lua", plain_lua),
        "prompts": _digest(_PACKAGE / "prompts", "**/*.md", str),
        "questions": _digest(data, "harbour*.json*", str),
        "project": _digest(data / "harbour", "**/*.*", str),
        "held-out questions": _digest(data, "retrieval_test_notebook_k.jsonl", str),
        "held-out project": _digest(data / "notebook", "**/*.*", str),
        "labelled questions": _digest(data, "test_*.jsonl", str),
        "simulated models": _digest(_PACKAGE / "testing" / "simulated", "*.py", plain_python),
        "measures": _digest(_PACKAGE / "services" / "comparison", "facts.py", plain_python),
    }


def _digest(folder: Path, files: str, plain: Callable[[str], str]) -> str:
    found = sha256()
    for file in sorted(folder.glob(files)):
        inner = file.relative_to(folder)
        # A linter leaves a hidden cache in the project: what is measured does not depend on it.
        is_hidden = any(part.startswith(".") for part in inner.parts)
        if file.is_file() and not is_hidden and "__pycache__" not in inner.parts:
            found.update(f"{inner.as_posix()}\n".encode())
            found.update(plain(file.read_text("utf-8")).encode())
    return found.hexdigest()[:16]


def plain_lua(text: str) -> str:
    return " ".join(re.sub(r"--[^\n]*", "", text).split())


def plain_python(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(value=None)  # a docstring
    return ast.dump(tree)
