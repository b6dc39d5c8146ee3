"""Keys: where they are found, where they are kept, and that nobody else gets to see them."""

import sys
import threading

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import null

from oracle.errors import InputError, StoreError
from oracle.services.project import redaction
from oracle.services.settings import keys
from oracle.services.settings.keys import (
    key_for,
    keys_file,
    remove_key,
    source_of,
    store_key,
    stored_source,
)
from tests.tables import each_row

SECRET = "not-a-known-shape-of-a-key"


class Memory(KeyringBackend):
    priority = 5

    def __init__(self):
        self.kept = {}

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def delete_password(self, service, username):
        del self.kept[service, username]


class Raising(Memory):
    def set_password(self, service, username, password):
        raise RuntimeError(f"no bus for {password}")

    get_password = set_password


class Forgetful(Memory):
    def set_password(self, service, username, password):
        pass


class Hanging(Memory):
    def __init__(self):
        super().__init__()
        self.leave = threading.Event()

    def set_password(self, service, username, password):
        self.leave.wait()


@pytest.fixture
def use():
    before = keyring.get_keyring()
    yield lambda backend: keyring.set_keyring(backend) or backend
    keyring.set_keyring(before)


def test_a_key_is_kept_in_the_keyring_and_found_there(use):
    backend = use(Memory())
    assert store_key("anthropic", f" {SECRET}\n") == ("keyring", "")
    assert backend.kept == {("bt-oracle", "anthropic"): SECRET}
    assert SECRET not in keys_file().read_text()
    found = key_for("anthropic", {})
    assert (found.value, found.where, found.source) == (SECRET, "the system keyring", "keyring")
    assert SECRET not in repr(found)
    remove_key("anthropic")
    assert (backend.kept, key_for("anthropic", {})) == ({}, None)


@pytest.mark.parametrize("backend", [Raising, Forgetful, null.Keyring])
def test_a_keyring_that_does_not_work_is_replaced_by_a_private_file(use, backend):
    use(backend())
    source, why = store_key("openai", SECRET)
    assert source == "file"
    assert "system keyring" in why
    assert SECRET not in why
    found = key_for("openai", {})
    assert (found.value, found.where) == (SECRET, "~/.config/oracle/keys.toml")
    assert keys_file().stat().st_mode & 0o777 == 0o600
    remove_key("openai")
    assert key_for("openai", {}) is None


def test_a_keyring_that_hangs_is_not_waited_for(use, monkeypatch):
    monkeypatch.setattr(keys, "WAIT_SECONDS", 0.05)
    backend = use(Hanging())
    assert store_key("openai", SECRET)[0] == "file"
    backend.leave.set()


def test_a_keyring_that_fails_later_gives_no_key_and_says_so(use):
    use(Memory())
    store_key("openai", SECRET)
    use(Raising())
    assert key_for("openai", {}) is None
    what, step = keys.missing_key("openai")
    assert what == "the key for openai is in the system keyring, which cannot be read"
    assert "OPENAI_API_KEY" in step
    with pytest.raises(StoreError, match="cannot be removed"):
        remove_key("openai")
    assert stored_source("openai") == "keyring"


def test_the_variable_wins_and_an_empty_one_does_not_count():
    store_key("openai", SECRET)
    assert key_for("openai", {"OPENAI_API_KEY": "other"}).value == "other"
    assert key_for("openai", {"OPENAI_API_KEY": "other"}).where == "OPENAI_API_KEY"
    assert key_for("openai", {"OPENAI_API_KEY": " "}).value == SECRET
    assert source_of("openai", {"OPENAI_API_KEY": "other"}) == "variable"
    assert source_of("openai", {}) == "file"
    assert source_of("brave", {}) is key_for("nobody", {}) is None


def test_the_keyring_is_not_started_unless_it_has_the_key(monkeypatch):
    store_key("openai", SECRET)
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert key_for("openai", {}).value == SECRET
    assert key_for("anthropic", {}) is None
    assert source_of("openai", {}) == "file"


def test_a_key_has_one_place(use):
    store_key("openai", SECRET)
    use(Memory())
    assert store_key("openai", SECRET + "2")[0] == "keyring"
    assert SECRET not in keys_file().read_text()
    assert key_for("openai", {}).value == SECRET + "2"


@each_row(
    "value",
    ["", " \n", "a b", "a\nb", "ключ", "x" * 5_000, "OPENAI_API_KEY=x", "export BRAVE_API_KEY=x"],
)
def test_what_is_not_a_key_is_refused_and_not_repeated(value):
    with pytest.raises(InputError) as told:
        store_key("openai", value)
    assert not value.strip() or value not in str(told.value)
    assert not keys_file().exists()


def test_a_file_that_others_can_read_becomes_private(caplog):
    store_key("openai", SECRET)
    keys_file().chmod(0o644)
    assert key_for("openai", {}).value == SECRET
    assert keys_file().stat().st_mode & 0o777 == 0o600
    assert "other users could read ~/.config/oracle/keys.toml" in caplog.text


@pytest.mark.parametrize("content", [b"openai = ", b"\xff", b"x = 'hush"])
def test_a_damaged_file_is_named_and_not_quoted(content):
    store_key("openai", SECRET)
    keys_file().write_bytes(content)
    with pytest.raises(StoreError, match=r"keys\.toml is damaged; remove it") as told:
        key_for("openai", {})
    assert "hush" not in str(told.value)
    assert key_for("openai", {"OPENAI_API_KEY": "x"}).value == "x"


@pytest.mark.parametrize("content", ["", "file = 1\nkeyring = []", "[file]\nopenai = 1"])
def test_a_file_without_keys_has_none(content):
    keys_file().parent.mkdir(parents=True)
    keys_file().write_text(content)
    assert key_for("openai", {}) is None


def test_a_home_folder_that_cannot_be_used(monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    assert key_for("openai", {}) is None
    with pytest.raises(StoreError, match="cannot be written"):
        store_key("openai", SECRET)


def test_a_key_in_use_is_redacted_whatever_it_looks_like():
    assert SECRET in redaction.redact(f"it is {SECRET}!")
    store_key("openai", SECRET)
    assert SECRET not in redaction.redact(f"it is {SECRET}!")
    key_for("brave", {"BRAVE_API_KEY": "short"})
    assert redaction.redact("a short text") == "a short text"


def test_two_that_write_at_once_lose_nothing():
    threads = [threading.Thread(target=store_key, args=(name, SECRET)) for name in keys.VARIABLES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(stored_source(name) == "file" for name in keys.VARIABLES)
