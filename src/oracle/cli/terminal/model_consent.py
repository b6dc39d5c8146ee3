"""Before a question is asked: find the model that is meant, and never spend money silently.

Questions go to the person at the terminal. Where nobody can be asked, nothing is paid.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Final, Literal

import typer

from oracle.cli import INTERRUPTED
from oracle.cli.terminal.approval import KEYS, YES, answer_to, can_ask_a_person
from oracle.cli.terminal.safe_text import printable
from oracle.errors import SettingsError, StoreError
from oracle.services.settings.sections import EMBEDDED, ModelSettings
from oracle.settings import Origin

if TYPE_CHECKING:
    from oracle.services.llm.protocol import Prices
    from oracle.services.llm.spending import Offer
    from oracle.settings import Settings

Said = Literal["yes", "no", "nothing"]

PREFIX: Final = "oracle: "
NO_MODEL: Final = "no model"
"""Names the notice that no model is selected. It is given once a day, here or after the answer."""

CHANGE: Final = "`oracle models use NAME` changes it"


def with_usable_model(settings: Settings, *, quiet: bool = False) -> Settings:
    """The settings with the full name of a model that the user has agreed to.

    Nobody is asked with `quiet`, or if stdout or stderr is not a terminal.
    """
    asks = not quiet and sys.stdout.isatty() and can_ask_a_person()
    if settings.origins["model.name"].source == "default":
        return _with_offer(settings, asks=asks, quiet=quiet)
    settings = _named_in_full(settings, quiet=quiet)
    if settings.origins["model.name"].source == "file":
        return _with_consent(settings, asks=asks, quiet=quiet)
    return settings


def shown_prices(prices: Prices | None) -> str:
    if prices is None:
        return "price unknown"
    return f"{dollars(prices.input)} in, {dollars(prices.output)} out per million tokens"


def dollars(amount: float) -> str:
    """`$2`, `$1.25`, `$0.075`."""
    return f"${amount:.2f}" if round(amount, 2) == amount != int(amount) else f"${amount:g}"


def _named_in_full(settings: Settings, *, quiet: bool) -> Settings:
    from oracle.services.llm.spending import with_full_name

    typed = settings.model.name
    named = with_full_name(settings, os.environ)
    full = named.model.name
    # That gpt-5 is openai:gpt-5 is no news.
    if typed not in (full, full.partition(":")[2]) and not quiet:
        # Said again when another table gives the name another meaning.
        _say_once(f"name {typed}", full, f"{typed} means {full} here")
    return named


def _with_model(settings: Settings, model: ModelSettings, origin: Origin) -> Settings:
    return replace(settings, model=model, origins={**settings.origins, "model.name": origin})


# -- nothing is selected, and there is a key -------------------------------------------------------


def _with_offer(settings: Settings, *, asks: bool, quiet: bool) -> Settings:
    from oracle.services.llm.spending import offer_for, prices_for

    try:
        offer = None if quiet else offer_for(settings, os.environ)
    except StoreError as problem:
        # Keys that cannot be read are no reason to refuse an answer that needs none.
        _say_once("keys", str(date.today()), str(problem))
        return settings
    if offer is None:
        return settings
    if not asks:
        _say_once(
            NO_MODEL,
            str(date.today()),
            f"there is a key for {offer.provider}, but no model is selected, so the answer only "
            f"quotes; `oracle models use {offer.short_name}` selects one",
        )
        return settings
    model = replace(settings.model, name=offer.name)
    _say(f"no model is selected, and there is a key for {offer.provider} ({offer.key})")
    said = _answer(f"use {offer.name} from now on ({shown_prices(prices_for(model, os.environ))})?")
    if said != "nothing":
        _select(offer.name if said == "yes" else EMBEDDED)
    if said == "yes":
        _say(f"{offer.name} is selected; {CHANGE}")
        return _with_model(settings, model, Origin(source="user", place="your answer"))
    _say_no(offer)
    return _with_model(settings, settings.model, Origin(source="user", place="your answer"))


def _select(name: str) -> None:
    from oracle.services.settings.editing import set_value
    from oracle.services.settings.resolve import user_settings_file

    try:
        set_value(user_settings_file(), "model.name", name)
    except (StoreError, SettingsError) as problem:
        _say(f"this holds for now only, because it could not be written: {printable(str(problem))}")


def _say_no(offer: Offer) -> None:
    _say(
        "the embedded reader answers, which is free and only quotes; "
        f"`oracle models use {offer.short_name}` selects a model later"
    )


# -- a project's file names a paid model -----------------------------------------------------------


def _with_consent(settings: Settings, *, asks: bool, quiet: bool) -> Settings:
    from oracle.services.llm.spending import check_spending, consent_to

    consent = consent_to(settings, os.environ)
    if consent == "yes":
        return settings
    if consent == "unknown" and not asks:
        check_spending(settings, os.environ)
    return (
        _as_answered(settings, quiet=quiet) if consent == "unknown" else _without(settings, quiet)
    )


def _as_answered(settings: Settings, *, quiet: bool) -> Settings:
    from oracle.services.llm.spending import keep_consent, paying_key, prices_for

    name, origin = settings.model.name, settings.origins["model.name"]
    key = paying_key(settings.model, os.environ)
    _say(f"this project's file selects {name} ({origin}), which your key pays for ({key})")
    # The file's own prices are not shown: it could pretend that the model is cheap.
    prices = prices_for(ModelSettings(name=name), os.environ)
    said = _answer(f"use it in this project ({shown_prices(prices)})?")
    if said != "nothing" and settings.root is not None:
        try:
            keep_consent(settings.root, name, said)
        except StoreError as problem:
            _say(f"this holds for now only: {printable(str(problem))}")
    if said != "yes":
        return _without(settings, quiet, is_answer=True)
    return _with_model(settings, settings.model, Origin(source="user", place="your answer"))


def _without(settings: Settings, quiet: bool, *, is_answer: bool = False) -> Settings:
    """The user's own model instead of the one that the project's file names.

    A user who has just answered is told each time, otherwise once a day.
    """
    from oracle.services.llm.spending import users_choice
    from oracle.services.settings.resolve import users_settings

    refused, instead = settings.model.name, users_choice(os.environ)
    if not quiet:
        text = (
            f"{instead} answers instead of {refused}; "
            f"`oracle models use {refused} --project` allows that one"
        )
        _say_once(f"instead of {refused}", str(date.today()), text, again=is_answer)
    origin = Origin(source="user", place="your answer")
    # With its address: the name alone would go to the provider, with the key for it.
    own = users_settings(os.environ).model
    return _with_model(settings, replace(own, name=instead), origin)


# -- talking ---------------------------------------------------------------------------------------


def _answer(question: str) -> Said:
    """Anything but a yes means no. Only a clear no is one to remember."""
    try:
        typed = answer_to(_fitted(f"{question} {KEYS}").removeprefix(PREFIX))
    except KeyboardInterrupt:
        print(file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    if typed is None:
        print(file=sys.stderr)
        return "nothing"
    if typed.lower() in YES:
        return "yes"
    return "no" if typed.lower() in ("", "n", "no") else "nothing"


def _say(text: str) -> None:
    print(_fitted(text), file=sys.stderr, flush=True)


def _fitted(text: str) -> str:
    """With our name before it, broken at words for the width of a terminal."""
    from oracle.cli.terminal.console import console_on
    from oracle.cli.terminal.tables import wrapped

    width = console_on(sys.stderr).width if sys.stderr.isatty() else None
    return "\n".join(wrapped(printable(text), width, first=PREFIX, rest="  "))


def _say_once(topic: str, state: str, text: str, *, again: bool = False) -> None:
    """Say it, unless it was said before in this state."""
    from oracle.services.user_files import recall, remember

    if recall("notices").get(topic) == state and not again:
        return
    _say(text)
    # If it cannot be kept, it is said again next time.
    with suppress(StoreError):
        remember("notices", topic, state)
