"""Projects with code of their own, for tests."""

from oracle.services.own_code.files import find_code
from oracle.services.own_code.trust import remember_trust

TOOL = '''import oracle

calls = []


@oracle.tool
def search_tickets(query: str) -> oracle.Found:
    """Search the tickets of the team."""
    calls.append(query)
    return oracle.Found("The login times out after 30 minutes.", places=["OPS-12"])
'''


def project_with(folder, **files):
    """`tools__a="…"` is the file `.oracle/tools/a.py`."""
    folder.mkdir(exist_ok=True)
    (folder / "oracle.toml").touch()
    for name, text in files.items():
        kind, _, stem = name.partition("__")
        place = folder / ".oracle" / kind
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{stem}.py").write_text(text)
    return folder


def trust_all(folder):
    code = find_code(folder)
    remember_trust(code, "trusted", [file.name for file in code.files])
