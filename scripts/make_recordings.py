"""Makes `tests/recordings/`: runs of scripted models, which check our own trees and prompts.

    python scripts/make_recordings.py

Call it after a change of a tree that is meant to decide differently. `git diff --stat` then shows
which recordings are new.
"""

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from oracle.bt.wrappers.decisions.recording_file import exported  # noqa: E402
from tests.recorded_scenes import recording_of  # noqa: E402

FOLDER = ROOT / "tests" / "recordings"
SCENES = (
    "unbelieved",  # a claim that nothing backs goes back to the model
    "5 turns",  # the limit of turns, with its warning and its last turn
    "a broad question",  # every part is read first
    "allowed",  # a person says yes to a tool that writes
    "stuck",  # the fallback, and all strategies
    "the same call",  # the ladder against circles
    "tools fail",  # advice, and an honest answer
)


async def main() -> None:
    for name in SCENES:
        text = await exported(await recording_of(name))
        (FOLDER / f"{name.replace(' ', '-')}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
