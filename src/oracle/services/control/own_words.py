"""What a text says about itself: that it is no answer, or not all of one.

Its signal may claim another thing. Who says "I could not find it", "I did not check this", "what do
you mean?" or "I cannot help with that" has not answered, and a person who reads it knows that.

Only the model's own words count: what is quoted, in code or in a block of code, belongs to the
project. And only what it says of itself counts: "the parser does not check the length" is about a
parser. So nearly all patterns have an "I" in them, or speak of the sources or of the answer.
"""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.control.announcements import announces_work

LONGEST_QUESTION_BACK: Final = 600
"""Characters. A longer text that ends with a question back has most likely answered before."""
_LONGEST: Final = 20_000
_LONGEST_SENTENCE: Final = 500
_PLACE: Final = "\N{WHITE SQUARE}"
"""In the place of what is quoted. It is no letter, so no pattern reads across it as if it were."""

_FENCED: Final = lazy_pattern(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.M | re.S)
_CODE: Final = lazy_pattern(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
_QUOTED: Final = lazy_pattern(
    # An apostrophe is no quotation mark: "doesn't" has a letter on both sides of it.
    r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|「[^」\n]{1,300}」'
    r"|(?<!\w)['‘](?=\w)[^\n]{1,300}?(?<=[\w.!?])['’](?!\w)"
)
_QUOTED_LINE: Final = lazy_pattern(r"(?:^|(?<=: ))>.*$", re.M)
_SENTENCES: Final = lazy_pattern(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+|;\s+")

_CANNOT: Final = (
    r"(?:could|can|did|do|was|were|have|has|had|am|are)(?:\s*n['’]t|\s+not|not)"
    r"|(?:can|could)(?:not)"
)
_ADVERB: Final = (
    r"(?:\s+(?:really|still|yet|actually|currently|even|been|be|also|personally|simply)\b)*"
)
_I: Final = r"\b(?:i|we)\b"
_ME: Final = r"\bi\b"
"""Not "we": "we need to check the lease" is what the project does."""
_LOOKED_AT: Final = (
    r"(?:sources?|files?|results?|notes?|threads?|docs|documentation|code|project|repository|repo"
    r"|material|context|pages?)"
)

_NOT_FOUND_ENGLISH: Final = (
    # I could not find, determine, tell …; but "I found no other place" completes an answer.
    rf"{_I}(?:['’]m|['’]ve)?(?:\s+still)?\s+(?:{_CANNOT}){_ADVERB}\s+(?:able\s+to\s+)?"
    r"(?:(?:\w+ly\s+)?find|verify|check|have\s+access|found|locate|determine|determined|identify|figure|tell|see|confirm|say|know|establish"
    r"|work\s+out|answer|access|have\s+(?:enough|any|the)\b|sure|certain|discover|conclude)\b"
    r"(?!\s+(?:any\s+)?(?:other|others|further|more|another|else|anything\s+else)\b)"
    rf"|{_I}\b[^.]{{0,80}}\b(?:but|and|yet)\s+(?:could|can|did)(?:\s+not|n['’]t|not)\s+"
    r"(?:find|locate|determine|tell|see|work\s+out|figure\s+out|say|confirm)\b"
    r"|\b(?:un|not\s+)clear\s+to\s+me\b"
    r"|\bthere\s+(?:does|do|did)(?:\s+not|n['’]t)\s+(?:seem|appear)\s+to\s+be\s+(?:any|enough)\s+"
    r"(?:information|evidence|answer|detail|mention)"
    rf"|{_I}\s+(?:lack|am\s+missing|miss)\b"
    rf"|{_I}(?:['’]m|\s+am|\s+was|\s+were)\s+(?:not\s+(?:sure|certain|able\s+to)|unsure|unable\s+to)\b"
    r"|\bimpossible\s+(?:for\s+me\s+)?to\s+(?:say|tell|know|determine|answer)\b"
    r"|\bmy\s+(?:\w+\s+)?(?:search(?:es)?|queries|lookups?)\s+(?:\w+\s+)?(?:turned\s+up|returned|found|brought|gave)"
    r"\s+(?:nothing|no\b)"
    r"|^\W*(?:unfortunately,?\s+)?no\s+(?:relevant|matching|useful|such|clear)\s+\w+\s+(?:was|were|could)\b"
    rf"|\b(?:that|this|the|such)\s+(?:information|detail|answer)s?\s+(?:is|are)(?:\s+not|n['’]t)\s+"
    rf"(?:available|present|given|included|documented|found)\b"
    rf"|{_I}\s+(?:was|were|have)(?:\s+not|n['’]t)\s+(?:been\s+)?given\b"
    rf"|{_I}\s+have\s+no\s+(?:idea|clue|access|tool|knowledge|means|information)\b"
    rf"|{_I}\s+found\s+nothing\s+(?:about|on|for|that\s+(?:says|explains|answers))\b"
    rf"|{_I}\s+(?:have\s+)?(?:found|have)\s+no\s+(?:information|answer|details?|evidence|idea|way\s+"
    r"(?:to|of)\s+(?:know|tell|find|check)\w*)\b"
    r"|\b(?:it|this|that)\s+(?:can|could)(?:\s*not|n['’]t)\s+be\s+(?:determined|answered|established|inferred|told)\b"
    rf"|{_ME}\s+(?:could|can)\s+only\s+(?:find|locate|see|tell)\b"
    r"|\bthe\s+answer\s+(?:could|can|was|is)(?:\s+not|n['’]t|not)\s+(?:be\s+)?"
    r"(?:found|determined|known|clear|given|here|in)\b"
    rf"|\b(?:sources?|files?|results?|notes|documents|snippets)\b(?:\s+(?:that\s+)?(?:{_I}|you)\s+"
    r"(?:\w+\s+)?\w+)?\W[^.]{0,40}\b(?:do|does|did)(?:\s+not|n['’]t)\s+"
    r"(?:say|mention|explain|specify|state|tell|cover|contain|show|answer|provide)\b"
    rf"|\b(?:nothing|none|no\s+(?:file|source|note|place))\s+(?:in|of)\s+(?:the|these|those|my|what)\b"
    r"[^.]{0,40}\b(?:says?|explains?|mentions?|shows?|answers?|states?|tells?)\b"
    rf"|\bit(?:['’]s|\s+is|\s+remains)\s+(?:not\s+clear|unclear|unknown|not\s+known)\s+"
    rf"(?:from|in)\s+(?:the|these|this|what)\b"
    rf"|\b(?:there\s+is|there['’]s|there\s+was)\s+(?:no|not\s+enough)\s+(?:information|evidence|answer|"
    rf"detail|indication)\b[^.]{{0,60}}\b{_LOOKED_AT}\b"
    rf"|\b(?:not\s+enough|insufficient)\s+(?:information|context|evidence)\b"
)
_NOT_CHECKED_ENGLISH: Final = (
    rf"{_ME}(?:['’]ve)?\s+(?:(?:did|have)(?:\s+not|n['’]t)|not){_ADVERB}\s+"
    r"(?:(?:check|verif|confirm|read|look|test|open|examin|inspect|review)\w*)\b"
    rf"|{_ME}\s+(?:(?:still|also|first)\s+)?(?:need|have|must|ought)\s+to\s+(?:still\s+|first\s+|also\s+)?"
    r"(?:check|verify|confirm|read|look|test|open|examine|inspect|review|search|see|find)\b"
    rf"|{_ME}\s+(?:still|first)\s+(?:need|have|must)\b"
    rf"|{_ME}(?:\s+would|['’]d)\s+(?:need|have)\s+to\s+(?:check|verify|read|look|see|open|search|test)\b"
    rf"|\b(?:this|that|it)(?:\s+is|['’]s|\s+was)\s+(?:only\s+|just\s+|merely\s+|but\s+)?(?:a|my)\s+"
    r"(?:best\s+|wild\s+|educated\s+)?guess\b"
    rf"|{_ME}(?:['’]m|\s+am)\s+(?:only\s+|just\s+|merely\s+)?(?:guessing|speculating)\b"
    rf"|{_ME}\s+(?:can|could)\s+only\s+(?:guess|speculate|assume)\b|^\W*my\s+(?:best\s+)?guess\b"
    rf"|{_ME}(?:['’]ve|\s+have)?\s+only\s+(?:read|skimmed|looked|checked|seen|searched|had\s+time)\b"
    rf"|{_ME}\s+ran\s+out\s+of\b|{_ME}(?:\s+would|['’]d)\s+need\s+(?:access|to\s+know|more)\b"
    r"|\b(?:answer|rest|part|half)\b[^.]{0,40}\b(?:is|are|remains?)\s+(?:still\s+)?(?:missing|open|unanswered)\W*$"
    r"|^\W*to\s+be\s+continued\W*$"
    r"|^\W*(?:not\s+(?:sure|certain)|no\s+idea)\b[^.]{0,30}\.?$"
    rf"|{_ME}(?:['’]m|\s+am|\s+was)\s+(?:not\s+(?:sure|certain)|unsure)\b"
    rf"|{_ME}(?:['’]m|\s+am)\s+(?:only\s+|just\s+)?assuming\b|\b(?:pure\s+|mere\s+)?speculation\s+(?:on\s+my|of\s+mine)"
    rf"|{_ME}\s+(?:did\s+not|didn['’]t|have\s+not|haven['’]t)\s+(?:get|got|gotten)\s+(?:to|around)\b"
    r"|\bremains\s+to\s+be\s+(?:checked|verified|seen|confirmed)\b"
    r"|^\W*(?:unverified|unchecked|unconfirmed|not\s+(?:yet\s+)?(?:verified|checked|confirmed))\s*(?:\W*$|:)"
    r"|\b(?:remains?|is|are|has|have)\s+(?:still\s+)?(?:yet\s+)?to\s+be\s+(?:investigated|looked\s+into)\b"
    r"|\b(?:more|further|additional)\s+(?:research|investigation|digging|analysis|work|reading)\s+"
    r"(?:is|would\s+be|will\s+be)\s+(?:needed|required|necessary)\b"
    rf"|{_ME}\s+(?:would\s+)?(?:still\s+)?(?:need|require)\s+(?:more|further|additional|some\s+more)\b"
)
_REFUSES_ENGLISH: Final = (
    rf"{_I}(?:['’]m)?\s*(?:can\s*not|can['’]t|won['’]t|will\s+not|cannot|am\s+(?:unable|not\s+able"
    r"|not\s+allowed)\s+to|not\s+able\s+to|unable\s+to)\s+(?:\w+ly\s+)?"
    r"(?:help|assist|comply|answer|discuss|provide|do\s+(?:that|this)|share|continue|fulfil)\b"
    rf"|{_I}\s+(?:must|have\s+to|need\s+to)?\s*(?:respectfully\s+)?(?:decline|refuse)\b"
    rf"|{_I}(?:['’]d|\s+would)\s+rather\s+not\b|\bnot\s+something\s+(?:that\s+)?i\s+(?:can|am|could)\b"
    r"|\b(?:outside|beyond)\s+(?:of\s+)?(?:what\s+i\s+can|my\s+(?:abilities|capabilities|scope|reach))\b"
    r"|\bas\s+an?\s+(?:ai|language\s+model)\b"
)
_ASKS_BACK_ENGLISH: Final = (
    r"\bwhat\s+(?:exactly\s+)?do\s+you\s+(?:mean|want)\b"
    r"|\bwhich\s+(?:one|\w+(?:\s+\w+)?)\s+(?:do|did|are)\s+you\s+(?:mean|refer|ask|talk|think)\w*"
    r"|\bbefore\s+i\s+(?:can\s+)?(?:answer|start|begin|continue)\b"
    r"|^\W*(?:do|did)\s+you\s+mean\b[^?]*\?"
    r"|\b(?:please|(?:could|can|would)\s+you(?:\s+please)?)\s+(?:clarify|specify|elaborate|rephrase"
    r"|be\s+more\s+specific|tell\s+me\s+(?:which|what|more)|explain\s+what\s+you"
    r"|(?:provide|give\s+me|share|send)\s+(?:me\s+)?(?:more|the|some|further|additional)\b)"
)

_GERMAN: Final = (
    r"\b(?:konnte|kann|konnten|können|könnte)\b[^.]{0,60}\b(?:ich|wir)\b[^.]{0,60}\bnicht\b[^.]{0,30}"
    r"\b(?:finden|feststellen|herausfinden|ermitteln|sagen|bestätigen|beantworten|erkennen|helfen)"
    r"|\b(?:ich|wir)\b[^.]{0,20}\b(?:konnte|kann|konnten|können)\b[^.]{0,80}\b(?:nicht|nichts|keine?n?)\b"
    r"[^.]{0,40}\b(?:finden|feststellen|herausfinden|ermitteln|sagen|bestätigen|beantworten|erkennen"
    r"|helfen)"
    r"|\b(?:ich\s+(?:habe|hab)|(?:habe|hab)\s+ich)\b[^.]{0,60}\b(?:nichts|keine\s+(?:angaben?|antwort"
    r"|informationen?|hinweise?))\s+(?:\w+\s+)?gefunden|\bnichts\s+gefunden\s+(?:habe|hab)\s+ich"
    r"|\b(?:keine?n?|nichts)\s+(?:\w+\s+){0,2}(?:stelle|antwort|angaben?|hinweise?|treffer|passendes|dazu)"
    r"\b[^.]{0,30}\bgefunden|\b(?:lie(?:ß|ss)|lässt|konnte|kann)\s+(?:\w+\s+)?(?:sich\s+)?(?:\w+\s+)?nicht\s+"
    r"(?:feststellen|ermitteln|herausfinden|klären|sagen|sicher\s+sagen|beantworten|gefunden\s+werden)"
    r"|\b(?:bin|sind)\s+(?:ich\s+|wir\s+)?(?:mir\s+|uns\s+)?(?:leider\s+)?(?:nicht|un)\s*sicher\b"
    r"|\b(?:müsste|muss|bleibt)\s+(?:\w+\s+){0,2}(?:noch|erst)\s+(?:\w+\s+)?(?:zu\s+)?(?:prüfen|klären|nachsehen"
    r"|geprüft|überprüft|geklärt)"
    r"|\bich\s+wei(?:ß|ss)\s+(?:es\s+|das\s+)?(?:leider\s+)?nicht\b|\bwei(?:ß|ss)\s+ich\s+(?:leider\s+)?nicht\b"
    r"|\b(?:quellen|dateien|ergebnisse|notizen)\s+(?:sagen|nennen|erwähnen|erklären|verraten)\b[^.]{0,40}"
    r"\b(?:nichts?|keine?n?)\b"
    r"|\b(?:ich\s+(?:habe|hab)|(?:habe|hab)\s+ich)\b[^.]{0,40}\bnicht\s+(?:\w+\s+)?(?:geprüft|überprüft"
    r"|gelesen|nachgesehen|verifiziert|getestet|angesehen)"
    r"|\b(?:ich\s+(?:muss|müsste)|(?:muss|müsste)\s+ich)\b[^.]{0,80}\b(?:prüfen|nachsehen|lesen|suchen"
    r"|ansehen|überprüfen|klären)"
    r"|\b(?:nur|bloß|lediglich)\s+(?:geraten|vermutet|eine\s+vermutung)|\b(?:dazu|dafür|darüber|davon)\s+kann\s+ich\s+(?:\w+\s+)?nichts?\b"
    r"|\bich\s+(?:rate|vermute)\s+nur\b"
    r"|\bfehl(?:en|t)\s+(?:mir|uns)\b|\b(?:mir|uns)\s+fehl(?:en|t)\b"
    r"|\bwas\s+(?:genau\s+)?(?:meinst\s+du|meinen\s+sie)|\bwelche\w*\s+\w*\s*(?:meinst\s+du|meinen\s+sie)"
    r"|\b(?:kannst\s+du|können\s+sie|könntest\s+du|könnten\s+sie|bitte)\b[^.]{0,30}\b(?:genauer\s+\w+"
    r"|präzisier\w+|konkretisier\w+)"
    r"|\btut\s+mir\s+leid\b[^.]{0,40}\bkann\b[^.]{0,60}\bnicht\b"
)
_FRENCH: Final = (
    r"\bje\s+n['’]ai\s+(?:malheureusement\s+|encore\s+)?(?:(?:pas|rien|aucune?)\b|trouvé\s+(?:aucune?|rien)\b)"
    r"|\baucune?\s+(?:information|mention|réponse|trace|résultat)\b[^.]{0,60}\b(?:fichiers|sources|notes|code|projet"
    r"|trouvée?)\b"
    r"|\bje\s+ne\s+(?:le\s+|la\s+|les\s+)?(?:sais|peux|trouve|vois|connais)\s+(?:pas|rien)\b"
    r"|\bje\s+ne\s+suis\s+pas\s+(?:sûre?|certaine?)\b|\brien\s+trouvé\b"
    r"|\bimpossible\s+(?:de|d['’])\s*(?:le\s+|la\s+)?(?:déterminer|savoir|trouver|dire|répondre|vérifier)"
    r"|\b(?:sources|fichiers|résultats|notes)\b[^.]{0,30}\bne\s+(?:disent|mentionnent|précisent"
    r"|expliquent|donnent|indiquent)\s+(?:pas|rien)\b"
    r"|\bil\s+(?:me\s+reste|me\s+faut|faut\s+encore|reste)\s+(?:encore\s+)?(?:à\s+)?(?:lire|vérifier"
    r"|regarder|chercher|consulter)\b|\bje\s+dois\s+encore\b"
    r"|\b(?:c['’]est|ce\s+n['’]est)\s+(?:qu['’])?(?:une?\s+)?(?:simple\s+)?(?:supposition|hypothèse)\b"
    r"|\b(?:pouvez-vous|pourriez-vous|peux-tu|pourrais-tu|merci\s+de)\s+(?:me\s+)?(?:préciser|clarifier)"
    r"|\bque\s+(?:voulez-vous|veux-tu)\s+dire\b"
)
_SPANISH: Final = (
    r"(?:^|[,.¿¡:]\s*|\b(?:yo|pero|y|lamentablemente)\s+)no\s+(?:lo\s+|la\s+)?(?:encontré|sé|puedo|pude"
    r"|logré|conozco|estoy\s+segur[oa])\b"
    r"|(?:^|,\s*)(?:yo\s+)?(?:necesito|me\s+falta)\s+(?:más|saber)\b"
    r"|\bno\s+(?:tengo|hay)\s+(?:suficiente|ninguna|bastante)\s+(?:información|respuesta|contexto|detalle)"
    r"|\bno\s+se\s+(?:encontró|encontraron|pudo|ha\s+(?:encontrado|podido))\b"
    r"|\bno\s+(?:lo\s+|la\s+)?he\s+(?:podido|encontrado|verificado|comprobado|leído|revisado|logrado)\b"
    r"|\b(?:fuentes|archivos|resultados|notas)\s+no\s+(?:dicen|mencionan|explican|indican|precisan)\b"
    r"|\b(?:todavía|aún)\s+(?:tengo\s+que|necesito|debo|me\s+falta)\b"
    r"|\bes\s+(?:sólo|solo|solamente)?\s*una\s+suposición\b"
    r"|\b(?:puedes|puede|podrías|podría)\s+(?:aclarar|precisar|especificar)|\ba\s+qué\s+te\s+refieres\b"
    r"|\bqué\s+(?:quieres|quiere)\s+decir\b"
)
_OTHERS: Final = (
    r"没有找到|未找到|未能(?:找到|确定)|无法(?:确定|回答|找到|确认)|我不(?:太|是很)?(?:知道|清楚|确定)"
    r"|(?:尚未|还没有?|没有)(?:检查|验证|确认)|请(?:说明|澄清|具体)"
    r"|見つかりませんでした|見つけられません|(?:わか|分か)りません(?:でした)?|確認(?:して|でき)(?:い)?ません"
    r"|お答えできません|찾(?:을\s*수\s*없|지\s*못)|모르겠"
    r"|\bnon\s+(?:ho\s+trovato|lo\s+so|sono\s+(?:sicur|riuscit)\w+|posso\s+(?:aiutar|risponder)\w+)"
    r"|\bnão\s+(?:encontrei|sei|consegui|posso\s+(?:ajudar|responder)|verifiquei)"
    r"|\bnie\s+(?:znalazłem|znalazłam|wiem|mogę\s+pomóc|udało\s+mi\s+się)"
    r"|\bя\s+не\s+(?:наш[её]л|нашла|знаю|смог\w*|могу)\b|\bне\s+удалось\s+(?:найти|определить)"
)

_NOT_FOUND: Final = lazy_pattern(_NOT_FOUND_ENGLISH, re.I)
_ALWAYS: Final = lazy_pattern(
    "|".join((_NOT_CHECKED_ENGLISH, _REFUSES_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _OTHERS)), re.I
)
_ASKS_BACK: Final = lazy_pattern(_ASKS_BACK_ENGLISH, re.I)
_TO_DO: Final = lazy_pattern(r"(?:^|[:,;(–—-]\s*)\W{0,3}(?:TODO|TBD|FIXME)\b(?=\s*(?::|[.!)]|$))")
_OF_US: Final = lazy_pattern(r"\W*we\b", re.I)
_YET_FOUND: Final = lazy_pattern(rf"\b(?:but|however|though|so|yet|instead)\b.*{_PLACE}", re.I)
_A_SIGNAL_AS_TEXT: Final = lazy_pattern(
    r"(?:^|\n)\W*signal\b\W*(?:type\W*)?(?:partial_answer|stuck|need_turn|need_capability"
    r"|delegation_recommended)\b[^\n]*$",
    re.I,
)
"""A signal in other words, as the last line: it was meant, although it does not count as one."""


def says_it_is_no_answer(text: str) -> str:
    """What the text says of that kind; "" if it says nothing of it."""
    if wish := _A_SIGNAL_AS_TEXT.search(text[-_LONGEST:].rstrip()):
        return wish[0].strip()
    own = own_words(text)
    sentences = [each.strip()[:_LONGEST_SENTENCE] for each in _SENTENCES.split(own) if each.strip()]
    for sentence in sentences:
        if _ALWAYS.search(sentence) or _TO_DO.search(sentence):
            return _shown(sentence)
        # "I could not find a note about it, but `a.py:3` decides it."
        if _NOT_FOUND.search(sentence) and not _YET_FOUND.search(sentence):
            return _shown(sentence)
        if len(own) <= LONGEST_QUESTION_BACK and _ASKS_BACK.search(sentence):
            return _shown(sentence)
    last = sentences[-1] if sentences else ""
    # "We need to check the lease first" is what the project does.
    announces = announces_work(last) and not _OF_US.match(last)
    return _shown(last) if announces else ""


def own_words(text: str) -> str:
    """The text without what it quotes, and without code."""
    text = _FENCED.sub(_PLACE, text[:_LONGEST])
    for pattern in (_CODE, _QUOTED, _QUOTED_LINE):
        text = pattern.sub(_PLACE, text)
    return text


def _shown(sentence: str) -> str:
    return sentence.replace(_PLACE, "…").strip("*_- ")
