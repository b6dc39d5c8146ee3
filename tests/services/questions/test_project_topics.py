"""A question about the project as a whole is recognised, in six languages."""

import pytest

from oracle.services.questions.project_topics import project_question, project_questions


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What is this project?", "about"),
        ("how to install", "install"),
        ("How do I build it from source?", "build"),
        ("how do I run the unit tests", "test"),
        ("How do I use it?", "run"),
        ("What changed lately?", "changes"),
        ("Who maintains this?", "maintainers"),
        ("Can I use it in a commercial product?", "licence"),
        ("How is this repository laid out?", "layout"),
        ("What does it depend on?", "requirements"),
        ("What is the current version?", "version"),
        ("How do I report a security vulnerability?", "security"),
        ("How can I contribute?", "contribute"),
        ("Why was it created?", "history"),
        ("Where do I ask for help?", "support"),
        ("How do I create a new project?", "run"),
        ("Wie installiere ich das Paket?", "install"),
        ("Wer pflegt das Projekt?", "maintainers"),
        ("Quelles sont les dépendances obligatoires ?", "requirements"),
        ("Comment exécuter les tests ?", "test"),
        ("¿Bajo qué licencia se publica?", "licence"),
        ("¿Qué hace este proyecto?", "about"),
        ("这个项目是什么?", "about"),
        ("如何运行测试?", "test"),
        ("ライセンスは何ですか？", "licence"),
    ],
)
def test_the_topic_is_recognised(question, topic):
    found = project_question(question)
    assert found is not None
    assert (found.topic, list(found.words)) == (topic, [])


@pytest.mark.parametrize(
    "question",
    [
        "What is the average salary of the maintainers?",
        "Why did the original author leave the project?",
        "How do I run a worker in the background?",
        "When will version 9.0 be released?",
        "What is the default timeout of a request?",
        "Which database does the default session store use?",
        "",
    ],
)
def test_a_question_about_something_else_is_not(question):
    assert project_question(question) is None


def test_a_version_is_taken_out_of_the_question():
    found = project_question("What was added in 2.10.0?")
    assert (found.topic, found.version) == ("changes", "2.10.0")


def test_another_word_narrows_the_topic_or_may_be_the_name():
    found = project_question("Which Redis version do I need?")
    assert (found.topic, found.words, found.may_be_a_name) == ("requirements", ["Redis"], False)
    found = project_question("What is Basket?")
    assert (found.topic, found.words, found.may_be_a_name) == ("about", ["Basket"], True)


@pytest.mark.parametrize(
    ("question", "topic", "words"),
    [
        ("What does -L do?", "option", ["-L"]),
        ("what is the --rate-limit flag for?", "option", ["--rate-limit"]),
        ("was macht die Option -q?", "option", ["-q"]),
        ("Where is 'must be >= 1' raised?", "text", ["must be >= 1"]),
        ('Wo wird "no such queue here" ausgegeben?', "text", ["no such queue here"]),
    ],
)
def test_an_option_and_a_message_in_quotes_are_asked_for_by_themselves(question, topic, words):
    found = project_question(question)
    assert found is not None
    assert (found.topic, list(found.words)) == (topic, words)


@pytest.mark.parametrize(
    "question",
    ["How do I use -x with several commands of my own?", "where is the user's own config's path"],
)
def test_other_questions_with_dashes_and_quotes_are_searched_for(question):
    assert project_question(question) is None


def test_a_question_may_ask_two_things_about_the_project():
    found = project_questions("Wer hat das geschrieben und unter welcher Lizenz steht es?")
    assert [each.topic for each in found] == ["maintainers", "licence"]
    assert [each.topic for each in project_questions("how do I run the tests")] == ["test"]
    assert project_questions("how do I install it and where are widgets parsed?") == []
