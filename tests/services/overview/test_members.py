"""All things of a kind are found by what holds them."""

from oracle.services.overview.families import families
from oracle.services.overview.members import (
    declared,
    documented,
    holders,
    modules,
    registered,
    wanted,
)
from tests.services.overview.test_finding import Files

FILES = Files(
    {
        "app/status.py": (
            'class OrderStatus(Enum):\n    NEW = "new"\n    PAID = "paid"\n    SENT = "sent"\n\n\n'
            "SUPPORTED_HOOKS = [\n    'on_start',\n    'on_stop',\n]\n"
        ),
        "app/cli.py": (
            "@main.command()\n@option('--all')\ndef empty(all):\n    pass\n\n"
            '@main.command("info")\ndef show():\n    pass\n'
        ),
        "app/signals.py": "started = space.signal('started')\nstopped = space.signal('stopped')\n",
        "app/workers.py": (
            "class BaseWorker:\n    pass\n\n\nclass FastWorker(BaseWorker):\n    def run(self):\n"
            "        pass\n\n    def stop(self):\n        pass\n\n\nclass "
            "Lazy(BaseWorker):\n    pass\n"
        ),
        "app/types.py": (
            "class ParamType(Generic[T]):\n    pass\n\n\nclass _Number(ParamType[int], abc=True):\n"
            "    pass\n\n\nclass IntRange(_Number):\n    pass\n\n\nclass Parameter:\n    pass\n\n\n"
            "class Option(Parameter):\n    pass\n"
        ),
        "app/themes/plain/page.html": "<html>\n",
        "app/themes/dark/page.html": "<html>\n",
        "app/themes/__init__.py": "",
        "pyproject.toml": (
            '[project]\nname = "app"\n\n[project.entry-points."app.skins"]\nred = "app.red"\n'
            'blue = "app.blue"\n\n[tool.x]\na = 1\n'
        ),
        "docs/levels.md": "# Log levels\n\n- debug\n- info\n- error\n",
    }
)
NAMES = {
    "app/status.py": ["OrderStatus", "SUPPORTED_HOOKS"],
    "app/cli.py": ["empty", "show"],
    "app/signals.py": ["started", "stopped"],
    "app/workers.py": ["BaseWorker", "FastWorker", "Lazy"],
    "app/types.py": ["ParamType", "_Number", "IntRange", "Parameter", "Option"],
}


def quoted(groups):
    return [[FILES.quoted(place) for place in group.places] for group in groups]


def test_an_enum_and_a_constant_hold_their_members():
    (status,) = quoted(holders(FILES, NAMES, wanted("every order status")))
    assert status[0].endswith('SENT = "sent"')
    (hooks,) = quoted(holders(FILES, NAMES, wanted("hooks")))
    assert "'on_stop'" in hooks[0]


def test_a_family_has_the_classes_with_the_name_and_their_heirs():
    (found,) = quoted(families(FILES, NAMES, wanted("worker classes")))
    assert found == [
        "class BaseWorker:",
        "class FastWorker(BaseWorker):",
        "class Lazy(BaseWorker):",
    ]


def test_heirs_of_heirs_belong_to_a_family_and_the_word_for_the_kind_may_be_part_of_a_name():
    (found,) = quoted(families(FILES, NAMES, wanted("parameter types")))
    assert found == ["class ParamType(Generic[T]):", "class IntRange(_Number):"]


def test_a_folder_holds_folders_too():
    (group,) = modules(FILES, {}, wanted("themes"))
    assert [place.path.split("/")[2] for place in group.places] == ["dark", "plain"]


def test_a_table_of_a_manifest_declares_its_entries():
    (found,) = quoted(declared(FILES, wanted("skins")))
    assert found[0].endswith('blue = "app.blue"')
    assert not [*declared(FILES, wanted("x"))]


def test_functions_under_a_decorator_are_registered():
    (found,) = quoted(registered(FILES, {"app/cli.py": [1, 6]}, "command"))
    assert [text.split("\n")[-1] for text in found] == ["def empty(all):", "def show():"]


def test_what_a_call_makes_is_registered():
    (found,) = quoted(registered(FILES, {"app/signals.py": [1, 2]}, "signal"))
    assert found[0].startswith("started = ")


def test_a_module_with_the_name_holds_what_it_defines():
    (group,) = modules(FILES, NAMES, wanted("signals"))
    assert len(group.places) == 2


def test_a_section_of_a_document_lists_items():
    (found,) = quoted(documented(FILES, ["docs/levels.md"], wanted("log levels")))
    assert found == ["- debug", "- info", "- error"]


def test_a_module_whose_names_repeat_its_own_is_the_list_of_them():
    files = Files({"app/wait.py": "class wait_one:\n\nclass wait_two:\n\nclass wait_all:\n"})
    names = {"app/wait.py": ["wait_one", "wait_two", "wait_all"]}
    (group,) = modules(files, names, wanted("wait"))
    assert group.worth > next(modules(FILES, NAMES, wanted("signals"))).worth


def test_a_file_of_a_folder_is_shown_by_its_class_or_by_what_it_says_first():
    files = Files(
        {
            "app/doors/__init__.py": "",
            "app/doors/front.js": "'use strict';\n\nmodule.exports = class Front extends Door {\n",
            "app/doors/back.js": "/**\n * (C) 2010\n * A door to the yard.\n */\n",
        }
    )
    (group,) = modules(files, {}, wanted("doors"))
    assert [files.quoted(place) for place in group.places] == [
        " * A door to the yard.",
        "module.exports = class Front extends Door {",
    ]


def test_nothing_is_found_for_words_that_only_ask():
    assert wanted("all the available").words == []
