"""The topics, one row each: which files, headings, entries and commands answer them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

Topic = Literal[
    "about",
    "install",
    "run",
    "build",
    "test",
    "changes",
    "maintainers",
    "licence",
    "layout",
    "requirements",
    "version",
    "security",
    "contribute",
    "history",
    "support",
    "option",
    "text",
]
TOPICS: Final[tuple[Topic, ...]] = get_args(Topic)

_INSTALLERS: Final = (
    r"(?:pip3?|pipx|uv|poetry|conda|mamba|npm|pnpm|yarn|bun|cargo|gem|brew|apt(?:-get)?|dnf|apk|"
    r"choco|scoop|winget|composer|luarocks|mix|dotnet|nix-env)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """Patterns that show what answers a topic.

    `headings` are of sections of documents, `commands` of lines in them. `keys` are of manifests,
    `tables` of TOML and INI files, `targets` of Makefiles. `files` answer by themselves: their
    first `lines` are quoted, or their section with a heading like `within`. `pages` are names of
    documents that are mostly about the topic. `is_declared`: a manifest says it best. `is_named`:
    a command with the project's name counts more.
    """

    headings: re.Pattern[str] | None = None
    commands: re.Pattern[str] | None = None
    keys: str = ""
    tables: str = ""
    targets: str = ""
    files: re.Pattern[str] | None = None
    lines: int = 12
    pages: re.Pattern[str] | None = None
    within: re.Pattern[str] | None = None
    is_declared: bool = False
    is_named: bool = False


def _words(pattern: str) -> re.Pattern[str]:
    return lazy_pattern(pattern, re.I)


ROWS: Final[Mapping[Topic, Row]] = {
    "about": Row(
        headings=_words(r"\b(?:about|introduction|overview|what is|features|why)\b"),
        keys="description|summary",
    ),
    "install": Row(
        headings=_words(
            r"\b(?:install\w*|get(?:ting)? (?:started|it)|quick ?start|set ?up|download)\b"
        ),
        commands=_words(
            rf"\b{_INSTALLERS}\s+(?:-\S+\s+)*(?:install|add|require|i|get|tool install|-S)\s+\S"
            r"|\bgo (?:get|install)\s+\S|\bpython3? setup\.py install|\bmake install\b"
            r"|^\s*(?:\[dependencies\]|\w[\w-]*\s*=\s*\"[\^~]?\d+(?:\.\d+)*\"\s*$)"
        ),
        targets="install|setup|bootstrap",
        pages=_words(r"(?:install\w*|quickstart|getting[-_]started|setup)"),
        is_named=True,
    ),
    "run": Row(
        headings=_words(
            r"\b(?:usage|running|run|how to (?:run|use)|get(?:ting)? started|quick ?start|"
            r"the basics|basic (?:usage|example)|(?:a )?simple example|hello world|example)\b"
        ),
        commands=_words(
            r"^\s*(?:\$|>)\s+\S|^\s*(?:```\w+|\.\. code-block::)|\b(?:python3? -m|npm (?:run "
            r"|start|init|create)|npx|yarn (?:run|start)|"
            r"cargo run|go run|make run|docker(?: compose|-compose)? (?:run|up)|flask run"
            r"|node \S)\b"
        ),
        keys="bin|scripts",
        tables=r"project\.scripts|tool\.poetry\.scripts|\[?bin\]?|options\.entry_points",
        targets="run|start|serve|dev|up",
        pages=_words(r"(?:quickstart|getting[-_]started|usage|index)"),
        is_named=True,
    ),
    "build": Row(
        headings=_words(r"\b(?:build\w*|compil\w+|from source|development setup)\b"),
        commands=_words(
            r"\b(?:make(?: all| build)?$|make build|cmake|cargo build|go build|npm run build|"
            r"yarn build|python3? -m build|\./configure|mvn package|gradlew? build|hatch build|"
            r"python3? setup\.py (?:build|sdist))\b"
        ),
        keys="build|build-backend",
        tables=r"build-system",
        targets=r"build[\w-]*|compile|dist|package|all",
        pages=_words(r"(?:build\w*|install\w*|develop\w*|contributing)"),
    ),
    "test": Row(
        headings=_words(
            r"^(?:\w+ and )?(?:the |our |unit )*(?:tests?|testing)(?: suite)?$"
            r"|\brun\w*\b.{0,30}\btests?\b|\btest suite\b"
        ),
        commands=_words(
            r"\b(?:pytest|py\.test|tox\b|nox\b|unittest|npm (?:run )?test|npm t\b|yarn test|"
            r"cargo (?:nextest|test)|go test|make (?:test|check)|ctest|mvn test|gradlew? test|"
            r"runtests\.py|hatch run\b.{0,20}test|python3? setup\.py test|node --test|borp"
            r"|jest|vitest|mocha|nose2)\b"
        ),
        keys=r"test|unit|test:\w+|testpaths|test_suite|commands",
        tables=r"tool\.hatch\.envs\.test(?:\.scripts)?|tool\.pytest(?:\.ini_options)?|testenv|"
        r"tool\.tox|tool\.hatch\.envs\.\w+\.scripts",
        targets=r"tests?|test-[\w-]+|check|unit",
        pages=_words(r"(?:contributing|testing|tests|develop\w*|hacking)"),
    ),
    "maintainers": Row(
        headings=_words(
            r"\b(?:maintain\w+|maintenance|authors?|(?:core )?team|credits|project lead"
            r"|contributors|lead)\b"
        ),
        keys="authors?|maintainers?|author[-_]email|maintainer[-_]email|contributors",
        files=_words(r"(?:maintainers|authors|codeowners|credits)(?:\.(?:md|rst|txt))?"),
        lines=15,
        pages=_words(r"(?:maintainers|authors|governance|credits|team|contributors)"),
    ),
    "licence": Row(
        headings=_words(r"\blicen[cs]\w+\b"),
        keys=r"licen[cs]e(?:-files?|-expression|_files?)?",
        files=_words(r"(?:licen[cs]e|copying|unlicense)(?:[-.]\w+)*"),
    ),
    "layout": Row(
        headings=_words(
            r"\b(?:(?:project|repo\w*|code\w*|directory|folder|package) (?:structure|layout|"
            r"organi[sz]ation|overview)|structure|layout|architecture|repository)\b"
        ),
        pages=_words(r"(?:architecture|contributing|develop\w*|structure|layout)"),
    ),
    "requirements": Row(
        headings=_words(
            r"^\S+ versions?$|\b(?:requirements?|prerequisites?|dependenc\w+|compatibility|minimum"
            r"|supported (?:\w+ )?(?:versions?|platforms?))\b"
        ),
        commands=_words(
            r"\b(?:requires?|needs?|supports?|minimum|at least|or (?:newer|later|higher|above))\b"
            r".{0,60}\d|\b[A-Z]\w+\s*(?:>=|≥|>)\s*\d|\d+(?:\.\d+)*\+"
        ),
        keys=r"requires-python|python_requires|engines|dependencies|install_requires|rust-version|"
        r"go|require|requires-dist|peerDependencies|toolchain",
        tables=r"dependencies|(?:tool\.poetry\.)?dependencies",
        pages=_words(r"(?:install\w*|requirements|quickstart|lts|compatib\w*)"),
        is_declared=True,
    ),
    "version": Row(keys="version"),
    "history": Row(
        headings=_words(
            r"\b(?:history|motivation|background|rationale|philosophy|origins?|inspiration|goals)\b"
            r"|^why\b"
        ),
        commands=_words(
            r"\b(?:(?:was|were|been|is) (?:inspired|created|started|written|born|motivated"
            r"|designed)"
            r"|alternative to|because|originated|grew out of)\b"
        ),
        pages=_words(r"(?:why|history|design|philosophy|motivation|rationale|about)"),
    ),
    "security": Row(
        headings=_words(
            r"\bvulnerab\w+|\bsecurity (?:polic|issue|report|disclos|contact)\w*"
            r"|\bdisclos\w+|^security$"
        ),
        within=_words(r"\breport\w*"),
        files=_words(r"security(?:\.(?:md|rst|txt))?"),
        lines=30,
        pages=_words(r"security"),
    ),
    "support": Row(
        headings=_words(
            r"\b(?:(?:get(?:ting)? |find(?:ing)? |ask(?:ing)? for |need )?help|support|questions?"
            r"|community|contact|chat|feedback|discussions?|mailing list)\b|\b(?:bugs?|issues?)\b"
        ),
        commands=_words(
            r"\b(?:stack ?overflow|discord|slack|gitter|mailing list|irc|matrix|forum|discussions"
            r"|issue tracker|issues)\b.{0,80}(?:https?://|\]\()|https?://\S*(?:/discussions|/issues"
            r"|discord|slack|gitter|stackoverflow|zulip)"
        ),
        keys=r"bugs|bug[- _]tracker|issues|issue[- ]tracker|discussions|chat|support|forum",
        tables=r"project\.urls",
        files=_words(r"support(?:\.(?:md|rst|txt))?"),
        lines=30,
        pages=_words(r"(?:support|help|community|contact|contributing)"),
    ),
    "option": Row(),
    "text": Row(),
    "contribute": Row(
        headings=_words(
            r"\b(?:contribut\w+|get(?:ting)? involved|pull requests?)\b|^development(?: "
            r"setup| environment| guide)?$"
        ),
        files=_words(r"(?:contributing|hacking)(?:\.(?:md|rst|txt))?"),
        lines=30,
        pages=_words(r"(?:contributing|develop\w*|hacking)"),
    ),
}
