"""Options of a command line are listed where code declares them and where a text lists them."""

from oracle.services.overview.members import wanted
from oracle.services.overview.option_lists import command_options
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
