"""`oracle config`: every setting with its value and where it comes from; set and unset them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from typer.core import TyperGroup

from oracle.cli.commands.config_listing import SettingsListing, as_object, as_text
from oracle.cli.commands.config_trust import trust, untrust
from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.output import say, show, show_json, show_sentence
from oracle.cli.terminal.safe_text import printable
from oracle.errors import InputError, NotFound, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from oracle.settings import Settings


class _ShowsByDefault(TyperGroup):
    """`oracle config limits` means `oracle config show limits`.

    No setting and no section has the name of a command.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowsByDefault,
    help="Show the settings and where they come from; set and unset them.",
)

ROOTS: Final = "roots"


def names_beginning(incomplete: str) -> list[tuple[str, str]]:
    """Completions for the shell: settings and sections with their meaning.

    It reads no file, because a broken settings file must not break completion.
    """
    from oracle.services.settings.sections import SECTIONS
    from oracle.settings import SETTINGS

    named = [(row.name, row.meaning) for row in SETTINGS.values()]
    sections = [(section, f"all of [{section}]") for section in SECTIONS]
    return [pair for pair in [*sections, *named] if pair[0].startswith(incomplete)]


def words_beginning(incomplete: str) -> list[tuple[str, str]]:
    """After `oracle config` there is a command, or what to show."""
    commands = [(name, "change or find the file") for name in ("set", "unset", "path")]
    commands += [(name, "trust this project's settings") for name in ("trust", "untrust")]
    return [
        *(pair for pair in commands if pair[0].startswith(incomplete)),
        *names_beginning(incomplete),
    ]


NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="A setting, such as limits.turns.", autocompletion=names_beginning
    ),
]
UserOption = Annotated[
    bool, typer.Option("--user", help="In the user's own file, for all projects.")
]


@app.command("show")
def config(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A setting, such as limits.turns, or a section, such as limits.",
            autocompletion=words_beginning,
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the settings, their values and where these come from.

    The word show can be left out.
    """
    # Before the settings are read: a name that does not exist is reported first.
    chosen(name)
    settings = settings_with()
    names = [*chosen(name), *_roots_among(settings, name)]
    if "model.name" in names:
        _warn_of_model(settings.model.name, settings.model.base_url)
    if json:
        show_json([as_object(settings, each) for each in names])
    elif name is not None and name in names:
        print(as_text(settings, name))
        say(f"{name} comes from: {printable(str(settings.origins[name]))}")
    else:
        show(SettingsListing(settings, names))


# "-1" is a value here, not an option.
@app.command("set", context_settings={"ignore_unknown_options": True})
def set_(
    name: NameArgument,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="The new value. Items of a list are separated by commas."
        ),
    ] = None,
    user: UserOption = False,
) -> None:
    """Write a setting into the project's oracle.toml, or the user's.

    Comments and order of the file stay as they are.
    """
    from oracle.services.settings.editing import value_in
    from oracle.services.settings.own_changes import write_settings

    name, value = _pair(name, value)
    _check(name, value)
    file = _file(user)
    if name.startswith(f"{ROOTS}."):
        _check_root(file, name, value, user=user)
    before = value_in(file, name)
    model = _model_meant(value, file) if name == "model.name" else None
    write_settings(file, {name: value})
    after = value_in(file, name)
    was = "" if before is None else f" (before: {_shown(before)})"
    _report(file, f"{name} = {_shown(after)}{' (as before)' if before == after else was}")
    if model is not None:
        _agree(model, file)
    _warn_if_overridden(name, file)
    if name.startswith("web."):
        _warn_of_the_web()


@app.command()
def unset(name: NameArgument, user: UserOption = False) -> None:
    """Remove a setting from the project's oracle.toml, or the user's."""
    from oracle.services.settings.editing import unset_value, value_in
    from oracle.services.settings.resolve import shown_path
    from oracle.services.settings.sections import SECTIONS
    from oracle.settings import setting_named

    file = _file(user)
    if name in SECTIONS:
        raise InputError(
            f"{name} is a section; name one of its settings: {', '.join(chosen(name))}"
        )
    before = value_in(file, name)
    if before is None:
        other = "the project's file without --user" if user else "your own file with --user"
        raise NotFound(
            f"{setting_named(name).name} is not set in {shown_path(file)}; "
            f"`oracle config {name}` says where its value comes from; change {other}"
        )
    unset_value(file, name)
    _report(file, f"{name} removed (before: {_shown(before)})")
    _say_what_counts(name, user=user)


@app.command()
def path(user: UserOption = False) -> None:
    """Print the path of the file that set and unset change."""
    print(printable(str(_file(user))))


app.command()(trust)
app.command()(untrust)


def _pair(name: str, value: str | None) -> tuple[str, str]:
    """`limits.turns=4` is understood as well."""
    key, equals, rest = name.partition("=")
    if value is None and equals:
        return key.strip(), rest.strip()
    if value is None:
        raise InputError(f"no value is given; write `oracle config set {printable(name)} VALUE`")
    return name, value


def _check(name: str, value: str) -> None:
    """What was typed is wrong then, and not the settings, so it has another exit code."""
    from oracle.services.settings.editing import checked

    try:
        checked(name, value)
    except SettingsError as problem:
        raise InputError(str(problem)) from None


def _check_root(file: Path, name: str, value: str, *, user: bool) -> None:
    """Before it is written: a root that cannot be would break all other commands."""
    from oracle.services.settings.root_settings import new_root_problem

    if user:
        raise InputError("roots belong to one project; leave out --user")
    if problem := new_root_problem(file.parent, name.partition(".")[2], value):
        raise InputError(f"{name}: {problem}")


def _file(user: bool) -> Path:
    from oracle.services.project.root import here
    from oracle.services.settings.resolve import root_of, user_settings_file
    from oracle.services.settings.toml_file import FILE_NAME

    if user:
        return user_settings_file()
    root = root_of(here())
    if root is None:
        raise InputError(
            "this folder is not in a project; give --user for the file that counts for all "
            "projects, or run `oracle init` first"
        )
    return root / FILE_NAME


def _report(file: Path, text: str) -> None:
    # Before the warnings about it, also if both go to the same pipe.
    show_sentence(printable(f"{_shown_path(file)}: {text}"))


def _shown_path(file: Path) -> str:
    from oracle.services.settings.resolve import shown_path

    return shown_path(file)


def _shown(value: object) -> str:
    from oracle.services.settings.template import as_toml
    from oracle.services.settings.value_types import masked

    # Masked first: the pattern of a key must not take the closing quote along.
    if isinstance(value, list):
        text = as_toml(tuple(_masked(item) for item in cast("list[object]", value)))
    elif isinstance(value, str | int | float):
        text = as_toml(_masked(value))
    else:
        text = masked(str(value))
    return printable(text)


def _masked(value: object) -> object:
    from oracle.services.settings.value_types import masked

    return masked(value) if isinstance(value, str) else value


def _warn_if_overridden(name: str, file: Path) -> None:
    """The file was written. Whether its value counts is for the others to say."""
    settings = _loaded()
    if settings is None or name not in settings.origins:
        return
    origin = settings.origins[name]
    is_here = str(origin).startswith(f"{_shown_path(file)}:")
    if origin.source != "default" and not is_here:
        _warn(f"{origin} sets {name} too, and has priority here")
    elif is_here and origin.source == "file" and name.startswith("model."):
        model = settings.origins["model.name"]
        if model.source == "user":
            typer.echo(
                f"oracle: {name} counts in this project only, but {model} selects the model for "
                "all projects; add --user to set both there",
                err=True,
            )


def _warn_of_the_web() -> None:
    """What a provider of web searches still needs: a key, an address or a package."""
    from oracle.cli.commands.checks import Surroundings, web

    settings = _loaded()
    if settings is not None and settings.web.provider is not None:
        for level, told, step in web(Surroundings(settings=settings)):
            if level == "problem":
                say(f"{told}: {step}")


def _say_what_counts(name: str, *, user: bool) -> None:
    """After a setting was removed from the user's file or a project's."""
    settings = _loaded()
    if settings is None or name not in settings.origins:
        return
    origin = settings.origins[name]
    if origin.source in ("variable", "flag") or (user and origin.source == "file"):
        say(f"{origin} still sets {name} here")
    elif origin.source == "user":
        value = as_text(settings, name)
        say(f"{name} is {value} now, from {origin}")


def _loaded() -> Settings | None:
    """None if the settings have mistakes, which are printed."""
    from oracle.settings import load_settings

    try:
        return load_settings()
    except SettingsError as problem:
        for line in str(problem).splitlines():
            _warn(line)
        return None


def _model_meant(name: str, file: Path) -> str:
    """An error for a name that no server could have. A server of one's own has its own names."""
    from oracle.services.llm.names import full_name
    from oracle.services.settings.editing import value_in

    base_url = value_in(file, "model.base_url")
    try:
        return full_name(name, os.environ, base_url=base_url if isinstance(base_url, str) else None)
    except InputError as problem:
        raise SettingsError(f"model.name: {problem}") from None


def _agree(model: str, file: Path) -> None:
    from oracle.services.llm.spending import agree_by_writing

    agree_by_writing(model, file)


def _warn_of_model(name: str, base_url: str | None = None) -> None:
    from oracle.services.llm.names import full_name

    try:
        full_name(name, os.environ, base_url=base_url)
    except InputError as problem:
        _warn(str(problem))


def _warn(text: str) -> None:
    say(f"warning: {printable(text)}")


def chosen(name: str | None) -> Sequence[str]:
    """The names of all settings, of those in a section, or of one."""
    from oracle.services.settings.sections import SECTIONS
    from oracle.settings import SETTINGS, setting_named

    if name is None:
        return list(SETTINGS)
    if name == ROOTS:
        return []
    if name in SECTIONS:
        return [row.name for row in SETTINGS.values() if row.section == name]
    return [setting_named(name).name]


def _roots_among(settings: Settings, name: str | None) -> list[str]:
    """The names that the user has chosen are in no table."""
    return [f"{ROOTS}.{root.name}" for root in settings.roots] if name in (None, ROOTS) else []
