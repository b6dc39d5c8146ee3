"""Markdown on a terminal, as rich draws it, with links on citations."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    Heading,
    Markdown,
    MarkdownContext,
    MarkdownElement,
    Paragraph,
    TableDataElement,
)
from rich.style import Style
from rich.text import Text, TextType

from oracle.cli.terminal.links import Links
from oracle.cli.terminal.safe_text import safe_text


class _Heading(Heading):
    """At the left and without a frame; rich centres headings and boxes the first level."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Linking(MarkdownElement):
    """Text with links on its citations."""

    _links: Links

    @classmethod
    def create(cls, markdown: Markdown, token: Any) -> Any:
        made = super().create(markdown, token)
        assert isinstance(made, _Linking)
        assert isinstance(markdown, _Answer)
        made._links = markdown.links
        return made

    def on_text(self, context: MarkdownContext, text: TextType) -> None:
        if isinstance(text, str):
            text = linked(Text(text, style=context.current_style), self._links)
        super().on_text(context, text)


class _LinkingParagraph(_Linking, Paragraph):
    pass


class _LinkingHeading(_Linking, _Heading):
    pass


class _LinkingCell(_Linking, TableDataElement):
    pass


class _Answer(Markdown):
    """Markdown links are written out, so that the reader sees where they lead."""

    elements: ClassVar = {
        **Markdown.elements,
        "paragraph_open": _LinkingParagraph,
        "heading_open": _LinkingHeading,
        "td_open": _LinkingCell,
        "th_open": _LinkingCell,
    }

    def __init__(self, text: str, links: Links) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.markup = text
        self.parsed = _parser().parse(text)
        self.links = links


@cache
def _parser() -> MarkdownIt:
    """As rich has it, but tags, images and definitions of links are text: it would drop them."""
    parser = MarkdownIt("commonmark", {"html": False})
    return (
        parser.enable("strikethrough").enable("table").disable(["reference", "html_block", "image"])
    )


def rendered(text: str, links: Links | None = None) -> Markdown:
    """Markdown without characters that could control the terminal."""
    return _Answer(safe_text(text), links or Links())


def linked(text: Text, links: Links) -> Text:
    for start, end, target in links.places(text.plain):
        text.stylize(Style(link=target), start, end)
    return text
