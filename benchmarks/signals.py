"""How much the signal parser costs for each chunk of a stream.

Three claims: a chunk costs next to nothing, in prose, in code spans and in fenced code; the cost
does not grow with the text; and it is far below that of searching the accumulated text at each
chunk. CPU time counts; wall time is printed next to it.
"""

from __future__ import annotations

import re
from functools import partial

from benchmarks.measure import Cost, cost_of, report
from oracle.services.signals.parser import SignalStreamParser

CHUNK = 4
SHORT, LONG = 10_000, 200_000
PARAGRAPH = """\
The middleware reads the session cookie, looks it up in the store and puts the user on the request.
When the cookie is missing or too old, it answers 401 and names the login page; nothing else runs.
Sessions are renewed by `refresh_session`, at most once a minute, so that reading stays cheap.

- the store is a table with one row for each session
- a row that has expired is deleted by the nightly job, never by a request

"""
SPANS = """\
Call `open(path)` first, then `read()` and `close()`; `Session.renew` is in `auth/session.py:14`.
The `store` maps `str` to `Session`, and `store.get(key)` returns `None` for a key it lacks.
"""
CODE = """\
def renew(session: Session, now: datetime) -> Session:
    if session.expires <= now:
        raise Expired(session.id)
    return replace(session, expires=now + MAX_IDLE)


class Store:
    def get(self, key: str) -> Session | None:
        for row in self._rows.values():
            if row.key == key:
                return row
        return None

"""
OTHER_TEXTS = (
    ("code spans", SPANS, "", ""),
    ("fenced code", CODE, "```python\n", "\n```\n"),
)
SIGNAL = """
<signal type="context_sufficient">
  <sources_found>3</sources_found>
  <confidence>0.9</confidence>
</signal>
"""
SIGNAL_PATTERN = re.compile(r"<signal\s[^>]*>.*?</signal>", re.DOTALL)


def run() -> None:
    short, long = _chunks(PARAGRAPH, SHORT), _chunks(PARAGRAPH, LONG)
    long_cost = cost_of(lambda: stream(long), calls=1)
    short_cost = cost_of(lambda: stream(short), calls=20)
    search_cost = cost_of(lambda: search_accumulated(long), calls=1, rounds=1)
    at_long, at_short = long_cost.cpu / len(long), short_cost.cpu / len(short)
    growth, speedup = at_long / at_short, search_cost.cpu / long_cost.cpu
    _report_chunk("prose", long_cost, len(long))
    for name, text, opening, closing in OTHER_TEXTS:
        chunks = _chunks(text, LONG, opening, closing)
        _report_chunk(name, cost_of(partial(stream, chunks), calls=1), len(chunks))
    report(
        "a chunk of prose, against one at 10 KB",
        f"{growth:.2f} times {at_short * 1e6:.3f} µs",
        f"at most 1.2 times; ratio {growth / 1.2:.2f}",
        growth <= 1.2,
    )
    report(
        "searching the accumulated 200 KB at each chunk",
        f"{speedup:.0f} times slower ({search_cost.wall:.1f} s)",
        f"at least 100 times; ratio {speedup / 100:.2f}",
        speedup >= 100,
    )


def _report_chunk(name: str, cost: Cost, count: int) -> None:
    cpu, wall = cost.cpu / count * 1e6, cost.wall / count * 1e6
    report(
        f"a chunk of 4 characters of {name}, 200 KB",
        f"{cpu:.3f} µs (wall {wall:.3f})",
        f"at most 0.4 µs; ratio {cpu / 0.4:.2f}",
        cpu <= 0.4,
    )


def _chunks(text: str, size: int, opening: str = "", closing: str = "") -> list[str]:
    body = (text * (size // len(text) + 1))[:size]
    text = opening + body + closing + SIGNAL
    return [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]


def stream(chunks: list[str]) -> None:
    parser = SignalStreamParser()
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()
    assert parser.signal is not None


def search_accumulated(chunks: list[str]) -> None:
    text = ""
    found = None
    for chunk in chunks:
        text += chunk
        found = SIGNAL_PATTERN.search(text)
    assert found is not None
