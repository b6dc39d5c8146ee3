"""The question of `oracle ask` with everything that belongs to it: a template, files, a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from oracle.errors import InputError, named
from oracle.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from oracle.services.attachments.gathering import Attachments
    from oracle.services.attachments.references import Reach
    from oracle.services.templates.template import Filled, Template
    from oracle.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What was typed. `diff` is a revision, empty for the last commit, None without `--diff`."""

    words: Sequence[str] = ()
    files: Sequence[str] = ()
    diff: str | None = None
    template: str | None = None
    values: Sequence[str] = field(default=())
    reads_stdin: bool = False

    @classmethod
    def typed(cls, words: Sequence[str], **rest: Any) -> Request:
        """The word `-` alone means that stdin has the question."""
        is_dash = [word.strip() for word in words] == ["-"]
        return cls(words=words, reads_stdin=is_dash, **rest)

    def with_question(self, text: str) -> Request:
        if not text.strip():
            raise InputError(
                "stdin has no question; pipe one in (`oracle ask - < question.md`), or write it "
                'as an argument: oracle ask "where is …?"'
            )
        return replace(self, words=(text,))


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A question that can be asked. `template` says where it comes from, for `--verbose`."""

    question: str
    attachments: Attachments
    template: str = ""


def prepared(request: Request, settings: Settings, *, piped_bytes: int = 0) -> Prepared:
    """Fill the template and read the files. Raises `InputError` for what cannot be used."""
    from oracle.services.attachments.gathering import gather

    reach = reach_of(settings)
    if request.template is None:
        if request.values:
            raise InputError(
                "--set needs a template; name one with -t (`oracle questions` lists them)"
            )
        question = " ".join(word.strip() for word in request.words).strip()
        attached = gather(
            question, reach=reach, files=request.files, diff=request.diff, piped_bytes=piped_bytes
        )
        return Prepared(question=question, attachments=attached)
    return _from_template(request, request.template, settings, piped_bytes)


def _from_template(request: Request, name: str, settings: Settings, piped_bytes: int) -> Prepared:
    from oracle.services.attachments.gathering import gather, joined
    from oracle.services.templates.template_files import find_template

    reach = reach_of(settings)
    template = find_template(name, settings.root)
    values, more = _values_and_words(request)
    filled = template.fill(values)
    own = gather(more, reach=reach, files=request.files, piped_bytes=piped_bytes)
    theirs = gather(
        filled.question,
        reach=replace(reach, is_confined=template.origin == "project"),
        files=filled.files,
        diff=_diff_of(request, filled),
        piped_bytes=piped_bytes + own.size,
    )
    return Prepared(
        question="\n\n".join(filter(None, (filled.question, more))),
        attachments=joined(own, theirs),
        template=_described(template),
    )


def reach_of(settings: Settings) -> Reach:
    """Paths begin in the working directory. The user may attach files from anywhere."""
    from oracle.services.attachments.references import Reach
    from oracle.services.project.root import here

    folder = here()
    return Reach(
        folder=folder,
        root=settings.root or folder,
        secrets=settings.secrets.rules,
        roots=settings.roots,
    )


def check_words(request: Request) -> None:
    """Before stdin is read: a mistake is reported at once."""
    if request.template is None and not " ".join(request.words).strip():
        if request.files:
            file = request.files[0]
            raise InputError(f'the question is missing; write one: oracle -f {file} "what is it?"')
        if request.diff is not None:
            raise InputError('the question is missing; write one: oracle --diff "is it right?"')
        from oracle.cli.terminal.stdin_text import is_piped

        if is_piped():
            raise InputError(
                "the question is missing. To ask about the piped text, write one: "
                '… | oracle ask "what is this?". If the text is the question: … | oracle ask -'
            )
        raise InputError('the question is empty; write one: oracle ask "where is …?"')


def _values_and_words(request: Request) -> tuple[Mapping[str, str], str]:
    """`key=value` fills a placeholder; all other words are added to the question."""
    from oracle.services.templates.template import VALUE

    for given in request.values:
        if VALUE.fullmatch(given) is None:
            raise InputError(f"--set {named(given)} is not of the form name=value")
    words = [*request.values, *request.words]
    found = [(word, VALUE.fullmatch(word)) for word in words]
    values: dict[str, str] = {}
    for match in (match for _, match in found if match):
        name, value = match["name"], match["value"]
        if values.setdefault(name, value) != value:
            raise InputError(
                f"{name} is given twice, as {named(values[name])} and {named(value)}; keep one"
            )
    return values, " ".join(word for word, match in found if not match).strip()


def _diff_of(request: Request, filled: Filled) -> str | None:
    return filled.diff if request.diff is None else request.diff


def _described(template: Template) -> str:
    return f"{template.name} ({template.origin}: {template.file})"
