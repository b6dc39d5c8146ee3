"""`oracle models`: which models can be used, and `oracle models use`: select one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.synonyms import meant_by
from oracle.cli.terminal.output import say, show_json, show_sentence
from oracle.cli.terminal.safe_text import printable, safe_text
from oracle.errors import InputError, SettingsError, did_you_mean
from oracle.services.settings.sections import EMBEDDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from oracle.services.llm.listing import ListedModel, Listing
    from oracle.settings import Settings


class _Models(TyperGroup):
    """Says what to write to somebody who leaves out the `use`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            raise InputError(_no_command(args))
        return super().resolve_command(ctx, args)


def _no_command(arguments: Sequence[str]) -> str:
    words = [word for word in arguments if not word.startswith("-")]
    problem = f"there is no command 'oracle models {words[0][:80]}'"
    if meant := meant_by(["models", *words[:2]]):
        return f"{problem}; did you mean `{meant[:80]}`?"
    if len(words) > 1:
        question = " ".join(["models", *words])
        return f'{problem}; to ask a question, put it in quotes: oracle "{question[:60]}"'
    near = did_you_mean(words[0][:80], ["list", "use"])
    return problem + (near or f"; to select a model, write `oracle models use {words[0][:80]}`")


app = typer.Typer(help="List the models that can be used, and select one.", cls=_Models)

MOST_OF_A_PROVIDER: Final = 40
WIDTH_OF_A_PIPE: Final = 1_000


EveryOption = Annotated[
    bool, typer.Option("--all", help="Also older models, and those you have no key for.")
]


def names_beginning(incomplete: str) -> list[str]:
    """Completions for the shell."""
    from oracle.services.llm import name_completion

    return name_completion.names_beginning(incomplete, os.environ)


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    every: EveryOption = False,
    json: JsonOption = False,
) -> None:
    """List the models that can be used now, with their prices and context windows.

    Nothing is downloaded, and no provider is asked. A * marks the selected model.

    Examples:
      oracle models
      oracle models use sonnet
    """
    if context.invoked_subcommand is None:
        list_(every, json)


@app.command("list")
def list_(every: EveryOption = False, json: JsonOption = False) -> None:
    """The same as oracle models."""
    from oracle.services.llm.listing import list_models

    listing = list_models(settings_with(), os.environ, every=every)
    if json:
        show_json(as_json(listing))
        return
    print(safe_text("\n".join(listing_lines(listing, width=_width(), every=every))))


@app.command()
def use(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A model, such as sonnet, gpt-5, ollama:llama3.2 or embedded.",
            autocompletion=names_beginning,
        ),
    ],
    project: Annotated[
        bool, typer.Option("--project", help="Only for this project: write to its oracle.toml.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="A server of your own that has the model."),
    ] = None,
) -> None:
    """Select the model that answers. Nothing is sent to it.

    Examples:
      oracle models use sonnet
      oracle models use ollama:llama3.2:3b
      oracle models use openai:local-7b --base-url http://127.0.0.1:8080/v1
      oracle models use embedded --project
    """
    from oracle.services.llm.spending import agree_by_writing
    from oracle.services.settings.own_changes import select_model
    from oracle.services.settings.resolve import shown_path

    full = _full_name(name, base_url)
    file = _file_to_write(project)
    dropped = select_model(file, full, base_url)
    agree_by_writing(full, file)
    show_sentence(f"{full} is selected, in {printable(shown_path(file))}")
    if dropped:
        names = ", ".join(dropped)
        say(f"removed, because it was for the model before: {names}")
    for note in notes_on(full, base_url):
        say(printable(note))


def _full_name(name: str, base_url: str | None) -> str:
    from oracle.services.llm.names import full_name
    from oracle.services.llm.providers import PROVIDERS
    from oracle.services.settings.editing import checked

    if base_url is not None and name.partition(":")[0] not in PROVIDERS:
        name = f"openai:{name}"  # the protocol that such servers speak
    try:
        if base_url is not None:
            checked("model.base_url", base_url)
        return full_name(name, os.environ, base_url=base_url, abbreviated=True)
    except SettingsError as problem:
        # What was typed is wrong, not the settings, so it has another exit code.
        raise InputError(str(problem)) from None


def _file_to_write(project: bool) -> Path:
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of, user_settings_file
    from oracle.services.settings.toml_file import FILE_NAME

    if not project:
        return user_settings_file()
    root = root_of(here())
    if root is None:
        raise InputError(
            "this folder is not in a project; leave --project out, or run `oracle init` first"
        )
    return root / FILE_NAME


def notes_on(full: str, base_url: str | None = None) -> Iterator[str]:
    """What the user should know about the model, and about other settings that matter."""
    from oracle.services.settings.ways import way_to_name_the_key
    from oracle.settings import load_settings

    try:
        settings = load_settings()
    except SettingsError as problem:
        yield f"the settings have another mistake: {str(problem).splitlines()[0]}"
        return
    yield from _notes_on_settings(full, settings)
    if base_url is None:
        yield from _notes_on_use(full, settings)
    elif settings.model.key_variable is None:
        yield (
            "the server gets no key of yours; if it needs one, set a variable to it, and name it "
            f"with `{way_to_name_the_key(settings)}`"
        )


def _notes_on_settings(full: str, settings: Settings) -> Iterator[str]:
    origin = settings.origins["model.name"]
    if _meaning_of(settings) != full:
        way = _way_to_select(full, origin.source)
        yield f"here {origin} selects {settings.model.name}, which wins; `{way}` changes it"
    elif settings.model.base_url is not None and full != EMBEDDED:  # it sends nothing
        where = settings.origins["model.base_url"]
        yield (
            f"requests go to {settings.shown('model.base_url')} ({where}); "
            f"{_removal_of_address(where.source)} removes that"
        )


def _removal_of_address(source: str) -> str:
    if source == "variable":
        return "`unset ORACLE_MODEL_BASE_URL`"
    return f"`oracle config unset model.base_url{' --user' if source == 'user' else ''}`"


def _meaning_of(settings: Settings) -> str:
    from oracle.services.llm.names import full_name

    try:
        return full_name(settings.model.name, os.environ, base_url=settings.model.base_url)
    except InputError:
        return settings.model.name


def _way_to_select(name: str, source: str) -> str:
    from oracle.services.settings.ways import way_to_set

    return way_to_set("model.name", name, source)


def _notes_on_use(full: str, settings: Settings) -> Iterator[str]:
    from dataclasses import replace

    from oracle.cli.terminal.model_consent import shown_prices
    from oracle.services.llm.model_facts import is_in_table
    from oracle.services.llm.ollama import local_models, runs_elsewhere
    from oracle.services.llm.providers import PROVIDERS
    from oracle.services.llm.spending import place_of_key, prices_for
    from oracle.services.settings.sections import ModelSettings

    provider, colon, model = full.partition(":")
    if not colon:
        yield "it is free, and only quotes what it finds"
    elif provider == "ollama":
        local = local_models(os.environ)
        if runs_elsewhere(model):
            yield "ollama runs it elsewhere, with the account that it is signed in with"
        if local.problem:
            yield f"{local.problem}; {local.step}"
        elif not local.has(model):
            yield f"ollama does not have it yet; `ollama pull {model}` gets it"
    elif settings.model.base_url is None:
        # Settings that describe another model say nothing about this one.
        is_described = _meaning_of(settings) == full
        described = replace(settings.model, name=full)
        prices = prices_for(described if is_described else ModelSettings(name=full), os.environ)
        if not is_in_table(provider, model):
            yield (
                f"requests go to {PROVIDERS[provider].address}, and the table of models does not "
                f"have it; for a server of your own, `oracle models use {full} --base-url URL`"
            )
        yield f"it costs {shown_prices(prices)}" if prices else "its price is not known"
        if PROVIDERS[provider].needs_key and place_of_key(provider, os.environ) is None:
            yield f"there is no key for {provider}; `oracle keys set {provider}` stores one"


# -- the list --------------------------------------------------------------------------------------


def as_json(listing: Listing) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "selected": asdict(listing.selected),
        "models": [_model_as_json(model) for model in listing.models],
        "missing": dict(listing.missing),
    }


def _model_as_json(model: ListedModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "short_name": model.short_name,
        "provider": model.provider,
        "key": model.key,
        "is_usable": model.is_usable,
        "is_selected": model.is_selected,
        "input_price": model.prices and model.prices.input,
        "output_price": model.prices and model.prices.output,
        "context_window": model.context_window,
    }


def listing_lines(listing: Listing, *, width: int, every: bool = False) -> Iterator[str]:
    """Names are never cut: in a narrow terminal the facts are below them."""
    yield from _wrapped(_selected_lines(listing), width)
    for provider in dict.fromkeys(model.provider for model in listing.models):
        found = [model for model in listing.models if model.provider == provider]
        yield ""
        yield from _wrapped([_heading(provider, found[0])], width)
        yield from _model_lines(found, width)
    # The heading of a provider's models says already that it has no key.
    shown = {model.provider for model in listing.models}
    missing = {name: step for name, step in listing.missing.items() if name not in shown}
    if missing:
        yield ""
    yield from _wrapped((f"{name}: {step}" for name, step in missing.items()), width)
    yield ""
    if any(
        model.prices and (model.prices.input or model.prices.output) for model in listing.models
    ):
        yield from _wrapped(["prices are in dollars for a million tokens"], width)
    if not every:
        yield from _wrapped(["`oracle models --all` lists older models too"], width)


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    from textwrap import wrap

    for line in lines:
        yield from wrap(
            line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )


def _selected_lines(listing: Listing) -> Iterator[str]:
    selected = listing.selected
    if selected.problem:
        yield f"selected: nothing that can be used ({selected.place}: {selected.problem})"
        yield f"(`{_way_to_select('NAME', selected.source)}` changes it)"
        return
    at = f" at {selected.base_url}" if selected.base_url else ""
    yield f"selected: {selected.name}{at}"
    if selected.place == "default":
        yield "(the default; `oracle models use NAME` selects another)"
    else:
        way = _way_to_select("NAME", selected.source)
        yield f"(from {selected.place}; `{way}` changes it)"


def _heading(provider: str, first: ListedModel) -> str:
    if provider == "embedded":
        return "without a language model"
    if first.key is None:
        return f"{provider} (no key; `oracle keys set {provider}` stores one)"
    return f"{provider} (key: {first.key})" if first.key else f"{provider} (no key needed)"


def _model_lines(found: Sequence[ListedModel], width: int) -> Iterator[str]:
    # Ollama can have thousands. The others have as many as our table.
    shown = [m for at, m in enumerate(found) if at < MOST_OF_A_PROVIDER or m.is_selected]
    widest = max(len(model.name) for model in shown)
    shortest = max(len(model.short_name) for model in shown)
    rows = [
        f"{'*' if model.is_selected else ' '} {model.name:{widest}}"
        f"  {model.short_name:{shortest}}  {_facts(model)}".rstrip()
        for model in shown
    ]
    if max(map(len, rows)) > width:
        rows = [row for model in shown for row in _narrow(model, width)]
    yield from rows
    if len(found) > len(shown):
        yield f"  and {len(found) - len(shown)} more; --json lists all"


def _narrow(model: ListedModel, width: int) -> Iterator[str]:
    facts = " ".join(_facts(model).split())
    both = f"{model.short_name}: {facts}"
    yield f"{'*' if model.is_selected else ' '} {model.name}"
    if not model.short_name or len(both) + 4 > width:
        below = [text for text in (model.short_name, facts) if text]
    else:
        below = [both]
    yield from (f"    {text}" for text in below)


def _facts(model: ListedModel) -> str:
    from oracle.cli.terminal.model_consent import dollars

    if model.name == "embedded":
        return "free; quotes what it finds"
    if model.prices is None:
        price = "price unknown"
    elif model.prices.input == model.prices.output == 0:
        price = "free"
    else:
        price = f"{dollars(model.prices.input):>5} in {dollars(model.prices.output):>6} out"
    window = f"{_size(model.context_window):>5} window" if model.context_window else ""
    return f"{price}  {window}".rstrip()


def _size(tokens: int) -> str:
    """`200k`, `1M`."""
    return f"{tokens / 1_000_000:.3g}M" if tokens >= 1_000_000 else f"{round(tokens / 1000)}k"


def _width() -> int:
    from oracle.cli.terminal.console import console_on

    return console_on(sys.stdout).width if sys.stdout.isatty() else WIDTH_OF_A_PIPE
