"""The language of a question, and English for its words."""

import pytest

from oracle.services.questions.languages import in_english, language_of, usual_in_english
from oracle.services.questions.search_words import search_words, specific_words


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How do I start a worker?", "en"),
        ("retry policy", "en"),
        ("write a note about coffee: 92 degrees", "en"),
        ("compile a C file", "en"),
        ("comment style?", "en"),
        ("y axis", "en"),
        ("die roll", "en"),
        ("Was ist ein Worker?", "de"),
        ("Comment lancer le worker ?", "fr"),
        ("lista de comandos", "es"),
        ("what security bug was fixed in 1.5.5", "en"),
        ("was kam mit 4.3.0 dazu", "de"),
        ("Wie starte ich einen Worker?", "de"),
        ("Comment lancer un worker ?", "fr"),
        ("¿Cómo se configura el servidor?", "es"),
        ("如何启动 worker?", "zh"),
        ("ワーカーはどうやって起動しますか？", "ja"),
    ],
)
def test_the_language_is_recognised(question, language):
    assert language_of(question) == language


def test_a_word_is_put_into_english_by_its_beginning():
    assert in_english("lancer", "fr") == ["start", "run"]
    assert in_english("konfiguriere", "de")[0] == "configure"
    assert in_english("retry", "en") == []
    assert in_english("fehlgeschlagene", "de") == ["fail"]
    assert in_english("automatisch", "de")[0] == "automatic"
    assert in_english("ayuda", "es")[0] == "help"


def test_stop_words_of_the_language_are_not_searched_and_loan_words_are():
    words = search_words("Wie konfiguriere ich den Worker mit job_timeout?")
    assert words.names == ["job_timeout"]
    assert words.plain == ["configure", "config", "worker"]
    assert specific_words(words) == ["job_timeout", "configure", "worker"]


@pytest.mark.parametrize(
    ("word", "english"),
    [
        ("Umgebungsvariablen", ["environment", "variable"]),
        ("Konfigurationsdatei", ["configure", "file"]),
        ("Befehlszeilenoption", ["command_line", "option"]),
        ("geladen", ["load"]),
        ("Zebra", []),
    ],
)
def test_the_parts_of_a_german_word_are_put_into_english(word, english):
    assert usual_in_english(word, "de") == english
