import pytest


@pytest.fixture
def root(tmp_path):
    (tmp_path / "oracle.toml").write_text("")
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    return tmp_path
