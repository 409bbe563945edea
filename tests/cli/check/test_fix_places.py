"""Places and numbers of a run with --fix: the places are those of the file on disk, and the numbers hold."""

from __future__ import annotations

import gzip
import json
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.errors import SourceError
from kubectl_spread.operations import check, fix
from kubectl_spread.operations.check import CheckRequest
from kubectl_spread.operations.cluster_facts import ClusterSource, Notice

TESTS = Path(__file__).parents[2]
CASES = sorted([*TESTS.glob("cases/lint/**/*.yaml"), *TESTS.glob("lint/published/*.*")])
_TAKEN = 3  # every third file is taken as it is, and every third one is mutated
_SLOWEST = 20_000  # bytes

# The first fix adds lines above the findings of the second object. Its misspelt field cannot be corrected, because
# the API server would then refuse the keys in it.
TWO = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers: [{name: api, image: api}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: api}}
        matchLabelKey: [app, app!]
"""
LINE = TWO.splitlines().index("        matchLabelKey: [app, app!]") + 1


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _line_on_disk() -> int:
    return Path("web.yaml").read_text().splitlines().index("        matchLabelKey: [app, app!]") + 1


def test_a_refused_fix_is_named_at_its_place_on_disk(capsys: pytest.CaptureFixture[str]) -> None:
    """The other fixes added lines above it."""
    Path("web.yaml").write_text(TWO)
    run(["check", "web.yaml", "--fix", "--unsafe-fixes", "-o", "concise"])
    captured = capsys.readouterr()

    line = _line_on_disk()
    assert line > LINE
    assert f"warning: web.yaml:{line}:9: SPR114 is not fixed: " in captured.err
    assert f"web.yaml:{line}:9: error SPR114 " in captured.out
    assert f":{LINE}:" not in captured.err + captured.out


def test_a_refused_fix_of_a_diff_is_named_at_its_place_in_the_unchanged_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("web.yaml").write_text(TWO)
    run(["check", "web.yaml", "--diff", "--unsafe-fixes"])

    assert f"warning: web.yaml:{LINE}:9: SPR114 is not fixed: " in capsys.readouterr().err
    assert TWO == Path("web.yaml").read_text()


def test_a_file_that_cannot_be_written_has_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    """No fix of it was made, so that no fix was refused; the findings are those of the old text."""
    Path("web.yaml").write_bytes(gzip.compress(TWO.encode()))
    run(["check", "web.yaml", "--fix", "--unsafe-fixes", "-o", "concise"])
    captured = capsys.readouterr()

    assert ["error: web.yaml: not fixed: it is compressed"] == [
        line for line in captured.err.splitlines() if "not fixed" in line
    ]
    assert f"web.yaml:{LINE}:9: error SPR114 " in captured.out


def _json(text: str) -> list[Any]:
    return [(item["code"], item["line"], item["column"], item.get("fix")) for item in json.loads(text)["findings"]]


def _sarif(text: str) -> list[Any]:
    results = json.loads(text)["runs"][0]["results"]
    return [(item["ruleId"], item["locations"], item.get("fixes")) for item in results]


def _gitlab(text: str) -> list[Any]:
    return [(item["check_name"], item["location"]) for item in json.loads(text)]


def _junit(text: str) -> list[Any]:
    return [
        (case.get("name"), case.get("line"), "".join(case.itertext())) for case in ET.fromstring(text).iter("testcase")
    ]


FORMATS: dict[str, Callable[[str], list[Any]]] = {
    "text": lambda text: re.findall(r"^web\.yaml:\d+:\d+: \w+ \w+", text, re.MULTILINE),
    "concise": str.splitlines,
    "json": _json,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
    "sarif": _sarif,
    "github": str.splitlines,
    "gitlab": _gitlab,
    "junit": _junit,
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_names_the_places_on_disk(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A run with --fix reports the same findings as a run after it."""
    Path("web.yaml").write_text(TWO)
    run(["check", "web.yaml", "--fix", "--unsafe-fixes", "-o", name])
    after_fixes = FORMATS[name](capsys.readouterr().out)
    run(["check", "web.yaml", "-o", name])

    assert after_fixes == FORMATS[name](capsys.readouterr().out)
    assert after_fixes


def _mutated(text: str, chance: random.Random) -> str:
    """Return a text with a few lines removed, repeated, misspelt or of another type."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        change = chance.randrange(5)
        if change == 0 and len(lines) > 1:
            del lines[at]
        elif change == 1:
            lines[at:at] = lines[at : at + chance.randrange(12)]
        elif change == 2:
            lines[at] = re.sub(r"\d+", lambda _: chance.choice(["0", '"1"', "-1", "5"]), lines[at])
        elif change == 3:
            lines[at] = re.sub(r"(\w)\w(\w)", r"\1\2", lines[at], count=1)
        else:
            lines[at] = lines[at].swapcase()
    return "\n".join(lines)


def _texts() -> Iterator[tuple[str, str]]:
    for number, file in enumerate(CASES):
        text = file.read_bytes().decode("utf-8", "replace")
        if len(text) > _SLOWEST:
            continue
        if number % _TAKEN == 0:
            yield file.name, text
        if number % _TAKEN == 1:
            yield file.name, _mutated(text, random.Random(number))


@pytest.mark.parametrize(
    ("name", "text"), [pytest.param(*item, id=f"{at}-{item[0]}") for at, item in enumerate(_texts())]
)
def test_the_offered_number_is_fixed_and_places_are_on_disk(name: str, text: str) -> None:
    """`can be fixed: N` is the number of the next run with --fix. A run after that reports the same findings."""
    for unsafe in (False, True):
        Path(name).write_text(text)
        heard: list[Notice] = []
        request = CheckRequest((name,), source=ClusterSource(listener=heard.append))
        try:
            offered = fix.count_fixable(check.check_files(request))
        except SourceError:
            return  # nothing in it
        left = fix.fix_files(request, unsafe=unsafe)
        again = check.check_files(CheckRequest((name,)))

        assert offered.safe + (offered.unsafe if unsafe else 0) == left.report.checked["fixed"]
        assert _places(left) == _places(again)
        named = {f"{line}:{column}" for _, line, column, _ in _places(again)}
        assert all(":".join(notice.text.split(":")[1:3]) in named for notice in heard if "is not fixed" in notice.text)


def _places(result: check.CheckResult) -> list[tuple[str, int, int, str]]:
    return [
        (finding.rule.code, *finding.place.source.position(finding.place.span.start), finding.message)
        for finding in result.report.findings
    ]
