"""Whether a question is about the project as a whole, and about what of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.overview.changelog import VERSION
from oracle.services.overview.topics import Topic
from oracle.services.questions.languages import CJK, language_of, stop_words_of
from oracle.services.questions.word_lists import STOP_WORDS

# Ways to call the project, in the six languages, and words that say nothing about the topic.
_FILLERS_LISTED: Final = """
app application apps codebase framework it library locally machine module package program
product project projekt repo repository software source thing tool computer laptop local
bibliothek paket programm werkzeug quellcode projet bibliothèque paquet logiciel outil proyecto
est-ce here hier ici
biblioteca paquete programa herramienta librería dépôt repositorio new latest current currently
exactly actually properly correctly quickly step steps best way command commands first time
scratch checkout clone sources originally initially mainly mostly basically good
someone developer contributor newcomer user own exist exists whole entire main basic
"""
_FILLERS: Final = frozenset(_FILLERS_LISTED.split())
_FUTURE: Final = lazy_pattern(
    r"\b(?:will|upcoming|next|roadmap|planned|planning|going to|künftig\w*|geplant\w*"
    r"|nächste\w*|sera|será|próxim\w*|prochain\w*)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectQuestion:
    """`words` are what else the question names. `may_be_a_name`: they may be the project's name."""

    topic: Topic
    version: str = ""
    words: Sequence[str] = ()
    may_be_a_name: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """`takes_words`: the question may name something else as well, which narrows the answer."""

    topic: Topic
    asked: re.Pattern[str]
    topic_words: re.Pattern[str]
    takes_words: bool = False


def _row(topic: Topic, asked: str, words: str = "", *, takes_words: bool = False) -> _Row:
    return _Row(
        topic=topic,
        asked=lazy_pattern(asked, re.I),
        topic_words=lazy_pattern(words or asked, re.I),
        takes_words=takes_words,
    )


_RELEASE: Final = r"\b(?:versions?|releases?|versión|sortie|lanzamiento)\b"
# The first row that fits decides: what is more specific comes first.
_ROWS: Final = (
    _row(
        "changes",
        r"\b(?:in|since|as of) (?:which|what) (?:version|release)\b"
        r"|\b(?:which|what) (?:version|release) (?:\w+ )?(?:introduc|add|brought|first|did"
        r"|has|remov|drop|deprecat)\w*"
        r"|\bwhen (?:was|were|did)\b.*\b(?:add|introduc|arriv|appear|land|remov|drop|deprecat)\w*"
        r"|\b(?:in|seit) welcher version\b|\bdans quelle version\b|\b(?:en|desde) qué versión\b",
        r"\b(?:versions?|releases?|introduc\w+|add(?:ed)?|arriv\w+|appear\w*|land(?:ed)?|brought|"
        r"remov\w+|drop\w*|deprecat\w+|support(?:ed)?|available|versión|hinzugefügt|eingeführt|"
        r"ajouté\w*|añadi\w+|first)\b",
        takes_words=True,
    ),
    _row(
        "changes",
        r"\bwhat(?:'s| is| are)? (?:the )?(?:new|changed|changes)\b|\bchange ?log\b"
        r"|\brelease notes\b"
        r"|\bwhat (?:did|does) (?:\S+ ){1,4}(?:fix|change|add|bring|remove|break|introduce)\W*$"
        r"|\b(?:what|which) (?:\w+ ){0,3}(?:added|changed|changes|fixed|removed|deprecated"
        r"|introduced|new)\b"
        r"|\bwas (?:hat sich|ist (?:da )?neu|wurde|gibt'?s neues) |\bneuerungen\b|\bänderungen\b"
        r"|\b(?:qu'est[- ]ce qu\w+|quoi) .{0,12}(?:changé|de neuf|de nouveau|corrigé)\b"
        r"|\bnouveautés?\b"
        r"|\bqué (?:ha )?cambi\w+|\bnovedades\b|\bcambios\b|更新|变化|变更|新增|変更|新機能|変わ",
        r"\b(?:new|change\w*|add(?:ed)?|fix|bring|remove|break|introduce|fixed|removed|deprecated|introduced|notes?|log|changelog|lately|"
        r"recent\w*|latest|last|newest|versions?|releases?|breaking|features?|commits?|happened|geändert|neu\w*|"
        r"änderungen|neuerungen|(?:ge)?fix\w*|behoben|verbessert|entfernt|corrig\w+|arregl\w+|sich|gibt|neuf|"
        r"letzte\w*|zuletzt|changé|dernière|nouveautés?|récemment|cambi\w+|novedades|"
        r"última|versión|recientemente|hinzugefügt|hinzugekommen|days?|weeks?|months?)\b",
    ),
    _row(
        "security",
        r"\b(?:report|disclos|melde|signal|report|inform|contact)\w*\b.*\b(?:security|vulnerab|"
        r"sicherheit|schwachstelle|faille|vulnér|sécurité|vulnerabil|seguridad)\w*"
        r"|\b(?:security|vulnerabilit)\w*\b.*\breport\w*|\bsecurity policy\b"
        r"|(?:漏洞|安全).*(?:报告|上报)|(?:报告|上报).*(?:漏洞|安全)|脆弱性.*報告",
        r"\b(?:report|disclos|melde|signal|inform|contact|securit|vulnerab|sicherheit|schwachstelle|"
        r"faille|vulnér|sécurité|seguridad|polic|issue|bug|hole|problem|found)\w*",
    ),
    _row(
        "support",
        r"\b(?:get|find|ask|need|seek|receive|offer|where)\w*\b.{0,20}\b(?:help|support|questions?)\b"
        r"|\b(?:ask|post|raise) (?:a |my |for )?(?:questions?|help)\b"
        r"|\b(?:mailing list|chat room|forum|community|discord|slack|irc)\b|\bcontact\b"
        r"|\b(?:report|file|open|submit) (?:a |an )?(?:bug|issue)s?\b"
        r"|\bhilfe\b|\bfragen stellen\b|\bobtenir de l'aide\b|\bposer (?:une|des) questions?\b"
        r"|\bayuda\b|\bpreguntas\b|求助|寻求帮助|提问|質問|サポート",
        r"\b(?:get\w*|find\w*|ask\w*|need\w*|seek|receive|offer\w*|help|support|questions?|post|raise|"
        r"mailing|list|chat|room|forum|community|discord|slack|irc|contact\w*|report\w*|file|open|submit|"
        r"bugs?|issues?|problems?|hilfe|fragen|stellen|bekomme\w*|finde\w*|obtenir|aide|poser|ayuda|"
        r"pido|pedir|obtener|preguntas|hacer|authors?|maintainers?|team|people|reach)\b",
    ),
    _row(
        "licence",
        r"\blicen[cs]\w*|\blizenz\w*|\blicencia\w*|许可|ライセンス|\bcommercial(?:ly)?\b"
        r"|\bopen[- ]source\b",
        r"\b(?:licen[cs]\w*|lizenz\w*|licencia\w*|released?|published?|publi\w+|distribut\w+|"
        r"veröffentlich\w*|steht|allowed|commercial\w*|open|closed|terms|copyright|free|kind|type)\b",
    ),
    _row(
        "maintainers",
        r"\bmaintain\w*|\bwho (?:wrote|made|created?|develops?|owns?|is behind|runs?|built"
        r"|leads?|is in charge|is responsible|takes care|looks after|started|founded)\b"
        r"|\bwho(?:'s| is| are) (?:the )?(?:\w+ )?"
        r"(?:owner|lead(?:er)?|boss|creator|dev(?:eloper)?)s?\b"
        r"|\bwer (?:pflegt|betreut|entwickelt|hat|steckt|ist .{0,40}(?:verantwortlich|zuständig))\b"
        r"|\bauthors?\b|\bautor\w*"
        r"|\bmainteneurs?\b"
        r"|\bauteurs?\b|\bqui (?:maintient|développe|a (?:écrit|créé))|\bquién(?:es)? "
        r"(?:mantiene|desarrolla|creó|escribió)\w*"
        r"|\bmantien\w+|维护|作者|メンテナ|誰が",
        r"\b(?:maintain\w*|wrote|made|created?|creators?|develop\w*|devs?|own\w*|behind|authors?|runs?|built|"
        r"lead\w*|boss|charge|responsible|care|looks|after|started|founded|verantwortlich|zuständig|"
        r"pflegt|betreut|entwickelt|geschrieben|steckt|dahinter|autor\w*|mainteneurs?|auteurs?|maintient|"
        r"développe|écrit|créé|mantien\w+|desarrolla|creó|escribió|people|person|contact|core|team)\b",
    ),
    _row(
        "contribute",
        r"\bdev(?:elopment)? (?:environment|set ?up)\b|\bcontribut\w*|\bbeitragen\b"
        r"|\bmitmachen\b|\bcontribu\w+|\bcolabor\w+|贡献|貢献|コントリビュ"
        r"|\b(?:open|send|submit|make) (?:a |an )?(?:pull request|patch|pr)\b",
        r"\b(?:dev|development|environment|set|up|setup|contribu\w*|beitrag\w*|mitmachen|colabor\w+|open|send|submit|make|pull|requests?|patch\w*|prs?|guide\w*|get|involved)\b",
    ),
    _row(
        "history",
        r"\bwhy (?:was|were|is|did|does|do)\b.*\b(?:creat|exist|made|start|writ|built|invent"
        r"|born)\w*"
        r"|\bhistory of\b|\bmotivation (?:for|behind|of)\b|\bwarum gibt es\b|\bpourquoi .* "
        r"(?:créé|existe)"
        r"|\bpor qué (?:existe|se creó)|为什么.*(?:创建|存在)|なぜ.*作",
        r"\b(?:why|creat\w*|exist\w*|made|start\w*|writ\w*|built|invent\w*|born|history|motivation|"
        r"behind|reasons?|créé\w*|existe|creó|gibt)\b",
    ),
    _row(
        "test",
        r"\b(?:run|start|execute|launch|how|running)\b.*\btests?\b|\btest suite\b|\bhow is "
        r"it tested\b"
        r"|\b(?:wie|führe|starte)\b.*\btests?\b|\b(?:comment|lancer|exécuter)\b.*\btests?\b"
        r"|\b(?:cómo|ejecut\w+|corr\w+)\b.*\b(?:pruebas|tests?)\b|(?:运行|跑|执行).*测试"
        r"|テスト.*実行|\bwhere are the tests\b",
        r"\b(?:runs?|running|start|execute|launch|tests?|tested|testing|suite|unit|integration|automated|führe|aus|"
        r"starte|ausführen|lanc\w+|exécut\w+|unitaires|ejecut\w+|corr\w+|pruebas|unitarias)\b",
    ),
    _row(
        "requirements",
        r"\b(?:which|what|minimum|supported|oldest|lowest)\b.*\bversions?\b.*\b(?:need|require|support|work|compatib|necessary)\w*"
        r"|\b(?:minimum|supported|oldest|lowest|required) (?:\w+ )?versions?\b"
        r"|\bprerequisites?\b|\brequirements?\b|\bdependenc(?:y|ies)\b"
        r"|\bwhat (?:does \w+ (?:\w+ )?)(?:require|depend on|need)\b|\bdepends? on\b"
        r"|\bvoraussetzungen\b|\babhängigkeiten\b|\bwelche\b.*\bversion\w*\b.*\b(?:brauch|benötig|unterstütz|nötig)\w*"
        r"|\bdépendances?\b|\bprérequis\b|\bquelles?\b.*\bversions?\b.*\b(?:faut|requis|support|nécess)\w*"
        r"|\bdependencias\b|\brequisitos\b|\bqué\b.*\bversi\w+\b.*\b(?:necesit|soport|requier)\w*"
        r"|依赖|要求|(?:支持|需要).*版本|版本.*(?:支持|需要)|依存|要件|必要.*バージョン|バージョン.*(?:必要|対応)",
        r"\b(?:versions?|need\w*|requir\w*|support\w*|work\w*|compatib\w*|minimum|minimal|oldest|"
        r"lowest|prerequisites?|dependenc\w*|depends?|necessary|runtime|system|mandatory|external|third|party|voraussetzungen|abhängigkeiten|"
        r"brauch\w*|benötig\w*|unterstütz\w*|nötig|dépendances?|prérequis|requis\w*|faut|nécess\w*|"
        r"obligatoires?|dependencias|obligatorias|requisitos|necesit\w*|soport\w*|requier\w*|versi\w+)\b",
        takes_words=True,
    ),
    _row(
        "version",
        r"\b(?:what|which) (?:is the )?(?:current |latest |newest )?version\b|\bwelche version\b"
        r"|\bquelle (?:est la )?version\b|\bqué versión\b|什么版本|版本号|バージョンは",
        r"\b(?:versions?|versión|current\w*|latest|newest|number|aktuell\w*|actuelle|actual)\b",
    ),
    _row(
        "install",
        r"\binstall\w*|\bset(?:ting)? (?:it |this )?up\b|\bsetup\b|\binstalier\w*"
        r"|\beinricht\w*|\binstal\w+|安装|インストール"
        r"|\badd (?:it|this) to (?:my|a) (?:project|app)",
        r"\b(?:install\w*|set|setup|setting|up|instal\w+|einricht\w*|add|pip|npm|cargo|get|download)\b",
    ),
    _row(
        "build",
        r"\b(?:build|compile|building|compiling)\b(?! on\b| in\b)|\b(?:baue|bauen"
        r"|kompilier\w*)\b|\b(?:compiler|construire)\b"
        r"|\b(?:compil\w+|constru\w+)\b|构建|编译|ビルド|コンパイル",
        r"\b(?:build\w*|built|compil\w*|baue\w*|kompilier\w*|construire|constru\w+|from|source)\b",
    ),
    _row(
        "layout",
        r"\blaid out\b|\blayout\b|\b(?:structured?|organi[sz]ed|organi[sz]ation|structure)\b"
        r"|\b(?:top[- ]level |main )?(?:folders|directories)\b"
        r"|\baufgebaut\b|\bstruktur\w*|\bgegliedert\b|\bstructur\w+|\borganis\w+|\bestructur\w+|\borganiz\w+|结构|目录|構成|構造",
        r"\b(?:laid|out|layout|structur\w*|organi[sz]\w*|folders?|director\w+|top|level|files?|what|"
        r"aufgebaut|struktur\w*|gegliedert|estructur\w+|tree|contain\w*|inside|hold\w*)\b",
    ),
    _row(
        "run",
        r"\b(?:run|start|launch|execute|use)\b|\bget(?:ting)? started\b|\bstart\w*"
        r"|\b(?:create|make|scaffold|bootstrap|generate|initiali[sz]e|init|begin)\w*\b"
        r"(?= (?:a |an |my )?(?:new |first |own )*(?:project|app|application|site|website)\b)"
        r"|\bausführ\w*|\bbenutz\w*|\bverwend\w*"
        r"|\b(?:lanc|démarr|exécut|utilis)\w+|\b(?:ejecut|inici|arranc|us)(?:o|a|ar|arlo)\b|运行|启动|使用|実行|起動|使い方",
        r"\b(?:create|make|scaffold|bootstrap|generate|initiali[sz]e|init|begin|site|website"
        r"|runs?|running|start\w*|launch|execute|use|using|get|getting|ausführ\w*|benutz\w*|verwend\w*|"
        r"(?:lanc|démarr|exécut|utilis)\w+|(?:ejecut|inici|arranc|us)(?:o|a|ar|arlo))\b",
    ),
    _row(
        "about",
        r"^\W*(?:so,? )?what(?:'?s| is| are| does)\b|\btell me about\b|\b(?:purpose|point"
        r"|goal|idea) (?:of|behind)\b|\bwhat .* for\b|\boverview\b|\bdescribe\b|\bexplain\b"
        r"|\bsummar\w+"
        r"|^\W*was (?:ist|macht|tut)\b|\bworum geht\b|\bwozu dient\b|\bqu'est-ce que?\b"
        r"|\bc'est quoi\b|\bà quoi sert\b|\bque fait\b"
        r"|\bqué (?:es|hace)\b|\bpara qué sirve\b|是什么|做什么|干什么|何ですか|とは|何をする",
        r"\b(?:purpose|point|goal|idea|overview|describe|explain|summar\w+|about|for|macht|tut|geht|"
        r"dient|quoi|sert|fait|hace|sirve)\b",
    ),
)
# A message in quotes: at least three words, or two with a sign between them.
_MESSAGE: Final = lazy_pattern(
    r"(?P<mark>[\"'`“‘«「])(?P<text>(?:[^\"`”»」\s]+\s+){2,20}[^\"`”»」\s]+?)[\"'`”’»」](?!\w)"
)
_ASKS_WHERE: Final = lazy_pattern(
    r"\b(?:where|which (?:file|function|line|place)|who (?:raises|throws|prints|logs)"
    r"|what (?:raises|throws|causes|prints|logs|triggers)|come from|wo|woher|où|dónde)\b"
    r"|哪里|在哪|どこ",
    re.I,
)
# `-L`, `--rate-limit`: what a command line calls its options.
_OPTION: Final = lazy_pattern(r"(?<![\w-])(?:-[A-Za-z0-9]|--?[A-Za-z][\w-]+)(?![\w-])")
_ASKS_FOR_THE_MEANING: Final = lazy_pattern(
    r"\b(?:what|which|explain|describe|meaning|means?|was|wozu|welche\w*|que|quoi|qué)\b"
    r"|什么|作用|何|意味",
    re.I,
)
_ABOUT_OPTIONS: Final = frozenset(
    ["option", "options", "flag", "flags", "switch", "argument", "parameter", "mean"]
)
_AND: Final = lazy_pattern(r"\s(?:and|und|et|y|as well as|sowie)\s|[，、；;]\s*|和|以及", re.I)
_TOKEN: Final = lazy_pattern(r"[^\W_][\w.+#-]*")
# Particles and ways to call the project in languages without spaces. What is left is a word.
_CJK_FILLERS: Final = lazy_pattern(
    r"如何|怎么样?|怎样|什么|这个?|该|此|项目|软件|工具|程序|应用|框架|仓库|代码|哪[些个]?|请|可以|"
    r"最新|一下|谁|由|的|是|在|我|吗|呢|有|库|包|被|能|做|了|里|中|它|个|版|"
    r"どのように|どうやって|どう|すれば|いいですか|よいですか|ですか|ますか|ください|教えて|この|その|"
    r"これ|それ|プロジェクト|ライブラリ|パッケージ|ツール|ソフトウェア|方法|だれ|誰|どの|どんな|されて|"
    r"运行|启动|执行|跑|使用|测试|安装|构建|编译|许可证?|许可|维护者?|作者|结构|目录|依赖|要求|支持|需要|版本|"
    r"更新|变化|变更|新增|贡献|漏洞|安全|报告|上报|実行|起動|使い方|テスト|インストール|ビルド|コンパイル|"
    r"ライセンス|メンテナ|構成|構造|依存関係|依存|要件|必要|対応|バージョン|変更点?|新機能|貢献|脆弱性|報告|"
    r"単体|单元|[\u3041-\u3096。、？！]"
)


def project_questions(question: str) -> list[ProjectQuestion]:
    """What it asks about the project: "who wrote it and which licence has it?" asks two things.

    Empty if a part of it is about something in the project.
    """
    parts = [project_question(part) for part in _AND.split(question, maxsplit=2)]
    found = [part for part in parts if part is not None]
    if len(parts) == len({part.topic for part in found}):
        return found
    whole = project_question(question)
    return [whole] if whole else []


def project_question(question: str) -> ProjectQuestion | None:
    """None if the question is about something in the project, not about the project."""
    said = " ".join(question[:600].split())
    if not said or _FUTURE.search(said):
        return None
    stop = STOP_WORDS | stop_words_of(language_of(said)) | _FILLERS
    if (quoted := _MESSAGE.search(said)) and _ASKS_WHERE.search(said):
        return ProjectQuestion(topic="text", words=[quoted["text"]])
    if options := _OPTION.findall(said):
        # With more words it asks for something else: "what does -x do with errors of commands?"
        others = _other_words(_OPTION.sub(" ", said), stop | _ABOUT_OPTIONS)
        is_asked = _ASKS_FOR_THE_MEANING.search(said) and len(others) <= 1
        return ProjectQuestion(topic="option", words=options[:2]) if is_asked else None
    for row in _ROWS:
        if row.asked.search(said) is None:
            continue
        found = VERSION.search(said)
        is_asked = row.topic == "changes" and not row.takes_words
        version = found["number"] if found and is_asked else ""
        rest = said.replace(found[0], " ") if found and version else said
        words = _other_words(row.topic_words.sub(" ", rest), stop)
        if not words:
            return ProjectQuestion(topic=row.topic, version=version)
        if row.takes_words:
            return ProjectQuestion(topic=row.topic, words=words) if len(words) <= 3 else None
        if len(words) == 1:
            return ProjectQuestion(
                topic=row.topic, version=version, words=words, may_be_a_name=True
            )
    return None


def _other_words(text: str, stop: frozenset[str]) -> list[str]:
    if CJK.search(text):
        text = _CJK_FILLERS.sub(" ", text)
    tokens = (
        token.strip(".-'") for token in _TOKEN.findall(text.replace("'", " ").replace("’", " "))
    )
    return [token for token in tokens if len(token) > 1 and token.lower() not in stop]
