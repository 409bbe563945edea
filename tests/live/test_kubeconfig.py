"""Which cluster is asked: kubeconfig files merged as kubectl does, flags on top, the pod we run in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.errors import ClusterError, ConfigError, SourceError
from kubectl_spread.objects.resources import seconds
from kubectl_spread.sources.live import kubeconfig
from kubectl_spread.sources.live.flags import Flags

FIRST = """\
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: here
  cluster: {server: "https://one:6443", certificate-authority: pki/ca.crt}
contexts:
- name: one
  context: {cluster: here, user: me, namespace: shop}
- name: two
  context: {cluster: there, user: other}
users:
- name: me
  user: {token: of-first}
"""
SECOND = """\
current-context: two
clusters:
- name: here
  cluster: {server: "https://never:6443"}
- name: there
  cluster: {server: "https://two:6443/"}
users:
- name: me
  user: {token: never, as: nobody}
- name: other
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/plugin, args: [login]}
contexts: null
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """KUBECONFIG with two files, one that is empty and one that is not there."""
    for folder, text in (("a", FIRST), ("b", SECOND), ("c", "# nothing\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config").write_text(text)
    (tmp_path / "a" / "pki").mkdir()
    (tmp_path / "a" / "pki" / "ca.crt").write_text("")
    listed = [tmp_path / "none" / "config", *(tmp_path / folder / "config" for folder in "cab")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(["", *map(str, listed)]))
    return tmp_path


def cluster_of(target: kubeconfig.ApiServer) -> dict[str, Any]:
    assert target.config is not None
    found: dict[str, Any] = target.config["clusters"][0]["cluster"]
    return found


def user_of(target: kubeconfig.ApiServer) -> dict[str, Any]:
    assert target.config is not None
    found: dict[str, Any] = target.config["users"][0]["user"]
    return found


def test_of_several_files_the_first_current_context_and_the_first_of_a_name_count(two: Path) -> None:
    target = kubeconfig.load(Flags())

    assert ("one", "https://one:6443", "shop") == (target.name, target.server, target.namespace)
    assert {"token": "of-first"} == user_of(target)


def test_paths_are_relative_to_the_file_that_has_them(two: Path) -> None:
    assert str(two / "a" / "pki" / "ca.crt") == cluster_of(kubeconfig.load(Flags()))["certificate-authority"]
    command = user_of(kubeconfig.load(Flags(context="two")))["exec"]["command"]
    assert str(two / "b" / "bin" / "plugin") == command


def test_context_cluster_and_user_can_be_chosen(two: Path) -> None:
    assert kubeconfig.load(Flags(context="two")).server == "https://two:6443/"
    assert kubeconfig.load(Flags(context="two")).namespace == "default"
    assert kubeconfig.load(Flags(cluster="there")).server == "https://two:6443/"
    assert "exec" in user_of(kubeconfig.load(Flags(user="other")))


def test_a_named_kubeconfig_is_the_only_one(two: Path) -> None:
    with pytest.raises(ConfigError, match=r"no context `one` in .*config; there is no context at all"):
        kubeconfig.load(Flags(kubeconfig=str(two / "b" / "config"), context="one"))


def test_the_files_default_is_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(os.environ["HOME"]) / ".kube"
    folder.mkdir(parents=True)
    (folder / "config").write_text(
        SECOND.replace("contexts: null", "contexts: [{name: two, context: {cluster: there}}]")
    )

    assert kubeconfig.load(Flags()).server == "https://two:6443/"


def test_a_server_of_the_command_line_needs_no_kubeconfig() -> None:
    target = kubeconfig.load(Flags(server="https://x", token="t"))

    assert ("https://x", "default", {"token": "t"}) == (target.server, target.namespace, user_of(target))
    assert kubeconfig.load(Flags(server="x:8080")).config is not None
    assert cluster_of(kubeconfig.load(Flags(server="x:8080")))["server"] == "http://x:8080"


def test_a_token_of_the_command_line_takes_the_place_of_a_plugin(two: Path) -> None:
    assert {"token": "t"} == user_of(kubeconfig.load(Flags(context="two", token="t")))


def test_skipping_verification_leaves_the_ca_out(two: Path) -> None:
    cluster = cluster_of(kubeconfig.load(Flags(insecure_skip_tls_verify=True)))

    assert {"server": "https://one:6443", "insecure-skip-tls-verify": True} == cluster


UNKNOWN = {
    "--context": (Flags(context="x"), "--context: no context `x` in {a}, {b}; there are one, two"),
    "--cluster": (Flags(cluster="x"), "--cluster: no cluster `x` in {a}, {b}; there are here, there"),
    "--user": (Flags(user="x"), "--user: no user `x` in {a}, {b}; there are me, other"),
}


@pytest.mark.parametrize(("flags", "said"), UNKNOWN.values(), ids=UNKNOWN)
def test_names_that_there_are_not_are_wrong_usage(flags: Flags, said: str, two: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        kubeconfig.load(flags)
    paths = {"a": f"{two}/c/config, {two}/a/config", "b": f"{two}/b/config"}

    assert said.format(**paths) == str(caught.value)


def test_an_unknown_context_is_exit_2(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "pod/x", "--context", "x"]) == 2
    assert capsys.readouterr().err.startswith("error: --context: no context `x` in ")


BROKEN = {
    "syntax": ("clusters: [\n", "2:1: "),
    "not a mapping": ("- a\n", "1:1: not a kubeconfig: it is not a mapping"),
    "server is a number": (
        FIRST.replace('"https://one:6443"', "7"),
        "6:21: clusters[0].cluster.server: ",
    ),
    "token is a list": (FIRST.replace("of-first", "[a]"), "14:17: users[0].user.token: "),
    "two of a name": (
        FIRST.replace("users:", "users:\n- name: me\n  user: {}"),
        "15:9: users has two of the name `me`",
    ),
    "no such cluster": (
        FIRST.replace("cluster: here,", "cluster: gone,"),
        "9:22: there is no cluster `gone`; there are here",
    ),
    "no such user": (FIRST.replace("user: me,", "user: gone,"), "9:34: there is no user `gone`; there are me"),
    "no such file": (FIRST, "6:64: there is no file "),
    "not base64": (
        FIRST.replace("certificate-authority: pki/ca.crt", "certificate-authority-data: '***'"),
        "6:69: `certificate-authority-data` is not base64",
    ),
    "no server": (
        FIRST.replace('server: "https://one:6443", certificate-authority: pki/ca.crt', ""),
        "6:3: the cluster has no server",
    ),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_kubeconfig_is_told_with_its_place(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken"
    path.write_text(text)
    code = run(["explain", "pod/x", "--kubeconfig", str(path)])
    out, err = capsys.readouterr()

    assert (code, out) == (3, "")
    assert err.startswith(f"error: {path}:{said}")
    assert err.count("\n") == 1


def test_a_kubeconfig_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the path does not exist"):
        kubeconfig.load(Flags(kubeconfig=str(tmp_path / "none")))


def test_no_current_context_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(FIRST.replace("current-context: one", ""))
    with pytest.raises(ClusterError) as caught:
        kubeconfig.load(Flags(kubeconfig=str(path)))

    assert f"{path} has no current-context: choose one with --context; there are one, two" == str(caught.value)


def test_a_current_context_that_there_is_not_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(FIRST.replace("current-context: one", "current-context: gone"))
    with pytest.raises(ClusterError) as caught:
        kubeconfig.load(Flags(kubeconfig=str(path)))

    assert f"the current-context `gone` is not in {path}; there are one, two" == str(caught.value)


def test_without_any_cluster_the_ways_to_name_one_are_told() -> None:
    with pytest.raises(ClusterError) as caught:
        kubeconfig.load(Flags())
    home = os.environ["HOME"]

    assert str(caught.value) == (
        f"no cluster is configured: {home}/.kube/config does not exist. Use --kubeconfig, --snapshot or --topology"
    )


def test_a_kubeconfig_without_a_cluster_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\n")
    with pytest.raises(ClusterError) as caught:
        kubeconfig.load(Flags(kubeconfig=str(path)))

    assert str(caught.value).startswith(f"no cluster is configured: {path} names none. Use --kubeconfig")


def test_without_any_cluster_a_command_reads_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["explain", "pod/x"])
    out, err = capsys.readouterr()

    assert (code, out) == (3, "")
    assert err.startswith("error: no cluster is configured: ")


def test_in_a_pod_the_service_account_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("shop")
    monkeypatch.setattr(kubeconfig, "_SERVICE_ACCOUNT", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    target = kubeconfig.load(Flags())

    assert ("in-cluster", "https://[fd00::1]:443", "shop", None) == target[:4]


DURATIONS = {
    "0": 0.0,
    "15": 15.0,
    "1s": 1.0,
    "1m30s": 90.0,
    "1.5h": 5400.0,
    "250ms": 0.25,
    "": None,
    "1": 1.0,
    "1x": None,
    "s": None,
    "-1s": None,
    "1 s": None,
}


@pytest.mark.parametrize(("text", "expected"), DURATIONS.items())
def test_durations_are_gos(text: str, expected: float | None) -> None:
    assert expected == seconds(text)
