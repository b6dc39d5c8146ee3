"""`oracle replay`: play a recorded run again, as it was or against a change."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.options import JsonOption, LeavesOption, ModelOption, settings_for
from oracle.cli.project import import_leaves, project_of, with_database
from oracle.cli.recorded_runs import RunArgument, recording_in, silence_the_engine
from oracle.cli.terminal.output import counted, say, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_lines, show_table
from oracle.errors import InputError, OracleError
from oracle.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.bt.state.base import RunStatus
    from oracle.bt.wrappers.decisions.change import Change
    from oracle.bt.wrappers.decisions.difference import DecisionDiff
    from oracle.bt.wrappers.decisions.playing import Played
    from oracle.bt.wrappers.decisions.recording import Recording
    from oracle.services.journal import Record
    from oracle.services.storage.database import Database

DIFFERENT = 1
TreeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tree",
        metavar="PATH",
        help="Use these trees: a file, a folder, or built-in. Can be repeated.",
    ),
]
PromptsOption = Annotated[
    str | None,
    typer.Option("--prompts", metavar="DIR", help="Use the prompts of a folder, or built-in."),
]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value, such as limits.turns=5 or decide.DOUBTS=2. Can be repeated.",
    ),
]
ClassifierOption = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="TYPE",
        help="Take the question for this type: code, code:0.6, or module:function.",
    ),
]


def replay(
    run: RunArgument = "last",
    trace: Annotated[
        bool, typer.Option("--trace", help="Print each status change in the tree.")
    ] = False,
    json: JsonOption = False,
    tree: TreeOption = None,
    prompts: PromptsOption = None,
    values: ValuesOption = None,
    classifier: ClassifierOption = None,
    all_: Annotated[
        Path | None,
        typer.Option("--all", metavar="DIR", help="Check every exported recording of a folder."),
    ] = None,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Draw the changed path as Mermaid.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the model and reading tools for what is missing.")
    ] = False,
    model: ModelOption = None,
    leaves: LeavesOption = None,
) -> None:
    """Replay a recorded run, as it was or with a change.

    Without a change everything is read from the record, and the run must end the same way. With a
    change the recorded answers are looked up by what is asked, and the nodes that decide
    differently are listed. RUN may be a file that `oracle run export` wrote.

    Examples:
      oracle replay                 the newest run, as it was
      oracle replay 3f9a --set limits.turns=5
      oracle replay 3f9a --tree new.lua --mermaid
      oracle replay --all recordings/ --tree built-in
    """
    import_leaves(leaves or [])
    silence_the_engine()
    change = _change(tree, prompts, values, classifier)
    forms = [
        name
        for name, is_on in (("--json", json), ("--trace", trace), ("--mermaid", mermaid))
        if is_on
    ]
    if len(forms) > 1:
        raise InputError(f"{' and '.join(forms)} are different forms of output; use one of them")
    if model is not None and not live:
        raise InputError("--model is the model for --live; without it no model is asked")
    if all_ is not None:
        if trace or mermaid or live:
            raise InputError("--all takes --json, and none of --trace, --mermaid and --live")
        if run != "last":
            raise InputError(f"--all checks a folder, so {run} would not be looked at; omit it")
        _check_all(all_, change, json=json)
        return
    is_file = Path(run).is_file()
    if not is_file and (run.endswith(".json") or os.sep in run):
        raise InputError(f"there is no file {run}; a run is named by its id or last")
    if change.is_nothing and not (is_file or live or mermaid):
        _replay_as_it_was(run, json=json, trace=trace)
        return
    if trace:
        raise InputError("--trace shows a run as it was; it takes no change")
    recording = _recording_of(run, is_file=is_file)
    diff, played = _diff(recording, change, live=live, model=model)
    if json:
        show_json(diff.as_data())
    elif mermaid:
        _draw(diff, played)
    else:
        from oracle.cli.terminal.diff_lines import diff_lines

        show_lines(lambda width: diff_lines(diff, width))
    if code := exit_code_of(diff):
        raise typer.Exit(code)


def exit_code_of(diff: DecisionDiff) -> int:
    """Running out of answers has a code of its own: what follows is not known."""
    from oracle.errors import ReplayDiverged

    if not diff.is_followed:
        return ReplayDiverged.exit_code
    return 0 if diff.is_same else DIFFERENT


# -- against a change ------------------------------------------------------------------------------


def _change(
    tree: Sequence[str] | None,
    prompts: str | None,
    values: Sequence[str] | None,
    classifier: str | None,
) -> Change:
    from oracle.bt.wrappers.decisions.change import Change, classifier_from

    return Change(
        trees=tuple(tree or ()),
        prompts=prompts,
        settings=tuple(values or ()),
        classifier=None if classifier is None else classifier_from(classifier, _imported),
    )


def _imported(text: str) -> Callable[..., Any]:
    import importlib

    module, _, name = text.partition(":")
    sys.path.insert(0, "")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except Exception as problem:  # user code can fail in any way
        raise InputError(
            f"--classifier {text}: {problem}; check the name, and that Python can import it"
        ) from problem
    if not callable(found):
        raise InputError(f"--classifier {text}: it is no function")
    return found


def _recording_of(run: str, *, is_file: bool) -> Recording:
    if is_file:
        from oracle.bt.wrappers.decisions.recording_file import read_recording

        return read_recording(Path(run))
    project = project_of(run)
    return with_database(lambda database: recording_in(database, run, project))


def _diff(
    recording: Recording, change: Change, *, live: bool = False, model: str | None = None
) -> tuple[DecisionDiff, Played]:
    from oracle.bt.wrappers.decisions.difference import compared
    from oracle.bt.wrappers.decisions.playing import played
    from oracle.services.background import run_async

    async def play() -> Played:
        if not live:
            return await played(recording, change)
        from oracle.bt.wrappers.decisions.live import live_services
        from oracle.bt.wrappers.recipe import check_roots

        settings = settings_for(model)
        if model is None and settings.model.name != recording.recipe.model:
            first = recording.recipe.model
            raise InputError(
                f"the recorded model is {first}, and the model here is {settings.model.name}; name "
                f"the one to go on with: --model {first}, or --model {settings.model.name}"
            )
        recipe, roots = recording.recipe, [(root.name, root.written) for root in settings.roots]
        check_roots(recipe.run_id, recipe.board, roots)
        async with live_services(settings) as services:
            return await played(recording, change, live=services)

    found = run_async(play())
    return compared(recording, found), found


def _draw(diff: DecisionDiff, played: Played) -> None:
    from oracle.bt.render.mermaid import changed_as_mermaid
    from oracle.cli.terminal.diff_lines import verdict_words

    known = played.definition.by_path
    nodes = [path for turn in diff.turns for path in (turn.node, turn.instead) if path in known]
    if not nodes:
        # A drawing of no node does not say why.
        say(f"nothing to draw: {verdict_words(diff)}")
    print(changed_as_mermaid(played.definition, nodes), end="")


# -- a folder of recordings ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """One recording of a folder. `problem` says why it could not be played at all, `refused` that
    the change was why.
    """

    file: str
    diff: DecisionDiff | None = None
    problem: str = ""
    refused: InputError | None = None

    @property
    def is_good(self) -> bool:
        return self.diff is not None and exit_code_of(self.diff) == 0

    @property
    def state(self) -> str:
        if self.diff is None:
            return "not read"
        return "ok" if self.is_good else "differs" if not self.diff.is_same else "ends early"

    def words(self) -> str:
        from oracle.cli.terminal.diff_lines import verdict_words

        return self.problem if self.diff is None else verdict_words(self.diff)

    def as_data(self) -> dict[str, Any]:
        diff = None if self.diff is None else self.diff.as_data()
        return {"file": self.file, "state": self.state, "problem": self.problem, "diff": diff}


def _check_all(folder: Path, change: Change, *, json: bool) -> None:
    from oracle.bt.wrappers.decisions.recording_file import recordings_in

    files = recordings_in(folder)
    checked = [_checked(file, str(file.relative_to(folder)), change) for file in files]
    refused = [each.refused for each in checked if each.refused is not None]
    if len(refused) == len(checked):
        # The change is wrong, and not the recordings.
        raise refused[0]
    bad = [each for each in checked if not each.is_good]
    if json:
        show_json([each.as_data() for each in checked])
    else:
        rows = [(each.state, each.file, each.words()) for each in checked]
        show_table((Column("STATE"), Column("RECORDING"), Column("RESULT", cut_to=40)), rows)
        same = f"{len(checked) - len(bad)} of {counted(len(checked), 'recording')}"
        print(f"{same} decided as before")
    if bad:
        raise typer.Exit(DIFFERENT)


def _checked(file: Path, name: str, change: Change) -> Checked:
    from oracle.bt.wrappers.decisions.recording_file import read_recording

    try:
        recording = read_recording(file)
    except OracleError as problem:
        return Checked(file=name, problem=str(problem))
    try:
        return Checked(file=name, diff=_diff(recording, change)[0])
    except InputError as problem:
        return Checked(file=name, problem=str(problem), refused=problem)
    except OracleError as problem:
        return Checked(file=name, problem=str(problem))


# -- as it was -------------------------------------------------------------------------------------


def _replay_as_it_was(run: str, *, json: bool, trace: bool) -> None:
    project = project_of(run)
    replayed = with_database(lambda database: _replayed(database, run, project, trace))
    if json:
        show_json(asdict(replayed))
    else:
        typer.echo(f"run {replayed.run_id}: {replayed.words()}")
    if not replayed.same:
        raise typer.Exit(DIFFERENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """Whether a replay ended like its record. `different` names what is not the same."""

    run_id: str
    records: int
    ticks: int
    has_end: bool
    different: Sequence[str]
    same: bool

    def words(self) -> str:
        counts = f"{counted(self.records, 'record')}, {counted(self.ticks, 'tick')}"
        if not self.has_end:
            return f"the same up to the end of the record ({counts}); the run did not finish"
        if self.same:
            return f"the same decisions and answer ({counts})"
        return (
            f"different in {printable(', '.join(self.different))} ({counts}); has a leaf changed?"
        )


async def _replayed(database: Database, typed: str, project: str | None, trace: bool) -> Replayed:
    from oracle.bt.wrappers.recipe import services_from
    from oracle.bt.wrappers.run_store import RunStore
    from oracle.errors import ReplayDiverged
    from oracle.services.storage.naming import Naming

    run = await Naming(database, project).run(typed)
    replayed = await RunStore(database).replay(run.id, services=services_from)
    if trace:
        replayed.tree_run.subscribe(_print_change)
    try:
        summary = replayed.summary(await replayed.settle())
    except ReplayDiverged:
        if replayed.records[-1].kind == "end":
            raise
        raise ReplayDiverged(
            f"run {run.id} was interrupted, and the same happens up to the end of its record "
            f"({counted(len(replayed.records), 'record')}); `oracle run resume {run.id}` goes on"
        ) from None
    return compared(run.id, summary, replayed.records)


def _print_change(time: float, path: str, old: RunStatus | None, new: RunStatus | None) -> None:
    typer.echo(f"{time:12.3f}  {'halted' if new is None else new.value:8} {printable(path)}")


def compared(run_id: str, summary: Mapping[str, Any], records: Sequence[Record]) -> Replayed:
    has_end = records[-1].kind == "end"
    recorded: dict[str, Any] = records[-1].body if has_end else {}
    different = [name for name, value in recorded.items() if summary.get(name) != value]
    return Replayed(
        run_id=run_id,
        records=len(records),
        ticks=summary["ticks"],
        has_end=has_end,
        different=different,
        same=not different,
    )
