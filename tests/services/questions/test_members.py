"""A question for all things of a kind says what they are called."""

import pytest

from oracle.services.questions.members import MembersAsked, members_asked


@pytest.mark.parametrize(
    ("question", "head", "rest"),
    [
        ("List every job status", "job status", ""),
        ("list all commands of the command line tool", "commands", "command line tool"),
        ("Which worker classes are there?", "worker classes", ""),
        ("What hooks are there?", "hooks", ""),
        ("Which built-in themes come with it?", "themes", ""),
        ("what are the available log levels?", "log levels", ""),
        ("list the public methods of Queue", "methods", "Queue"),
        ("Welche Befehle gibt es?", "command", ""),
        ("有哪些钩子?", "hook", ""),
        ("which errors inherit from Failure", "errors inherit", "Failure"),
        ("built in doors, all of them", "doors", ""),
        ("hooks - full list please", "hooks", ""),
        ("give me a list of hooks", "hooks", ""),
        ("all the options i can put in class Meta", "options", "put class Meta"),
        ("bitte alle Optionen auflisten", "option", ""),
        ("liste de toutes les commandes", "command", ""),
    ],
)
def test_what_is_wanted_is_named(question, head, rest):
    found = members_asked(question)
    assert (found.head, found.rest) == (head, rest)


@pytest.mark.parametrize(
    "question",
    [
        "Where is parse_timeout defined and what formats does it take?",
        "What does each level mean?",
        "What is a hook?",
        "List every place that uses it",
        "How many redirects are followed at most by default?",
        "how many workers should I run?",
        "How many workers does it start unless told otherwise?",
    ],
)
def test_a_question_for_one_thing_or_for_places_is_not_one(question):
    assert members_asked(question) is None


def test_what_follows_the_quantifier_is_listed_and_the_rest_is_said_about_it():
    asked = members_asked("Quelles commandes la ligne de commande offre-t-elle ?")
    assert asked == MembersAsked(head="command", rest="line")
    asked = members_asked("Welche Umgebungsvariablen gibt es?")
    assert asked == MembersAsked(head="environment variable")
