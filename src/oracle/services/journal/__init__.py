"""The one port for effects: it records the result of each effect, and can return it again.

A run is a function of what passes here. `Journal` has three modes with one body. Live, it performs
an effect and records the result. In a replay it returns the recorded result. After a crash it
returns recorded results as long as there are some, and then continues live.
"""

from oracle.services.journal.journal import Journal as Journal
from oracle.services.journal.record import Record as Record
from oracle.services.journal.sinks import MemorySink as MemorySink
from oracle.services.journal.sinks import Sink as Sink
