"""`oracle runs` and `oracle run`: list, show, resume and export runs."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import (
    AllProjectsOption,
    ChunksOption,
    DryRunOption,
    JsonOption,
    LeavesOption,
    LimitOption,
    ModelOption,
    QuietOption,
    TraceOption,
    VerboseOption,
    YesOption,
    ask_options,
    settings_for,
)
from oracle.cli.project import import_leaves, project_listed, project_of, with_database
from oracle.cli.recorded_runs import RunArgument, recording_in, silence_the_engine
from oracle.cli.terminal.output import counted, more_than, say, say_nothing_yet, show_json
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, show_lines, show_table
from oracle.cli.terminal.times import shown_age, shown_duration, shown_money, shown_time
from oracle.errors import InputError, JournalError, unless_full
from oracle.regular_file import check_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.bt.wrappers.retelling import ToldRun
    from oracle.cli.terminal.screen import AskOptions
    from oracle.cli.terminal.story_lines import Heading
    from oracle.models.session import StoredRun
    from oracle.services.storage.database import Database
    from oracle.settings import Settings

app = typer.Typer(help="Show, resume or export a run.", no_args_is_help=True)

RUN_COLUMNS = (
    Column("RUN"),
    Column("WHEN", drop=3),
    Column("ENDED", cut_to=14),
    Column("TIME", is_number=True, drop=1),
    Column("COST", is_number=True, drop=2),
    Column("QUESTION", cut_to=14),
)


def runs(
    limit: LimitOption = 20,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """List the runs of this project, newest first.

    A run is one question and all that was done to answer it.

    Examples:
      oracle runs -n 5
      oracle run show last          what happened in the newest one
    """
    from oracle.services.storage.naming import short_run_ids
    from oracle.services.storage.runs import Runs

    project = project_listed(all_)

    async def read(database: Database) -> tuple[list[StoredRun], Mapping[str, str]]:
        found = await Runs(database).newest(limit + 1, project=project)
        ids = [run.id for run in found[:limit]] if sys.stdout.isatty() else []
        return found, await short_run_ids(database, ids)

    found, short = with_database(read)
    if json:
        show_json([asdict(run) for run in found[:limit]])
    elif found:
        show_table(RUN_COLUMNS, run_rows(found[:limit], short, now=_now()))
        more_than(limit, found)
    else:
        say_nothing_yet("runs", project)


def _now() -> float | None:
    """The time, for ages on a terminal; None in a pipe, which gets dates and whole ids."""
    return time.time() if sys.stdout.isatty() else None


def run_rows(
    found: Sequence[StoredRun], short: Mapping[str, str], *, now: float | None
) -> list[tuple[str, ...]]:
    return [_run_row(run, short, now) for run in found]


def _run_row(run: StoredRun, short: Mapping[str, str], now: float | None) -> tuple[str, ...]:
    when = shown_time(run.started_at) if now is None else shown_age(run.started_at, now=now)
    seconds, money = run.usage.get("seconds"), run.usage.get("money")
    return (
        run.id if now is None else short[run.id],
        when,
        state_of(run),
        "" if seconds is None else shown_duration(seconds),
        shown_money(money) if money else "",
        run.question,
    )


def state_of(run: StoredRun) -> str:
    """How a run ended, in words; else whether a process still works on it."""
    from oracle.services.storage.naming import is_interrupted
    from oracle.services.story.words import stop_words

    if run.stop_reason:
        return stop_words(run.stop_reason)
    return "interrupted" if is_interrupted(run) else run.status


@app.command("show")
def show_(run: RunArgument = "last", json: JsonOption = False) -> None:
    """Tell what happened in a run, turn by turn.

    Each turn has the needs of the model, the calls of tools with their results, the decisions with
    the nodes of the tree that made them, and the cost. --json has the whole record too.

    Examples:
      oracle run show               the newest run
      oracle run show 3f9a
      oracle run show --json | jq '.story.turns[].tokens'
    """
    from oracle.services.storage.naming import Naming

    silence_the_engine()
    project = project_of(run)

    async def read(database: Database) -> tuple[ToldRun, Mapping[str, str]]:
        from oracle.bt.wrappers.retelling import retold
        from oracle.bt.wrappers.run_store import RunStore

        found = await Naming(database, project).run(run)
        ids: Mapping[str, str] = {}
        if sys.stdout.isatty():
            ids = await _ids_to_show(database, found)
        return await retold(RunStore(database), found), ids

    told, ids = with_database(read)
    if json:
        show_json(told.as_data())
    else:
        _show_story(told, ids)
    if told.is_damaged:
        raise typer.Exit(JournalError.exit_code)


async def _ids_to_show(database: Database, run: StoredRun) -> Mapping[str, str]:
    """Short ids for a terminal. An exchange has the id of its run."""
    from oracle.services.storage.naming import short_run_ids, short_session_ids

    runs = [id_ for id_ in (run.id, run.context_node_id) if id_]
    sessions = [run.session_id] if run.session_id else []
    return {
        **await short_run_ids(database, runs),
        **await short_session_ids(database, sessions),
    }


def _show_story(told: ToldRun, ids: Mapping[str, str]) -> None:
    from oracle.cli.terminal.story_lines import story_lines

    heading = heading_of(told, ids, now=time.time())
    show_lines(lambda width: story_lines(heading, told.story, width))


def heading_of(told: ToldRun, ids: Mapping[str, str], *, now: float) -> Heading:
    """`ids` has the short form of an id; one that is not there is shown whole, as in a pipe."""
    from oracle.bt.wrappers.recipe import BASELINE
    from oracle.cli.terminal.story_lines import Heading
    from oracle.services.settings.sections import EMBEDDED

    run = told.run
    about = [f"asked {shown_age(run.started_at, now=now)}, {shown_time(run.started_at)}"]
    about += [f"model {told.model}"] if told.model else []
    about += ["answered by the plain loop"] if run.tree == BASELINE else []
    about += [f"in the shadow of {run.shadow_of}"] if run.shadow_of else []
    about += [f"session {ids.get(run.session_id, run.session_id)}"] if run.session_id else []
    if parent := run.context_node_id:
        about.append(f"continues exchange {ids.get(parent, parent)}")
    if told.attached:
        about.append(f"attached {', '.join(told.attached)}")
    if told.times_resumed:
        by = f" with {', '.join(told.later_models)}" if told.later_models else ""
        about.append(f"resumed {counted(told.times_resumed, 'time')}{by}")
    return Heading(
        run=run.id,
        question=run.question,
        about=about,
        # The embedded model costs nothing. Its tokens are an estimate that nobody pays.
        has_costs={told.model, *told.later_models} != {EMBEDDED},
        state=_unended(run, ids.get(run.id, run.id), now),
        not_replayed=told.not_replayed,
    )


def _unended(run: StoredRun, shown_id: str, now: float) -> str:
    state = state_of(run)
    if state == "interrupted":
        # A process that was killed holds its lease for up to half a minute more.
        left = ceil((run.lease_until or 0) - now)
        when = f" in {left} s" if left > 0 else ""
        return f"Interrupted: `oracle run resume {shown_id}` can go on with it{when}"
    return "Still running" if state == "running" else f"Ended: {state}"


@app.command()
def resume(
    run: RunArgument = "last",
    json: ChunksOption = False,
    trace: TraceOption = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    model: ModelOption = None,
    leaves: LeavesOption = None,
) -> None:
    """Resume a run whose process died; by default the newest one that was interrupted.

    What the run has already done is read from its record and not done again. The model is the one
    in the settings, or --model.
    """
    from oracle.bt.wrappers.recipe import LOOPS
    from oracle.services.background import run_async
    from oracle.services.storage.naming import Naming

    import_leaves(leaves or [])
    settings = settings_for(model, quiet=quiet or json)
    options = ask_options(
        json=json, trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose
    )
    project = project_of(run)

    async def find(database: Database) -> tuple[StoredRun, str]:
        from oracle.bt.wrappers.run_store import RunStore

        named = await Naming(database, project).interrupted_run(run)
        records, _ = await RunStore(database).record_of(named.id)
        is_open = bool(records) and records[-1].kind != "end"
        return named, records[0].body.get("model", "") if is_open else ""

    found, first_model = with_database(find)
    if model is None and first_model not in ("", settings.model.name):
        # Neither is taken unasked: one of them may be a model that somebody pays for.
        resume = f"oracle run resume {found.id} --model"
        raise InputError(
            f"the run was begun with {first_model}, and the model here is {settings.model.name}; "
            f"name the one to go on with: `{resume} {first_model}` or "
            f"`{resume} {settings.model.name}`"
        )
    if found.tree not in LOOPS.values():
        typer.echo(run_async(_resume_other_tree(settings, found.id)))
    elif code := run_async(_resume(settings, options, found.id)):
        raise typer.Exit(code)


@app.command()
def export(
    run: RunArgument = "last",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to stdout."),
    ] = None,
    otlp: Annotated[
        bool,
        typer.Option(
            "--otlp",
            help="Write a trace of OpenTelemetry instead. Without -o it is sent to "
            "OTEL_EXPORTER_OTLP_ENDPOINT, if that is set.",
        ),
    ] = False,
    content: Annotated[
        bool,
        typer.Option(
            "--content", help="With --otlp: also the question, the answer and the arguments."
        ),
    ] = False,
) -> None:
    """Write a recording of a run: all that `oracle replay` needs, without secrets.

    It has the question, the trees, the prompts, the responses of the model and the results of the
    tools. So it quotes files of the project: look at it before you pass it on.

    Examples:
      oracle run export 3f9a -o recordings/login.json
      oracle replay --all recordings/
      oracle run export last --otlp -o trace.json
    """
    project = project_of(run)
    if otlp:
        _export_trace(run, project, output, content=content)
        return
    if content:
        raise InputError("--content needs --otlp; a recording always has the content")
    silence_the_engine()

    async def read(database: Database) -> str:
        from oracle.bt.wrappers.decisions.recording_file import exported

        return await exported(await recording_in(database, run, project))

    _print_or_write(with_database(read), output)


def _export_trace(run: str, project: str | None, output: Path | None, *, content: bool) -> None:
    from oracle.cli.traces import send, traced
    from oracle.services.telemetry.live import address_in
    from oracle.services.telemetry.otlp_json import as_otlp_json

    spans = with_database(lambda database: traced(database, run, project, content=content))
    address = address_in(os.environ)
    if output is not None or address is None:
        _print_or_write(f"{as_otlp_json(spans)}\n", output)
    else:
        send(spans, address)
        say(f"sent trace {spans[0].trace_id}, {counted(len(spans), 'span')}, to {address}")


def _print_or_write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
    else:
        _write(output, text)
        say(f"wrote {printable(str(output))}")


def _write(file: Path, text: str) -> None:
    try:
        check_regular(file)
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        step = unless_full(problem, "name another file")
        raise InputError(f"{file}: {problem.strerror}; {step}") from None


async def _resume(settings: Settings, options: AskOptions, run_id: str) -> int:
    from oracle.cli.terminal.conversation import open_conversation

    async with open_conversation(settings, options) as conversation:
        return await conversation.resume(run_id)


async def _resume_other_tree(settings: Settings, run_id: str) -> str:
    """Only the agent's tree answers a question. For any other tree, print how the run ended."""
    from oracle.bt.wrappers.run_store import open_store
    from oracle.services.storage.database import url_for_writing

    url = url_for_writing(settings)
    async with open_store(url, on_failure=settings.journal.failure) as store:
        outcome = await (await store.resume(run_id)).settle()
    return printable(f"{outcome.stop}: {outcome.status.value}")
