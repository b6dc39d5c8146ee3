"""What a model has that stands in front of another one: the properties of that one."""

from __future__ import annotations

from oracle.services.llm.protocol import Model, Prices


class WrappedModel:
    """The base of models that change how another one streams."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_window(self) -> int:
        return self._model.context_window

    @property
    def longest_output(self) -> int:
        return self._model.longest_output

    @property
    def prices(self) -> Prices | None:
        return self._model.prices
