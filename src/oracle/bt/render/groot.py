"""For Groot2 and BehaviorTree.CPP: XML with BTCPP_format 4.

Kinds that BehaviorTree.CPP has go by its names. Those that it lacks (loop, exit, guard, cooldown)
and all leaves are listed in a TreeNodesModel, as Groot2 wants it for custom nodes. An ID is a plain
word there, so a leaf goes by the last word of its name, and its whole name is a port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Composite, Decorator, Node
from oracle.bt.render.ascii import on_one_line

_KNOWN: Final[Mapping[str, str]] = {
    "sequence": "Sequence",
    "selector": "Fallback",
    "reactive_sequence": "ReactiveSequence",
    "reactive_selector": "ReactiveFallback",
    "parallel": "Parallel",
    "always_succeed": "ForceSuccess",
    "always_fail": "ForceFailure",
    "invert": "Inverter",
    "retry": "RetryUntilSuccessful",
    "repeat": "Repeat",
    "timeout": "Timeout",
    "once": "RunOnce",
}
_ATTRIBUTES: Final[Mapping[str, Callable[[Any], dict[str, str]]]] = {
    "parallel": lambda node: {
        "success_count": "-1" if node.succeed == "all" else str(node.succeed),
        "failure_count": "1"
        if node.succeed == "all"
        else str(len(node.children) - node.succeed + 1),
    },
    "retry": lambda node: {"num_attempts": str(node.attempts)},
    "repeat": lambda node: {"num_cycles": str(node.times)},
    "timeout": lambda node: {"msec": _milliseconds(node.seconds)},
    "once": lambda node: {"then_skip": "true"},
}


def _milliseconds(seconds: float | str) -> str:
    """A limit that a run decides is the name of a key, which Groot writes in braces."""
    return (
        f"{{{on_one_line(seconds)}}}"
        if isinstance(seconds, str)
        else str(max(1, round(seconds * 1000)))
    )


def as_groot(definition: TreeDefinition) -> str:
    root = Element("root", BTCPP_format="4", main_tree_to_execute=on_one_line(definition.name))
    drawing = _Drawing(root)
    drawing.tree(definition.name, definition.root)
    if definition.finish is not None:
        drawing.tree(f"{definition.name}#finish", definition.finish)
    drawing.models()
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


class _Drawing:
    def __init__(self, root: Element) -> None:
        self._root = root
        self._drawn: set[str] = set()
        self._custom: dict[tuple[str, str], list[str]] = {}

    def tree(self, name: str, root: Node) -> None:
        if name not in self._drawn:
            self._drawn.add(name)
            self._node(SubElement(self._root, "BehaviorTree", ID=on_one_line(name)), root)

    def models(self) -> None:
        model = SubElement(self._root, "TreeNodesModel")
        for (tag, name), ports in sorted(self._custom.items()):
            node = SubElement(model, tag, ID=name)
            for port in ports:
                SubElement(node, "input_port", name=port)

    def _node(self, parent: Element, node: Node) -> None:
        if node.kind == "subtree":
            ports: Any = node.options().get("ports", {})
            remaps = {_word(inner): f"{{{on_one_line(outer)}}}" for inner, outer in ports.items()}
            sharing = {} if "ports" in node.options() else {"_autoremap": "true"}
            tree = str(node.options()["tree"])
            label = {"ID": on_one_line(tree), "name": on_one_line(node.name or tree)}
            SubElement(parent, "SubTree", {**remaps, **sharing, **label})
            self.tree(tree, node.children[0])
            return
        element = SubElement(parent, *self._tag(node))
        for child in node.children:
            self._node(element, child)

    def _tag(self, node: Node) -> tuple[str, dict[str, str]]:
        name = {"name": on_one_line(node.name)} if node.name else {}
        if node.kind in _KNOWN:
            attributes = _ATTRIBUTES.get(node.kind)
            return _KNOWN[node.kind], {**name, **(attributes(node) if attributes else {})}
        options = {key: on_one_line(str(value)) for key, value in node.options().items()}
        identity = _identity(node)
        tag = _model_tag(node)
        self._custom.setdefault((tag, identity), sorted(options))
        return tag, {"ID": identity, **name, **options}


def _identity(node: Node) -> str:
    if node.kind not in ("action", "condition"):
        return node.kind
    name = str(node.options()["fn"]).rpartition(".")[2]
    return name if name.isidentifier() else "expression"


def _word(text: str) -> str:
    """A name for a port; `name` and `ID` mean something else there."""
    word = re.sub(r"\W", "_", text)
    return f"port_{word}" if word in ("name", "ID") or not word.isidentifier() else word


def _model_tag(node: Node) -> str:
    if node.kind == "condition":
        return "Condition"
    if isinstance(node, Composite):
        return "Control"
    return "Decorator" if isinstance(node, Decorator) else "Action"
