"""The API keeps what its description promises, for requests that nobody would write by hand."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from oracle.api.rules import RULES
from oracle.testing import ScriptedModel
from tests.api.conftest import serving
from tests.api.test_access import PAGE, bearer, make

pytestmark = pytest.mark.extra
UNDESCRIBED = {
    *PAGE,
    *("GET /docs", "GET /docs/oauth2-redirect", "GET /openapi.json"),
    # It has a protocol of its own.
    *("GET /mcp", "POST /mcp", "DELETE /mcp"),
}
THOROUGH = settings(
    # The first ones hold what is odd: nothing, the longest, another type, a letter of elsewhere.
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    # What fails is shown as it is: to look for a shorter request would take minutes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("contract")
    (root / "oracle.toml").write_text("")
    (root / "auth.py").write_text("def login():\n    return True\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORACLE_SERVER_REQUESTS_PER_MINUTE", "off")
        with serving(root, ScriptedModel("Hm.", repeats_last=True)) as server:
            server.token = bearer(make(server))
            yield server


@pytest.fixture(scope="module")
def description(server):
    schemathesis = pytest.importorskip("schemathesis")
    return schemathesis.openapi.from_url(f"{server.address}/openapi.json", headers=server.token)


@pytest.mark.parametrize("is_valid", [True, False], ids=["valid", "invalid"])
@pytest.mark.parametrize("rule", sorted(RULES.keys() - UNDESCRIBED))
def test_each_response_is_one_that_the_description_allows(server, description, rule, is_valid):
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi import checks

    # A question may be empty for other reasons than its length, and parameters that a route does
    # not know have no effect.
    not_promised = [checks.positive_data_acceptance, checks.negative_data_rejection]
    method, _, path = rule.partition(" ")
    mode = GenerationMode.POSITIVE if is_valid else GenerationMode.NEGATIVE
    operation = description[path][method]

    @THOROUGH
    @given(case=operation.as_strategy(generation_mode=mode))
    def conforms(case):
        response = case.call(headers=server.token)
        case.validate_response(response, excluded_checks=not_promised)

    try:
        conforms()
    except Unsatisfiable:
        # There is nothing that a request without any part could have wrong.
        assert (RULES[rule], is_valid) == ("nothing", False)
