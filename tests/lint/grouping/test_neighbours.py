"""The neighbours of a workload, joined from parts, answer as one group of them does."""

from __future__ import annotations

import os
import random

import pytest

from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.project import Neighbourhoods, Neighbours, Project, SelectorGroup
from kubectl_spread.lint.workload import Area, Subject
from kubectl_spread.text.source import SourceFile

DIRECTORIES = ("/", "/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f")
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: {name}, tier: web}}}}
  template:
    metadata: {{labels: {{app: {name}, tier: web, side: {side}}}}}
    spec:
      topologySpreadConstraints:
      - maxSkew: {skew}
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {{matchLabels: {{tier: web}}}}
"""


def subjects(chance: random.Random) -> list[Subject]:
    """Workloads of one group, with copies among them."""
    text = "---\n".join(
        DEPLOYMENT.format(name=f"web-{chance.randrange(9)}", side=chance.choice("lr"), skew=chance.randint(1, 2))
        for _ in range(12)
    )
    return list(Project(check_source(SourceFile("web.yaml", text), named=True).subjects).subjects)


def are_neighbours(one: Area, other: Area) -> bool:
    """Whether workloads of two areas count for each other, as the module says it."""
    common = os.path.commonpath((one.directory, other.directory))
    return common in (one.directory, other.directory) or (one.names_namespace and other.names_namespace)


@pytest.mark.parametrize("seed", range(25))
def test_neighbours_answer_as_one_group(seed: int) -> None:
    chance = random.Random(seed)
    members = subjects(chance)
    areas = {id(item): Area(chance.choice(DIRECTORIES), chance.random() < 0.5) for item in members}
    for item in members:
        item.area = areas[id(item)]
    neighbourhoods = Neighbourhoods(SelectorGroup(members))

    for subject in members:
        near = [item for item in members if are_neighbours(areas[id(subject)], areas[id(item)])]
        joined, expected = neighbourhoods.of(subject), Neighbours([SelectorGroup(near)])
        constraint = subject.constraints[0]
        assert list(joined.others(subject)) == list(expected.others(subject))
        assert joined.count_others(subject) == expected.count_others(subject)
        for label in subject.labels.items():
            assert joined.tells_apart(subject, label) == expected.tells_apart(subject, label)
            assert joined.has_another(subject, dict([label])) == expected.has_another(subject, dict([label]))
        assert list(joined.twins(subject, constraint)) == list(expected.twins(subject, constraint))
