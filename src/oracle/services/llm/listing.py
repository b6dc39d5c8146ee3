"""The models that can be used: those of providers with a key, those of ollama, and `embedded`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oracle.errors import InputError
from oracle.lazy_dataclass import dataclass
from oracle.services.llm.catalogue import VENDORS, KnownModel, known_models, newest_models
from oracle.services.llm.names import full_name, is_name_of_ollama
from oracle.services.llm.ollama import LocalModel, LocalModels, local_models
from oracle.services.llm.protocol import Prices
from oracle.services.llm.providers import PROVIDERS, is_at_home
from oracle.services.llm.spending import paying_key, place_of_key, prices_for
from oracle.services.settings.sections import EMBEDDED

if TYPE_CHECKING:
    from oracle.settings import Settings

FREE: Final = Prices(input=0, output=0)
_MOST_WINDOWS: Final = 8
"""Of ollama's models, whose windows are asked for one by one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedModel:
    """`key` says where the key is; it is empty if none is needed, None if there is none."""

    name: str
    short_name: str
    key: str | None
    prices: Prices | None
    context_window: int | None
    is_selected: bool = False

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0]

    @property
    def is_usable(self) -> bool:
        return self.key is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Selected:
    """`name` is the full name, `problem` says why there is none. `place` is where it is set, and
    `source` what kind of place that is.
    """

    name: str
    place: str
    problem: str = ""
    base_url: str | None = None
    source: str = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """`missing` has the next step for each provider that cannot be used."""

    selected: Selected
    models: Sequence[ListedModel]
    missing: Mapping[str, str]


def list_models(
    settings: Settings, environment: Mapping[str, str], *, every: bool = False
) -> Listing:
    """With `every`, also older models, and those of providers without a key."""
    local = local_models(environment, windows=_MOST_WINDOWS)
    selected = _selected(settings, environment)
    keys = {provider: place_of_key(provider, environment) for provider in VENDORS}
    known = known_models() if every else newest_models()
    models = [
        _embedded(),
        *(_known(model, keys[model.provider], environment) for model in known),
        *map(_local, local.models),
    ]
    if not any(model.name == selected.name for model in models) and selected.name:
        models.append(_other(settings, selected.name, environment))
    usable = [model for model in models if every or model.is_usable or model.name == selected.name]
    return Listing(
        selected=selected,
        models=[replace(model, is_selected=model.name == selected.name) for model in usable],
        missing=dict(_missing(keys, local)),
    )


def _selected(settings: Settings, environment: Mapping[str, str]) -> Selected:
    chosen, origin = settings.model, settings.origins["model.name"]
    place, source = str(origin), origin.source
    try:
        name = full_name(chosen.name, environment, base_url=chosen.base_url)
    except InputError as problem:
        return Selected(name="", place=place, source=source, problem=str(problem))
    base_url = chosen.base_url if name != EMBEDDED else None
    return Selected(name=name, place=place, source=source, base_url=base_url)


def _embedded() -> ListedModel:
    return ListedModel(name=EMBEDDED, short_name="", key="", prices=FREE, context_window=None)


def _known(model: KnownModel, key: str | None, environment: Mapping[str, str]) -> ListedModel:
    return ListedModel(
        name=model.name,
        # Of an older model the short name would mean the newest one.
        short_name=model.short_name if model in newest_models() else "",
        key=key,
        prices=model.prices if is_at_home(model.provider, environment) else None,
        context_window=model.context_window,
    )


def _local(model: LocalModel) -> ListedModel:
    return ListedModel(
        name=f"ollama:{model.name}",
        short_name=model.name if is_name_of_ollama(model.name) else "",
        key="",
        prices=None if model.is_remote else FREE,
        context_window=model.context_window,
    )


def _other(settings: Settings, name: str, environment: Mapping[str, str]) -> ListedModel:
    """A model that is selected and not in the list: one on another server, or an old one."""
    from oracle.services.llm.model_facts import facts_about

    chosen = replace(settings.model, name=name)
    provider, _, model = name.partition(":")
    needs_key = PROVIDERS[provider].needs_key and chosen.base_url is None
    key = paying_key(chosen, environment)
    return ListedModel(
        name=name,
        short_name="",
        key=key if key or needs_key else "",
        prices=prices_for(chosen, environment),
        context_window=chosen.context_window or facts_about(provider, model).context_window,
    )


def _missing(keys: Mapping[str, str | None], local: LocalModels) -> Iterator[tuple[str, str]]:
    for provider, key in keys.items():
        if key is None:
            yield provider, f"no key; `oracle keys set {provider}` stores one"
    if local.problem:
        yield "ollama", f"{local.problem.removeprefix('ollama ')}; {local.step}"
    elif not local.models:
        yield "ollama", "it has no models; `ollama pull NAME` gets one"
