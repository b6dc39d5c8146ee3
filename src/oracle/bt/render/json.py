"""For programs."""

from __future__ import annotations

import json
from typing import Any

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node


def as_json(definition: TreeDefinition) -> str:
    tree: dict[str, Any] = {
        "name": definition.name,
        "description": definition.description,
        "blackboard": sorted(definition.schema or ()),
        "root": _node(definition.root),
    }
    if definition.finish is not None:
        tree["finish"] = _node(definition.finish)
    return json.dumps(tree, indent=2) + "\n"


def _node(node: Node) -> dict[str, Any]:
    described: dict[str, Any] = {"id": node.path, "kind": node.kind}
    if node.name:
        described["name"] = node.name
    if node.description:
        described["description"] = node.description
    if options := node.options():
        described["options"] = options
    if node.children:
        described["children"] = [_node(child) for child in node.children]
    return described
