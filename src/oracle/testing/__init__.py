"""Parts for tests, yours and ours. They play a script in place of models, tools and servers."""

from oracle.testing.encoders import WordEncoder as WordEncoder
from oracle.testing.metered import MeteredModel as MeteredModel
from oracle.testing.models import Reply as Reply
from oracle.testing.models import ScriptedModel as ScriptedModel
from oracle.testing.models import ScriptedTools as ScriptedTools
from oracle.testing.models import signal as signal
from oracle.testing.parts import ManualClock as ManualClock
from oracle.testing.parts import RecordingBus as RecordingBus
from oracle.testing.parts import ScriptedNode as ScriptedNode
from oracle.testing.web import LoopbackServer as LoopbackServer
