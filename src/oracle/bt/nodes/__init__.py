"""The kinds of nodes. A new kind is a file beside these and a line in this list."""

from oracle.bt.nodes.action import Action as Action
from oracle.bt.nodes.answers import AlwaysFail as AlwaysFail
from oracle.bt.nodes.answers import AlwaysSucceed as AlwaysSucceed
from oracle.bt.nodes.answers import Invert as Invert
from oracle.bt.nodes.condition import Condition as Condition
from oracle.bt.nodes.guard import Guard as Guard
from oracle.bt.nodes.in_order import Selector as Selector
from oracle.bt.nodes.in_order import Sequence as Sequence
from oracle.bt.nodes.ladder import Ladder as Ladder
from oracle.bt.nodes.later import Deferred as Deferred
from oracle.bt.nodes.later import Later as Later
from oracle.bt.nodes.loop import Exit as Exit
from oracle.bt.nodes.loop import Loop as Loop
from oracle.bt.nodes.once import Cooldown as Cooldown
from oracle.bt.nodes.once import Once as Once
from oracle.bt.nodes.parallel import Parallel as Parallel
from oracle.bt.nodes.reactive import ReactiveSelector as ReactiveSelector
from oracle.bt.nodes.reactive import ReactiveSequence as ReactiveSequence
from oracle.bt.nodes.rounds import Repeat as Repeat
from oracle.bt.nodes.rounds import Retry as Retry
from oracle.bt.nodes.subtree import Subtree as Subtree
from oracle.bt.nodes.timeout import Timeout as Timeout
