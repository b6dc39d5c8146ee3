"""The certificates that HTTPS connections trust.

Reading them takes more CPU time than a request, so a process reads each set once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext


def certificates(create: Callable[..., SSLContext], *, trust_env: bool = True) -> SSLContext:
    """What `create` reads, which is `create_ssl_context` of httpx or of httpx2.

    Read again when a variable of the environment names other certificates.
    """
    named = [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
    return _created(create, trust_env, *(named if trust_env else ()))


@cache
def _created(create: Callable[..., SSLContext], trust_env: bool, *_named: str | None) -> SSLContext:
    return create(trust_env=trust_env)
