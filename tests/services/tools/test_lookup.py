"""Definitions, uses, symbols and maps: the same with an index on disk and in memory."""

import pytest

from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.project_tools import project_tools


@pytest.fixture(params=[True, False], ids=["on disk", "in memory"])
def either(root, request):
    index = ProjectIndex(root, on_disk=request.param)
    yield project_tools(root, index=index)
    index.close()


async def test_uses_come_after_the_definition(either):
    found = await either.run("find_definition", {"name": "total_price", "references": True})
    where = [source["where"] for source in found["sources"]]
    assert where == ["src/shop/basket.py:7-8", "src/shop/checkout.py:2"]


async def test_the_line_below_a_decorator_is_no_use(root, either):
    (root / "src/shop/vat.py").write_text("@cache\ndef vat_of():\n    return 1\n\n\nvat_of()\n")
    found = await either.run("find_definition", {"name": "vat_of", "references": True})
    assert [source["where"] for source in found["sources"]][1:] == ["src/shop/vat.py:6"]


@pytest.mark.parametrize(
    ("symbol", "where"), [("Basket.add_item", "4-5"), ("empty_basket", "11-12"), ("Basket", "1-8")]
)
async def test_a_symbol_is_read_with_its_lines(either, symbol, where):
    read = await either.run("read_file", {"path": "src/shop/basket.py", "symbol": symbol})
    assert [source["where"] for source in read["sources"]] == [f"src/shop/basket.py:{where}"]


async def test_a_file_that_changed_since_is_read_as_it_stands(root, either):
    path = "src/shop/basket.py"
    await either.run("read_file", {"path": path, "symbol": "empty_basket"})
    (root / path).write_text("# moved\n" * 20 + (root / path).read_text())
    read = await either.run("read_file", {"path": path, "symbol": "empty_basket"})
    assert [source["where"] for source in read["sources"]] == [f"{path}:31-32"]


async def test_an_unknown_symbol_is_told_with_the_nearest_names(either):
    read = await either.run("read_file", {"path": "src/shop/basket.py", "symbol": "Basket.ad_item"})
    assert not read["success"]
    assert "Basket.add_item" in read["content"]


async def test_a_question_ranks_the_map(either):
    drawn = await either.run("get_repo_map", {"question": "tax rate of a country"})
    assert drawn["sources"][0]["text"].startswith("src/shop/rates.ts")
    below = await either.run("get_repo_map", {"question": "tax", "path": "docs"})
    assert "rates.ts" not in below["content"]


async def test_languages_without_a_grammar_have_definitions_and_uses_too(root, either):
    (root / "schema.sql").write_text(
        "CREATE TABLE tea_stock (id int);\n\nSELECT * FROM tea_stock;\n"
    )
    found = await either.run("find_definition", {"name": "tea_stock", "references": True})
    assert [source["where"] for source in found["sources"]] == ["schema.sql:1", "schema.sql:3"]
