"""search_code, find_definition and get_repo_map find what is there, and say where."""

import re

import pytest

from oracle.services.search.records import Hit
from oracle.services.tools.definitions import definitions_in
from oracle.services.tools.project_tools import project_tools
from tests.tables import each_row
from tests.timing import within


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("total_price", "src/shop/basket.py"),
        ("taxRate", "src/shop/rates.ts"),
        ("tax rates", "src/shop/rates.ts"),
        ("checkout", "src/shop/checkout.py"),
    ],
)
async def test_the_best_place_comes_first(tools, query, path):
    result = await tools.run("search_code", {"query": query})
    first = result["sources"][0]
    assert first["path"] == path
    assert 0 < first["score"] <= 1
    assert first["where"] == f"{path}:{first['start']}-{first['end']}"
    assert "empty" not in result


async def test_a_question_in_plain_words_finds_what_defines_it_and_what_uses_it(tools):
    question = "how do we compute the total price of a basket?"
    found = (await tools.run("search_code", {"query": question}))["sources"][:2]
    assert {each["path"] for each in found} == {"src/shop/basket.py", "src/shop/checkout.py"}


async def test_what_is_ignored_secret_or_prose_is_not_searched(tools):
    result = await tools.run("search_code", {"query": "basket", "limit": 30})
    paths = {source["path"] for source in result["sources"]}
    assert paths == {"src/shop/basket.py", "src/shop/checkout.py"}


async def test_a_search_can_stay_in_a_folder(tools):
    result = await tools.run("search_code", {"query": "basket", "path": "src/shop/checkout.py"})
    assert {source["path"] for source in result["sources"]} == {"src/shop/checkout.py"}


@pytest.mark.parametrize("tool", ["search_code", "search_vault", "find_definition"])
@pytest.mark.parametrize("path", ["nowhere", "../shop", "/", "x" * 400])
async def test_a_place_that_is_not_there_is_said_so(tools, tool, path):
    word = "name" if tool == "find_definition" else "query"
    result = await tools.run(tool, {word: "basket", "path": path})
    assert not result["success"]
    assert re.search("no folder or file|outside the project", result["content"])


@pytest.mark.parametrize("query", ["zeppelin", "the", "???", "\n"])
async def test_a_search_that_finds_nothing_succeeds_and_is_empty(tools, query):
    result = await tools.run("search_code", {"query": query})
    assert (result["success"], result.get("empty"), result["sources"]) == (True, True, [])


async def test_places_are_read_again_before_they_are_quoted(root):
    class Index:
        left_out = ""

        async def search(self, query, kind, k, *, under=""):
            return [
                Hit(path=path, start=1, end=1, score=0.7, text="old", kind="code")
                for path in ("gone.py", ".env", "src/shop/rates.ts")
            ]

    result = await project_tools(root, index=Index()).run("search_code", {"query": "x"})
    assert [source["where"] for source in result["sources"]] == ["src/shop/rates.ts:1"]
    assert result["sources"][0]["text"].startswith("export function taxRate")


@pytest.mark.extra
async def test_a_thousand_files_are_searched_in_half_a_second(tmp_path):
    line = "value = compute(alpha, beta)  # nothing to see here\n"
    for number in range(1000):
        file = tmp_path / f"pkg{number % 20}" / f"module_{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"def function_{number}():\n" + line * 120)
    tools = project_tools(tmp_path)
    # On a busy machine a first look may not get through all files. Files that were written just
    # now are read once more.
    for _ in range(2):
        while "left out" in (await tools.run("search_code", {"query": "warm"}))["content"]:
            pass
    with within(0.5):
        result = await tools.run("search_code", {"query": "where is function_777 defined"})
    assert result["sources"][0]["path"] == "pkg17/module_777.py"


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("Basket", "src/shop/basket.py:1-8"),
        ("total_price", "src/shop/basket.py:7-8"),
        ("Basket.add_item", "src/shop/basket.py:4-5"),
        ("empty_basket()", "src/shop/basket.py:11-12"),
        ("taxRate", "src/shop/rates.ts:1-6"),
    ],
)
async def test_a_definition_is_found_with_its_lines(tools, name, where):
    result = await tools.run("find_definition", {"name": name})
    assert [source["where"] for source in result["sources"]] == [where]


async def test_a_name_that_nobody_defines_is_empty(tools):
    result = await tools.run("find_definition", {"name": "Zeppelin"})
    assert result["empty"]
    assert "or a search" in result["content"]


@each_row(
    ("path", "text", "names"),
    [
        ("a.py", "async def f(): ...\nLIMIT: int = 3\nx == 2\n", ["f", "LIMIT"]),
        ("a.ts", "export default class A {}\nexport const b = 1\n", ["A", "b"]),
        ("a.rs", "pub(crate) async fn f() {}\nstruct S;\n", ["f", "S"]),
        ("a.go", "func (s *Server) Run() {}\ntype T struct{}\n", ["Run", "T"]),
        ("A.java", "public final class A {\n  private enum B {}\n}\n", ["A", "B"]),
        ("a.c", "static int f(int a) {\n  return g(a);\n}\nstruct s {\n", ["f", "s"]),
        ("a.rb", "module M\n  def self.f\n", ["M", "f"]),
        ("a.lua", "local function f() end\nfunction M.g() end\n", ["f", "g"]),
        ("a.sh", "main() {\n  echo hi\n", ["main"]),
        ("a.kt", "data class Tide(\n  val height: Int\n)\nfun high() {}\n", ["Tide", "high"]),
        ("a.ts", "class Shelf {\n  put(book) {\n    if (book) {\n", ["Shelf", "put"]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS t (id int);\n", ["t"]),
        ("a.txt", "def f(): ...\n", []),
    ],
)
def test_definitions_are_read_off_many_languages(path, text, names):
    assert [definition.name for definition in definitions_in(text, path)] == names


async def test_the_map_shows_files_and_what_they_define(tools):
    result = await tools.run("get_repo_map", {})
    assert "src/shop/basket.py: Basket, empty_basket" in result["content"]
    assert ".env" not in result["content"]
    assert "build/out.py" not in result["content"]


@pytest.mark.extra
async def test_the_map_of_a_large_project_still_fits(tmp_path):
    for number in range(2500):
        file = tmp_path / f"area{number % 50}" / f"some_long_name_of_a_module_{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.touch()
    result = await project_tools(tmp_path).run("get_repo_map", {})
    assert "area7/ (50 files)" in result["content"]
    closer = await project_tools(tmp_path).run("get_repo_map", {"path": "area7"})
    assert "some_long_name_of_a_module_7.py" in closer["content"]


@pytest.mark.parametrize(
    "path", ["nothing", "../", "README.md", "build", ".oracle", "alias", "tls", "outside"]
)
async def test_a_map_of_no_folder_or_of_an_ignored_one_is_a_result_that_says_so(root, tools, path):
    (root / "alias").symlink_to("build")
    (root / "outside").symlink_to(root.parent)
    assert not (await tools.run("get_repo_map", {"path": path}))["success"]
