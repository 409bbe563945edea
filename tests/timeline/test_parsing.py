"""Command lines are read as kubectl's parser reads them."""

from __future__ import annotations

import pytest

from kubectl_spread.kubectl.kinds import kind_of
from kubectl_spread.kubectl.parsing import parse_text, StepError


@pytest.mark.parametrize(
    ("text", "arguments", "flags"),
    [
        ("drain a b", ("a", "b"), {}),
        ("kubectl drain a --force", ("a",), {"force": ("true",)}),
        ("drain --force=false a", ("a",), {"force": ("false",)}),
        ("drain -lpool=x", (), {"selector": ("pool=x",)}),
        ("drain -l pool=x -n=shop", (), {"selector": ("pool=x",), "namespace": ("shop",)}),
        ("apply -Rf dir", (), {"recursive": ("true",), "filename": ("dir",)}),
        ("apply -f a -f b", (), {"filename": ("a", "b")}),
        ("scale deploy/web --replicas=3", ("deploy/web",), {"replicas": ("3",)}),
        ("taint nodes a k-", ("nodes", "a", "k-"), {}),
        ("patch deploy web -p '{\"a\": 1}'", ("deploy", "web"), {"patch": ('{"a": 1}',)}),
        ("delete pod -- -odd-", ("pod", "-odd-"), {}),
        ("rollout restart deploy web", ("deploy", "web"), {}),
        ("drain a --dry-run", ("a",), {"dry-run": ("true",)}),
        ("drain a --dry-run=server", ("a",), {"dry-run": ("server",)}),
    ],
)
def test_arguments_and_flags(text: str, arguments: tuple[str, ...], flags: dict[str, tuple[str, ...]]) -> None:
    command = parse_text(text)

    assert (command.arguments, command.flags) == (arguments, flags)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no step; the steps are rollout restart, rollout undo"),
        ("drain 'a", "no closing quotation: drain 'a"),
        (
            "rollout",
            "unknown step `rollout`; the steps are rollout restart, rollout undo, rollout pause, rollout resume",
        ),
        ("delete pod a --cascadee", "unknown flag --cascadee of `delete`; did you mean `--cascade`?"),
        ("apply --prune -f x", "--prune of `apply` is not simulated"),
        ("scale deploy/web --replicas", "flag needs an argument: --replicas"),
        ("edit deploy/web", "`edit` is not simulated: use `patch`, or `apply -f` with the changed manifest"),
    ],
)
def test_what_is_no_step(text: str, message: str) -> None:
    with pytest.raises(StepError) as raised:
        parse_text(text)

    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("hpa", "HorizontalPodAutoscaler"),
        ("horizontalpodautoscaler.autoscaling", "HorizontalPodAutoscaler"),
        ("horizontalpodautoscalers.v2.autoscaling", "HorizontalPodAutoscaler"),
        ("StorageClasses.storage.k8s.io", "StorageClass"),
        ("deployment.apps", "Deployment"),
    ],
)
def test_a_kind_may_have_its_group(word: str, kind: str) -> None:
    assert kind_of(word) == kind


@pytest.mark.parametrize("word", ["services.apps", "hpa.policy", "webs"])
def test_an_unknown_kind_is_refused(word: str) -> None:
    with pytest.raises(StepError, match="doesn't have a resource type"):
        kind_of(word)
