"""Counters for Prometheus, in its text format. Ten lines of it need no library."""

from __future__ import annotations

from collections import Counter
from typing import Final

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

    def text(self, *, live: int, waiting: int, tasks: int) -> str:
        rows = [
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


def _family(name: str, kind: str, about: str, rows: list[tuple[str, float]]) -> list[str]:
    head = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    return [*head, *(f"{name}{labels} {value}" for labels, value in rows)]
