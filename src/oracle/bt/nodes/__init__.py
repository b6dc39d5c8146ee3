"""The kinds of nodes, one a file. A new kind is a file beside these and a line in this list."""

from oracle.bt.nodes.action import Action as Action
from oracle.bt.nodes.always_fail import AlwaysFail as AlwaysFail
from oracle.bt.nodes.always_succeed import AlwaysSucceed as AlwaysSucceed
from oracle.bt.nodes.condition import Condition as Condition
from oracle.bt.nodes.cooldown import Cooldown as Cooldown
from oracle.bt.nodes.exit import Exit as Exit
from oracle.bt.nodes.guard import Guard as Guard
from oracle.bt.nodes.invert import Invert as Invert
from oracle.bt.nodes.loop import Loop as Loop
from oracle.bt.nodes.once import Once as Once
from oracle.bt.nodes.parallel import Parallel as Parallel
from oracle.bt.nodes.reactive_selector import ReactiveSelector as ReactiveSelector
from oracle.bt.nodes.reactive_sequence import ReactiveSequence as ReactiveSequence
from oracle.bt.nodes.repeat import Repeat as Repeat
from oracle.bt.nodes.retry import Retry as Retry
from oracle.bt.nodes.selector import Selector as Selector
from oracle.bt.nodes.sequence import Sequence as Sequence
from oracle.bt.nodes.subtree import Subtree as Subtree
from oracle.bt.nodes.timeout import Timeout as Timeout
