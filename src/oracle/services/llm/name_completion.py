"""What Tab offers for the name of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.services.llm.catalogue import known_models, newest_models
from oracle.services.llm.spending import place_of_key
from oracle.services.settings.sections import EMBEDDED


def names_beginning(
    typed: str, environment: Mapping[str, str], *, also: Sequence[str] = ()
) -> list[str]:
    """Models with this beginning. Before anything is typed, only those that can be asked: `also`,
    and those that there is a key for. Nobody is asked, so models of ollama are not among them.
    """
    newest = newest_models()
    names = [*also, EMBEDDED]
    if typed:
        known = known_models()
        names += [model.short_name for model in newest]
        names += [model.model for model in known] + [model.name for model in known]
    else:
        has_key = {each.provider: place_of_key(each.provider, environment) for each in newest}
        names += [model.short_name for model in newest if has_key[model.provider]]
    return [name for name in dict.fromkeys(names) if name.startswith(typed.lower())]
