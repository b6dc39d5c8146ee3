"""A question asks for a writing tool only if it is a request in the tool's own words."""

from oracle.models.tool_spec import ToolSpec
from oracle.services.control.asked_for import asks_for, is_a_report
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
        ("Restart service fails with a timeout", RESTART),
        ("Restart service was removed in 3.0", RESTART),
        ("restart service test is flaky", RESTART),
        ("restart the service is a bad idea", RESTART),
        ("Restart the service only if I say so", RESTART),
        ("restart service: how does it work", RESTART),
        ("Restart the service, not", RESTART),
        ("> restart the service\nwhat does this line of the log mean", RESTART),
        ("deploy the release is documented where", DEPLOY),
    ],
)
def test_any_other_question_does_not(question, tool):
    assert not asks_for(question, tool)


@each_row(
    ("question", "is_one"),
    [
        ("Write a note endpoint returns 404", True),
        ("Save a note fails with IntegrityError", True),
        ("Add a note button does nothing", True),
        ("Save note test is flaky", True),
        ("Log the decision modal is broken", True),
        ("> save a note about it", True),
        ("Write a note: the endpoint returns 404", False),
        ("Save a note that the login fails", False),
        ("Save a note about what the endpoint returns", False),
        ("Push a decision to the thread caching", False),
        ("Remember the milk API is down", False),
        ("> it fails\nSave a note about it", False),
        ("", False),
    ],
)
def test_a_report_may_begin_like_an_order_to_write_a_note(question, is_one):
    assert is_a_report(question) is is_one
