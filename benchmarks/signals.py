"""How much the signal parser costs for each chunk of a stream.

Three claims: a chunk of prose costs next to nothing, the cost does not grow with the text, and it
is far below that of searching the accumulated text at each chunk. CPU time counts; wall time stands
beside it.
"""

from __future__ import annotations

import re

from benchmarks.measure import cost_of, report
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
SIGNAL = """
<signal type="context_sufficient">
  <sources_found>3</sources_found>
  <confidence>0.9</confidence>
</signal>
"""
SIGNAL_PATTERN = re.compile(r"<signal\s[^>]*>.*?</signal>", re.DOTALL)


def run() -> None:
    short, long = _chunks(SHORT), _chunks(LONG)
    long_cost = cost_of(lambda: stream(long), calls=1)
    short_cost = cost_of(lambda: stream(short), calls=20)
    search_cost = cost_of(lambda: search_accumulated(long), calls=1, rounds=1)
    at_long, at_short = (
        cost.cpu / len(chunks) * 1e6 for cost, chunks in ((long_cost, long), (short_cost, short))
    )
    wall = long_cost.wall / len(long) * 1e6
    growth, speedup = at_long / at_short, search_cost.cpu / long_cost.cpu
    report(
        "a chunk of 4 characters of prose, 200 KB",
        f"{at_long:.3f} µs (wall {wall:.3f})",
        f"at most 0.4 µs; ratio {at_long / 0.4:.2f}",
        at_long <= 0.4,
    )
    report(
        "… against one at 10 KB",
        f"{growth:.2f} times {at_short:.3f} µs",
        f"at most 1.2 times; ratio {growth / 1.2:.2f}",
        growth <= 1.2,
    )
    report(
        "searching the accumulated 200 KB at each chunk",
        f"{speedup:.0f} times slower ({search_cost.wall:.1f} s)",
        f"at least 100 times; ratio {speedup / 100:.2f}",
        speedup >= 100,
    )


def _chunks(size: int) -> list[str]:
    text = (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size] + SIGNAL
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
