"""Fields that older releases do not know."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.constraints.constraint import constraints
from kubectl_spread.objects.releases.field_versions import ignored_fields, stored_spec

TERM = {"topologyKey": "zone", "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"], "namespaceSelector": {}}
SPEC: dict[str, Any] = {
    "topologySpreadConstraints": [
        {
            "topologyKey": "zone",
            "minDomains": 2,
            "nodeAffinityPolicy": "Ignore",
            "nodeTaintsPolicy": "Honor",
            "matchLabelKeys": ["a"],
        },
        {"topologyKey": "rack"},
    ],
    "affinity": {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]},
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]
        },
    },
    "schedulingGates": [{"name": "wait"}],
    "initContainers": [{"name": "i", "restartPolicy": "Always"}],
    "resources": {"requests": {"cpu": 1}},
    "resourceClaims": [{"name": "gpu"}],
}


@pytest.mark.parametrize(
    ("minor", "added"),
    [
        (34, []),
        (33, ["resources of the pod", "resourceClaims"]),
        (30, ["matchLabelKeys of podAffinity", "mismatchLabelKeys of podAffinity"]),
        (28, ["restartPolicy of init containers"]),
        (26, ["minDomains", "matchLabelKeys", "schedulingGates"]),
        (25, ["nodeAffinityPolicy", "nodeTaintsPolicy"]),
        (21, ["namespaceSelector of podAffinity", "namespaceSelector of podAntiAffinity"]),
    ],
)
def test_a_release_drops_what_came_after_it(minor: int, added: list[str]) -> None:
    """And nothing that was there the release before."""
    assert set(added) <= set(stored_spec(SPEC, minor).ignored)
    assert set(added).isdisjoint(stored_spec(SPEC, minor + 6).ignored)


def test_what_is_dropped_is_gone_and_the_rest_stays() -> None:
    """The spec that was given is not changed."""
    kept = stored_spec(SPEC, 20).spec

    assert [{"topologyKey": "zone"}, {"topologyKey": "rack"}] == kept["topologySpreadConstraints"]
    assert [{"topologyKey": "zone"}] == kept["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert {"topologySpreadConstraints", "affinity", "initContainers"} == set(kept)
    assert 2 == SPEC["topologySpreadConstraints"][0]["minDomains"]


def test_nothing_is_dropped_that_is_not_written() -> None:
    assert ({"containers": []}, ()) == stored_spec({"containers": []}, 18)


def test_a_stored_constraint_is_looked_at_in_the_same_way() -> None:
    known = constraints(SPEC)

    assert ("minDomains", "matchLabelKeys") == ignored_fields(known, 26)
    assert () == ignored_fields(known, 27)
