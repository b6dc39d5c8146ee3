"""Connections to Postgres. The only module that knows the driver."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harbour.config.settings import Settings

log = logging.getLogger("harbour.db")

CONNECT_ATTEMPTS = 6
CONNECT_PAUSE_SECONDS = 2.0
STATEMENT_TIMEOUT_MS = 4000
# SQLSTATE of a serialization failure and of a deadlock.
RETRYABLE = frozenset({"40001", "40P01"})


class Database:
    def __init__(self, settings: Settings, sleep: Callable[[float], None] = time.sleep):
        self._settings = settings
        self._sleep = sleep
        self._pool: Any = None

    def open(self) -> None:
        """Waits for the database: after a power cut it starts later than we do."""
        import pgwire_sync  # type: ignore[import-not-found]

        for attempt in range(1, CONNECT_ATTEMPTS + 1):
            try:
                self._pool = pgwire_sync.Pool(
                    self._settings.db_url,
                    size=self._settings.db_pool_size,
                    options={"statement_timeout": STATEMENT_TIMEOUT_MS},
                )
                return
            except OSError:
                if attempt == CONNECT_ATTEMPTS:
                    raise
                log.warning("database is not there yet", extra={"fields": {"attempt": attempt}})
                self._sleep(CONNECT_PAUSE_SECONDS)

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with self._pool.connection() as connection:
            connection.execute("begin isolation level serializable")
            try:
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")

    def repeat(self, work: Callable[[Any], Any], times: int = 3) -> Any:
        """Runs `work` in a transaction, again if it collided with another one."""
        for attempt in range(times):
            try:
                with self.transaction() as connection:
                    return work(connection)
            except Exception as error:
                state = getattr(error, "sqlstate", None)
                if state not in RETRYABLE or attempt == times - 1:
                    raise
        raise AssertionError("not reached")
