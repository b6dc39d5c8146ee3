"""The pure modules of the mind, tested by node's own runner: no browser, no packages."""

import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
FILES = sorted((Path(__file__).parent / "mind").glob("*.test.mjs"))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_the_modules_do_what_their_tests_say(file):
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
