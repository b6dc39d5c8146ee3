from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from oracle.services.control.runaway import _KINDS, RunawayText, _Rounds
from tests.tables import each_row

REPOSITORY = Path(__file__).parents[3]
LINE = "The cache evicts the oldest entry first when it is full.\n"
OTHERS = ["It writes a record of that to the log.\n", "Then the next entry is looked at.\n"]


def round_of(sentences):
    return "".join(f"Sentence number {n} of the text about caches. " for n in range(sentences))


def goes_round(text, piece=7):
    watch = RunawayText()
    return any(watch.feed(text[at : at + piece]) for at in range(0, len(text), piece))


@each_row(
    ("text", "is_cut"),
    [
        ("the same line\n" * 60, True),
        ("the same line\n\n" * 60, True),
        ("  the same line \n" * 60, True),
        ("the same line\n" * 11, False),
        ("the same line\n" * 11 + "another\n" + "the same line\n" * 11, False),
        ("".join(f"line {n}\n" for n in range(99)), False),
        ("".join(f"| {n} | {n * n} | yes |\n" for n in range(99)), False),
        ("| --- | --- | --- |\n| 1 | 2 | 3 |\n", False),
        ("-" * 120 + "\n", False),
        ("0, " * 64 + "\n", False),
        ("}\n" * 99, False),
        ("}\n" * 900, True),
        ("\n" * 1_999, True),
        ("x" * 2_000, True),
        ("la " * 600, True),
        ("no end of it without a full stop " * 30, True),
        ("one line\nanother line\n" * 30, True),
        ("one line\nanother line\n" * 6, False),
        ("line a\nline b\nline c\nline d\n" * 30, True),
        ("I am sorry. " * 60, True),
        ("I am sorry! Let me look. " * 30, True),
        ("I cannot find this function in any of the files that I have read so far.\n" * 12, True),
        ("I cannot find this function in any of the files that I have read so far.\n" * 6, False),
        ("It is in auth.py and v1.2.3. See " * 3, False),
        ("", False),
    ],
)
@each_row("piece", [1, 7, 10_000])
def test_what_comes_again_and_again_without_end_is_cut(text, is_cut, piece):
    assert goes_round(text, piece) is is_cut


ROUNDS = {
    "a round of 540 characters": round_of(12) * 8,
    "a round of 900 characters": round_of(20) * 8,
    "a round of 3,000 characters": round_of(65) * 6,
    "a round with a number": "".join(f"Round {n}. {round_of(20)}" for n in range(12)),
    "numbered lines": "".join(f"{n}. {LINE}" for n in range(150)),
    "a number in the middle": "".join(f"The cache evicts entry {n} at once.\n" for n in range(300)),
    "a tail that grows": "".join(LINE.rstrip() + "!" * n + "\n" for n in range(60)),
    "words that grow": "".join(LINE.rstrip() + " then" * n + "\n" for n in range(60)),
    "other cases": "".join(islice(cycle([LINE, LINE.upper(), LINE.title()]), 60)),
    "other blanks": "".join(LINE.rstrip() + " " * (n % 7) + "\n" for n in range(60)),
    "lines in any order": "".join(Random(1).choices([LINE, *OTHERS], k=200)),
    "chinese": "".join(
        f"缓存会先淘汰最久未使用的第{n}条目然后把剩余内容写入磁盘。" for n in range(30)
    )
    * 6,
}


@pytest.mark.extra
@each_row("piece", [1, 40, 100_000])
@each_row("text", ROUNDS.values(), ids=ROUNDS)
def test_a_round_of_any_length_is_cut(text, piece):
    assert goes_round("An introduction, which is fine.\n\n" + text, piece)


NAMES = ["host", "port", "user", "key", "url", "path", "mode", "level", "color", "theme", "pager"]
HONEST = {
    "a table of numbers": "".join(f"| {n} | {n * n} | {n % 7} |\n" for n in range(400)),
    "a table with the same words": "".join(f"| {n} | yes | no |\n" for n in range(100)),
    "a list of places": "".join(f"- `src/mod_{n}.py:{n}` calls `load()`\n" for n in range(60)),
    "names with a number": "".join(f"- `test_{n}` passes on all machines\n" for n in range(300)),
    "an array of zeros": f"x = [{'0, ' * 300}]",
    "a phrase in each item": "".join(
        f"- {name} is read from the settings, and falls back to the default if it is missing.\n"
        for name in NAMES
    ),
    "a text that is said three times": round_of(20) * 3,
}


@each_row("text", HONEST.values(), ids=HONEST)
def test_honest_lists_and_tables_are_not_cut(text):
    assert not goes_round(text, 40)


def files(pattern):
    return sorted(path for path in REPOSITORY.glob(pattern) if path.stat().st_size < 200_000)


@pytest.mark.extra
@pytest.mark.parametrize(
    "pattern", ["src/**/*.py", "src/**/*.lua", "docs/*.md", "tests/bt/**/*.py"]
)
def test_no_file_of_this_repository_is_cut(pattern):
    cut = [path for path in files(pattern)[:150] if goes_round(path.read_text(), 2_000)]
    assert files(pattern)
    assert not cut


def test_what_repeats_is_more_than_one_round():
    watch, text = RunawayText(), round_of(20)
    assert watch.feed(text * 8)
    assert watch.repeated in text * 3
    assert watch.repeated not in text


@pytest.mark.parametrize("seed", range(12))
def test_sampling_finds_what_counting_all_runs_finds_at_the_same_place(seed):
    chance = Random(seed)
    words = [f"word{number}" for number in range(200)]
    lines = [
        " ".join(chance.choices(words, k=chance.randint(1, 25)))
        for _ in range(chance.choice([1, 3, 10, 40]))
    ]
    numbered = seed % 2
    said = [f"{n}. " * numbered + chance.choice(lines) + "\n" for n in range(300)]
    sampling, counting = RunawayText(), RunawayText()
    counting._rounds = tuple(_Rounds(kind) for kind in _KINDS)
    assert [sampling.feed(line) for line in said] == [counting.feed(line) for line in said]


def test_a_text_that_does_not_repeat_is_only_sampled():
    text = RunawayText()
    for number in range(500):
        text.feed(f"In step {number} the handler{number} calls part{number} and returns a value. ")
    assert not text._rounds


@pytest.mark.parametrize(("characters", "is_cut"), [(59_000, False), (61_000, True)])
def test_a_text_that_is_too_long_for_an_answer_has_no_end(characters, is_cut):
    chance = Random(1)
    words = (f"{chance.randrange(36**6):x}" for _ in range(characters))
    assert goes_round(" ".join(words)[:characters], piece=100) == is_cut
