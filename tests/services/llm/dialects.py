"""Both protocols, each with a model that talks to a scripted server."""

from dataclasses import dataclass
from types import ModuleType

# Takes seconds. Imported here, it is imported before the tests are given to forks.
import oracle.services.llm.anthropic_stream  # noqa: F401
from oracle.errors import ModelError
from oracle.services.llm.opening import open_model
from oracle.services.llm.protocol import ModelRequest
from oracle.testing.servers import Reply, ScriptedServer, anthropic, openai


@dataclass(frozen=True)
class Dialect:
    """A provider's protocol: what its server sends, and our model that reads it."""

    wire: ModuleType
    model_name: str

    def open(self, server: ScriptedServer, **settings):
        path = self.wire.PATH.removesuffix("/messages").removesuffix("/chat/completions")
        url = server.url if self.wire is anthropic else server.url + path
        return open_model(self.model_name, base_url=url, **{"attempts": 1, **settings})

    async def answer(self, *body, **settings):
        """The parts that come of a server's answer."""
        async with ScriptedServer(Reply(body=body)) as server:
            return [part async for part in self.open(server, **settings).stream(asking("hi"))]

    async def sent(self, request: ModelRequest, **settings):
        """What the server gets to see of a request."""
        async with ScriptedServer(Reply(body=self.wire.stream(self.wire.text("ok")))) as server:
            async for _ in self.open(server, **settings).stream(request):
                pass
            return server.requests[0]

    async def failing(self, reply: Reply, **settings) -> tuple[list, ModelError]:
        """What had come when it failed, and how."""
        heard = []
        async with ScriptedServer(reply) as server:
            try:
                async for part in self.open(server, **settings).stream(asking("hi")):
                    heard.append(part)  # noqa: PERF401 - what came before the failure counts
            except ModelError as error:
                return heard, error
        raise AssertionError(f"nothing failed: {heard}")


def asking(*words: str, **rest) -> ModelRequest:
    return ModelRequest(messages=[{"role": "user", "content": word} for word in words], **rest)


DIALECTS = {
    "anthropic": Dialect(anthropic, "anthropic:claude-sonnet-5"),
    "openai": Dialect(openai, "openai:gpt-5"),
}
