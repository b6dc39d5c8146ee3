"""The forms in which each language defines and uses a name."""

import pytest

from oracle.services.search.grammar_outline import grammar_outline
from oracle.services.search.mentions import reference_lines
from oracle.services.search.python_outline import python_outline
from tests.tables import each_row
from tests.timing import within

SCRIPTS = ("javascript", "typescript", "tsx")
SCRIPT_FORMS = [
    ("x.y = function () {};\n", "x.y"),
    ("x.y = () => 1;\n", "x.y"),
    ("x.y = x.z = async function () {};\n", "x.y x.z"),
    ("exports.f = function () {};\n", "f"),
    ("module.exports.f = function f() {};\n", "f"),
    ("exports.MOST = 3;\nexports.again = again;\n", "MOST"),
    ("Foo.prototype.f = function f() {};\n", "Foo.f"),
    ("later = function () {};\n", "later"),
    ("class A {\n  handleClick = () => 1;\n  static MOST = 3;\n  size = 1;\n}\n",
     "A A.handleClick A.MOST"),
    ("const api = { get: () => 1, put: function () {}, size: 3, shut() {} };\n",
     "api api.get api.put shut"),
    ("class A {\n  constructor() {\n    this.go = () => 1;\n  }\n}\n", "A A.constructor A.go"),
    ("module.exports = { get: function () {} };\n", "get"),
    ("export default {\n  get: () => 1,\n  put() {},\n};\n", "get put"),
    ("call({ onClick: () => 1 });\n", ""),
    ("const Card = memo(function Named() {});\n", "Card Named"),
    ("const Card = React.forwardRef(function Card() {});\n", "Card"),
    ("export const Card = memo(forwardRef((props, ref) => 1));\n", "Card"),
    ("const open = () => 1;\n", "open"),
    ("export const open = () => 1;\nexport function shut() {}\n", "open shut"),
    ("var once = require('once').once;\nconst fs = require('fs');\n", ""),
    ("import { once } from 'once';\nimport all from 'all';\n", ""),
    ("var made = make();\nlet later;\n", "made later"),
]  # fmt: skip
FORMS = [
    ("typescript", "export declare function f(a: A): B;\n", "f"),
    ("typescript", "class A {\n  private go = async (): Promise<void> => {};\n}\n", "A A.go"),
    ("typescript", "interface A {\n  go(): void;\n}\nenum K { One, Two = 2 }\n",
     "A A.go K K.One K.Two"),
    ("java", "class A {\n  static final int M = 1, N = 2;\n  private final int x = 1;\n}\n",
     "A A.M A.N"),
    ("java", "interface A {\n  int M = 1;\n}\nenum K { ONE, TWO }\n", "A A.M K K.ONE K.TWO"),
    ("c_sharp", "class A {\n  public const int M = 1;\n  static readonly int N = 2;\n  int x;\n}\n",
     "A A.M A.N"),
    ("cpp", "constexpr int M = 1;\nnamespace n {\ninline constexpr int N{2};\n}\n", "M n n.N"),
    ("cpp", "struct A {\n  virtual void f() = 0;\n  A& g();\n  static constexpr int M = 3;\n};\n",
     "A A.f A.g A.M"),
    ("cpp", "const Name& Widget::name() const { return n; }\nenum class E { One };\n",
     "Widget.name E E.One"),
    ("c", "enum { ONE, TWO };\ntypedef int (*callback)(int);\n", "ONE TWO callback"),
    ("c", "#ifndef A_H\n#define A_H\nchar *f(int);\nstatic const int most = 3;\n#endif\n",
     "A_H f most"),
    ("c", "namespace n {\nclass A : public B {\n public:\n  void f();\n};\n}\n", "n n.A A.f"),
    ("go", "package a\ntype I interface {\n\tPut(x int) error\n\tGet() int\n}\n", "I I.Put I.Get"),
    ("go", "package a\nfunc (s *Shelf[T]) Put() {}\nvar a, b = 1, 2\n", "Shelf.Put a b"),
    ("go", "package a\nconst (\n\tA = iota\n\tB\n)\nvar (\n\tC = 1\n)\n", "A B C"),
    ("rust", "enum Mode { Fast, Slow(i32) }\n", "Mode Mode.Fast Mode.Slow"),
    ("lua", "local f = function() end\nM.g = function() end\nlocal M = {}\n", "f M.g M"),
    ("lua", "local x = require 'x'\nlocal t = {\n  h = function() end,\n}\n", "t h"),
    ("bash", "export A=1\nreadonly B=2\ndeclare -r C=3\nexport D\n", "A B C"),
    ("ruby", "class A\n  attr_accessor :x, :y\n  define_method(:w) { }\nend\n", "A A.x A.y A.w"),
    ("php", "<?php\ndefine('MOST', 1);\nenum E { case One; }\n", "MOST E E.One"),
]  # fmt: skip
USES = [
    ("javascript", "import { Button } from 'b';\nx = <Button a={1} />;\n// Button\n'Button';\n",
     "Button", [1, 2]),
    ("tsx", "x = <Button>Button</Button>;\ny = <p>Button</p>;\nz = `${Button}`;\n",
     "Button", [1, 3]),
    ("typescript", "run(save);\nobject.save = 1;\nfunction save() {}\nlet text = `save`;\n",
     "save", [1, 2]),
    ("cpp", "int f(int);\nint a = ns::inner::f(2);\nauto p = &f;\n/* f */\n", "f", [2, 3]),
    ("cpp", "auto w = Widget::Make(3);\nWidget Widget::Make(int n) { return {}; }\n",
     "Make", [1]),
    ("cpp", "auto w = Widget::Make(3);\nclass Widget {};\n", "Widget", [1]),
    ("c", "#define MOST 3\nint f(void) { return MOST; }\n#define TWICE (2 * MOST)\n",
     "MOST", [2, 3]),
    ("c", "void go(void) {}\nvoid x(void) { run(go); puts(\"go\"); }\n", "go", [2]),
    ("php", "<?php\nclass A extends Base implements Base2 {}\nBase::go();\n$Base = 1;\n",
     "Base", [2, 3]),
    ("php", "<?php\nclass A {\n  use Logs;\n  const MOST = 1;\n}\necho self::MOST;\n", "MOST", [6]),
    ("php", "<?php\nclass A {\n  use Logs;\n}\ntrait Logs {}\n", "Logs", [3]),
    ("go", "package a\nconst Most = 3\nvar x = Most\nvar y = \"Most\"\nvar z = b.Most\n",
     "Most", [3, 5]),
    ("go", "package a\nfunc go1() {}\nfunc x() { run(go1) }\n", "go1", [3]),
    ("rust", "enum Mode { Fast }\nlet x = Mode::Fast;\nassert_eq!(x, Mode::Fast);\n",
     "Fast", [2, 3]),
    ("rust", "struct Engine;\nlet e = Engine::new();\n/// Engine\nlet s = \"Engine\";\n",
     "Engine", [2]),
    ("rust", "const MOST: u8 = 3;\nlet x = MOST;\nrun(MOST);\n", "MOST", [2, 3]),
    ("java", "class A {\n  void one() {}\n  void x() { each(this::one); }\n}\n", "one", [3]),
    ("c_sharp", "class A {\n  void One() {}\n  void X() { list.ForEach(One); }\n}\n", "One", [3]),
    ("ruby", "def check; end\nbefore_action :check\nself.check\n'check'\n", "check", [2, 3]),
    ("bash", "clean() { :; }\ntrap clean EXIT\n# clean\nclean\n", "clean", [2, 4]),
    ("bash", "MOST=3\necho \"$MOST ${MOST}\"\necho 'MOST'\n", "MOST", [2]),
    ("lua", "local f = function() end\nrun(f)\n-- f\n", "f", [2]),
    ("python", "@x\ndef put(): ...\n\n\nrun(put)\ntext = f'put {put}'\n\"put\"\n", "put", [5, 6]),
]  # fmt: skip


def spelt(outline):
    return sorted(f"{each.parent}.{each.name}".removeprefix("None.") for each in outline.symbols)


@each_row("language", SCRIPTS)
@each_row(("source", "names"), SCRIPT_FORMS)
def test_scripts_define_names_in_many_forms_and_each_once(language, source, names):
    assert spelt(grammar_outline(source.encode(), language)) == sorted(names.split())


@each_row(("language", "source", "names"), FORMS)
def test_each_language_defines_names_in_forms_of_its_own(language, source, names):
    assert spelt(grammar_outline(source.encode(), language)) == sorted(names.split())


@each_row(("language", "source", "name", "lines"), USES)
def test_a_use_is_found_in_whatever_form_it_has(language, source, name, lines):
    assert reference_lines(source.encode(), language, name) == lines


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("type X = int\n", {"X": "type"}),
        ("type Pair[A, B] = tuple[A, B]\n", {"Pair": "type"}),
        ("type = 3\nx[0] = 1\ny: int = 3\n", {"type": "constant", "y": "constant"}),
    ],
)
def test_aliases_of_types_in_python_are_definitions(source, kinds):
    for outline in (python_outline(source), grammar_outline(source.encode(), "python")):
        assert {each.name: each.kind for each in outline.symbols} == kinds


def test_only_the_whole_name_counts_as_a_use():
    source = "größe = 1\ngröß = größe\nput_book(output, put2)\n".encode()
    assert reference_lines(source, "python", "größe") == [2]
    assert reference_lines(source, "python", "put") == []


@pytest.mark.parametrize(("language", "piece"), [("javascript", b"a=b="), ("c", b"int a=a;")])
def test_what_is_very_deep_or_long_is_given_up_in_time(language, piece):
    with within(5):
        grammar_outline(piece * (300_000 // len(piece)), language, seconds=0.2)
