"""Parts for tests, yours and ours: they play a script in place of the world."""

from oracle.testing.clock import ManualClock as ManualClock
from oracle.testing.events import RecordingBus as RecordingBus
from oracle.testing.models import Reply as Reply
from oracle.testing.models import ScriptedModel as ScriptedModel
from oracle.testing.models import ScriptedTools as ScriptedTools
from oracle.testing.models import signal as signal
from oracle.testing.nodes import ScriptedNode as ScriptedNode
from oracle.testing.web import LoopbackServer as LoopbackServer
