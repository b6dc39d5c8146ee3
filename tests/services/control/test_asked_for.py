"""A question asks for a writing tool only if it is a request in the tool's own words."""

from oracle.models.tool_spec import ToolSpec
from oracle.services.control.asked_for import asks_for
from tests.tables import each_row


def writing(name, description):
    return ToolSpec(name=name, description=description, parameters={"type": "object"}, writes=True)


RESTART = writing("restart_service", "Restart a service of the shop.")
DEPLOY = writing("deploy", "Deploys a release to staging.")
BOUNCE = writing("bounce_it", "Restart the service that hangs.")


@each_row(
    ("question", "tool"),
    [
        ("Restart the web service", RESTART),
        ("please restart the web service.", RESTART),
        ("Could you restart the web service?", RESTART),
        ("run restart_service on web", RESTART),
        ("restart_service web", RESTART),
        ("The web service hangs, restart it", RESTART),
        ("Fix nothing and restart all services", RESTART),
        ("Restart the web service", BOUNCE),
        ("Deploy the release", DEPLOY),
    ],
)
def test_a_request_in_the_words_of_the_tool_asks_for_it(question, tool):
    assert asks_for(question, tool)


@each_row(
    ("question", "tool"),
    [
        ("Save a note about the login", RESTART),
        ("Restart the build", RESTART),
        ("How do I restart the service?", RESTART),
        ("What does restart_service do?", RESTART),
        ("Do not restart the service", RESTART),
        ("Never run restart_service", RESTART),
        ("Explain how to restart the service", RESTART),
        ("Restarting the service takes long", RESTART),
        ('Write a note that says "restart the service"', RESTART),
        ("Write a note:\n```\nrestart the service\n```", RESTART),
        ("Deploy it", DEPLOY),
        ("Where is the release deployed?", DEPLOY),
        ("", RESTART),
    ],
)
def test_any_other_question_does_not(question, tool):
    assert not asks_for(question, tool)
