"""InterPodAffinity, tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import HOSTNAME, node, pod, terminating, ZONE
from tests.scheduler.plugins.asking import Answer, filtered, FITS, scored, U, UU

Plain = dict[str, Any]

AFFINITY = UU("node(s) didn't match pod affinity rules")
ANTI = U("node(s) didn't match pod anti-affinity rules")
THEIRS = U("node(s) didn't satisfy existing pods anti-affinity rules")
DB, WEB = {"app": "db"}, {"app": "web"}


def term(labels: Any, key: str = ZONE, **more: Any) -> Plain:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}


def near(*terms: Plain) -> Plain:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def apart(*terms: Plain) -> Plain:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


NODES = [
    node("a1", labels={ZONE: "A", HOSTNAME: "a1"}),
    node("a2", labels={ZONE: "A", HOSTNAME: "a2"}),
    node("b1", labels={ZONE: "B", HOSTNAME: "b1"}),
    node("bare"),
]


def answers(a1: Answer, a2: Answer, b1: Answer, bare: Answer) -> dict[str, Answer]:
    return {"a1": a1, "a2": a2, "b1": b1, "bare": bare}


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        pytest.param(near(term(DB)), answers(FITS, FITS, AFFINITY, AFFINITY), id="near: the whole zone"),
        pytest.param(near(term(DB, HOSTNAME)), answers(FITS, AFFINITY, AFFINITY, AFFINITY), id="near: the node"),
        pytest.param(near(term({"app": "x"})), answers(*[AFFINITY] * 4), id="near: no pod matches"),
        # The pod matches its own term and no other pod does: every node with the key fits.
        pytest.param(near(term(WEB)), answers(FITS, FITS, FITS, AFFINITY), id="near: the first of its kind"),
        pytest.param(apart(term(DB)), answers(ANTI, ANTI, FITS, FITS), id="apart: the whole zone"),
        pytest.param(apart(term(DB, HOSTNAME)), answers(ANTI, FITS, FITS, FITS), id="apart: the node"),
        pytest.param(apart(term(WEB)), answers(*[FITS] * 4), id="apart: the pod itself does not count"),
        pytest.param(apart(term(DB, namespaces=["other"])), answers(*[FITS] * 4), id="apart: of another namespace"),
        pytest.param(
            apart(term(DB, namespaceSelector={})), answers(ANTI, ANTI, FITS, FITS), id="apart: of all namespaces"
        ),
        pytest.param(
            near(term(DB)) | apart(term(DB, HOSTNAME)),
            answers(ANTI, FITS, AFFINITY, AFFINITY),
            id="in the zone and not on the node",
        ),
        pytest.param({}, answers(*[FITS] * 4), id="no terms anywhere"),
    ],
)
def test_required_terms_choose_domains(affinity: Plain, expected: Any) -> None:
    """A database pod runs on a1; the incoming pod is of app web."""
    database = pod("db-0", on="a1", labels=DB)

    assert expected == filtered("InterPodAffinity", pod("p", labels=WEB, affinity=affinity), *NODES, database)


@pytest.mark.parametrize(
    ("existing", "labels", "expected"),
    [
        pytest.param(apart(term(WEB)), WEB, answers(THEIRS, THEIRS, FITS, FITS), id="against this pod"),
        pytest.param(apart(term(WEB, HOSTNAME)), WEB, answers(THEIRS, FITS, FITS, FITS), id="on its node"),
        pytest.param(apart(term(DB)), WEB, answers(*[FITS] * 4), id="against others"),
        pytest.param(near(term(WEB)), WEB, answers(*[FITS] * 4), id="their affinity asks for nothing"),
        pytest.param(apart(term(WEB, namespaces=["other"])), WEB, answers(*[FITS] * 4), id="against another namespace"),
    ],
)
def test_anti_affinity_of_existing_pods_counts(existing: Plain, labels: Any, expected: Any) -> None:
    """A running pod on a1 keeps the incoming pod out."""
    running = pod("db-0", on="a1", labels=DB, affinity=existing)

    assert expected == filtered("InterPodAffinity", pod("p", labels=labels), *NODES, running)


def test_a_terminating_pod_counts() -> None:
    """Unlike in PodTopologySpread."""
    database = terminating(pod("db-0", on="a1", labels=DB))
    incoming = pod("p", affinity=apart(term(DB)))

    assert answers(ANTI, ANTI, FITS, FITS) == filtered("InterPodAffinity", incoming, *NODES, database)


def test_one_pod_must_match_all_affinity_terms() -> None:
    """Two pods that match one term each satisfy neither."""
    pods = [pod("x", on="a1", labels={"x": "1"}), pod("y", on="a1", labels={"y": "1"})]
    incoming = pod("p", affinity=near(term({"x": "1"}), term({"y": "1"})))

    assert answers(*[AFFINITY] * 4) == filtered("InterPodAffinity", incoming, *NODES, *pods)


def prefers(kind: str, *terms: tuple[int, Plain]) -> Plain:
    preferred = [{"weight": weight, "podAffinityTerm": item} for weight, item in terms]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


@pytest.mark.parametrize(
    ("incoming", "existing", "expected"),
    [
        pytest.param({}, {}, None, id="no preference anywhere: PreScore skips"),
        pytest.param(prefers("podAffinity", (10, term(DB))), {}, {"a1": 100, "a2": 100, "b1": 0, "bare": 0}, id="near"),
        pytest.param(
            prefers("podAntiAffinity", (10, term(DB))), {}, {"a1": 0, "a2": 0, "b1": 100, "bare": 100}, id="apart"
        ),
        # a1 10 + 5, a2 10, b1 and bare 0: 100 * 10 / 15 = 66.7.
        pytest.param(
            prefers("podAffinity", (10, term(DB)), (5, term(DB, HOSTNAME))),
            {},
            {"a1": 100, "a2": 66, "b1": 0, "bare": 0},
            id="weights add up, and the result is truncated",
        ),
        pytest.param({}, near(term(WEB)), {"a1": 100, "a2": 100, "b1": 0, "bare": 0}, id="their required affinity"),
        pytest.param(
            {},
            prefers("podAntiAffinity", (7, term(WEB, HOSTNAME))),
            {"a1": 0, "a2": 100, "b1": 100, "bare": 100},
            id="their preferred anti-affinity",
        ),
        # a1 10 - 10, a2 10, b1 0: 100, and 0 for all others.
        pytest.param(
            prefers("podAffinity", (10, term(DB))),
            prefers("podAntiAffinity", (10, term(WEB, HOSTNAME))),
            {"a1": 0, "a2": 100, "b1": 0, "bare": 0},
            id="both sides add up",
        ),
        pytest.param(prefers("podAffinity", (10, term({"app": "x"}))), {}, None, id="no pod matches: nothing recorded"),
    ],
)
def test_preferred_terms_score_domains(incoming: Plain, existing: Plain, expected: Any) -> None:
    """The lowest sum is 0 and the highest is 100."""
    running = pod("db-0", on="a1", labels=DB, affinity=existing)

    assert expected == scored("InterPodAffinity", pod("p", labels=WEB, affinity=incoming), *NODES, running)


def test_the_weight_of_required_affinity_can_be_switched_off() -> None:
    """With hardPodAffinityWeight 0 the required affinity of the running pod scores nothing."""
    running = pod("db-0", on="a1", labels=DB, affinity=near(term(WEB)))
    arguments = {"hardPodAffinityWeight": 0}

    assert scored("InterPodAffinity", pod("p", labels=WEB), *NODES, running, arguments=arguments) is None
