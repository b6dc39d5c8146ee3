"""What each grammar finds, and whether our reading of Python agrees with its grammar."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.search.grammar_outline import _is_too_deep, grammar_outline
from oracle.services.search.languages import PARSED, language_of, outline_query
from oracle.services.search.mentions import reference_lines
from oracle.services.search.outline import outline_of, outline_of_part
from oracle.services.search.python_outline import python_outline
from tests.default_run import thinned
from tests.tables import each_row

SAMPLES = {
    "javascript": (
        "class Shelf {\n  put(book) { store(book); }\n}\nconst open = () => 1;\n"
        "function shut() {}\n",
        "Shelf put open shut",
    ),
    "typescript": (
        "interface Shelf { size: number }\ntype Name = string;\n"
        "export class Box { put(): void {} }\n",
        "Shelf Name Box put",
    ),
    "tsx": ("export const Page = () => <div>hello</div>;\nenum Kind { A }\n", "Page Kind A"),
    "go": (
        "package a\n\ntype Shelf struct{}\n\nfunc (s *Shelf) Put(book int) {}\n\nfunc Open() {}\n",
        "Shelf Put Open",
    ),
    "rust": (
        "struct Shelf;\nimpl Shelf {\n  fn put(&self) {}\n}\ntrait Open { fn go(&self); }\n",
        "Shelf put Open go",
    ),
    "java": (
        "public class Shelf {\n  Shelf() {}\n  void put(int book) {}\n  enum Kind { A }\n}\n",
        "Shelf put Kind A",
    ),
    "c": (
        "#define MOST 3\nstruct shelf { int n; };\nstatic int *put_book(int book) { return 0; }\n",
        "MOST shelf put_book",
    ),
    "cpp": (
        "namespace a {\nclass Shelf { void put(); };\nvoid Shelf::put() {}\n}\n",
        "a Shelf put",
    ),
    "ruby": (
        "module A\n  class Shelf\n    def put(book)\n    end\n  end\nend\n",
        "A Shelf put",
    ),
    "php": (
        "<?php\nclass Shelf {\n  function put($book) {}\n}\nfunction go() {}\n",
        "Shelf put go",
    ),
    "c_sharp": (
        "class Shelf {\n  void Put(int book) {}\n  int Size { get; }\n}\n",
        "Shelf Put Size",
    ),
    "bash": ("MOST=3\nput_book() {\n  echo hello\n}\n", "MOST put_book"),
    "lua": (
        "local function put(book)\nend\nfunction shelf.open()\nend\nmost = 3\n",
        "put open most",
    ),
    "python": ("class Shelf:\n    def put(self): ...\n\nMOST = 3\n", "Shelf put MOST"),
}
ENDINGS = {
    "javascript": ".js",
    "typescript": ".ts",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "c": ".c",
    "cpp": ".cpp",
    "ruby": ".rb",
    "lua": ".lua",
}


@pytest.mark.extra
@each_row("language", SAMPLES)
def test_every_grammar_finds_what_a_file_defines(language):
    source, names = SAMPLES[language]
    assert {symbol.name for symbol in grammar_outline(source.encode(), language).symbols} == set(
        names.split()
    )


def test_every_language_has_a_sample_and_a_query_that_its_grammar_understands():
    assert set(PARSED) == set(SAMPLES)
    for language in PARSED:
        assert outline_query(language).pattern_count > 2


def test_definitions_know_their_lines_and_what_is_around_them():
    symbols = grammar_outline(SAMPLES["javascript"][0].encode(), "javascript").symbols
    put = next(symbol for symbol in symbols if symbol.name == "put")
    assert (put.start, put.end, put.parent) == (2, 2, "Shelf")


def test_a_use_is_neither_a_definition_nor_a_remark():
    source = b"def put(): ...\n# put\nput()\nx = shelf.put\n'put'\n"
    assert reference_lines(source, "python", "put") == [3, 4]
    assert reference_lines(b"// put\nput(1);\nfunction put() {}\n", "javascript", "put") == [2]


def test_what_takes_too_long_is_not_parsed():
    assert grammar_outline(b"class A {}\n" * 5_000, "java", seconds=0) is None
    assert grammar_outline(b" " * 500_000, "java") is None


@each_row(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("A.TSX", "tsx"),
        ("x/Rakefile", "ruby"),
        ("n.md", "markdown"),
        ("LICENSE", None),
    ],
)
def test_the_language_follows_from_the_name(path, language):
    assert language_of(path) == language


def blocks(outline):
    return {
        (each.name, each.kind, each.start, each.end)
        for each in outline.symbols
        if each.kind != "constant"
    }


@given(st.data())
def test_every_definition_of_some_lines_of_a_file_is_in_these_lines(data):
    """A grammar that meets the end too early makes up names, also in lines that are not there."""
    language = data.draw(st.sampled_from(sorted(ENDINGS)))
    text = SAMPLES[language][0]
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    for symbol in outline_of_part(part, f"a{ENDINGS[language]}").symbols:
        assert symbol.name
        assert 1 <= symbol.start <= symbol.end <= part.count("\n") + 1


def test_a_cut_enum_of_rust_has_no_nameless_definition_behind_its_end():
    part = 'enum Problem {\n    /// No file.\n    #[error(\n        "cannot be read"'
    assert {each.name for each in outline_of_part(part, "a.rs").symbols} <= {"Problem"}


@pytest.mark.extra
@pytest.mark.parametrize(
    "package", thinned(["rich", "hypothesis", "openai", "_pytest", "pydantic"], 2)
)
def test_our_reading_of_python_agrees_with_its_grammar(package):
    """Where they differ, the file has something that indentation and lines do not show."""
    read = same = 0
    for file in sorted(Path(find_spec(package).origin).parent.rglob("*.py"))[::4]:
        source = file.read_bytes()
        ours, theirs = (
            blocks(python_outline(source.decode())),
            blocks(grammar_outline(source, "python")),
        )
        read += len(theirs)
        same += len(ours & theirs)
    assert read > 100
    assert same / read > 0.995


def test_strings_that_look_like_code_define_nothing():
    source = (
        'TEXT = """\ndef fake(): ...\n"""\n\n'
        'def real():\n    """class Not: ..."""\n    # def no():\n'
    )
    assert {each.name for each in python_outline(source).symbols} == {"TEXT", "real"}


def test_decorators_and_brackets_belong_to_a_definition():
    source = "@one\n@two(\n  1,\n)\ndef f(\n    a,\n):\n    return a\n\nx = 1\n"
    (function,) = [each for each in python_outline(source).symbols if each.kind == "function"]
    assert (function.start, function.end) == (1, 8)


@each_row("source", ["", '"""', "'''\n" * 99, "def", "class \n", "\\", "(" * 9999, "\x00"])
def test_broken_python_is_read_as_far_as_it_goes(source):
    assert python_outline(source).symbols is not None


@given(st.binary(max_size=80), st.integers(min_value=495, max_value=505))
def test_depth_is_counted_by_brackets_of_any_kind(inside, opened):
    source = b"(" * opened + inside.translate(bytes(b"()[]{}a "[i % 8] for i in range(256)))
    depth = deepest = 0
    for byte in source:
        depth = max(0, depth + (byte in b"([{") - (byte in b")]}"))
        deepest = max(deepest, depth)
    assert _is_too_deep(source) == (deepest > 500)


def test_a_few_levels_closed_and_opened_many_times_are_not_deep():
    assert not _is_too_deep(b"f(a[{b}])\n" * 5_000)
    assert _is_too_deep(b"(" * 250 + b"x()" * 9 + b"[" * 251)


def test_definitions_of_one_line_keep_its_order():
    names = [f"name{number}" for number in range(30)]
    source = f"package p\n\nvar {', '.join(names)} int\n"
    outline = outline_of(source, "p.go")
    assert [symbol.name for symbol in outline.symbols] == names


def test_lines_are_counted_where_letters_take_several_bytes():
    source = "// größe\n// zwei\npackage p\n\nfunc größer() {\n}\n"
    outline = outline_of(source, "p.go")
    assert [(each.name, each.start, each.end) for each in outline.symbols] == [("größer", 5, 6)]
    assert outline.remarks == [(1, 1), (2, 2)]
