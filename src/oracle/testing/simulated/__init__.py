"""Language models that misbehave as real ones do, to test how an agent copes with them.

model = simulated_model("gatherer", "extreme", seed=7)

A model is a function of the request and its seed. All share an honest core (`competent`), which
searches, reads and answers with citations. A character changes one thing about it:

- `gathering`: gathers too much, too little at a time, or with calls that fail
- `signalling`: signals are missing, malformed, or say the opposite of what it does
- `claiming`: claims evidence, tools or results that do not exist
- `manners`: the text is the trouble

The models do not know how the agent reacts. They see what a provider would be sent: the messages'
content and the tools that are offered.
"""

from oracle.testing.simulated.characters import CHARACTERS as CHARACTERS
from oracle.testing.simulated.characters import STRENGTHS as STRENGTHS
from oracle.testing.simulated.characters import Character as Character
from oracle.testing.simulated.characters import simulated_model as simulated_model
