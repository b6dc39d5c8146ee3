"""The agent of a project, as its settings say: the model, the tools, the trees and the prompts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from oracle.bt.wrappers.definitions import ProjectDefinitions
from oracle.bt.wrappers.oracle_wrapper import Follow, OpenStore, OracleBTWrapper
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import InputError
from oracle.logs import logger_of
from oracle.services.agent_services import Approve
from oracle.services.bert.bert import Bert, chosen_bert
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Model, Prices
from oracle.services.project.root import here, project_name
from oracle.services.prompting.project_facts import ProjectFacts
from oracle.services.settings.sections import EMBEDDED, WebSettings
from oracle.services.storage.budgets import budgets_from
from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.protocol import Tools
from oracle.settings import Settings

if TYPE_CHECKING:
    from oracle.services.own_code.collecting import OwnCode
    from oracle.services.search.records import ProgressListener
    from oracle.services.tools.registry import Tool
    from oracle.services.tools.rooted_index import RootedIndex

log = logger_of(__name__)

Function: TypeAlias = Callable[..., Any]


def project_agent(
    settings: Settings,
    *,
    root: Path | None = None,
    model: Model | None = None,
    tools: Tools | Sequence[Function] | None = None,
    limits: Limits | None = None,
    store: RunStore | OpenStore | None = None,
    session_id: str | None = None,
    approve: Approve | None = None,
    dry_run: bool = False,
    environment: Mapping[str, str] | None = None,
    indexing: ProgressListener | None = None,
    own: OwnCode | None = None,
    follow: Follow | None = None,
) -> OracleBTWrapper:
    """What is given replaces what the settings say. Nothing is sent anywhere yet.

    A list of functions as `tools` is added to the tools of the project; a `Tools` object replaces
    them. `own` is the code of the project, if a door has loaded it and shown what is wrong with it.

    The root of a project is indexed on disk, unless `tools` replace ours. A folder outside of any
    project is indexed in memory, and nothing is left in it. `indexing` hears of the progress, in
    another thread. `follow` is called for each run that has answered a question.
    """
    environment = os.environ if environment is None else environment
    root = root or settings.root or here()
    index = None
    if not _replaces_ours(tools):
        if settings.root is not None and root.resolve() == settings.root.resolve():
            index = index_of(settings, root, indexing)
        added = own_tools(settings, environment, _functions(tools), own=own, dry_run=dry_run)
        tools = tools_of(settings, root, environment, index=index, dry_run=dry_run, own=added)
    return OracleBTWrapper(
        project_id=project_name(settings.root, root),
        model=model or model_of(settings, environment),
        tools=tools,
        limits=limits or settings.limits,
        definitions=ProjectDefinitions(settings),
        store=store,
        session_id=session_id,
        approve=approve,
        sources=index,
        facts=ProjectFacts(
            root, None if index is None else index.paths, () if index is None else settings.roots
        ).gather,
        bert=bert_of(settings),
        roots=() if index is None else [(root.name, root.written) for root in settings.roots],
        folder="" if settings.root is not None else str(root.resolve()),
        loop=settings.loop.answers,
        follow=follow,
        budgets=budgets_from(settings.spend),
    )


def index_of(
    settings: Settings, root: Path, progress: ProgressListener | None = None
) -> ProjectIndex | RootedIndex:
    """The index on disk of the project at `root`, and of its further roots."""
    kept, secrets = settings.vault.kept, settings.secrets.rules
    if not settings.roots:
        return ProjectIndex(root, progress, kept=kept, secrets=secrets)
    # Few projects have further roots, so the others need not wait for this import.
    from oracle.services.tools.rooted_index import project_index

    return project_index(root, settings.roots, progress, kept=kept, secrets=secrets)


def bert_of(settings: Settings) -> Bert | None:
    chosen = settings.bert
    return chosen_bert({"classification": chosen.classification, "fallback": chosen.fallback})


def model_of(settings: Settings, environment: Mapping[str, str]) -> Model:
    chosen = settings.model
    if chosen.name == EMBEDDED:
        from oracle.services.embedded.model import EmbeddedModel

        return EmbeddedModel()
    from oracle.services.llm.opening import open_model
    from oracle.services.llm.providers import Advice
    from oracle.services.llm.spending import check_spending
    from oracle.services.settings.ways import CHAT, way_to_name_the_key, way_to_set

    check_spending(settings, environment)
    prices = None
    if chosen.input_price is not None and chosen.output_price is not None:
        prices = Prices(input=chosen.input_price, output=chosen.output_price)
    origin = settings.origins["model.name"]
    in_chat, source = origin.place == CHAT, origin.source
    return open_model(
        chosen.name,
        base_url=chosen.base_url,
        api_key=environment.get(chosen.key_variable) if chosen.key_variable else None,
        context_window=chosen.context_window,
        longest_output=chosen.longest_output,
        prices=prices,
        stall_seconds=chosen.stall_seconds,
        attempts=chosen.attempts,
        environment=environment,
        advice=Advice(
            selecting=f"{CHAT} NAME" if in_chat else way_to_set("model.name", "NAME", source),
            selecting_embedded=(
                f"{CHAT} {EMBEDDED}" if in_chat else way_to_set("model.name", EMBEDDED, source)
            ),
            in_chat=in_chat,
            naming_key=way_to_name_the_key(settings),
            key_variable=chosen.key_variable,
        ),
    )


def _replaces_ours(tools: Tools | Sequence[Function] | None) -> TypeGuard[Tools]:
    """Whether it is an object with tools, and not a list of functions to add."""
    return hasattr(tools, "specs")


def _functions(tools: Tools | Sequence[Function] | None) -> Sequence[Function]:
    if tools is None or isinstance(tools, list | tuple):
        return tools or ()
    raise InputError(
        f"tools is a {type(tools).__name__}; pass a list of functions, or an object with `specs` "
        "and `run` (oracle.Tools)"
    )


def own_tools(
    settings: Settings,
    environment: Mapping[str, str],
    functions: Sequence[Function],
    *,
    own: OwnCode | None,
    dry_run: bool,
) -> list[Tool[Any]]:
    """The functions that a program passes, then the tools of the project and of packages."""
    from oracle.services.own_code.collecting import load_tools

    if own is None:
        own = load_tools(settings.root, environment, passed=functions)
        for problem in own.problems:
            log.warning("%s", problem)
    if not own.tools:
        return []
    from oracle.services.own_code.calling import as_tool
    from oracle.services.project.roots import Roots

    roots = Roots(main=settings.root or here(), others=settings.roots)
    return [
        as_tool(each.tool, dry_run=dry_run, in_this_loop=each.is_passed, root=roots)
        for each in own.tools
    ]


def tools_of(
    settings: Settings,
    root: Path,
    environment: Mapping[str, str],
    *,
    index: ProjectIndex | RootedIndex | None = None,
    dry_run: bool = False,
    own: Sequence[Tool[Any]] = (),
) -> Tools:
    from oracle.services.tools.project_tools import project_tools
    from oracle.services.web.searching import WebSearchAccess

    web = settings.web
    tools = project_tools(
        root,
        notes_folder=settings.vault.notes,
        secrets=settings.secrets.rules,
        dry_run=dry_run,
        index=index,
        own=own,
        # A folder inside of the project may be asked about by itself.
        roots=settings.roots if root.resolve() == settings.root else (),
        web=WebSearchAccess(provider=web.provider, url=web.url, key=_search_key(web, environment)),
    )
    if not settings.mcp.servers:
        return tools
    from oracle.services.mcp.server_tools import ServerTools, WithServers

    servers = settings.mcp.servers
    return WithServers(
        tools, [ServerTools(each, settings.root, environment, dry_run=dry_run) for each in servers]
    )


def _search_key(web: WebSettings, environment: Mapping[str, str]) -> str | None:
    if web.key_variable or web.provider is None:
        return environment.get(web.key_variable or "")
    from oracle.services.settings.keys import key_for

    found = key_for(web.provider, environment)
    return found.value if found else None
