"""Writes `o200k_common.z`: the most common half of o200k's tokens, packed.

Run it when the estimates shall know more tokens, or fewer: `python scripts/token_table.py`.
"""

import zlib
from itertools import pairwise, takewhile
from pathlib import Path

from splintr import Tokenizer

TOKENS = 100_000
TABLE = Path(__file__).parents[1] / "src/oracle/services/prompting/o200k_common.z"
MARKS = "".join(map(chr, range(0x0E, 0x20)))


def common_words() -> list[str]:
    tokenizer = Tokenizer.from_pretrained("o200k_base")
    return sorted(filter(None, (_word(tokenizer.decode_token_bytes(n)) for n in range(TOKENS))))


def _word(token: bytes) -> str | None:
    """None for half a character, and for what would be taken for a mark."""
    try:
        word = token.decode()
    except UnicodeDecodeError:
        return None
    return None if set(MARKS) & set(word) else word


def pack(words: list[str]) -> str:
    """Front coding, as `oracle.services.prompting.tokens.unpack_words` reads it."""
    packed: list[str] = []
    for previous, word in pairwise(["", *words]):
        shared = min(_shared(previous, word), len(MARKS) - 1)
        packed += MARKS[shared], word[shared:]
    return "".join(packed)


def _shared(first: str, second: str) -> int:
    alike = (a == b for a, b in zip(first, second, strict=False))
    return sum(takewhile(bool, alike))


if __name__ == "__main__":
    TABLE.write_bytes(zlib.compress(pack(common_words()).encode(), 9))
    print(f"{TABLE.name}: {TABLE.stat().st_size} bytes")
