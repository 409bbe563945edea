"""The args of PodTopologySpread in the profiles of a KubeSchedulerConfiguration, for the rules about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kubectl_spread.lint.finding import Place, RuleFinding
from kubectl_spread.objects.constraints import spread_args
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.field_errors import FieldPlace, LocatedError
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import did_you_mean

Plain = dict[str, Any]

_GROUP = "kubescheduler.config.k8s.io"
_STRICT = "v1"  # the only version that refuses unknown fields


class Args(NamedTuple):
    """The args of one profile, with their place."""

    plain: Plain
    here: FieldPlace


def decodable_args(manifest: Manifest) -> Iterator[Args]:
    """Yield the args that kube-scheduler can decode."""
    for args in _args(manifest):
        if not _problems(manifest, args):
            yield args


def decoding_findings(manifest: Manifest) -> Iterator[RuleFinding]:
    """Yield findings about args that kube-scheduler cannot decode."""
    for args in _args(manifest):
        for problem in _problems(manifest, args):
            message = f"decoding args for plugin {names.POD_TOPOLOGY_SPREAD}: {problem.message}"
            at = LocatedError((*args.here.route, *problem.route), message)
            yield finding_of(manifest, at, hint=_hint(problem), key=problem.kind is decode.ProblemKind.UNKNOWN)


def errors(manifest: Manifest, rule: spread_args.SpreadArgsRule) -> Iterator[LocatedError]:
    """Yield the errors of one rule in args that decode."""
    for plain, here in decodable_args(manifest):
        yield from (error.problem for error in spread_args.errors(plain, here) if error.rule is rule)


def finding_of(manifest: Manifest, problem: LocatedError, *, hint: str = "", key: bool = False) -> RuleFinding:
    """Return an error as a finding."""
    return RuleFinding(problem.message, place(manifest, problem.route, key=key), decode.path_text(problem.route), hint)


def place(manifest: Manifest, route: Route, *, key: bool = False) -> Place:
    """Return the place of a route."""
    return Place(manifest.document.source, manifest.place(route, key=key))


def _args(manifest: Manifest) -> Iterator[Args]:
    group, _, version = manifest.api_version.partition("/")
    if group != _GROUP:
        return
    for index, profile in _mappings(manifest.plain.get("profiles")):
        for at, item in _mappings(profile.get("pluginConfig")):
            args = item.get("args")
            if item.get("name") == names.POD_TOPOLOGY_SPREAD and isinstance(args, dict):
                if version == "v1alpha2" and args.get("defaultConstraints"):
                    args = {**args, "defaultingType": spread_args.LIST}  # it has no such field
                yield Args(args, FieldPlace(("profiles", index, "pluginConfig", at, "args")))


def _problems(manifest: Manifest, args: Args) -> list[decode.Problem]:
    is_strict = manifest.api_version.endswith(f"/{_STRICT}")
    found = decode.problems(args.plain, spread_args.SHAPE)
    return [problem for problem in found if is_strict or problem.kind is decode.ProblemKind.TYPE]


def _hint(problem: decode.Problem) -> str:
    if problem.kind is decode.ProblemKind.TYPE:
        return ""
    known = spread_args.SHAPE.fields if len(problem.route) == 1 else decode.TOPOLOGY_SPREAD_CONSTRAINT.fields
    return did_you_mean(problem.route[-1], known)


def _mappings(value: Any) -> Iterator[tuple[int, Plain]]:
    """Yield the mappings in a list, with their positions; nothing else of this file is validated."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield index, item
