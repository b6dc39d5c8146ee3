"""Writes `o200k_common.z`: the most common half of o200k's tokens, packed.

Run it when the estimates shall know more tokens, or fewer: `python scripts/token_table.py`.
"""

from pathlib import Path

from splintr import Tokenizer

from oracle.services.prompting.vocabulary import MARKS, pack

TOKENS = 100_000
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
    print(f"{TABLE.name}: {TABLE.stat().st_size} bytes")
