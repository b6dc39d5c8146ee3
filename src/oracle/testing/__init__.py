"""Parts for tests, yours and ours: they play a script in place of the world."""

from oracle.testing.clock import ManualClock as ManualClock
from oracle.testing.events import RecordingBus as RecordingBus
from oracle.testing.nodes import ScriptedNode as ScriptedNode
from oracle.testing.web import LoopbackServer as LoopbackServer
