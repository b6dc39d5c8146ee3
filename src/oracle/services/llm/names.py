"""Finds the model that a name means: `sonnet`, `gpt-5-mini`, `llama3.2:3b`, `openai:gpt-5`.

A full name, `provider:model`, means itself. A short one must mean exactly one model. The rules:

1. The name of a model without its provider: `claude-sonnet-4-5`, `gpt-5`, also with a date.
2. The name of a family, with or without a version: `sonnet`, `opus-4.1`, `gpt-mini`. Without one it
   is the newest model of the family. Case does not matter, nor how the words are separated.
3. A model that ollama has on this machine: `llama3.2:3b`, or `llama3.2` if only one has that name.

The table of models on disk decides about the first two, so nothing is asked there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from oracle.errors import InputError
from oracle.services.llm.ollama import LocalModels, local_models
from oracle.services.llm.providers import PROVIDERS, is_model_name, split_name
from oracle.services.settings.sections import EMBEDDED

SEE_ALL: Final = "`oracle models --all` lists the known ones"
_LONGEST: Final = 200
_MOST_CHOICES: Final = 6
_TAG: Final = re.compile(r"\d|latest$|cloud$|e\d|v\d|q\d", re.IGNORECASE)
"""How the tags of ollama begin: `3b`, `latest`, `e4b`. Other texts after a colon are models."""

_PLAIN: Final = re.compile(r"[\w./:@+ -]+", re.ASCII)


def full_name(
    name: str,
    environment: Mapping[str, str],
    *,
    base_url: str | None = None,
    abbreviated: bool = False,
) -> str:
    """The model as `provider:model`, or `embedded`. An error lists what could be meant.

    With `abbreviated`, the start of a name is enough if only one model has it.
    """
    typed = name.strip()
    if typed.lower() == EMBEDDED:
        return EMBEDDED
    # Other programs write the same names with a slash.
    provider, _, model = re.split(r"([:/])", f"{typed}:", maxsplit=1)
    if provider in PROVIDERS and model:
        return _of_provider(provider, model.removesuffix(":"), base_url)
    is_plain = _PLAIN.fullmatch(typed) and not typed.startswith(":")
    if len(typed) > _LONGEST or not is_plain:
        raise InputError(f"{typed[:80]!r} is not the name of a model; {SEE_ALL}")
    # A colon belongs to a tag of ollama. No provider has one in the names of its models.
    fitting = _known(typed) if ":" not in typed else ()
    if not fitting:
        local = local_models(environment)
        fitting = _local(typed, local) or _choices(typed, local, abbreviated=abbreviated)
        if not fitting:
            raise InputError(_unknown(typed, base_url, local))
    if len(fitting) > 1:
        raise InputError(f"model {typed!r} could be {_either(fitting)}; write one of them")
    return fitting[0]


def provider_named(name: str) -> str:
    """The provider that a name says or surely means; empty if it does not say one."""
    typed = name.strip()
    provider = re.split("[:/]", typed, maxsplit=1)[0]
    if typed.lower() == EMBEDDED or provider in PROVIDERS:
        return provider.lower()
    known = _known(typed) if ":" not in typed else ()
    return known[0].partition(":")[0] if len(known) == 1 else ""


def _of_provider(provider: str, model: str, base_url: str | None) -> str:
    split_name(f"{provider}:{model}")
    # Other servers have names of their own. Names with a number are the provider's.
    if base_url is None and not re.search(r"\d", model):
        found = [known for known in _family(model) if known.startswith(f"{provider}:")]
        if found:
            return found[0]
    return f"{provider}:{model}"


def _known(typed: str) -> Sequence[str]:
    from oracle.services.llm.catalogue import known_models

    lower = typed.lower()
    exact = [known.name for known in known_models() if known.model == lower]
    return exact or _family(lower) or _in_table(lower)


def _family(typed: str) -> Sequence[str]:
    """The model with these words and this version; without a version, the newest one."""
    from oracle.services.llm.catalogue import SIZES, VENDORS, known_models, parts_of

    given = parts_of(typed)
    vendors = given.words & set(VENDORS.values())
    is_clear = given.version or not (given.words <= vendors or given.words <= SIZES)
    found = (
        known.name
        for known in known_models()
        if is_clear and given.family == known.parts.family and vendors <= known.parts.words
        if given.version in ((), known.parts.version)
    )
    return list(found)[:1]


def _in_table(lower: str) -> Sequence[str]:
    """A name that the provider has and the catalogue leaves out: a dated or an old one."""
    from oracle.services.llm.catalogue import is_for_chat

    return [f"{provider}:{lower}" for provider in _selling(lower) if is_for_chat(lower)]


def _selling(lower: str) -> Sequence[str]:
    from oracle.services.llm.catalogue import VENDORS
    from oracle.services.llm.model_facts import is_in_table

    return [provider for provider in VENDORS if is_in_table(provider, lower)][:1]


def _local(typed: str, local: LocalModels) -> Sequence[str]:
    names = [model.name for model in local.models]
    exact = [name for name in names if name in (typed, f"{typed}:latest")]
    tagged = [name for name in names if typed == "ollama" or name.startswith(f"{typed}:")]
    return [f"ollama:{name}" for name in exact[:1] or tagged]


def is_name_of_ollama(model: str) -> bool:
    """Whether the name of a model of ollama means that model, and nothing that goes before it."""
    provider = re.split("[:/]", model, maxsplit=1)[0]
    is_taken = provider in PROVIDERS or model.lower() == EMBEDDED
    return not is_taken and (":" in model or not _known(model))


def _choices(typed: str, local: LocalModels, *, abbreviated: bool) -> Sequence[str]:
    """Those that could be meant; one only if the start of a name is enough."""
    beginning = _beginning(typed, local)
    if abbreviated and len(beginning) == 1:
        return beginning
    found = _newest_first({*beginning, *_containing(typed)})
    # One that merely contains the words was not named clearly: it is suggested, not used.
    return found if len(found) > 1 else ()


def _newest_first(names: Collection[str]) -> Sequence[str]:
    """Those of ollama, whose age is not known, come last."""
    from oracle.services.llm.catalogue import known_models

    known = [each.name for each in known_models() if each.name in names]
    return [*known, *sorted(set(names) - set(known))]


def _beginning(typed: str, local: LocalModels) -> Sequence[str]:
    """The newest model of each family, and those of ollama, whose names begin like this."""
    from oracle.services.llm.catalogue import families, known_models, newest_models

    lower = typed.lower()
    short = [known for known in newest_models() if known.short_name.startswith(lower)]
    known = families(short or [each for each in known_models() if each.model.startswith(lower)])
    names = [each.name for each in local.models if each.name.lower().startswith(lower)]
    return [*known, *(f"ollama:{name}" for name in names)]


def _containing(typed: str) -> Sequence[str]:
    """The newest model of each family that has these words, among others."""
    from oracle.services.llm.catalogue import families, known_models, parts_of

    given = parts_of(typed)
    found = [
        known
        for known in known_models()
        if given.words
        and (given.words <= known.parts.words or given.words == frozenset({known.provider}))
        if known.parts.version[: len(given.version)] == given.version
    ]
    return families(found) if ":" not in typed else ()


# -- errors ----------------------------------------------------------------------------------------


def _either(names: Sequence[str]) -> str:
    *others, last = names[:_MOST_CHOICES]
    more = f" ({len(names) - _MOST_CHOICES} more fit)" if len(names) > _MOST_CHOICES else ""
    return f"{', '.join(others)} or {last}{more}"


def _unknown(typed: str, base_url: str | None, local: LocalModels) -> str:
    _, colon, tag = typed.partition(":")
    if base_url is not None and (not colon or _TAG.match(tag)):
        near = _meant(typed)
        return (
            f"there is no model {typed!r}{f' (did you mean {near}?)' if near else ''}; if the "
            f"server at your model.base_url has it, write openai:{typed}"
        )
    if sellers := _selling(typed.lower()):
        return f"{typed!r} is not a chat model; to try it all the same, write {sellers[0]}:{typed}"
    if near := _meant(typed):
        return f"there is no model {typed!r} ({SEE_ALL}); did you mean {near}?"
    if not is_model_name(typed):
        return f"there is no model {typed!r}; {SEE_ALL}"
    provider, colon, model = typed.partition(":")
    if colon and not _TAG.match(model):
        return (
            f"there is no provider {provider!r} (providers: {', '.join(PROVIDERS)}); for another "
            f"server with OpenAI's protocol, `oracle models use openai:{model} --base-url URL`"
        )
    why = local.problem or f"ollama does not have it either (`ollama pull {typed}` gets a model)"
    return f"there is no model {typed!r} ({SEE_ALL}); {why}"


def _meant(typed: str) -> str:
    """What was probably meant, in quotes; empty if nothing is near."""
    from oracle.services.llm.catalogue import known_models, newest_models

    provider, colon, model = typed.lower().partition(":")
    if colon:
        known = _known(typed.replace(":", "-"))
        close = get_close_matches(provider, PROVIDERS, n=1, cutoff=0.8)
        near = [*known, *(f"{name}:{model}" for name in close)][:1]
    else:
        short = [known.short_name for known in newest_models()]
        names = dict.fromkeys([*short, EMBEDDED, *(known.model for known in known_models())])
        near = _containing(typed) or get_close_matches(typed.lower(), names, n=3, cutoff=0.7)
    return " or ".join(map(repr, near))
