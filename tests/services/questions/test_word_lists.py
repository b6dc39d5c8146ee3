"""What is only said to ask is not searched for; a subject that looks like it is."""

from oracle.services.questions.word_lists import without_ways_of_asking
from tests.tables import each_row


@each_row(
    ("question", "bare"),
    [
        ("walk me through the shutdown of a worker", "the shutdown of a worker"),
        ("Could you please explain retries in detail?", "explain retries ?"),
        ("end-to-end: how is a citation checked", ": how is a citation checked"),
        ("step by step", "step by step"),
        ("Where is login defined?\n\nReply in English.", "Where is login defined? ."),
        ("Please answer in plain English. Where is login?", ". Where is login?"),
        ("Answer in auth.py?", "Answer in auth.py?"),
        ("why does it answer in English", "why does it answer in English"),
        ("where do we walk the tree", "where do we walk the tree"),
        ("run the tests through tox", "run the tests through tox"),
    ],
)
def test_ways_of_asking_fall_away(question, bare):
    assert " ".join(without_ways_of_asking(question).split()) == bare
