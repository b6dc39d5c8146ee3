"""Options of a command line are listed where code declares them and where a text lists them."""

from oracle.services.overview.members import wanted
from oracle.services.overview.option_lists import command_options, environment_variables
from tests.services.overview.test_finding import Files

FILES = Files(
    {
        "app/cli.py": 'add("x")\nparser.add_argument("--all")\nparser.add_argument(\n    "-v")\n'
        'parser.add_argument("-q", "--quiet")\n',
        "docs/options.txt": "Options\n\n  --all .... take all\n  -v, --verbose  say more\n\n"
        "  -q  say less\n",
        "docs/page.md": "- one\n- two\n- three words here\n",
    }
)


def options(of):
    groups = command_options(
        FILES, ["app/cli.py"], ["docs/options.txt", "docs/page.md"], wanted(of)
    )
    return {group.what: [FILES.quoted(place) for place in group.places] for group in groups}


def test_declared_and_listed_options_are_found():
    assert options("command line flags") == {
        "options that `app/cli.py` declares": [
            'parser.add_argument("--all")',
            '    "-v")',
            'parser.add_argument("-q", "--quiet")',
        ],
        "options that `docs/options.txt` lists": [
            "  --all .... take all",
            "  -v, --verbose  say more",
            "  -q  say less",
        ],
    }


def test_nothing_is_an_option_for_another_word():
    assert options("signals") == {}


def test_variables_of_the_environment_are_listed_where_code_reads_them_each_once():
    texts = {
        "a.go": 'var pager = os.Getenv("PAGER")\nx := os.Getenv("PAGER")\n',
        "b.py": 'import os\nHOME = os.environ.get("HOME", "")\nif os.environ["CI"]:\n',
        "c.js": "const env = process.env.NODE_ENV\nconst other = env.PAGER\n",
        "d.rs": 'let shell = std::env::var("SHELL");\nlet path = dir.join("PATH");\n',
    }
    files = Files(texts)
    found = list(environment_variables(files, [*texts], [], wanted("environment variables")))
    assert [files.quoted(place) for group in found for place in group.places] == [
        'var pager = os.Getenv("PAGER")',
        'HOME = os.environ.get("HOME", "")',
        'if os.environ["CI"]:',
        "const env = process.env.NODE_ENV",
        'let shell = std::env::var("SHELL");',
    ]
    assert not list(environment_variables(files, [*texts], [], wanted("settings")))


def test_variables_that_only_documents_name_are_listed_too():
    texts = {
        "a.go": 'var pager = os.Getenv("PAGER")\n',
        "README.md": "# Tool\n\nThe environment variable `LS_COLORS` sets colours.\n\n"
        "A `TODO` is no variable.\n\n## Environment variables\n\n- `PAGER`: shows it\n"
        "- TOOL_HOME: where\n",
        "tool.1": ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nDisables it.\n.SH BUGS\n.B NONE\n",
    }
    files = Files(texts)
    asked = wanted("environment variables")
    _, named = environment_variables(files, ["a.go"], ["README.md", "tool.1"], asked)
    assert [files.quoted(place) for place in named.places] == [
        "The environment variable `LS_COLORS` sets colours.",
        "- TOOL_HOME: where",
        ".B NO_COLOR",
    ]
