"""`check --fix` and `check --diff`: what changes in the files, and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.errors import SourceError
from kubectl_spread.lint.check_source import Result

CASES = Path(__file__).parents[2] / "cases" / "lint"

WEB = """\
# the shop
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, labels: {version: "1"}}   # two
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web"}]
      topologySpreadConstraints:
      - maxSkew: 1   # one
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: WHEN
        nodeTaintsPolicy: Honor
        labelSelector: {matchLabels: {app: web}}
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
"""
BAD, GOOD = WEB.replace("WHEN", "doNotSchedule"), WEB.replace("WHEN", "DoNotSchedule")

Fixed = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fixed(capsys: pytest.CaptureFixture[str]) -> Fixed:
    """Run `check --fix` on a text: the exit code, and what the file then holds."""

    def fix(text: str, *flags: str) -> tuple[int, str]:
        Path("web.yaml").write_bytes(text.encode())
        code = run(["check", "web.yaml", *(flags or ("--fix",))])
        return code, Path("web.yaml").read_bytes().decode()

    return fix


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_nothing_but_the_fix_changes(fixed: Fixed, start: str, line_end: str) -> None:
    def text(body: str) -> str:
        return start + body.replace("\n", line_end)

    assert (0, text(GOOD)) == fixed(text(BAD))


def test_a_second_run_changes_nothing(fixed: Fixed) -> None:
    assert (0, GOOD) == fixed(GOOD)


def test_an_unsafe_fix_is_made_when_asked_for(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("maxSkew: 1   # one", "maxSkew: 0   # one")

    assert (1, text) == fixed(text)
    assert "can be fixed: 1 with --fix --unsafe-fixes" in capsys.readouterr().err
    assert (0, GOOD) == fixed(text, "--fix", "--unsafe-fixes")


def test_the_summary_counts_what_was_fixed(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    fixed(BAD)

    assert "checked 1 workload in 1 file: 1 fixed, no findings left\n" == capsys.readouterr().err


def test_a_diff_changes_nothing_and_can_be_applied(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that end otherwise, and a last line that does not end, are as patch wants them."""
    text = BAD.rstrip("\n").replace("# the shop\n", "# the shop\r\n")

    assert (1, text) == fixed(text, "--diff")
    out, err = capsys.readouterr()
    assert "would fix 1 finding in 1 file\n" == err
    subprocess.run(["git", "apply", "-"], input=out.encode(), check=True)
    assert text.replace("doNot", "DoNot") == Path("web.yaml").read_bytes().decode()


def test_a_diff_of_nothing_is_clean(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    assert (0, GOOD) == fixed(GOOD, "--diff")
    assert ("", "nothing to fix\n") == capsys.readouterr()


def test_a_diff_of_nothing_says_what_unsafe_fixes_would_do(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("maxSkew: 1   # one", "maxSkew: 0   # one")

    assert (0, text) == fixed(text, "--diff")
    assert ("", "no safe fix; 1 finding has an unsafe fix: add --unsafe-fixes\n") == capsys.readouterr()


def test_a_diff_of_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode()), encoding="utf-8"))

    assert 1 == run(["check", "-", "--diff"])
    assert "+++ b/<stdin>\n" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["-", "--fix"], ["web.yaml", "--unsafe-fixes"]])
def test_what_cannot_be_meant_is_refused(args: list[str]) -> None:
    assert 2 == run(["check", *args])


def test_links_and_modes_stay(fixed: Fixed) -> None:
    Path("real.yaml").write_text(BAD)
    os.chmod("real.yaml", 0o600)
    os.symlink("real.yaml", "link.yaml")
    run(["check", "link.yaml", "--fix"])

    assert os.path.islink("link.yaml")
    assert (GOOD, 0o600) == (Path("real.yaml").read_text(), stat.S_IMODE(os.stat("real.yaml").st_mode))


def test_a_file_that_is_named_twice_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("web.yaml").write_text(BAD)

    assert 0 == run(["check", "web.yaml", "./web.yaml", "--fix"])
    assert GOOD == Path("web.yaml").read_text()


def test_what_is_behind_an_alias_is_left_and_said(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    """The anchor is used elsewhere, too: what stands there is not this object's alone."""
    anchored = BAD.replace("labels: {version", "annotations: {x: &when doNotSchedule}, labels: {version")
    text = anchored.replace("whenUnsatisfiable: doNotSchedule", "whenUnsatisfiable: *when")

    code, after = fixed(text)

    assert (0, text.replace("whenUnsatisfiable: *when", "whenUnsatisfiable: DoNotSchedule")) == (code, after)


def test_what_is_merged_is_left_and_said(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    text = BAD.replace("      - maxSkew: 1   # one\n", "      - <<: *base\n        maxSkew: 1   # one\n")
    text = "x: &base {whenUnsatisfiable: doNotSchedule}\n" + text.replace(
        "        whenUnsatisfiable: doNotSchedule\n", ""
    )

    assert (1, text) == fixed(text)
    err = capsys.readouterr().err
    assert "SPR104 is not fixed: an alias refers to it" in err
    assert "can be fixed" not in err


def test_what_is_suppressed_is_not_fixed(fixed: Fixed) -> None:
    text = BAD.replace("doNotSchedule\n", "doNotSchedule  # spread: ignore[SPR104] on purpose\n")

    assert (0, text) == fixed(text)


def test_other_files_are_fixed_where_one_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(BAD)
    Path("b.yaml").write_bytes(b"\xff\xfe")
    Path("c.yaml").write_text(BAD)

    assert 3 == run(["check", ".", "b.yaml", "--fix"])
    assert GOOD == Path("a.yaml").read_text() == Path("c.yaml").read_text()


@pytest.mark.skipif(os.name == "nt", reason="modes of folders")
def test_a_file_that_cannot_be_written_is_an_error_among_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.yaml").write_text(BAD)
    Path("b.yaml").write_text(BAD)
    replace = os.replace

    def fails(draft: str, target: str) -> None:
        if target.endswith("a.yaml"):
            raise OSError(28, "No space left on device")
        replace(draft, target)

    monkeypatch.setattr("os.replace", fails)

    assert 3 == run(["check", ".", "--fix"])
    assert (BAD, GOOD) == (Path("a.yaml").read_text(), Path("b.yaml").read_text())
    assert ["a.yaml", "b.yaml"] == sorted(os.listdir())


def test_a_json_manifest_stays_json(fixed: Fixed) -> None:
    from kubectl_spread.text import compose
    from kubectl_spread.text import node as nodes
    from kubectl_spread.text.source import SourceFile

    (document,) = compose.compose(SourceFile("web.yaml", BAD))
    assert isinstance(document, compose.Document)
    text = json.dumps(nodes.to_plain(document.root), indent=4)

    assert (0, text.replace("doNot", "DoNot")) == fixed(text)


def test_the_report_holds_the_edits(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    fixed(BAD, "-o", "json")
    (finding,) = json.loads(capsys.readouterr().out)["findings"]

    edit = {"file": "web.yaml", "line": 15, "column": 28, "endLine": 15, "endColumn": 41, "text": "DoNotSchedule"}
    assert {"title": "write DoNotSchedule", "safety": "safe", "edits": [edit]} == finding["fix"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("whenUnsatisfiable: DoNotSchedule", "whenUnsatisfiable: donotschedule"),
        ("nodeTaintsPolicy: Honor", "NodeTaintsPolicy: Honor"),
        ("nodeTaintsPolicy: Honor", "nodeTaintsPolicy: honor"),
        ("nodeTaintsPolicy: Honor\n", "nodeTaintsPolicy: Honor\n        minDomains: 0\n"),
        ("ScheduleAnyway\n", "ScheduleAnyway\n        minDomains: 2\n"),
        ("maxSkew: 1   # one", 'maxSkew: "1"   # one'),
        ("Honor\n        labelSelector", "Honor\n        labelselector"),
        ("Honor\n", "Honor\n        matchLabelKeys: [app]\n"),
        ("Honor\n", "Honor\n        matchLabelKeys:\n        - app\n"),
    ],
)
def test_what_the_api_server_refuses_is_mended(fixed: Fixed, before: str, after: str) -> None:
    text = GOOD.replace(before, after, 1)
    assert text != GOOD

    assert (0, GOOD) == fixed(text)


def test_a_label_that_reads_as_a_number_is_quoted_as_it_is_written(fixed: Fixed) -> None:
    text = GOOD.replace("metadata: {labels: {app: web}}", "metadata: {labels: {app: web, version: 1.10}}")

    assert (0, text.replace("1.10", '"1.10"')) == fixed(text)


def test_a_fix_that_was_hidden_is_made_by_the_next_run(fixed: Fixed) -> None:
    """What an object that cannot be decoded has besides is seen only once it can be; a run fixes what it showed."""
    text = GOOD.replace("maxSkew: 1   # one", 'maxSkew: "0"   # one')
    decoded = text.replace('"0"', "0")

    assert (1, decoded) == fixed(text)
    assert (1, decoded) == fixed(text, "--fix", "--unsafe-fixes")
    assert (0, GOOD) == fixed(decoded, "--fix", "--unsafe-fixes")


def test_two_mistakes_of_which_one_hides_the_other_are_fixed_by_two_runs(fixed: Fixed) -> None:
    decoded = GOOD.replace("DoNotSchedule", "DoNotScedule")

    assert (1, decoded) == fixed(decoded.replace("maxSkew: 1   # one", 'maxSkew: "1"   # one'))
    assert (0, GOOD) == fixed(decoded)


def test_a_fix_after_which_the_api_server_refuses_more_is_left_and_said(
    fixed: Fixed, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt field is dropped where nobody is strict; spelt right, it would keep the object out."""
    text = GOOD.replace("labelSelector: {matchLabels", "labelSelectr: {matchLabls: {a: b}, matchLabels", 1)
    text = text.replace("Honor\n", "Honor\n        matchLabelKey: [app, app!]\n")
    code, after = fixed(text)

    assert (1, True) == (code, "labelSelectr:" in after)
    assert "SPR114 is not fixed: then there would be: SPR110, SPR111" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  # spread: ignore[SPR304] no more", ""),
        ("  # spread: ignore[SPR304, SPR101] no more", ""),
        ("\n      # spread: ignore[SPR304] no more", ""),
    ],
)
def test_a_suppression_in_vain_is_removed(fixed: Fixed, before: str, after: str) -> None:
    """At the end of a line, and on one of its own."""
    place = "maxSkew: 1   # one\n"
    text = GOOD.replace(place, "maxSkew: 1\n", 1)
    line = "      topologySpreadConstraints:" if before.startswith("\n") else "topologyKey: kubernetes.io/hostname"

    assert (0, text) == fixed(text.replace(line, line + before, 1))


def test_a_rule_in_vain_is_taken_out_of_a_suppression_that_has_others(fixed: Fixed) -> None:
    text = BAD.replace("doNotSchedule\n", "doNotSchedule  # spread: ignore[SPR304, SPR104] on purpose\n")

    assert (0, text.replace("SPR304, ", "")) == fixed(text)


ONE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: one}
spec:
  replicas: 1
  selector: {matchLabels: {app: one}}
  template:
    metadata: {labels: {app: one}}
    spec:
      containers: [{name: web, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: ONE}}
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: ONE}}
"""


def test_a_fix_that_leads_to_another_finding_is_not_made(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    """With the right selectors the constraints count a single pod, and nobody was asked whether to remove them."""
    code, after = fixed(ONE.replace("ONE", "other"), "--fix", "--unsafe-fixes", "-o", "concise")

    assert code == 1
    assert after.count("app: other") == 1
    out, err = capsys.readouterr()
    assert ["SPR203"] == re.findall("SPR[0-9]+", out)
    assert "web.yaml:19:9: SPR203 is not fixed: then there would be: SPR205\n" in err


def test_what_was_shown_is_removed_when_asked_for(fixed: Fixed) -> None:
    head = ONE.partition("      topologySpreadConstraints")[0]

    assert (0, head) == fixed(ONE.replace("ONE", "one"), "--fix", "--unsafe-fixes")


def test_a_value_that_an_anchor_repeats_is_mended_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    """As many findings are fixed as were offered."""
    text = (CASES / "anchors.yaml").read_text()
    Path("a.yaml").write_text(text)
    run(["check", "a.yaml"])
    assert "can be fixed: 3 with --fix\n" in capsys.readouterr().err

    assert 1 == run(["check", "a.yaml", "--fix", "-o", "concise"])
    err = capsys.readouterr().err
    assert "checked 2 workloads in 1 file: 3 fixed, " in err
    assert "not fixed" not in err
    assert (
        text.replace("donotschedule", "DoNotSchedule").splitlines()[20] == Path("a.yaml").read_text().splitlines()[20]
    )


def test_a_pod_spec_that_two_objects_share_is_fixed_once(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    """Both have the finding, at one place: it is shown once, and one run mends it."""
    shared = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: a}\n"
        "  spec:\n    selector: {matchLabels: &own {app: a}}\n    template:\n      metadata: {labels: *own}\n"
        "      spec: &spec\n        containers: [{name: a, image: a}]\n        topologySpreadConstraints:\n"
        "        - maxSkew: 1\n          topologyKey: failure-domain.beta.kubernetes.io/zone\n"
        "          whenUnsatisfiable: ScheduleAnyway\n          labelSelector: {matchLabels: {app: a}}\n"
        "- apiVersion: apps/v1\n  kind: StatefulSet\n  metadata: {name: b}\n  spec:\n    serviceName: b\n"
        "    selector: {matchLabels: *own}\n    template:\n      metadata: {labels: *own}\n      spec: *spec\n"
    )
    _, after = fixed(shared, "--fix", "--unsafe-fixes", "--select", "SPR602", "-o", "concise")

    assert shared.replace("failure-domain.beta", "topology") == after
    assert "1 fixed, no findings left" in capsys.readouterr().err


def test_a_fix_that_is_refused_is_told_at_its_place_in_the_text_that_was_read(
    fixed: Fixed, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first fix adds a line above it."""
    text = GOOD.replace("        nodeTaintsPolicy: Honor\n        labelSelector: {matchLabels: {app: web}}\n", "")
    text = text.replace("replicas: 3", "replicas: 3\n  x: &base {whenUnsatisfiable: scheduleAnyway}")
    text = text.replace("        whenUnsatisfiable: ScheduleAnyway\n", "        <<: *base\n")
    fixed(text, "--fix", "--unsafe-fixes")
    line = next(at for at, item in enumerate(text.splitlines(), start=1) if "&base" in item)

    assert f"warning: web.yaml:{line}:" in capsys.readouterr().err


def test_an_input_that_cannot_be_read_is_not_counted_as_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("web.yaml").write_text(GOOD)

    assert 3 == run(["check", "missing.yaml"])
    assert "checked 0 workloads in 0 files: 1 input not read\n" in capsys.readouterr().err
    assert 3 == run(["check", "missing.yaml", "web.yaml"])
    assert "checked 1 workload in 1 file: no findings, 1 input not read\n" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_reported_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(draft: str, target: str) -> None:
        raise OSError(30, "Read-only file system")

    Path("web.yaml").write_text(BAD)
    monkeypatch.setattr("os.replace", fails)

    assert 3 == run(["check", "web.yaml", "--fix", "-o", "json"])
    report = json.loads(capsys.readouterr().out)
    assert (0, ["SPR104"]) == (report["checked"]["fixed"], [finding["code"] for finding in report["findings"]])
    assert BAD == Path("web.yaml").read_text()


def test_a_file_that_changes_meanwhile_is_reported_as_it_is_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubectl_spread.operations import fix

    write = fix.write

    def late(before: list[Result], after: list[Result]) -> dict[str, SourceError]:
        Path("web.yaml").write_text(BAD.replace("topologyKey: kubernetes.io/hostname", "topologyKey: Bad Key"))
        return write(before, after)

    Path("web.yaml").write_text(BAD)
    monkeypatch.setattr(fix, "write", late)

    assert 3 == run(["check", "web.yaml", "--fix", "-o", "json"])
    report = json.loads(capsys.readouterr().out)
    assert ["SPR104", "SPR216"] == [finding["code"] for finding in report["findings"]]
    assert "the file has changed since it was read" in report["errors"][0]["message"]


def test_every_place_of_a_label_of_the_wrong_type_is_mended(fixed: Fixed) -> None:
    """The controller's own selector, too: the API server would refuse the object for any of them."""
    text = (CASES / "selector-types.yaml").read_text()

    mended = text.replace("selector: {matchLabels: {app: on}}", 'selector: {matchLabels: {app: "on"}}')
    assert (0, mended) == fixed(text)


def test_a_compressed_file_is_left_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    packed = gzip.compress(BAD.encode())
    Path("web.yaml").write_bytes(packed)

    assert 3 == run(["check", "web.yaml", "--fix"])
    assert "error: web.yaml: not fixed: it is compressed" in capsys.readouterr().err
    assert packed == Path("web.yaml").read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays() -> None:
    Path("web.yaml").write_text(BAD)
    os.chown("web.yaml", 12345, 54321)
    os.chmod("web.yaml", 0o4640)
    run(["check", "web.yaml", "--fix"])

    state = os.stat("web.yaml")
    assert GOOD == Path("web.yaml").read_text()
    assert (12345, 54321, 0o4640) == (state.st_uid, state.st_gid, stat.S_IMODE(state.st_mode))


# Python's audit events tell the moment: `open` of the file for the second time, and the creation of the draft.
CHANGER = """
import os, sys
seen = []
def change(event, arguments):
    name = os.path.basename(str(arguments[0])) if arguments else ""
    if event == "open" and name.startswith(os.environ["NAME"]):
        seen.append(event)
        if len(seen) == int(os.environ["NUMBER"]):
            with open("other", "w") as file:
                file.write(os.environ["TEXT"])
            os.replace("other", "web.yaml")
sys.addaudithook(change)
"""


@pytest.mark.parametrize(("name", "number"), [("web.yaml", 2), (".kubectl-spread-", 1)])
def test_a_file_that_changes_while_it_is_fixed_keeps_the_change(name: str, number: int) -> None:
    """Another program writes it before it is read again, or while its draft is written; the report is about that."""
    Path("hooks").mkdir()
    Path("hooks/sitecustomize.py").write_text(CHANGER)
    Path("web.yaml").write_text(BAD)
    changed = BAD.replace("name: web", "name: changed", 1)
    paths = os.pathsep.join(("hooks", *filter(None, sys.path)))
    command = [sys.executable, "-m", "kubectl_spread", "check", "web.yaml", "--fix", "-o", "json"]
    environment = {**os.environ, "PYTHONPATH": paths, "NAME": name, "NUMBER": str(number), "TEXT": changed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (3, "error: web.yaml: not fixed: the file has changed since it was read\n") == (done.returncode, done.stderr)
    assert (changed, ["hooks", "web.yaml"]) == (Path("web.yaml").read_text(), sorted(os.listdir()))
    assert ["changed"] == [item["object"]["name"] for item in json.loads(done.stdout)["findings"]]


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="Unix has it")
@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/../dev/fd/0", "/proc/self/fd/0"])
def test_devices_are_not_fixed(path: str) -> None:
    """They may lead to a regular file, which nobody named."""
    Path("web.yaml").write_text(BAD)
    with open("web.yaml", "rb") as stdin:
        command = [sys.executable, "-m", "kubectl_spread", "check", "--fix", path]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)

    message = f"error: {path} cannot be fixed in place: it is not a regular file; see --diff\n"
    assert (2, True) == (done.returncode, done.stderr.startswith(message)), done.stderr
    assert BAD == Path("web.yaml").read_text()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are Unix's")
def test_pipes_are_not_read_by_a_search_and_not_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.yaml")
    Path("web.yaml").write_text(BAD)

    assert 0 == run(["check", ".", "--fix"])
    assert GOOD == Path("web.yaml").read_text()
    assert "in 1 file" in capsys.readouterr().err

    assert 2 == run(["check", "pipe.yaml", "--fix"])  # at once: nobody writes to it
    message = "error: pipe.yaml cannot be fixed in place: it is not a regular file; see --diff\n"
    assert capsys.readouterr().err.startswith(message)


def test_the_text_is_on_the_disk_before_it_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr("os.fsync", lambda file: (order.append("sync"), sync(file))[1])
    monkeypatch.setattr("os.replace", lambda *paths: (order.append("replace"), replace(*paths))[1])
    Path("web.yaml").write_text(BAD)
    run(["check", "web.yaml", "--fix"])

    assert ["sync", "replace"] == order


def test_a_diff_without_safe_fixes_counts_the_unsafe_ones(fixed: Fixed, capsys: pytest.CaptureFixture[str]) -> None:
    bad = GOOD.replace("maxSkew: 1   # one", "maxSkew: 0   # one")
    fixed(f"{bad}\n---\n{bad.replace('name: web', 'name: api')}", "--diff")

    assert "no safe fix; 2 findings have unsafe fixes: add --unsafe-fixes\n" == capsys.readouterr().err
