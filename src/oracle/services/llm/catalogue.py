"""The chat models that are known without asking anybody: those in the table of `genai-prices`.

The table lists everything that a provider charges for. Kept are the models that chat by the
protocols that we speak; sound, pictures, dated copies and previews are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.llm.model_facts import models_in_table, prices_of
from oracle.services.llm.protocol import Prices

VENDORS: Final = {"anthropic": "claude", "openai": "gpt"}
"""The word that most names of a provider's models begin with. A short name can leave it out."""

DEFAULTS: Final = {"anthropic": "sonnet", "openai": "sol"}
"""The family to offer if a user has a key and no model: good at tools, at a middle price."""

SIZES: Final = frozenset({"mini", "nano"})
"""Words that say only a size. `mini` alone would not be a clear name."""

# fmt: off
_OTHER_USES: Final = frozenset({
    "audio", "babbage", "codex", "computer", "cyber", "davinci", "deep", "embedding",
    "extended", "ft", "image", "instruct", "live", "moderation", "oss", "preview", "pro",
    "realtime", "rosalind", "search", "transcribe", "translate", "turbo", "tts", "vision",
    "whisper",
})
# fmt: on
"""`pro` and `codex` chat by OpenAI's Responses protocol only, which we do not speak. `oss` is
served by others than OpenAI.
"""
_IS_CHAT: Final = re.compile(r"claude-|gpt-|o\d")
# `o3` and `4o` name a family; in `gpt-5` and `claude-sonnet-4-5` the numbers are a version.
_WORDS: Final = re.compile(r"o\d+|\d+o(?![a-z])|[a-z]+|\d+")
# Retired by their providers, or with a window too small for a project's files.
_TOO_OLD: Final = re.compile(r"claude-[23]|gpt-4(-32k)?$|o1")
_DATE: Final = re.compile(r"\d{4}(?!\d)|\d{6,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class NameParts:
    """A name taken apart: `claude-sonnet-4-5` is `{claude, sonnet}` and `(4, 5)`."""

    words: frozenset[str]
    version: tuple[int, ...]

    @property
    def family(self) -> frozenset[str]:
        """The words without the vendor's, unless nothing is left."""
        return self.words - set(VENDORS.values()) or self.words


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownModel:
    provider: str
    model: str
    context_window: int
    prices: Prices
    parts: NameParts

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def short_name(self) -> str:
        """The shortest name that always means the newest model of this family.

        The main line of a vendor (`gpt-5.5`) has none: `gpt` could be any of its models.
        """
        vendor = VENDORS[self.provider]
        if self.parts.family == frozenset({vendor}):
            return self.model
        rest = "-".join(word for word in _WORDS.findall(self.model) if word in self.parts.family)
        return f"{vendor}-{rest}" if self.parts.family <= SIZES else rest


def parts_of(name: str) -> NameParts:
    found = [word for word in _WORDS.findall(name.lower()) if word != "latest"]
    numbers = [int(word) for word in found if word.isdigit()]
    while numbers and numbers[-1] == 0:  # `claude-opus-4-0` is Opus 4
        numbers.pop()
    return NameParts(
        words=frozenset(word for word in found if not word.isdigit()), version=tuple(numbers)
    )


@cache
def known_models() -> Sequence[KnownModel]:
    """All of them: by provider, the newest first, then the more expensive ones first."""
    found = [model for provider in VENDORS for model in _models_of(provider)]
    order = list(VENDORS)
    return sorted(
        found,
        key=lambda model: (
            order.index(model.provider),
            *(-number for number in (*model.parts.version, 0, 0)[:2]),
            -model.prices.output,
            model.model,
        ),
    )


def families(models: Iterable[KnownModel]) -> Sequence[str]:
    """The names of the newest model of each family."""
    return [model.name for model in _newest(models).values()]


@cache
def newest_models() -> Sequence[KnownModel]:
    """The newest model of each family, for families that are not older than one generation."""
    newest = _newest(known_models())
    generation = {
        provider: max(_generation(model) for model in newest.values() if model.provider == provider)
        for provider in VENDORS
    }
    return [
        model for model in newest.values() if _generation(model) >= generation[model.provider] - 1
    ]


def _newest(models: Iterable[KnownModel]) -> dict[tuple[str, frozenset[str]], KnownModel]:
    newest: dict[tuple[str, frozenset[str]], KnownModel] = {}
    for model in models:
        newest.setdefault((model.provider, model.parts.family), model)
    return newest


def _generation(model: KnownModel) -> int:
    return next(iter(model.parts.version), 0)


def _models_of(provider: str) -> list[KnownModel]:
    return [
        KnownModel(
            provider=provider,
            model=info.id,
            context_window=info.context_window,
            prices=prices,
            parts=parts_of(info.id),
        )
        for info in models_in_table(provider)
        if is_for_chat(info.id) and not info.deprecated
        if not _TOO_OLD.match(info.id) and not _DATE.search(info.id)
        if info.context_window and (prices := prices_of(info))
    ]


def is_for_chat(model: str) -> bool:
    return _IS_CHAT.match(model) is not None and not parts_of(model).words & _OTHER_USES
