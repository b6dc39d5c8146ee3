"""Writes `o200k_common.z`: the most common half of o200k's tokens, packed. With it, the tokens of
each built-in prompt segment are counted, into `segment_tokens.json`.

Run it after a change of a built-in segment: `python scripts/token_table.py`.
"""

import json
from pathlib import Path

from splintr import Tokenizer

from oracle.services.prompting.segment_files import counted_tokens
from oracle.services.prompting.vocabulary import MARKS, pack

TOKENS = 100_000
SEGMENTS = Path(__file__).parents[1] / "src/oracle/services/prompting/segment_tokens.json"
TABLE = Path(__file__).parents[1] / "src/oracle/services/prompting/o200k_common.z"


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


if __name__ == "__main__":
    TABLE.write_bytes(pack(common_words()))
    counted = json.dumps(counted_tokens(), indent=2, sort_keys=True)
    SEGMENTS.write_text(f"{counted}\n", encoding="utf-8")
    print(f"{TABLE.name}: {TABLE.stat().st_size} bytes")
