"""Writes a manifest for customs when a vessel is alongside. They fetch the files by SFTP."""

import json
from pathlib import Path

from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

DROP = Path("/var/lib/harbour/customs")
FORMAT = "SKV-M2"


def manifest(event: Event) -> dict[str, object]:
    return {
        "format": FORMAT,
        "call_sign": event.payload["call_sign"],
        "berth": event.payload["berth"],
        "alongside_at": event.at.isoformat(),
        "cargo": event.payload.get("cargo", []),
        "last_port": event.payload.get("last_port", "UNKNOWN"),
    }


@plugin("customs-manifest", events=[types.VESSEL_ALONGSIDE])
def write(event: Event) -> None:
    name = f"{event.at:%Y%m%dT%H%M%S}-{event.payload['call_sign']}.json"
    target = DROP / name
    part = target.with_suffix(".part")
    part.write_text(json.dumps(manifest(event), indent=1), encoding="utf-8")
    part.rename(target)  # customs picks up *.json only
