"""A text that only says what the model will do next is not an answer."""

import pytest

from oracle.services.control.announcements import LONGEST, is_announcement

ANNOUNCEMENTS = [
    "Let me look at the file more closely now.",
    "I'll check src/auth.py for the login.",
    "I will search for the definition first.",
    "Okay, let me read src/auth.py:1-20.",
    "To answer that, I need to look at the tests.",
    "Next, I'll open the config file.",
    "Let's take a look at the router.",
    "I found a reference to it. Let me dig deeper.",
    "Searching for login...",
    "Checking the file now.",
    "I'm going to examine the handlers and then answer.",
    "First, let me explore the project structure:",
    "Ich werde mir die Datei genauer ansehen.",
    "Ich schaue mir die Datei an.",
    "Als Nächstes prüfe ich die Tests jetzt.",
    "Lass mich nachsehen.",
    "Je vais regarder le fichier.",
    "Laissez-moi vérifier la configuration.",
    "Voy a buscar la función.",
    "Déjame revisar el archivo.",
    "让我看看这个文件。",
    "我来查一下代码。",
    "ファイルを確認します。",
    "調べてみましょう。",
    "Sure, I'll have a look.",
    "I should verify this in the code.",
    "**Let me check the tests.**",
    "I need to find where it is called.",
]

ANSWERS = [
    "The login is in src/auth.py:1.",
    "Let me know if you need more.",
    "The login is in src/auth.py:1. Let me check the tests too.",
    "Reading the file fails with KeyError.",
    "I could not find it anywhere.",
    "Nothing mentions it.",
    "Should I look at the tests?",
    "If you want, I can look at the tests.",
    "It opens the file and reads it now and then.",
    "I'd look at src/auth.py if you want to change it.",
    "Use `let me` in the parser.",
    "Die Anmeldung ist in src/auth.py.",
    "Ich habe nichts gefunden.",
    "C'est dans src/auth.py.",
    "没有找到。",
    "見つかりませんでした。",
    "The parser will read the file first, then the cache.",
    "You should check the config first.",
    "Let me explain: the login calls verify and then stores a token.",
    "The command opens the door.",
    "このファイルは設定を読みます。",
    "I will be honest: it is not in the project.",
    "No, it is not supported.",
    "Ja, das Modul liest die Datei jetzt.",
]


@pytest.mark.parametrize("text", ANNOUNCEMENTS)
def test_a_text_that_says_what_comes_next_is_recognised(text):
    assert is_announcement(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_an_offer_or_a_question_is_left_alone(text):
    assert not is_announcement(text)


def test_a_long_text_says_more_than_what_comes_next():
    assert not is_announcement("It is so. " * (LONGEST // 10) + "Let me look at the tests.")


def test_white_space_announces_nothing():
    assert not is_announcement(" \n ")
