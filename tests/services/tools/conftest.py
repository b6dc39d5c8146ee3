from datetime import UTC, datetime

import pytest

from oracle.services.tools.project_tools import project_tools
from oracle.services.web.searching import WebSearchAccess

FILES = {
    "README.md": "# Shop\n\nA shop that sells tea.\n",
    "src/shop/basket.py": (
        "class Basket:\n"
        '    """What a customer is about to buy."""\n'
        "\n"
        "    def add_item(self, item):\n"
        "        self.items.append(item)\n"
        "\n"
        "    def total_price(self):\n"
        "        return sum(item.price for item in self.items)\n"
        "\n"
        "\n"
        "def empty_basket():\n"
        "    return Basket()\n"
    ),
    "src/shop/checkout.py": "def check_out(basket):\n    return basket.total_price()\n",
    "src/shop/rates.ts": (
        "export function taxRate(country: string) {\n  if (country) {\n    return 0.2;\n  }\n"
        "  return 0;\n}\n"
    ),
    "docs/storage.md": "# Where things are kept\n\nOrders are kept in SQLite.\n",
    "adr/0001-tea-only.txt": "We sell tea and nothing else.\n",
    "notes/supplier.md": "---\ntitle: The supplier\n---\n\nTea comes on Tuesdays.\n",
    ".gitignore": "build/\n*.log\n!keep.log\n",
    "build/out.py": "class Basket: ...\n",
    "noise.log": "Basket\n",
    "keep.log": "kept basket\n",
    ".env": "SHOP_PASSWORD=basket-secret\n",
    "tls/server.key": "basket key\n",
    ".oracle/oracle.txt": "basket\n",
    "threads/decisions.md": (
        "# decisions\n\n## 2026-01-08T12:00:00Z\n\nWe keep SQLite.\n\n"
        "## 2026-01-09T12:00:00Z\n\nWe sell green tea too.\n"
    ),
}


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "shop"
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def at_noon():
    return datetime(2026, 2, 1, 12, tzinfo=UTC)


@pytest.fixture
def tools(root):
    return project_tools(root, now=at_noon, web=WebSearchAccess(provider="searxng"))


@pytest.fixture
def dry_tools(root):
    return project_tools(root, dry_run=True, now=at_noon)
