"""The messages of a client as a question and its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from oracle.api.openai.problems import OpenAIProblem
from oracle.models.session import Exchange

MODEL: Final = "oracle"
BRIEF: Final = "oracle-brief"
"""One turn without tools: for titles, tags and follow-ups that clients ask for by themselves."""
MODELS: Final = (MODEL, BRIEF)


class Message(BaseModel):
    """Clients add fields of their own. They mean nothing here."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None


Flag = Annotated[bool | None, Field(strict=True)]
"""Not a number or a word that could be meant as one. Some clients send null for what is not set."""
NothingInIt = Annotated[list[Any] | None, Field(json_schema_extra={"maxItems": 0})]
"""Described as what is accepted. What is refused gets an error of its own, with its reason."""
Messages = Annotated[list[Message], Field(min_length=1, max_length=10_000)]


def check_model(name: str) -> str:
    if name not in MODELS:
        raise OpenAIProblem(
            f"the model {name[:80]!r} does not exist here; use {' or '.join(MODELS)}",
            status=404,
            param="model",
            code="model_not_found",
        )
    return name


def question_of(messages: Sequence[Message], param: str = "messages") -> tuple[str, list[Exchange]]:
    """The last message of the user, and the pairs of question and answer before it. `param` is the
    field of the request that has them.

    System prompts of clients are left out: ours is composed for the question.
    """
    said = [(each.role, text_of(each.content, param)) for each in messages]
    talk = [(role, text) for role, text in said if role in ("user", "assistant")]
    while talk and talk[-1][0] != "user":
        talk.pop()
    if not talk or not talk[-1][1].strip():
        raise OpenAIProblem(
            "there is no message of the user with a text; the last one is the question",
            param=param,
            code="invalid_value",
        )
    return talk[-1][1], _exchanges(talk[:-1])


def _exchanges(talk: Sequence[tuple[str, str]]) -> list[Exchange]:
    exchanges: list[Exchange] = []
    asked: list[str] = []
    for role, text in talk:
        if role == "user":
            asked.append(text)
        elif text.strip():
            number = str(len(exchanges) + 1)
            exchanges.append(
                Exchange(
                    id=number, session_id="", question="\n\n".join(asked), answer=text, created_at=0
                )
            )
            asked = []
    return exchanges


def text_of(content: str | list[dict[str, Any]] | None, param: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts: list[str] = []
    for part in content:
        kind = part.get("type")
        if kind not in ("text", "input_text", "output_text"):
            raise OpenAIProblem(
                f"a part of the content is of the type {str(kind)[:40]!r}; only text is read",
                param=param,
                code="unsupported_content",
            )
        texts.append(str(part.get("text", "")))
    return "\n".join(texts)
