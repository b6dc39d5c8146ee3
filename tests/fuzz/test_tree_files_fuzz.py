"""Files that nobody would write: each loads or is refused, within a second."""

import random
from contextlib import suppress

import pytest

from oracle.bt.lua.library import TreeLibrary
from oracle.errors import TreeFileError
from tests.timing import takes_less

SEED = """
BT.tree("main", {
  description = "x",
  blackboard = { n = { type = "integer", default = 1 }, l = "list?" },
  root = BT.loop("l", { max = 3, BT.parallel("p", { succeed = 1,
    BT.guard({ expression = "bb.n > 1 and not (#bb.l == 2)", BT.exit("l") }),
    BT.retry({ attempts = 2, BT.subtree("sub", { ports = { m = "n" } }) }),
    BT.timeout({ seconds = 1.5, BT.invert(BT.condition("c", { expression = "true" })) }),
  }) }),
})
BT.tree("sub", { blackboard = {}, root = BT.condition("c", { expression = "bb.m ~= nil" }) })
"""
PIECES = [
    "{", "}", "(", ")", ",", "=", "nil", "true", "0", "-1", "1e308", "'x'", "\"bb.\"", "BT.",
    "BT", "BT.tree", "BT.sequence", "BT.exit('l')", "function() end", "while true do end", "..",
    "#", "~=", "local x = {} x.x = x", "[1]", "['a']", "goto a", "::a::", "\x00", "\u00ff",
    "\n", "--", "[[", "]]", "for i = 1, 9 do", "end", "return", "bb.n", "expression", "root",
    "_ENV", "_G", "'\\xff'",
    "0/0", "1/0", "BT.x = 1", "t[1] = t", "BT.leaves('a').b", "args = { n = 'x' }", "n.kind = 1",
]  # fmt: skip


def read_quietly(file):
    with suppress(TreeFileError):
        TreeLibrary([file])


@pytest.mark.extra
def test_tree_files_fuzz(tmp_path):
    file = tmp_path / "fuzz.lua"
    rng = random.Random(20)
    for _ in range(2_000):
        source = SEED
        for _ in range(rng.randint(1, 8)):
            start = rng.randrange(len(source) + 1)
            cut = rng.choice([0, 0, 1, 3, 12])
            source = source[:start] + rng.choice(["", *PIECES]) + source[start + cut :]
        file.write_text(source, encoding="utf-8", errors="replace")
        # At its best of three: a source that is slow is slow each time.
        assert takes_less(lambda: read_quietly(file), 1), source
