"""Parts for tests, yours and ours: they play a script instead of the world, by the real protocols."""

from oracle.testing.clock import ManualClock as ManualClock
from oracle.testing.nodes import ScriptedNode as ScriptedNode
