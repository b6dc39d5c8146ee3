"""`[mcp.servers]`: what can be written there, and whose servers count."""

import pytest

from oracle.errors import SettingsError
from oracle.services.settings.mcp_servers import McpServer
from oracle.services.settings.own_changes import trust_project
from oracle.services.settings.resolve import user_settings_file
from oracle.settings import load_settings


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "oracle.toml").write_text(text)
        return tmp_path

    return write


def users(text):
    file = user_settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_server_has_all_its_settings(write):
    users(
        '[mcp.servers.jira]\ncommand = ["jira-mcp", "--stdio"]\nfor = ["documentation", "web"]\n'
        'reads = ["search"]\nwrites = ["create"]\nenv = ["JIRA_TOKEN"]\ntimeout = 5\n\n'
        '[mcp.servers.wiki]\nurl = "https://wiki.example.org/mcp"\ntoken_variable = "WIKI_TOKEN"\n'
    )
    settings = load_settings(write("[limits]\nturns = 3\n"))
    assert settings.mcp.servers == (
        McpServer(
            name="jira",
            command=("jira-mcp", "--stdio"),
            for_=("documentation", "web"),
            reads=("search",),
            writes=("create",),
            env=("JIRA_TOKEN",),
            timeout=5.0,
        ),
        McpServer(name="wiki", url="https://wiki.example.org/mcp", token_variable="WIKI_TOKEN"),
    )
    shown = ["jira: jira-mcp --stdio", "wiki: https://wiki.example.org/mcp"]
    assert settings.shown("mcp.servers") == shown


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[mcp.servers.jira]\ntimeout = 3", "needs a command or a url"),
        ('[mcp.servers.jira]\ncommand = ["a"]\nurl = "http://b"', "and not both"),
        ('[mcp.servers.jira]\ncommand = "a"', "jira.command is 'a'"),
        ("[mcp.servers.jira]\ncommand = []", "jira.command is empty"),
        ('[mcp.servers."a_b"]\ncommand = ["a"]', "'a_b'; use 1 to 20"),
        ('[mcp.servers.jira]\ncomand = ["a"]', "did you mean 'command'"),
        ('[mcp.servers.jira]\ncommand = ["a"]\nfor = ["docs"]', "jira.for has 'docs'"),
        ('[mcp.servers.jira]\ncommand = ["a"]\nenv = ["abc"]', "jira.env is not the name"),
        ('[mcp.servers.jira]\ncommand = ["a"]\ntimeout = 0', "jira.timeout is 0"),
        ('[mcp.servers.jira]\ncommand = ["a"]\ntoken_variable = "T"', "is for a url"),
        ('[mcp]\nservers = "jira"', "mcp.servers is not a table"),
        ("[[mcp.servers]]\nname = 'x'", "mcp.servers is not a table"),
    ],
)
def test_a_mistake_names_its_place_and_what_to_write(write, text, problem):
    with pytest.raises(SettingsError) as raised:
        load_settings(write(text))
    assert str(raised.value).startswith("oracle.toml:") or "/oracle.toml:" in str(raised.value)
    assert problem in str(raised.value)


def test_a_project_adds_servers_to_those_of_the_user(write):
    users('[mcp.servers.wiki]\nurl = "https://wiki.example.org/mcp"\n')
    root = write('[mcp.servers.jira]\ncommand = ["jira-mcp"]\n')
    assert [server.name for server in load_settings(root).mcp.servers] == ["wiki"]
    trust_project(root)
    assert [server.name for server in load_settings(root).mcp.servers] == ["wiki", "jira"]


def test_a_server_that_was_changed_is_not_trusted_any_more(write):
    root = write('[mcp.servers.jira]\ncommand = ["python", "server.py"]\n')
    (root / "server.py").write_text("print('good')")
    trust_project(root)
    assert load_settings(root).mcp.servers
    (root / "server.py").write_text("print('bad')")
    assert load_settings(root).mcp.servers == ()
    trust_project(root)
    write('[mcp.servers.jira]\ncommand = ["python", "server.py"]\nenv = ["OPENAI_API_KEY"]\n')
    assert load_settings(root).mcp.servers == ()
