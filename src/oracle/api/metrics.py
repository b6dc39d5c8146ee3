"""Counters for Prometheus, in its text format. Ten lines of it need no library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oracle.services.dispatch.queue import QueuedRun
    from oracle.services.dispatch.workers import WorkerRow

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.runs: Counter[str] = Counter()
        self.tokens = 0
        self.money = 0.0
        self.seconds = 0.0

    def run_ended(self, stop_reason: str, usage: dict[str, float]) -> None:
        self.runs[stop_reason] += 1
        self.tokens += int(usage.get("tokens") or 0)
        self.money += usage.get("money") or 0.0
        self.seconds += usage.get("seconds") or 0.0

    def text(self, *, live: int, waiting: int, tasks: int, queue: Sequence[str] = ()) -> str:
        """`queue` has the lines of `queue_rows`."""
        rows = [
            *queue,
            *_family("oracle_runs_live", "gauge", "Runs under way", [("", live)]),
            *_family("oracle_approvals_waiting", "gauge", "Questions to a person", [("", waiting)]),
            *_family("oracle_tasks", "gauge", "Tasks of the event loop", [("", tasks)]),
            *_family(
                "oracle_runs_total",
                "counter",
                "Runs that have ended, by stop reason",
                [(f'{{stop_reason="{stop}"}}', n) for stop, n in sorted(self.runs.items())],
            ),
            *_family("oracle_tokens_total", "counter", "Tokens used", [("", self.tokens)]),
            *_family("oracle_money_total", "counter", "Money spent", [("", self.money)]),
            *_family(
                "oracle_run_seconds_total", "counter", "Time of all runs", [("", self.seconds)]
            ),
            *_family(
                "oracle_http_requests_total",
                "counter",
                "Requests, by method and status",
                [
                    (f'{{method="{method}",status="{status}"}}', n)
                    for (method, status), n in sorted(self.requests.items())
                ],
            ),
        ]
        return "\n".join(rows) + "\n"


def queue_rows(entries: Sequence[QueuedRun], workers: Sequence[WorkerRow], now: float) -> list[str]:
    """What all workers of the project have to do, and who they are."""
    states = Counter(entry.state for entry in entries)
    alive = Counter(row.state if row.is_alive else "dead" for row in workers)
    since = [now - entry.run.started_at for entry in entries if entry.state == "waiting"]
    oldest = max(0.0, *since) if since else 0.0
    return [
        *_family(
            "oracle_queue_runs",
            "gauge",
            "Runs of all front ends that are not done, by state",
            [(f'{{state="{name}"}}', states[name]) for name in ("waiting", "running", "stuck")],
        ),
        *_family(
            "oracle_queue_oldest_seconds",
            "gauge",
            "How long the oldest run has waited for a worker",
            [("", round(oldest, 1))],
        ),
        *_family(
            "oracle_workers",
            "gauge",
            "Workers, by state",
            [(f'{{state="{name}"}}', alive[name]) for name in ("working", "draining", "dead")],
        ),
    ]


def _family(name: str, kind: str, about: str, rows: list[tuple[str, float]]) -> list[str]:
    head = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    return [*head, *(f"{name}{labels} {value}" for labels, value in rows)]
