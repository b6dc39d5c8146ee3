"""The one port for effects: it records what a run was told by the world, and can tell it again.

A run is a function of what passes here. `Journal` serves three ways with one body: live, it
performs an effect and records the answer; in a replay it answers from the record; after a crash it
answers from the record as far as that goes and then goes on live.
"""

from oracle.services.journal.journal import Journal as Journal
from oracle.services.journal.record import Record as Record
from oracle.services.journal.sinks import MemorySink as MemorySink
from oracle.services.journal.sinks import Sink as Sink
