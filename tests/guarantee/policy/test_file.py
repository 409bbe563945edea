"""Policy files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.errors import ConfigError
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import PLACED, Regime, REGIMES
from kubectl_spread.sources import policy_file
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile

REDIS = """\
apiVersion: kubectl-spread/v1
kind: Policy
regimes: [restarts, creation]
groups:
- name: redis
  namespace: cache
  selector:
    matchLabels: {cluster: redis}
  replicas: 2..4
  maxShare:
    hostname: <1/3
    zone: 50%
  maxCount: {hostname: 4}
  minDomains: {zone: 2}
  separate: [zone]
  survive:
  - {key: zone, keep: quorum}
  - {key: hostname, domains: 2, keep: 3}
  placed: false
- minDomains: {zone: 2}
"""


def load(text: str, folder: Path) -> policy_file.Policy:
    path = folder / "ha.yaml"
    path.write_text(text, encoding="utf-8")
    return policy_file.load(str(path))


def problems(text: str, folder: Path) -> list[tuple[int, int, str]]:
    with pytest.raises(ConfigError) as caught:
        load(text, folder)
    return [(item.line, item.column, item.message) for item in caught.value.problems]


def test_a_policy_has_groups_with_rules(tmp_path: Path) -> None:
    """Rules are the same as those of flags, with their places."""
    found = load(REDIS, tmp_path)
    redis, other = found.groups

    assert (found.name, found.regimes) == ("ha", (Regime.CREATION, Regime.RESTARTS))
    assert [rule._replace(line=0, column=0) for rule in redis.rules] == [
        texts.less_than("hostname=1/3"),
        texts.at_most("zone=50%"),
        texts.max_count("hostname=4"),
        texts.min_domains("zone=2"),
        texts.separate("zone"),
        texts.survive("zone", "quorum"),
        texts.survive("hostname=2", "3"),
    ]
    assert [(rule.line, rule.column) for rule in redis.rules][:3] == [(11, 15), (12, 11), (13, 24)]
    assert (redis.name, redis.namespace, redis.is_each, redis.replicas) == ("redis", "cache", False, (2, 4))
    assert redis.selector is not None
    assert redis.selector.matches({"cluster": "redis"})
    assert not redis.selector.matches({"cluster": "other"})
    assert (other.is_each, other.selector, other.rules[-1]) == (True, None, PLACED)
    assert found._replace(groups=(other,)).regimes != REGIMES


@pytest.mark.parametrize(("placed", "expected"), [("", [False, True, True]), ("  placed: true\n", [False] * 3)])
def test_a_rule_that_the_policy_has_is_not_implied(placed: str, expected: list[bool], tmp_path: Path) -> None:
    text = "apiVersion: kubectl-spread/v1\nkind: Policy\ngroups:\n- survive: [{key: zone, keep: quorum}]\n"
    (group,) = load(text + placed, tmp_path).groups

    assert [rule.is_implied for rule in group.rules] == expected


def test_the_schema_accepts_what_is_read(tmp_path: Path) -> None:
    """The reader's validator and the jsonschema package agree."""
    source = SourceFile("ha.yaml", REDIS)
    plain = nodes.to_plain(next(iter(compose.compose(source))).root)  # type: ignore[union-attr]

    jsonschema.validate(json.loads(json.dumps(plain)), schemas.load("policy"))
    assert load(REDIS, tmp_path).groups


def test_every_mistake_has_its_place(tmp_path: Path) -> None:
    """All mistakes are listed, with the nearest match."""
    text = """\
apiVersion: kubectl-spread/v1
kind: Policy
groups:
- maxShar: {zone: 1/2}
  maxCount: {hostname: x}
  maxShare: {zone: 3/2, zones: 1/2}
  survive: [{key: zone, keep: quorm}]
  minDomains: {zone: 0.5}
  replicas: 9..3
"""

    assert problems(text, tmp_path) == [
        (4, 3, "groups[0]: unknown key `maxShar`: did you mean `maxShare`?"),
        (5, 24, "groups[0].maxCount.hostname: must be a number, not text: x"),
        (6, 20, "groups[0].maxShare.zone: 3/2 is not a share: write a fraction between 0 and 1, such as 1/3"),
        (
            6,
            32,
            (
                "groups[0].maxShare.zones: zones is neither zone, node or region nor a label such as "
                "example.com/rack; did you mean `zone`?"
            ),
        ),
        (7, 13, "groups[0].survive[0]: quorm is neither a share nor a number of pods: did you mean `quorum`?"),
        (8, 22, "groups[0].minDomains.zone: must be a whole number of at least 1, not 0.5"),
        (9, 13, "groups[0].replicas: 9 is greater than 3: write 3..9"),
    ]


def test_a_group_needs_a_rule(tmp_path: Path) -> None:
    """Without a rule there is nothing to prove."""
    text = "apiVersion: kubectl-spread/v1\nkind: Policy\ngroups:\n- name: web\n"

    assert problems(text, tmp_path) == [
        (4, 3, "groups[0]: the group has no rule: add one of maxShare, maxCount, minDomains, separate, survive")
    ]


def test_a_group_with_a_wrong_rule_has_a_rule(tmp_path: Path) -> None:
    text = "apiVersion: kubectl-spread/v1\nkind: Policy\ngroups:\n- maxShare: {zone: 150%}\n"

    assert problems(text, tmp_path) == [(4, 20, "groups[0].maxShare.zone: 150% is not a share: write at most 100%")]


def test_labels_of_a_selector_are_checked(tmp_path: Path) -> None:
    """As the API server would check them."""
    text = """\
apiVersion: kubectl-spread/v1
kind: Policy
groups:
- selector:
    matchLabels: {app: "a b"}
    matchExpressions:
    - {key: tier, operator: In}
  minDomains: {zone: 2}
"""
    found = problems(text, tmp_path)

    assert [(line, column) for line, column, _ in found] == [(5, 24), (7, 7)]
    assert found[1][2] == "groups[0].selector.matchExpressions[0]: In needs values"


@pytest.mark.parametrize("text", ["", "# only a comment\n"])
def test_a_file_without_a_document_is_empty(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ha\.yaml: the file is empty"):
        load(text, tmp_path)


def test_a_file_that_is_no_yaml_is_an_error_with_its_place(tmp_path: Path) -> None:
    """So are several documents."""
    with pytest.raises(ConfigError) as caught:
        load("a: [", tmp_path)
    assert caught.value.problems[0].line
    with pytest.raises(ConfigError, match="a policy must be one YAML document, this has 2"):
        load("a: 1\n---\nb: 2\n", tmp_path)
