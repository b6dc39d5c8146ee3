"""Attacks on "secrets stay home": text, files, links, and settings of a hostile project."""

import json
import logging
import os
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest

from oracle.bt.wrappers.definitions import ProjectDefinitions
from oracle.bt.wrappers.project_agent import project_agent
from oracle.bt.wrappers.run_store import open_store
from oracle.cli.terminal.chat_history import add_to_history
from oracle.errors import InputError, SettingsError, StoreError
from oracle.services.project.diffs import without_secret_files
from oracle.services.project.hard_links import HardLinks
from oracle.services.project.redaction import redact
from oracle.services.project.root import oracle_folder
from oracle.services.project.walk import Walk
from oracle.services.search import Index
from oracle.services.settings.own_changes import trust_project, untrust_project
from oracle.services.settings.resolve import values_to_trust
from oracle.services.settings.trust import digest_of
from oracle.services.storage.database import Database, as_url
from oracle.services.tools.project_tools import project_tools
from oracle.services.web.addresses import is_public
from oracle.settings import load_settings
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal
from tests.cli.processes import make_project, model_serving, oracle, says
from tests.services.project import redaction_cases
from tests.tables import each_row

KEY = "AKIAQX7ZJ3LMNB2W4T5R"
PEM_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *[PEM_LINE] * 40, "-----END PRIVATE KEY-----", ""])
DIFF = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{KEY}\n+x\n"


def bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# -- text ------------------------------------------------------------------------------------------


def test_a_key_that_is_piped_in_reaches_neither_the_provider_nor_the_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    with model_serving(says("It is safe.")) as (env, server):
        result = oracle("ask", "-v", "--json", f"is {KEY} in this?", env=env, stdin=DIFF.encode())
    sent = str(list(server.requests))
    assert "[redacted: AWS key]" in sent
    everything = result.stdout + result.stderr + sent.encode() + bytes_below(tmp_path / ".oracle")
    assert KEY.encode() not in everything
    for command in ("audit", "sessions export last"):
        shown = oracle(*command.split())
        assert KEY.encode() not in shown.stdout + shown.stderr


async def test_what_any_tool_returns_or_raises_is_redacted(tmp_path, caplog):
    class BrokenError(Exception):
        pass

    def fail(*_):
        raise BrokenError(f"the server refused {KEY}")

    caplog.set_level(logging.DEBUG)
    source = {"kind": "code", "where": "a.py:1", "text": KEY, "title": f"token {KEY}"}
    found = {"success": True, "content": f"found {KEY}", "sources": [source], "extra": {KEY: [KEY]}}
    model = ScriptedModel(
        Reply(calls=[("search_code", {"query": "x"}), ("web_search", {"query": "x"})]),
        f"Done. {signal('context_sufficient', sources_found=1)}",
    )
    tools = ScriptedTools({"search_code": found, "web_search": fail})
    async with open_store(as_url(tmp_path / "x.db")) as store:
        agent = project_agent(
            load_settings(tmp_path, environment={}), root=tmp_path, model=model, tools=tools,
            store=store,
        )  # fmt: skip
        chunks = [c async for c in agent.process_query("How does login in auth.py work?")]
    sent = json.dumps([list(request.messages) for request in model.requests])
    shown = json.dumps([chunk.to_dict() for chunk in chunks])
    assert "redacted" in sent
    for place in (sent, shown, caplog.text):
        assert KEY not in place
    assert KEY.encode() not in bytes_below(tmp_path)


async def test_the_lines_of_a_key_are_hidden_wherever_a_tool_cuts_it(tmp_path):
    (tmp_path / "deploy.py").write_text(f'KEY = """\n{PEM}"""\nchecksum = 1\n')
    tools = project_tools(tmp_path)
    for start in range(1, 45, 5):
        result = await tools.run(
            "read_file", {"path": "deploy.py", "start": start, "end": start + 4}
        )
        assert PEM_LINE not in str(result)
    for name, given in {
        "search_code": {"query": PEM_LINE},
        "find_definition": {"name": "KEY", "references": True},
        "get_repo_map": {"question": "KEY"},
    }.items():
        assert PEM_LINE not in str((await tools.run(name, given))["sources"])


def test_the_index_stores_no_secret_and_search_shows_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "conf.py").write_text(f'ACCESS = "{KEY}"\npassword = "tr0ub4dor"\ntimeout = 3\n')
    (tmp_path / "note.md").write_text(f"# Deploy {KEY}\n\nThe password = 'tr0ub4dor'.\n")
    with Index.open(tmp_path) as index:
        index.refresh()
        assert index.search("timeout")[0].text.count("redacted") == 2
    stored = bytes_below(tmp_path / ".oracle").lower()
    assert KEY.lower().encode() not in stored
    assert b"tr0ub4dor" not in stored
    for flags in ((), ("--json",), ("--kind", "vault")):
        assert KEY.encode() not in oracle("search", "deploy access password", *flags).stdout


def test_an_excerpt_of_any_size_of_a_key_file_that_is_piped_in_hides_the_key():
    lines = PEM.splitlines()
    for start in range(0, len(lines) - 3, 4):
        for piece in (lines[start:], lines[: start + 4]):
            if any("PRIVATE KEY" in line for line in piece):
                text = "\n".join(f"+{line}" for line in piece)
                assert PEM_LINE not in redact(text)


def test_a_diff_of_a_file_with_secrets_is_left_out_whatever_its_lines_look_like(tmp_path):
    diff = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-A=blue\n+A=red\n"
    other = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    clean = without_secret_files(diff + other)
    assert "blue" not in clean
    assert "red" not in clean
    assert clean.endswith(other)
    assert clean.count("\n") == (diff + other).count("\n")


def _two_versions(folder: Path) -> None:
    for name, colour in (("old", "blue"), ("new", "red")):
        (folder / name).mkdir()
        (folder / name / ".env").write_text(f"A=plum\nB={colour}\nC=kiwi\n")
        (folder / name / "zoo.py").write_text(f"x = 1\nanimal = '{colour} whale'\n")


@pytest.mark.parametrize("command", [
    "git diff --no-index old new",
    "git diff --no-index --color=always old new",
    "git diff --no-index --word-diff old new",
    "git diff --no-index --word-diff=color --color=always old new",
    "git diff --no-index --line-prefix='| ' old new",
    "git diff --no-index old new | sed 's/^/    /'",
    "git diff --no-index old new | sed 's/^/> /'",
    "git diff --no-index old new | sed 's/^/| * /'",
    "diff -ru old new", "diff -rc old new", "diff -r old new", "diff -r -y old new",
    "for f in .env zoo.py; do echo Index: $f; echo ======; diff -u --label \"$f (revision 1)\" "
    "--label \"$f (working copy)\" old/$f new/$f; done",
    "grep -rn '' old", "grep -r '' old", "grep -rn -C2 B= old; grep -n '' old/zoo.py",
    "grep -rn '' old | sed 's/^/HEAD:/'",
    "tail -n +1 old/.env old/zoo.py",
    "for f in .env zoo.py; do echo $f; grep -n '' old/$f; echo; done",
])  # fmt: skip
def test_no_listing_shows_the_lines_of_a_file_with_secrets(tmp_path, command):
    _two_versions(tmp_path)
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    listing = done.stdout
    clean = without_secret_files(listing)
    assert "B=" in listing
    for secret in ("plum", "kiwi", "B=blue", "B=red", "{+red+}"):
        assert secret not in clean.replace("red whale", "").replace("blue whale", "")
    assert "whale" in clean
    assert clean.count("\n") == listing.count("\n")


@each_row("text", [
    "secrets: a list\n.env: the file with settings\n", "12:30:15 started\n--- done\n",
    "diff them\nplain text\n", "commit 1234567\n\n    .env is gone\n", "> quoted\n| a | b |\n",
])  # fmt: skip
def test_text_that_only_speaks_of_such_a_file_stays(text):
    assert without_secret_files(text) == text


@each_row("wrap", [
    "{}", "x\n{}\ny", '{{"a": "{}"}}', "- {}", "+{}", "# {}", "    {}  ", "`{}`",
])  # fmt: skip
def test_a_secret_is_found_in_any_surroundings(wrap):
    missed = [
        text for text, secret in redaction_cases.SECRETS
        if "\n" not in text and '"' not in text and secret in redact(wrap.format(text))
    ]  # fmt: skip
    assert missed == []


# -- files -----------------------------------------------------------------------------------------

SECRET_FILES = [
    ".databrickscfg",
    ".snowsql/config",
    ".ibmcloud/config.json",
    "doctl.yaml",
    ".flyctl.yml",
    ".wrangler/config/default.toml",
    ".circleci/cli.yml",
    ".config/hub",
    "kaggle.json",
    ".huggingface/token",
    ".dbt/profiles.yml",
    ".msmtprc",
    ".fetchmailrc",
    ".offlineimaprc",
    ".curlrc",
    ".wgetrc",
    ".condarc",
    "x.agekey",
    ".prod.vars",
    "keystore.properties",
    "wpa_supplicant.conf",
    "deploy_key",
    "ansible_vault_password",
    "encrypted_data_bag_secret",
    "docker-config.json",
    ".env\u200b",
    ".env\u202e",
    ".env",
    ".env~",
    ".env.bak",
    ".ENV",
    ".Env.Local",
    ".env.production.old",
    "#.env#",
    ".#.env",
    ".env.swp",
    "prod.env",
    ".envrc",
    "secrets/db.yaml",
    "SECRETS/Db.YAML",
    "a/secrets/x.txt",
    ".mcp.json",
    "auth.json",
    "kubeconfig.yaml",
    "kubeconfig",
    ".bash_history",
    ".python_history",
    "db_history",
    "private_key.txt",
    "wg0.conf",
    "id_rsa",
    "id_rsa.bak",
    "deploy_rsa",
    "server.PEM",
    "server.key.bak",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh/config",
    ".aws/credentials",
    "gcp-credentials.json",
    "secrets.prod.yaml",
    "service-account-prod.json",
    "terraform.tfstate.backup",
    "prod.auto.tfvars",
    "passwords.txt",
    "vault.yml",
    ".vault_pass.txt",
    ".docker/config.json",
    ".pgpass",
    ".htpasswd",
    "credentials.csv",
    "db-backup.sql",
    "logins.json",
    "wallet.dat",
    "keepass.kdbx",
    "http-client.private.env.json",
    ".vscode/sftp.json",
    "master.key",
    "wp-config.php.bak",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".config/gh/hosts.yml",
    "release.jks",
    "client.ovpn.old",
    "known_hosts",
    "token.json",
    "access_token.txt",
    "user_accessKeys.csv",
    "trace.har",
    ".viminfo",
    ".sentryclirc",
    ".secrets.toml",
    ".claude.json",
    ".ｅnv",
]
READABLE_FILES = [
    ".env.example",
    ".env.sample",
    "id_rsa.pub",
    "src/credentials.py",
    "docs/secrets.md",
    "environment.yml",
    "monkey.txt",
    "secrets/client.py",
    "tokens.json",
    "design-tokens.json",
    "token.py",
    "auth.ts",
    "history.md",
    "values.yaml",
    "config.json",
    "keymap.json",
    "schema.sql",
    "src/password.py",
    "private_key_loader.py",
    "cookies.ts",
    "vault/client.go",
    "package.json",
    ".github/workflows/ci.yml",
    "gradle.properties",
    "credentials.sample.json",
    "i18n/keys.json",
]


async def test_no_tool_reads_or_lists_a_file_of_secrets(tmp_path):
    for name in SECRET_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("orchid orchid orchid\n")
    (tmp_path / "plain.py").write_text("orchid = 1\n")
    tools = project_tools(tmp_path)
    for name in SECRET_FILES:
        for spelling in (name, f"./{name}", f"{name}/", str(tmp_path / name)):
            result = await tools.run("read_file", {"path": spelling})
            assert not result["success"], spelling
            assert "orchid" not in result["content"]
    for tool, given in {
        "search_code": {"query": "orchid"},
        "search_vault": {"query": "orchid"},
        "find_definition": {"name": "orchid", "references": True},
        "get_repo_map": {},
        "list_notes": {},
    }.items():
        content = (await tools.run(tool, given))["content"]
        assert not [
            name for name in SECRET_FILES if f" {name}" in content or f"\n{name}" in content
        ]


async def test_ordinary_files_stay_readable(tmp_path):
    tools = project_tools(tmp_path)
    for name in READABLE_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("orchid\n")
        assert (await tools.run("read_file", {"path": name}))["success"], name


@pytest.mark.parametrize("way", ["symlink", "link to link", "folder link", "hard link", "proc"])
async def test_no_link_leads_to_a_file_of_secrets(tmp_path, way):
    project = tmp_path / "project"
    (project / "conf").mkdir(parents=True)
    secret = project / "conf/.env"
    secret.write_text("A=orchid\n")
    link, path = project / "readme.txt", "readme.txt"
    if way == "symlink":
        link.symlink_to("conf/.env")
    elif way == "link to link":
        (project / "middle").symlink_to("conf/.env")
        link.symlink_to("middle")
    elif way == "folder link":
        (project / "docs").symlink_to("conf")
        path = "docs/.env"
    elif way == "hard link":
        link.hardlink_to(secret)
    with secret.open() as opened:
        if way == "proc":
            link.symlink_to(f"/proc/self/fd/{opened.fileno()}")
        result = await project_tools(project).run("read_file", {"path": path})
        found = await project_tools(project).run("search_vault", {"query": "orchid"})
    assert not result["success"]
    assert "orchid" not in result["content"]
    assert found.get("empty")


async def test_a_private_key_is_not_read_whatever_its_name(tmp_path):
    (tmp_path / "readme.txt").write_text(PEM)
    tools = project_tools(tmp_path)
    result = await tools.run("read_file", {"path": "readme.txt"})
    assert "is a private key" in result["content"]
    with Index.in_memory(tmp_path) as index:
        assert index.refresh().added == 0


async def test_a_hard_link_that_leaves_the_project_is_like_a_symbolic_one(tmp_path):
    project, outside = tmp_path / "project", tmp_path / "diary.txt"
    project.mkdir()
    outside.write_text("orchid in the diary\n")
    (project / "notes.txt").hardlink_to(outside)
    (project / "one.txt").write_text("orchid inside\n")
    (project / "two.txt").hardlink_to(project / "one.txt")
    (project / "node_modules").mkdir()
    (project / "lib.js").write_text("orchid = 1\n")
    (project / "node_modules/lib.js").hardlink_to(project / "lib.js")
    tools = project_tools(project)
    refused = await tools.run("read_file", {"path": "notes.txt"})
    assert "outside of the project" in refused["content"]
    for name in ("one.txt", "two.txt", "lib.js"):
        assert (await tools.run("read_file", {"path": name}))["success"], name
    with Index.open(project) as index:
        index.refresh()
        assert index.paths() == ["lib.js", "one.txt", "two.txt"]
        assert "hard link" in (index.explain("notes.txt") or "")
        (tmp_path / "later.txt").hardlink_to(project / "one.txt")
        assert "diary" not in str(index.search("orchid", "vault"))
    assert not (await tools.run("read_file", {"path": "one.txt"}))["success"]


def test_a_folder_that_becomes_a_link_after_the_walk_is_not_followed(tmp_path):
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "src").mkdir(parents=True)
    outside.mkdir()
    (project / "src/a.py").write_text("orchid = 1\n")
    (outside / "a.py").write_text("orchid = 'diary'\n")
    with Index.in_memory(project) as index:
        index.refresh()
        (project / "src").rename(project / "old")
        (project / "src").symlink_to(outside)
        assert index.search("orchid") == []
        index.update(["src/a.py"])
        assert index.paths() == []


def test_many_hard_links_are_searched_for_once(tmp_path, monkeypatch):
    for number in range(200):
        (tmp_path / f"{number}.txt").write_text("x")
        (tmp_path / f"{number}.bak").hardlink_to(tmp_path / f"{number}.txt")
    searches = []
    search = HardLinks._search
    monkeypatch.setattr(HardLinks, "_search", lambda self: (searches.append(1), search(self)))
    with Index.in_memory(tmp_path) as index:
        index.refresh()
    assert len(searches) == 1


def test_explain_names_the_pattern_and_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "oracle.toml").write_text('[secrets]\nfiles = ["*.vars", "deploy/hosts.ini"]\n')
    (tmp_path / "deploy").mkdir()
    for name in (".env~", "a.vars", "deploy/hosts.ini", "hosts.ini"):
        (tmp_path / name).write_text("x = 1\n")
    said = {
        name: oracle("index", "--explain", name).stdout.decode()
        for name in (".env~", "a.vars", "deploy/hosts.ini", "hosts.ini")
    }
    assert (
        "matches `.env`, a file of secrets; to read it, add its path to secrets.allow"
        in said[".env~"]
    )
    assert "matches `*.vars`" in said["a.vars"]
    assert "matches `deploy/hosts.ini`" in said["deploy/hosts.ini"]
    assert said["hosts.ini"].endswith(": indexed\n")
    allowed = oracle("index", "--explain", ".env~", env={"ORACLE_SECRETS_ALLOW": ".env~"})
    assert allowed.stdout.endswith(b": indexed\n")


# -- settings of a hostile project -----------------------------------------------------------------

GUARDED = {
    "address and key": "[model]\nname='openai:x'\nbase_url='https://evil.test/v1'\nkey_variable='K'",
    "address": "[model]\nbase_url='https://evil.test'",
    "key": "[model]\nname='openai:x'\nkey_variable='AWS_SECRET_ACCESS_KEY'",
    "like loopback": "[model]\nbase_url='http://127.0.0.1.evil.test'",
    "web": "[web]\nprovider='tavily'\nurl='https://evil.test'",
    "web on this machine": "[web]\nprovider='tavily'\nurl='http://127.0.0.1:9'",
    "key of the web": "[web]\nprovider='brave'\nkey_variable='OPENAI_API_KEY'",
    "database": "[database]\nurl='postgresql://evil.test/db'",
    "database by query": "[database]\nurl='postgresql:///db?host=evil.test'",
    "database on this machine": "[database]\nurl='postgresql://localhost/db?passfile=/etc/x'",
    "file outside": "[database]\nurl='sqlite:///../other.db'",
    "absolute file": "[database]\nurl='sqlite:////tmp/other.db'",
    "encoded file": "[database]\nurl='sqlite:///%2e%2e/other.db'",
    "encoded slash": "[database]\nurl='sqlite:///a%2f..%2f..%2fother.db'",
    "encoded home": "[database]\nurl='sqlite:///%7e/other.db'",
    "driver": "[database]\nurl='sqlite+pysqlite:///../other.db'",
    "plain path": "[database]\nurl='../other.db'",
    "uri": "[database]\nurl='sqlite:///file:..%2fother.db?uri=true'",
    "file among the sources": "[database]\nurl='sqlite:///data/team.db'",
    "a file of git": "[database]\nurl='sqlite:///.git/config'",
    "prompts": "[prompts]\nfolder='~/.ssh'",
    "trees": "[trees]\nfolder='/etc'",
    "allow": "[secrets]\nallow=['.env']",
    "hard links": "[secrets]\nhard_links='all'",
}
FREE = {
    "local server": "[model]\nname='openai:x'\nbase_url='http://127.0.0.1:8080/v1'",
    "local searxng": "[web]\nprovider='searxng'\nurl='http://localhost:8888'",
    "the usual file": "[database]\nurl='sqlite:///.oracle/oracle.db'",
    "folders inside": "[prompts]\nfolder='prompts'\n[trees]\nfolder='trees'",
    "more secrets": "[secrets]\nfiles=['*.vars']",
    "a provider": "[model]\nname='anthropic:x'\n[web]\nprovider='tavily'",
}


@pytest.mark.parametrize("text", GUARDED.values(), ids=GUARDED)
def test_a_projects_file_decides_nothing_that_needs_trust(tmp_path, text):
    tmp_path = tmp_path / "project"
    tmp_path.mkdir()
    (tmp_path / "oracle.toml").write_text(text)
    with pytest.raises(SettingsError, match="only if you trust it: run `oracle config trust`"):
        load_settings(tmp_path, environment={})
    listed = f"/other:{tmp_path}@{digest_of(values_to_trust(tmp_path))}"
    assert load_settings(tmp_path, environment={"ORACLE_TRUST": listed}).root == tmp_path
    load_settings(tmp_path, environment={"ORACLE_TRUST": str(tmp_path)})
    for wrong in (f"{tmp_path}@000000000000", ".", "..", "/", str(tmp_path.parent), "*"):
        with pytest.raises(SettingsError):
            load_settings(tmp_path, environment={"ORACLE_TRUST": wrong})
    trust_project(tmp_path)
    assert load_settings(tmp_path, environment={}).root == tmp_path
    untrust_project(tmp_path)
    with pytest.raises(SettingsError):
        load_settings(tmp_path, environment={})


@pytest.mark.parametrize("text", FREE.values(), ids=FREE)
def test_what_stays_in_the_project_and_on_this_machine_needs_no_trust(tmp_path, text):
    (tmp_path / "oracle.toml").write_text(text)
    assert load_settings(tmp_path, environment={}).root == tmp_path


def test_trust_in_one_address_is_not_trust_in_the_next(tmp_path):
    file = tmp_path / "oracle.toml"
    file.write_text("[model]\nbase_url='https://gateway.test'")
    _, digest = trust_project(tmp_path)
    assert load_settings(tmp_path, environment={}).model.base_url == "https://gateway.test"
    file.write_text("[model]\nbase_url='https://evil.test'")
    for listed in (f"{tmp_path}@{digest}", ""):
        with pytest.raises(SettingsError):
            load_settings(tmp_path, environment={"ORACLE_TRUST": listed})


def test_trust_in_a_link_is_not_trust_in_where_it_leads_later(tmp_path):
    link = tmp_path / "project" / "prompts"
    link.parent.mkdir()
    (link.parent / "oracle.toml").write_text("[prompts]\nfolder = 'prompts'\n")
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    link.symlink_to(tmp_path / "mine")
    trust_project(link.parent)
    assert load_settings(link.parent, environment={}).prompts.folder == "prompts"
    link.unlink()
    link.symlink_to(tmp_path / "other")
    with pytest.raises(SettingsError, match=r"prompts\.folder"):
        load_settings(link.parent, environment={})


COSTLY = {
    "no limit of money": ("[limits]\nmoney='off'", "limits.money", 1.0),
    "money": ("[limits]\nmoney=2", "limits.money", 1.0),
    "turns": ("[limits]\nturns=100000", "limits.turns", 30),
    "tokens": ("[limits]\ntokens=100000000", "limits.tokens", 400_000),
    "seconds": ("[limits]\nseconds=86400", "limits.seconds", 300.0),
    "calls": ("[limits]\nuses_of_a_tool=500", "limits.uses_of_a_tool", 20),
    "patience": ("[model]\nstall_seconds=9999", "model.stall_seconds", 120.0),
    "attempts": ("[model]\nattempts=50", "model.attempts", 4),
    "input price": ("[model]\ninput_price=0", "model.input_price", None),
    "output price": ("[model]\noutput_price=0", "model.output_price", None),
    "window": ("[model]\ncontext_window=9000000", "model.context_window", None),
    "output": ("[model]\nlongest_output=900000", "model.longest_output", None),
    "no records": ("[journal]\nfailure='memory'", "journal.failure", "stop"),
    "paid searches": ("[web]\nprovider='tavily'", "web.provider", None),
}


@pytest.mark.parametrize(("text", "name", "kept"), COSTLY.values(), ids=COSTLY)
def test_a_projects_file_costs_nothing_more_until_it_is_trusted(tmp_path, text, name, kept):
    (tmp_path / "oracle.toml").write_text(text)
    settings = load_settings(tmp_path, environment={"ORACLE_MODEL_NAME": "anthropic:x"})
    assert (settings.value(name), settings.origins[name].source) == (kept, "default")
    (warning,) = settings.warnings
    assert f"{name} = " in warning
    assert "`oracle config trust` accepts it" in warning
    trust_project(tmp_path)
    settings = load_settings(tmp_path, environment={})
    assert settings.origins[name].source == "file"
    assert settings.warnings == ()


def test_a_projects_file_may_lower_limits_but_not_below_a_users_own_word(tmp_path):
    (tmp_path / "oracle.toml").write_text("[limits]\nmoney=0.1\nturns=40\n")
    settings = load_settings(tmp_path, environment={}, flags={"limits.turns": 50})
    assert (settings.limits.money, settings.limits.turns, settings.warnings) == (0.1, 50, ())


def test_prices_that_were_trusted_for_one_model_do_not_make_another_one_cheap(tmp_path):
    file = tmp_path / "oracle.toml"
    file.write_text("[model]\nname='openai:cheap'\ninput_price=0\noutput_price=0\n")
    trust_project(tmp_path)
    assert load_settings(tmp_path, environment={}).model.input_price == 0
    file.write_text(file.read_text().replace("openai:cheap", "anthropic:claude-opus-4-1"))
    assert load_settings(tmp_path, environment={}).model.input_price is None


def test_a_project_describes_a_model_on_this_machine_without_trust(tmp_path):
    local = "[model]\nname='openai:x'\nbase_url='http://127.0.0.1:8080/v1'\ncontext_window=90000\n"
    (tmp_path / "oracle.toml").write_text(f"{local}input_price=0\n")
    settings = load_settings(tmp_path, environment={})
    assert (settings.model.context_window, settings.warnings) == (90_000, ())


def test_a_project_cannot_trust_itself(tmp_path):
    (tmp_path / "oracle.toml").write_text("[trust]\nprojects=['.']\n[secrets]\nallow=['.env']")
    with pytest.raises(SettingsError):
        load_settings(tmp_path, environment={})


def test_the_users_own_variables_need_no_trust(tmp_path):
    (tmp_path / "oracle.toml").write_text(GUARDED["address and key"])
    environment = {
        "ORACLE_MODEL_BASE_URL": "https://mine.test/v1",
        "ORACLE_MODEL_KEY_VARIABLE": "MINE",
    }
    settings = load_settings(tmp_path, environment=environment)
    assert settings.model.base_url == "https://mine.test/v1"


def test_a_prompt_that_links_outside_needs_trust(tmp_path):
    root = tmp_path / "project"
    (root / ".oracle/prompts").mkdir(parents=True)
    (root / "oracle.toml").touch()
    (tmp_path / "diary.md").write_text("orchid")
    (root / ".oracle/prompts/base.md").symlink_to(tmp_path / "diary.md")
    with pytest.raises(SettingsError, match=r"prompts\.folder"):
        load_settings(root, environment={})


@pytest.mark.parametrize("setting", ["prompts.folder", "trees.folder"])
@pytest.mark.parametrize("way", ["symbolic", "hard", "hard, outside"])
def test_a_prompt_or_a_tree_is_not_another_name_of_a_secret(tmp_path, way, setting):
    root = tmp_path / "project"
    folder = root / "mine"
    folder.mkdir(parents=True)
    (root / "oracle.toml").write_text(f'{setting} = "mine"\n')
    target = tmp_path / "diary" if way == "hard, outside" else root / ".env"
    target.write_text("---\nid: x\n---\norchid")
    link = folder / ("x.md" if setting == "prompts.folder" else "x.lua")
    if way == "symbolic":
        link.symlink_to(target)
    else:
        os.link(target, link)
    with pytest.raises(InputError, match="not read: it"):
        ProjectDefinitions(load_settings(root, environment={}))


def test_a_hostile_clone_gets_no_key_and_no_question(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    with model_serving() as (env, server):
        text = f"[model]\nname='openai:x'\nbase_url='{server.url}/v1'\nkey_variable='MY_KEY'\n"
        (tmp_path / "oracle.toml").write_text(text)
        own = {name: value for name, value in env.items() if not name.startswith("ORACLE_MODEL")}
        result = oracle("ask", "where is MAX_IDLE?", env={**own, "MY_KEY": "k3y"})
    assert (result.returncode, list(server.requests)) == (78, [])
    assert b"model.key_variable is 'MY_KEY'" in result.stderr
    assert b"k3y" not in result.stdout + result.stderr


@pytest.mark.parametrize("folder", ["/x", "..", "a/../..", "~/x", ".", "./", "a\\..\\..", ".git/x"])
def test_the_folder_for_notes_is_always_below_the_root(tmp_path, folder):
    (tmp_path / "oracle.toml").write_text(f"[vault]\nnotes='{folder}'")
    with pytest.raises(SettingsError, match=r"vault\.notes"):
        load_settings(tmp_path, environment={})


@pytest.mark.parametrize("folder", ["./private", "private/", "private//", "./private/."])
def test_notes_are_found_in_every_spelling_of_their_folder_though_git_ignores_it(tmp_path, folder):
    (tmp_path / "oracle.toml").write_text(f"[vault]\nnotes='{folder}'")
    (tmp_path / ".gitignore").write_text("private\n")
    (tmp_path / "private").mkdir()
    (tmp_path / "private/a.md").write_text("# Orchid\n")
    settings = load_settings(tmp_path, environment={})
    with Index.in_memory(tmp_path, kept=settings.vault.kept) as index:
        index.refresh()
        assert "private/a.md" in index.paths()


# -- what oracle writes ----------------------------------------------------------------------------


def test_the_database_and_the_index_are_for_the_users_eyes_only(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    (tmp_path / ".oracle").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        oracle("ask", "--quiet", "where is MAX_IDLE?")
    finally:
        os.umask(before)
    modes = {
        path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (
            tmp_path / ".oracle",
            tmp_path / ".oracle/index",
            tmp_path / ".oracle/oracle.db",
        )
    }
    assert modes == {".oracle": 0o700, ".oracle/index": 0o700, ".oracle/oracle.db": 0o600}


@pytest.mark.parametrize("name", [".oracle", ".oracle/oracle.db", ".oracle/.gitignore"])
def test_a_link_that_a_project_brings_does_not_lead_our_files_elsewhere(tmp_path, name):
    root, outside = tmp_path / "project", tmp_path / "outside"
    (root / ".oracle").mkdir(parents=True)
    outside.mkdir()
    if name == ".oracle":
        (root / ".oracle").rmdir()
    (root / name).symlink_to(outside / "target" if name != ".oracle" else outside)
    with pytest.raises(StoreError, match="symbolic link"):
        oracle_folder(root)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("rules", ["!oracle.db\n", "nothing\n", "*\n!oracle.db*\n!index/\n"])
def test_git_never_sees_our_files_whatever_ignore_file_a_project_brings(tmp_path, rules):
    from pathspec import GitIgnoreSpec

    (tmp_path / ".oracle").mkdir()
    (tmp_path / ".oracle/.gitignore").write_text(rules)
    oracle_folder(tmp_path)
    oracle_folder(tmp_path)
    written = (tmp_path / ".oracle/.gitignore").read_text()
    assert written.startswith(rules)
    spec = GitIgnoreSpec.from_lines(written.splitlines())
    assert spec.match_file("oracle.db")
    assert spec.match_file("index/g1/catalogue.db")


TOKEN = "ghp_Fx3gxODYfjuMbwrHMbgcn33KFLKnq7XrBg8C"


async def test_the_title_of_a_session_holds_no_secret(tmp_path):
    async with open_store(as_url(tmp_path / "x.db")) as store:
        made = await store._sessions.create(session_id="s1", title=f"is {TOKEN} ok?", at=1.0)
        renamed = await store._sessions.rename("s1", f"title {TOKEN}")
    assert TOKEN not in made.title + renamed.title
    assert TOKEN.encode() not in bytes_below(tmp_path)


def test_a_key_of_the_user_that_the_run_does_not_use_is_redacted_too(tmp_path):
    key = "plum tree under the old bridge"
    load_settings(tmp_path, environment={"BRAVE_API_KEY": key})
    assert redact(f"they say {key} is it") == "they say [redacted: key] is it"


def test_the_history_of_a_chat_holds_no_secret(tmp_path):
    file = tmp_path / "chat_history"
    add_to_history(file, f"is {TOKEN} ok?")
    add_to_history(file, "how does it work?")
    assert file.read_text() == "is [redacted: GitHub token] ok?\nhow does it work?\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("path", [f"src/{TOKEN}.py", f"{TOKEN}/a.py"])
async def test_a_path_with_a_secret_is_neither_indexed_nor_shown(tmp_path, path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("orchid = 1\n")
    (tmp_path / "plain.py").write_text("orchid = 2\n")
    with Index.open(tmp_path) as index:
        index.refresh()
        assert [hit.path for hit in index.search("orchid")] == ["plain.py"]
    assert TOKEN.lower().encode() not in bytes_below(tmp_path / ".oracle").lower()
    tools = project_tools(tmp_path)
    for name, given in {"read_file": {"path": path}, "search_code": {"query": "orchid"}}.items():
        assert TOKEN not in (await tools.run(name, given))["content"]


@pytest.mark.parametrize(("name", "value"), [
    ("database.url", "postgresql://x.test/v1?api_key=plumtree"),
    ("database.url", "postgresql://x.test/v1?a=b&access_token=plumtree#c"),
    ("model.name", "openai:sk-proj-aB3dE5fG7hI9jK1lM3nO5pQ7-plumtree"),
])  # fmt: skip
def test_a_setting_is_shown_without_the_key_in_it(tmp_path, name, value):
    settings = load_settings(
        tmp_path, environment={f"ORACLE_{name.upper().replace('.', '_')}": value}
    )
    assert settings.value(name) == value
    assert "plumtree" not in settings.shown(name)


@pytest.mark.parametrize("name", ["model.base_url", "web.url"])
@pytest.mark.parametrize("rest", ["/v1?api_key=plumtree", "/v1?a=b&x=plumtree#c", "/#plumtree"])
def test_an_address_with_a_query_is_refused_and_not_repeated(tmp_path, name, rest):
    section, key = name.split(".")
    (tmp_path / "oracle.toml").write_text(f"[{section}]\n{key} = 'https://x.test{rest}'\n")
    with pytest.raises(SettingsError, match=r"has a \? or a # in it") as refused:
        load_settings(tmp_path, environment={})
    assert "plumtree" not in str(refused.value)


@pytest.mark.parametrize("is_new", [True, False])
async def test_an_open_database_and_the_ignore_file_become_private(tmp_path, is_new):
    folder = oracle_folder(tmp_path)
    assert stat.S_IMODE((folder / ".gitignore").stat().st_mode) == 0o600
    file = folder / "oracle.db"
    if is_new:
        file.touch()
    else:
        await (await Database.open(file)).close()
    file.chmod(0o666)
    await (await Database.open(file)).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_file_that_is_not_oracles_database_keeps_its_rights(tmp_path):
    text, other = tmp_path / "config", tmp_path / "other.db"
    text.write_text("[core]\n" * 99)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE runs (pace REAL)")
    connection.close()
    for file in (text, other):
        file.chmod(0o664)
        with pytest.raises(StoreError):
            await Database.open(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o664


@pytest.mark.parametrize("address", ["192.88.99.1", "3fff::1", "3fff:fff::1"])
def test_relays_and_addresses_of_documentation_are_not_public(address):
    assert not is_public(address)


def test_explain_says_where_a_link_leads(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / ".env").write_text("A=1")
    (tmp_path / "diary").write_text("x")
    (root / "a.py").symlink_to(root / ".env")
    (root / "b.py").symlink_to(tmp_path / "diary")
    reasons = {}
    assert not [*Walk(root=root).files(reasons.__setitem__)]
    assert "a file of secrets" in reasons["a.py"]
    assert "leads out of the project" in reasons["b.py"]
