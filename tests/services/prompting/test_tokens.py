import base64
import itertools
import json
import pydoc_data.topics
import random
import sysconfig
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from splintr import Tokenizer

from oracle.services.prompting import segment_files, tokens
from oracle.services.prompting.segment_files import counted_tokens
from oracle.services.prompting.tokens import (
    TOKENS_OF_THE_DENSEST_CHARACTER,
    GrowingEstimate,
    estimate_tokens,
)
from oracle.services.prompting.vocabulary import MARKS, Vocabulary, pack
from tests.default_run import thinned
from tests.tables import each_row
from tests.timing import seconds, takes_less

SAMPLES = sorted(Path(__file__).with_name("samples").iterdir())
STDLIB = Path(sysconfig.get_path("stdlib"))
MODULES = ["argparse.py", "ast.py", "asyncio/tasks.py", "csv.py", "typing.py", "enum.py"]
MODULES += [
    "inspect.py",
    "json/decoder.py",
    "mimetypes.py",
    "shutil.py",
    "tokenize.py",
    "zipfile.py",
]
TOPICS = ["attribute-references", "class", "context-managers", "formatstrings", "import", "types"]


@cache
def _o200k() -> Tokenizer:
    return Tokenizer.from_pretrained("o200k_base")


def _ratio(text: str) -> float:
    return estimate_tokens(text) / len(_o200k().encode_ordinary(text))


def _records(count: int) -> list[dict[str, object]]:
    rng = random.Random(3)
    names = ["id", "userName", "created_at", "isActive", "items", "total_price", "notes", "path"]
    values = [
        4711,
        3.25,
        True,
        None,
        "2026-03-14T09:26:53Z",
        "src/app/main.py:12",
        [1, 2, 3],
        "déjà vu",
    ]
    return [{name: rng.choice(values) for name in rng.sample(names, 6)} for _ in range(count)]


def _made_texts() -> Iterator[tuple[str, str]]:
    noise = random.Random(5).randbytes(1500)
    words = ("request", "Config", "parse", "http", "value", "Error", "index")
    names = random.Random(7).choices(words, k=600)
    yield "json", json.dumps(_records(40))
    yield "indented json", json.dumps(_records(40), indent=4)
    yield "minified json", json.dumps(_records(40), separators=(",", ":"))
    yield "base64", base64.b64encode(noise).decode()
    yield "hex", noise.hex()
    yield "long identifiers", "\n".join("_".join(names[n : n + 5]) for n in range(0, 600, 5))
    yield (
        "camel case",
        "\n".join("".join(a.capitalize() for a in names[n : n + 4]) for n in range(0, 600, 4)),
    )
    yield (
        "urls",
        "\n".join(f"https://example.org/{a}/{a}-{n}?q={n * 37}" for n, a in enumerate(names)),
    )
    yield "table", "\n".join(f"| {a:<12} | {n:>6} | `{a}_{n}` |" for n, a in enumerate(names))
    box = "┌────────┬─────┐\n│ {:<6} │ {:>3} │\n└────────┴─────┘\n"
    yield "box drawing", "".join(box.format(a[:6], n % 97) for n, a in enumerate(names[:100]))
    yield "amharic", "ሰላም ለዓለም ይህ የአማርኛ ጽሑፍ ነው። ኢትዮጵያ በአፍሪካ ቀንድ የምትገኝ አገር ናት። " * 9
    yield "nested tuples", "    self.assertEqual(flat((A,)), (B, (A,)))\n" * 40
    yield "emoji", "Ship it 🚀 and test it ✅ before the party 🎉 or fix it 🐛 first. " * 20


def _texts() -> Iterator[tuple[str, str]]:
    yield from ((path.name, path.read_text(encoding="utf-8")) for path in SAMPLES)
    yield from ((name, (STDLIB / name).read_text(encoding="utf-8")) for name in MODULES)
    yield from ((name, pydoc_data.topics.topics[name]) for name in TOPICS)
    yield from _made_texts()


@pytest.mark.extra
@each_row("text", [pytest.param(text, id=name) for name, text in _texts()])
def test_an_estimate_is_1_to_1_25_times_the_o200k_count(text: str) -> None:
    assert 1.0 <= _ratio(text) <= 1.25


@each_row("module", MODULES)
def test_it_holds_for_every_page_of_a_text(module: str) -> None:
    lines = (STDLIB / module).read_text(encoding="utf-8").splitlines(keepends=True)
    pages = ["".join(lines[n : n + 60]) for n in range(0, len(lines), 60)]
    ratios = [_ratio(page) for page in pages if len(page) > 1200]
    assert ratios
    assert min(ratios) >= 1.0
    assert max(ratios) <= 1.25


@each_row(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("Hello, world!", 4, 5),
        (" " * 40, 1, 2),
        ("\n\n", 1, 1),
        ("\x00\ud800", 1, 5),
    ],
)
def test_small_and_odd_texts_have_small_estimates(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


def test_an_estimate_does_not_depend_on_what_was_estimated_before() -> None:
    text = SAMPLES[0].read_text(encoding="utf-8")
    fresh = estimate_tokens(text)
    for other in SAMPLES:
        estimate_tokens(other.read_text(encoding="utf-8"))
    assert estimate_tokens(text) == fresh


@pytest.mark.parametrize(
    "unit", thinned(["a", "-=", " x", "\n \n", "ab12", "漢", "é" * 9 + " "], 3)
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    estimate_tokens(unit)
    short = min(seconds(lambda: estimate_tokens(unit * 4_000)) for _ in range(3))
    assert takes_less(lambda: estimate_tokens(unit * 32_000), 8 * short * 3 + 0.05)


def test_each_shipped_word_is_one_token() -> None:
    words = tokens._piece_costs()._vocabulary.words()
    assert len(words) > 90_000
    sample = words[::37]
    assert [word for word in sample if len(_o200k().encode_ordinary(word)) != 1] == []


LETTERS = st.characters(codec="utf-8", exclude_characters=MARKS)
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=5))


@given(words=WORDS, others=WORDS)
def test_a_packed_vocabulary_has_the_same_words(words: list[str], others: list[str]) -> None:
    vocabulary = Vocabulary(pack(words))
    assert vocabulary.words() == sorted(set(words))
    for word in (*words, *others):
        group = vocabulary.like(word)
        assert (word in group.words) == (word in words)
        alike = [known for known in words if known[:2] == word[:2]]
        assert group.longest == max(map(len, alike), default=1)


def test_the_shipped_counts_are_those_of_the_built_in_segments() -> None:
    """If a segment was changed, run scripts/token_table.py."""
    shipped = Path(tokens.__file__).with_name("segment_tokens.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == counted_tokens()


def test_a_segment_whose_text_is_not_the_shipped_one_is_counted(monkeypatch) -> None:
    monkeypatch.setattr(segment_files, "fingerprint", lambda _: "another")
    counted = segment_files.built_in_segments.__wrapped__()
    assert counted == segment_files.built_in_segments()


def _grown(text: str, cuts: list[int]) -> float:
    estimate = GrowingEstimate()
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        estimate.add(text[start:end])
        assert estimate.tokens >= 0
    return estimate.tokens


@given(
    st.text(alphabet="ab \n\r\t的😀ሀ.,0'A", max_size=80).map(lambda text: text * 20),
    st.lists(st.integers(min_value=0, max_value=2_000), max_size=8),
)
def test_a_growing_text_is_estimated_alike_however_it_arrives(text, cuts):
    assert _grown(text, cuts) == pytest.approx(_grown(text, []))


@each_row("sample", SAMPLES, ids=lambda path: path.name)
def test_a_growing_text_is_estimated_like_the_whole(sample):
    text = sample.read_text(errors="replace")
    assert _grown(text, [len(text) // 3, len(text) // 2]) == pytest.approx(
        estimate_tokens(text), rel=0.01, abs=1
    )


@given(st.text(min_size=1, max_size=60))
def test_no_character_adds_more_than_the_densest_one(text):
    assert estimate_tokens(text) <= TOKENS_OF_THE_DENSEST_CHARACTER * len(text)


@pytest.mark.parametrize("characters", ["aZ 0.'\n", "aé ßŁ’—1", "ЖжaA 1", "a漢字b 5"])
def test_a_faster_pattern_splits_its_texts_like_the_whole_one(characters: str) -> None:
    for text in map("".join, itertools.product(characters, repeat=4)):
        assert tokens._pattern_for(text).findall(text) == tokens._pattern_below(0x10000).findall(
            text
        )
