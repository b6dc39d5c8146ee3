"""Questions in other languages: which language it is, its stop words, and English for its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Set
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from oracle.patterns import lazy_pattern

Language = Literal["en", "de", "fr", "es", "zh", "ja"]

_WORD: Final = lazy_pattern(r"[^\W\d_]+")
_KANA: Final = lazy_pattern(r"[\u3040-\u30ff]")
_HAN: Final = lazy_pattern(r"[\u4e00-\u9fff]")
CJK: Final = lazy_pattern(r"[\u3040-\u30ff\u4e00-\u9fff]")
_GERMAN: Final = """
aber alle allen alles als also am an auch auf aus bei beim bin bis da dabei damit dann das
dass dein dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort
du durch ein eine einem einen einer eines er es etwas für gibt habe haben hat hier ich ihr
im in ins ist ja jede jeder jedes kann kannst können könnte man mein mich mir mit muss
müssen nach nicht noch nur ob oder ohne sein seine sich sie sind so soll sollte um und uns
unser unter bitte zeig zeige nenne nenn liste auflisten aufzählen anzeigen zeigen sag gerade
gerne mal brauche brauchen geben gib verfügbar verfügbaren vorhanden vorhandenen
möglichen unterstützten vom von vor wann war waren warum was weil welche welchem welchen welcher
welches wenn wer werde werden wie wieso wird wo woher wofür worum wozu wurde wurden zu zum
zur über macht machen tut bedeutet heißt funktioniert bietet nutzt dient lässt kommt geschieht
passiert passieren
"""
_FRENCH: Final = """
à ai alors après au aucun aussi autre aux avec avoir ce cela ces cet cette ceci chaque ci
combien comme comment dans de depuis des donc dont du elle elles en est et être eu fait
faire faut il ils j je l la là le les leur lui ma mais me mes moi mon ne nos notre nous n
on ont ou où par pas peut peux plus pour pourquoi qu quand que quel quelle quelles quels
qui quoi s sa sans se ses si son sont sous sur ta te tes toi ton tous tout toute toutes tu
un une va vers votre vous y c d est a liste lister donne donner montre montrer affiche afficher
existe existent veux voudrais disponible disponibles svp plaît sert signifie fonctionne offre
propose passe trouve t ils
"""
_SPANISH: Final = """
a al algo ante así aun aunque bajo cada como cómo con cuál cuáles cual cuales cuando cuándo
cuánto de del desde donde dónde durante e el él ella ellas ellos en entre era es esa esas
ese eso esos esta está están estas este esto estos fue ha hace hacen hacer hacia han hasta
hay la las le les lo los más me mi mis muy nada ni no nos o otra otro para pero por porque
puede puedo qué que quién quien se sea ser si sí sin sobre son su sus también tan te tiene
tengo tu tus un una uno unos usa y ya yo muestra mostrar dame lista listar todos todas existen
disponible disponibles quiero favor sirve significa funciona ofrece pasa ocurre encuentra
"""
_STOP_WORDS: Final[Mapping[Language, frozenset[str]]] = {
    "de": frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()),
    "es": frozenset(_SPANISH.split()),
}
_ENGLISH_LISTED: Final = """
a about add all an and any are as at be by can could did do does explain find for from get has
have how i if in into is it its list make many me my not of on one or our out please read should
show that the their them then there these they this those to use used using was we what when where
which who why will with would write you
"""
_SHORTEST_PART: Final = 4
_MOST_BETWEEN: Final = 7
"""Letters between two parts of a German word: `Umgebung-s-variable`, `Konfigur-ations-datei`."""
_ENGLISH: Final = frozenset(_ENGLISH_LISTED.split())
# Stop words of the others that are English words or names too: "a note", "a C file", "on main".
# One of them alone never decides.
_AMBIGUOUS_LISTED: Final = """
a ai al also am an as au bin c comment con d da dame de den des die du e el en era es fait favor
ha hat il in ins j l la le les ma man me mi n no o on par pas plus pour s sans se sea si sin so
son sous sur ta tan te ton tout um un va war was y
"""
_AMBIGUOUS: Final = frozenset(_AMBIGUOUS_LISTED.split())


def language_of(question: str) -> Language:
    """By script, or by stop words. English if nothing clearly says otherwise."""
    if _KANA.search(question):
        return "ja"
    if _HAN.search(question):
        return "zh"
    words = Counter(word.lower() for word in _WORD.findall(question[:2000]))
    # Over the words of the question: the lists of stop words are far longer.
    scores: dict[Language, int] = {
        language: sum([count for word, count in words.items() if word in stop])
        for language, stop in _STOP_WORDS.items()
    }
    best: Language = max(scores, key=scores.__getitem__)
    foreign = _STOP_WORDS[best]
    # "a" and "on" are words of other languages too; there they do not speak for English.
    is_english = [word for word in words if word in _ENGLISH and word not in foreign]
    english = sum([words[word] for word in is_english])
    is_marked = bool(re.search(r"[¿¡äöüßàâçéèêëîïôûùñáíóú]", question.lower()))
    # "what bug was fixed in 1.5.5" has "was" and "in", which are German words too.
    if not is_marked and not _is_clear(
        {word for word in words if word in foreign and word not in _ENGLISH}
    ):
        return "en"
    return best if scores[best] + is_marked > english + 1 or scores[best] > english + 0.5 else "en"


def _is_clear(stop_words: Set[str]) -> bool:
    """Whether these speak for their language. A letter may be the name of anything."""
    return bool(stop_words - _AMBIGUOUS) or sum(len(word) > 1 for word in stop_words) > 1


def stop_words_of(language: Language) -> frozenset[str]:
    """Empty for English, which has its own list, and for languages without spaces."""
    return _STOP_WORDS.get(language, frozenset())


def in_english(text: str, language: Language) -> list[str]:
    """English for a word of another language, or for all that is in a text without spaces: the
    usual word first, then others. Empty if the glossary does not know it.
    """
    return list(dict.fromkeys(word for row in _rows_for(text, language) for word in row))


def usual_in_english(text: str, language: Language) -> list[str]:
    """One word for each thing that is named."""
    return list(dict.fromkeys(row[0] for row in _rows_for(text, language)))


def _rows_for(text: str, language: Language) -> list[tuple[str, ...]]:
    if language == "en":
        return []
    low = text.lower()
    if language in ("zh", "ja"):
        return [english for english, stems in _glossary() if any(stem in low for stem in stems)]
    return _parts_in_english(low, language)


def _parts_in_english(word: str, language: Language) -> list[tuple[str, ...]]:
    """English for a word, or for each part of a German one: `Umgebungsvariablen` are environment
    variables. What comes between the parts is short.
    """
    found, length = _beginning(word)
    if not found and language == "de" and word.startswith("ge"):
        return _parts_in_english(word[2:], language)  # `geladen` is of `laden`
    if language != "de" or not length:
        return found
    for start in range(length, min(len(word) - _SHORTEST_PART, length + _MOST_BETWEEN) + 1):
        _, longest = _beginning(word[start:])
        if longest >= _SHORTEST_PART:
            return [*found, *_parts_in_english(word[start:], language)]
    return found


def _beginning(word: str) -> tuple[list[tuple[str, ...]], int]:
    """English for what a word begins with, and the length of the longest beginning that is known.
    Of several rows, those with the longest beginning count: `command line` is not `command`.
    """
    known = [
        (len(stem), english)
        for english, stems in _glossary()
        for stem in stems
        if word.startswith(stem)
    ]
    longest = max((length for length, _ in known), default=0)
    return [english for length, english in known if length == longest], longest


@lru_cache(maxsize=1)
def _glossary() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    text = files("oracle.services.questions").joinpath("glossary.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    rows = (line.partition(":") for line in lines)
    return tuple((tuple(english.split()), tuple(stems.split())) for english, _, stems in rows)
