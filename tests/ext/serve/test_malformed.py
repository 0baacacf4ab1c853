"""Whatever comes in, the answers are those that the description promises, and never that the server failed."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

REPEATABLE = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
OPERATIONS = [
    *(("POST", path) for path in ("/parse", "/sentences", "/explore", "/draw")),
    *(("GET", path) for path in ("/health", "/info")),
]


@pytest.fixture(scope="module")
def description(app):
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def test_every_operation_is_here(app):
    paths = app.openapi()["paths"].items()
    assert sorted(OPERATIONS) == sorted((method.upper(), path) for path, methods in paths for method in methods)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_answers_conform(description, method, path, mode):
    if method == "GET" and mode == GenerationMode.NEGATIVE:
        mode = GenerationMode.POSITIVE  # nothing in these requests can be wrong
    statuses = set()

    @REPEATABLE
    @given(description[path][method].as_strategy(generation_mode=mode))
    def check(case):
        # What is wrong with CoNLL-U or a constraint is more than a description of JSON can say.
        answer = case.call_and_validate(excluded_checks=[positive_data_acceptance])
        statuses.add(answer.status_code)

    check()
    if method == "POST":
        assert (200 if mode == GenerationMode.POSITIVE else 422) in statuses
