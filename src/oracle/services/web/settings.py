"""Which provider searches the web, and with which key; `[web]` names the key's variable."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    """`url` is the provider's address where it is not the usual one; SearXNG has no usual one."""

    provider: str | None = None
    url: str | None = None
    key: str | None = field(default=None, repr=False)
