"""Bad input: one clear message, an exit code, no traceback; and what is good beside it is still checked."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Optional, Union

import pytest

from kubectl_spread.cli import main
from kubectl_spread.sources import files
from tests.unreadable import needs_file_modes, unreadable

GOOD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: good}
spec:
  replicas: 2
  template:
    metadata: {labels: {app: good}}
    spec:
      containers: [{name: c, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: good}}
        matchLabelKeys: [pod-template-hash]
        nodeTaintsPolicy: Honor
"""
FLAWED = GOOD.replace("good", "flawed").replace("maxSkew: 1", "maxSkew: 0")
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
"""
BOMB = "kind: Pod\na: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
NO_NODE = (
    "no Node in it, so nothing can be placed; save the output of `kubectl get "
    "nodes,namespaces,pods,replicasets -A -o yaml`"
)
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class Ran(NamedTuple):
    """What a run of the program gave."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("error: ")]

    @property
    def findings(self) -> list[str]:
        """`file:line:column code` of each finding, in order."""
        return re.findall(r"^(\S+:\d+:\d+): \w+ (SPR\d{3})", self.out, re.MULTILINE)


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the program in a directory of its own, with a good and a flawed manifest in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kubectl-spread"])
    write("good.yaml", GOOD)
    write("flawed.yaml", FLAWED)

    def run(*args: str) -> Ran:
        code = main.run(list(args))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(code, out, err)

    return run


def write(name: str, content: Union[str, bytes]) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


UNREADABLE: dict[str, tuple[Union[str, bytes], str]] = {
    "not UTF-8": (GOOD.encode() + b"# caf\xe9\n", "bad.yaml:17:6: not UTF-8: byte 0xe9"),
    "UTF-16": (GOOD.encode("utf-16"), "bad.yaml:1:1: the file is UTF-16, not UTF-8"),
    "executable": (b"\x7fELF\x02\x01\x01\x00", "bad.yaml:1:8: not a text file: it holds a NUL byte"),
    "picture": (b"\x89PNG\r\n\x1a\n", "bad.yaml:1:1: not UTF-8: byte 0x89"),
}


@pytest.mark.parametrize(("content", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_is_one_error(run: Run, content: Union[str, bytes], message: str) -> None:
    """Exit 3, and the other file has its finding."""
    ran = run("check", write("bad.yaml", content), "flawed.yaml")

    assert (3, [f"error: {message}"], [("flawed.yaml:11:18", "SPR101")]) == (ran.code, ran.errors, ran.findings)


@pytest.mark.parametrize(
    ("name", "content"), [("a.yaml", ""), ("a.yaml", " \n\t\n"), ("a.yaml", "# none\n"), ("a.txt", "one: two: three\n")]
)
def test_a_file_without_an_object_is_no_error(run: Run, name: str, content: str) -> None:
    """A hook gets every changed file; the same file in a directory is no error either."""
    alone, with_others = run("check", write(name, content)), run("check", name, "flawed.yaml")

    assert (0, f"checked 0 workloads in 1 file: no Kubernetes object in {name}\n") == (alone.code, alone.err)
    assert (1, [("flawed.yaml:11:18", "SPR101")]) == (with_others.code, with_others.findings)


REFUSED = {
    "truncated": (GOOD + "      - {maxSkew: 1, topo", "bad.yaml:17:26", "not YAML: did not find expected ',' or '}'"),
    "1 MB of [": ("[" * 1_000_000, "bad.yaml:1:257", "not YAML: nested deeper than 256 levels"),
    "1 MB of [ in an object": (
        "kind: Pod\na: " + "[" * 1_000_000, "bad.yaml:2:259", "not YAML: nested deeper than 256 levels"
    ),
    "alias bomb": (BOMB, "bad.yaml:1:1", "not YAML: document contains excessive aliasing: 12345679"),
    "anchor in itself": ("kind: Pod\na: &a [*a]\n", "bad.yaml:2:8", "not YAML: anchor `a` contains itself"),
    "control character": ("kind: Pod\né: \x01\n", "bad.yaml:2:4", "not YAML: control characters are not allowed"),
    "tab": ("kind: Pod\na:\n\tb: 1\n", "bad.yaml:3:1", "not YAML: found character that cannot start any token"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "place", "message"), REFUSED.values(), ids=REFUSED)
def test_a_document_that_is_no_yaml_is_one_finding(run: Run, content: str, place: str, message: str) -> None:
    """Exit 3, at once, and the other file has its finding."""
    ran = run("check", write("bad.yaml", content), "flawed.yaml")

    assert (3, [], [(place, "SPR001"), ("flawed.yaml:11:18", "SPR101")]) == (ran.code, ran.errors, ran.findings)
    assert f"\n  {message}" in ran.out


UNDECODABLE = {
    "quantity": (
        GOOD.replace("image: web", "resources: {requests: {cpu: 1x}}"), "bad.yaml:9:58", QUANTITY
    ),
    "label": (
        GOOD.replace("labels: {app: good}", "labels: {app: 7}"), "bad.yaml:7:30",
        "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
    ),
    "replicas": (
        GOOD.replace("replicas: 2", "replicas: two"), "bad.yaml:5:13",
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "metadata": (
        GOOD.replace("{name: good}", "[good]"), "bad.yaml:3:11",
        "json: cannot unmarshal array into Go struct field Deployment.metadata of type v1.ObjectMeta",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "place", "message"), UNDECODABLE.values(), ids=UNDECODABLE)
def test_an_object_that_does_not_decode_is_one_finding(run: Run, content: str, place: str, message: str) -> None:
    """Exit 3 with the API server's words, and the other workload is placed."""
    ran = run("check", write("bad.yaml", content), "good.yaml", "--topology", "zones=2")

    assert (3, [], [(place, "SPR113")]) == (ran.code, ran.errors, ran.findings)
    # A wrong type is said in our own words first.
    assert f'(Deployment in version "v1" cannot be handled as a Deployment: {message})\n' in ran.out
    assert "Deployment default/good: 2 of 2 replicas placed" in ran.out


def test_a_missing_path_is_one_error(run: Run) -> None:
    """Exit 3, and the other file has its finding."""
    ran = run("check", "none.yaml", "flawed.yaml")

    assert (3, ["error: none.yaml: the path does not exist"], [("flawed.yaml:11:18", "SPR101")]) == (
        ran.code,
        ran.errors,
        ran.findings,
    )


def test_a_directory_without_manifests_is_one_error(run: Run) -> None:
    """There is nothing that was checked."""
    Path("nothing").mkdir()
    ran = run("check", "nothing")

    assert (3, "", ["error: nothing: no .yaml, .yml or .json file in it"]) == (ran.code, ran.out, ran.errors)


@needs_file_modes
def test_a_directory_without_permission_is_one_error(run: Run) -> None:
    """Exit 3, and the other file has its finding."""
    locked = Path("locked")
    locked.mkdir()
    run("check", "flawed.yaml")  # what is imported lazily need not be readable to others
    with unreadable(locked):
        ran = run("check", "locked", "flawed.yaml")

    assert (3, ["error: locked: permission denied"], [("flawed.yaml:11:18", "SPR101")]) == (
        ran.code,
        ran.errors,
        ran.findings,
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (
            "kind: Pod\nmetadata: {name: p}\n",
            NO_NODE,
        ),
        ("", "the file is empty"),
        ("kind: Node\nmetadata: [\n", None),
    ],
    ids=["without nodes", "empty", "truncated"],
)
@pytest.mark.parametrize("command", [("check", "good.yaml"), ("explain", "-f", "good.yaml"), ("explain", "pod", "p")])
def test_facts_that_hold_no_cluster_are_one_error(run: Run, command: tuple[str, ...], facts: str, message: str) -> None:
    """Nothing else is said: without the facts there is no answer."""
    expected = (
        f"facts.yaml: {message}"
        if message
        else "facts.yaml:3:1: not YAML: did not find expected node content while parsing a flow node"
    )
    ran = run(*command, "--snapshot", write("facts.yaml", facts))

    assert (3, "", [f"error: {expected}"]) == (ran.code, ran.out, ran.errors)


def test_an_object_of_the_facts_that_does_not_decode_is_one_error(run: Run) -> None:
    """Exit 3, and the pods are placed on the rest."""
    write("facts.yaml", NODE + "---\n" + NODE.replace("n1", "n2").replace("cpu: 4", "cpu: 1x"))
    ran = run("check", "good.yaml", "--snapshot", "facts.yaml")

    assert (3, [f"error: facts.yaml:9:29: Node n2 is left out: status.allocatable.cpu: {QUANTITY}"]) == (
        ran.code,
        ran.errors,
    )
    assert "Deployment default/good: 2 of 2 replicas placed" in ran.out


@pytest.mark.parametrize(
    "args",
    [
        ("--bogus",),
        ("bogus",),
        ("check",),
        ("check", "--bogus", "good.yaml"),
        ("check", "-o", "xml", "good.yaml"),
        ("check", "good.yaml", "--fail-on", "sometimes"),
        ("check", "-", "-"),
        ("check", "good.yaml", "--topology", "zones=1", "--snapshot", "good.yaml"),
        ("explain", "pod", "x", "--live", "--topology", "zones=1"),
        ("explain", "-f", "good.yaml", "pod/x"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_error_and_a_pointer_to_the_help(run: Run, args: tuple[str, ...]) -> None:
    """Exit 2, on standard error alone."""
    ran = run(*args)
    first, *rest = ran.err.splitlines()

    assert (2, "") == (ran.code, ran.out)
    assert re.fullmatch(r"error: [^A-Z].*[^.]", first)
    assert all(re.fullmatch(r"See 'kubectl spread( \w+)? --help' for usage", line.rstrip(".")) for line in rest)


@pytest.mark.parametrize("spec", ["zones=x", "zones=0", "bogus=1", "cpu=1x", "zones=1,zones=2", "none.yaml"])
def test_a_wrong_topology_is_one_error(run: Run, spec: str) -> None:
    """Exit 2, or 3 for a file that cannot be read, before anything is checked."""
    ran = run("check", "good.yaml", "--topology", spec)

    assert ran.code == (3 if spec == "none.yaml" else 2)
    assert ("", 1) == (ran.out, len(ran.errors))


def test_ten_thousand_documents_are_checked_and_counted(run: Run) -> None:
    """Exit 0; one in ten is a workload."""
    other = "kind: Secret\napiVersion: v1\nmetadata: {name: s}\n"
    pod = "kind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec: {containers: [{name: c, image: web}]}\n"
    ran = run("check", write("many.yaml", "---\n".join([pod, *[other] * 9] * 1000)))

    assert (0, "", "checked 1,000 workloads in 1 file: no findings\n") == ran


def test_one_flaw_in_ten_thousand_documents_is_found(run: Run) -> None:
    """At its line."""
    other = "kind: Secret\napiVersion: v1\nmetadata: {name: s}\n---\n"
    ran = run("check", write("many.yaml", other * 5000 + FLAWED + "---\n" + other * 5000))

    assert (1, [("many.yaml:20011:18", "SPR101")]) == (ran.code, ran.findings)


HOSTILE = "a\x1b[2J\x9b1mb\u202ec\rd\x07"


@pytest.mark.parametrize(
    "args",
    [
        ("check", "hostile.yaml"),
        ("check", "hostile.yaml", "--topology", "zones=1"),
        ("check", "flawed\x1b[2J.yaml"),
        ("check", "none\x1b[2J\r.yaml"),
        ("explain", "-f", "hostile.yaml", "--topology", "zones=1"),
        ("explain", "pod", "x\x1b[2J", "--topology", "zones=1"),
        ("check", "good.yaml", "--snapshot", "hostile-facts.yaml"),
        ("check", "good.yaml", "--topology", "x\x1b[2J=1"),
        ("check", "good.yaml", "-o", "x\x1b[2J"),
        ("\x1b[2J",),
    ],
    ids=lambda args: ascii(" ".join(args)),
)
def test_no_name_can_move_the_cursor(run: Run, args: tuple[str, ...]) -> None:
    """Nothing that is printed holds a control character, wherever the name came from."""
    name = '"' + "".join(f"\\u{ord(char):04x}" for char in HOSTILE) + '"'
    both = GOOD.replace("name: good", f"name: {name}") + "---\n" + FLAWED.replace("name: flawed", f"name: {name}")
    write("hostile.yaml", both)
    write("flawed\x1b[2J.yaml", FLAWED)
    write(
        "hostile-facts.yaml", NODE.replace("n1", name) + "---\n" + NODE.replace("n1", name).replace("cpu: 4", "cpu: x")
    )
    ran = run(*args)

    assert [] == [char for char in ran.out + ran.err if not char.isprintable() and char != "\n"]


class HugeInput(io.BytesIO):
    """Standard input that does not fit into memory."""

    def read(self, size: Optional[int] = -1, /) -> bytes:
        raise MemoryError


def test_an_input_that_does_not_fit_into_memory_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(HugeInput()))

    assert main.run(["check", "-"]) == 3
    assert capsys.readouterr() == ("", "error: there is not enough memory for this input\n")


def test_standard_input_is_checked_like_a_file(tmp_path: Path) -> None:
    """By a whole process: its name in the findings, its exit code."""
    command = [sys.executable, "-m", "kubectl_spread", "check", "-"]

    def piped(content: bytes) -> tuple[int, str, str]:
        done = subprocess.run(command, input=content, capture_output=True, cwd=tmp_path, check=False)
        return done.returncode, done.stdout.decode().partition(" ")[0], done.stderr.decode()

    assert (0, "", "checked 1 workload in 1 file: no findings\n") == piped(GOOD.encode())
    assert (1, "<stdin>:11:18:") == piped(FLAWED.encode())[:2]
    assert (3, "", "error: <stdin>:1:1: not UTF-8: byte 0xff") == (
        *(result := piped(b"\xff"))[:2],
        result[2].splitlines()[0],
    )
    assert (3, "", "error: <stdin>: the file is empty") == (*(result := piped(b""))[:2], result[2].splitlines()[0])


@pytest.mark.parametrize("command", [["check", "-"], ["explain", "-f", "-", "--topology", "zones=3"], ["rule"]])
def test_a_closed_standard_output_takes_nothing(tmp_path: Path, command: list[str]) -> None:
    """As of any program that a daemon starts."""
    line = [sys.executable, "-m", "kubectl_spread", *command]
    code = "import os, subprocess, sys; os.close(1); sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)"
    done = subprocess.run(
        [sys.executable, "-c", code, *line], input=GOOD.encode(), capture_output=True, cwd=tmp_path, check=False
    )

    assert (0, False) == (done.returncode, b"Traceback" in done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="a directory in use cannot be removed there")
@pytest.mark.parametrize("command", [["check"], ["check", "x.yaml"], ["status", "--snapshot", "x.yaml"]])
def test_a_working_directory_that_was_removed_is_told(command: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = [sys.executable, "-m", "kubectl_spread", *command]
    script = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", script, str(gone), *program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )

    assert done.returncode == 3
    assert done.stderr == "error: the working directory no longer exists; change to another one first\n"


def test_every_node_that_does_not_decode_is_named(run: Run) -> None:
    """Even if no node is left."""
    write(
        "facts.yaml",
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: 5}}\n"
        "- {apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: x}}\n",
    )
    ran = run("status", "--snapshot", "facts.yaml")

    heads = ["error: facts.yaml:4:61: Node n1 is left out", "error: facts.yaml:5:69: Node n2 is left out"]
    assert (3, heads) == (ran.code, [": ".join(line.split(": ")[:3]) for line in ran.errors])


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.json", '{"kind":', "1:9: error SPR001 yaml-syntax\n  not JSON: expecting value"),
        ("a.yaml", '{"kind":', "1:9: error SPR001 yaml-syntax\n  not JSON: expecting value"),
        (
            "a.yaml",
            "kind: ConfigMap\nmetadata: {name: a\ndata: {}\n",
            "3:5: error SPR001 yaml-syntax\n  not YAML: did not find expected ',' or '}' while parsing a flow mapping",
        ),
    ],
)
def test_a_named_file_without_a_workload_must_be_readable(
    name: str,
    text: str,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In a directory, files without anything to check are not parsed."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)

    assert 3 == main.run(["check", name])
    assert f"{name}:{place}" == "\n".join(capsys.readouterr().out.split("\n")[:2])
    assert 0 == main.run(["check", "."])


def test_a_named_template_without_a_workload_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("kind: ConfigMap\nmetadata: {{ toYaml .x }}\n  {{ end }}\n")

    assert (0, "") == (main.run(["check", "a.yaml"]), capsys.readouterr().out)


ENDLESS = {
    "manifest": ("check", "/dev/zero"),
    "beside a good one": ("check", "good.yaml", "/dev/zero"),
    "baseline": ("check", "good.yaml", "--baseline", "/dev/zero"),
    "snapshot": ("check", "good.yaml", "--snapshot", "/dev/zero"),
    "topology": ("check", "good.yaml", "--topology", "/dev/zero"),
    "configuration": ("check", "good.yaml", "--config", "/dev/zero"),
    "policy": ("guarantee", "-f", "good.yaml", "--topology", "zones=2", "--policy", "/dev/zero"),
}


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device without end")
@pytest.mark.parametrize("args", ENDLESS.values(), ids=ENDLESS)
def test_a_device_without_end_is_one_error(run: Run, args: tuple[str, ...]) -> None:
    ran = run(*args)

    assert (3, ["error: /dev/zero: not a regular file, and larger than 16 MiB"]) == (ran.code, ran.errors)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_without_a_writer_is_one_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WRITER_S", 0.1)
    os.mkfifo("pipe.yaml")

    ran = run("check", "pipe.yaml")

    assert (3, ["error: pipe.yaml: a pipe that no program writes to within 0.1 s"]) == (ran.code, ran.errors)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_with_a_late_and_slow_writer_is_read(run: Run) -> None:
    os.mkfifo("pipe.yaml")

    def write_slowly() -> None:
        time.sleep(0.2)
        with open("pipe.yaml", "w", encoding="utf-8") as pipe:
            for part in (GOOD[:20], GOOD[20:]):
                time.sleep(0.2)
                pipe.write(part)
                pipe.flush()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    ran = run("check", "pipe.yaml")
    writer.join()

    assert "checked 1 workload in 1 file: no findings\n" == ran.err


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0"])
def test_a_pipe_of_the_shell_is_read(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-m", "kubectl_spread", "check", name]

    for content, expected in (
        (GOOD, "checked 1 workload in 1 file: no findings\n"),
        ("", f"error: {name}: the file is"),
    ):
        done = subprocess.run(command, input=content, capture_output=True, cwd=tmp_path, check=False, text=True)
        assert done.stderr.startswith(expected)


WITHOUT_LIST = {
    "list": ('{"kind": "List",\n "items": {}}', "facts.json:2:11: items of the List: not a list"),
    "no kind": ('{"items": {}}', "facts.json:1:11: items must be a list"),
    "no kind, in YAML": ("items: {}\n", "facts.json:1:8: items must be a list"),
}


@pytest.mark.parametrize(("content", "message"), WITHOUT_LIST.values(), ids=WITHOUT_LIST)
def test_items_that_are_no_list_have_a_place(run: Run, content: str, message: str) -> None:
    write("facts.json", content)

    ran = run("check", "good.yaml", "--snapshot", "facts.json")

    assert (3, [f"error: {message}"]) == (ran.code, ran.errors)


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("kind: List\napiVersion: v1\nitems: [1]\n", "m.yaml:3:9", "`items[0]` is not an object with a kind"),
        ("kind: List\napiVersion: v1\nitems: {}\n", "m.yaml:3:8", "`items` is not a list"),
        (
            "kind: List\napiVersion: v1\nitems:\n- - kind: Pod\n",
            "m.yaml:4:3",
            "`items[0]` is not an object with a kind",
        ),
        ("kind: List\napiVersion: v1\nitems: [{a: b}]\n", "m.yaml:3:9", "`items[0]` is not an object with a kind"),
        ("kind: DeploymentList\napiVersion: apps/v1\nitems: [1]\n", "m.yaml:3:9", "`items[0]` is not an object with"),
    ],
)
def test_an_item_of_a_list_that_is_no_object_has_a_place(run: Run, content: str, place: str, message: str) -> None:
    """`check` and the readers of `simulate` and `guarantee` report it alike."""
    write("m.yaml", content)

    ran = run("check", "m.yaml")
    simulated = run("simulate", "apply", "-f", "m.yaml", "--topology", "zones=2")
    judged = run("guarantee", "-f", "m.yaml", "--topology", "zones=2", "--at-most", "zone=1/2")

    assert ran.code == simulated.code == judged.code == 3
    assert ran.out.startswith(f"{place}: error SPR113 wrong-scalar-type\n  {message}")
    assert simulated.err.startswith(f"error: {place}: SPR113 {message}")
    assert f"{place}: " in judged.err + judged.out


@pytest.mark.parametrize(
    "content", ["5\n", "[1, 2]\n", "- kind: Pod\n", "kind: [Pod]\n", '{"items": {}}', '{"items": [1]}']
)
def test_a_named_file_without_an_object_is_no_success(run: Run, content: str) -> None:
    write("m.yaml", content)

    assert run("check", "m.yaml").err.endswith("no Kubernetes object in m.yaml\n")
