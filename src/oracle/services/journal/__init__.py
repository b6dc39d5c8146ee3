"""The one port for effects: it records what the world answers a run, and can answer the same again.

A run is a function of what passes here. `Journal` has three modes with one body. Live, it performs
an effect and records the result. In a replay it answers from the record. After a crash it answers
from the record to its end and then goes on live.
"""

from oracle.services.journal.journal import Journal as Journal
from oracle.services.journal.record import Record as Record
from oracle.services.journal.sinks import MemorySink as MemorySink
from oracle.services.journal.sinks import Sink as Sink
