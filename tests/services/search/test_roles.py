"""What kind of source a file is, and what it is for, by its path alone."""

from oracle.services.search.records import Role
from oracle.services.search.roles import kind_of, role_of
from tests.tables import each_row


@each_row(
    ("path", "kind"),
    [
        ("README.md", "vault"),
        ("ideas.txt", "vault"),
        ("src/shop/PLAN.RST", "vault"),
        ("threads/tea.md", "threads"),
        ("threads/tea.markdown", "vault"),
        ("threads/old/tea.md", "vault"),
        ("notes/threads/tea.md", "vault"),
        ("docs/conf.py", "code"),
        ("Makefile", "code"),
    ],
)
def test_prose_is_the_vault_in_any_folder_except_for_threads(path, kind):
    assert kind_of(path) == kind


@each_row(
    ("path", "role"),
    [
        ("src/shop/basket.py", Role.SOURCE),
        ("src/shop/testing/fakes.py", Role.SOURCE),
        ("tests/shop/fakes.py", Role.TEST),
        ("src/shop/basket_test.go", Role.TEST),
        ("docs/conf.py", Role.DOCUMENT),
        ("test_plan.md", Role.DOCUMENT),
        ("pyproject.toml", Role.SETTINGS),
        ("Makefile", Role.SETTINGS),
        ("threads/tea.md", Role.THREAD),
        ("vendor/web/client.go", Role.VENDORED),
        ("vendor/web/client_test.go", Role.TEST),
        ("src/shop/mails/receipt.jinja2", Role.SETTINGS),
    ],
)
def test_a_role_is_read_off_folders_name_and_suffix(path, role):
    assert role_of(path) == role
