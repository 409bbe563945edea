"""Lists: pages, their tokens, what expires, breaks off, is refused or asks to be left alone."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live import reading
from kubectl_spread.sources.live import transport as transports
from kubectl_spread.sources.live.flags import Flags
from kubectl_spread.sources.live.reading import Session
from kubectl_spread.sources.live.resources import Question
from tests.apiserver import ApiServer, Fault, once, recorded, Reply, Request, status
from tests.live.conftest import Kubeconfig

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"


def pod(number: int, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p-{number:04d}", "namespace": "shop", "labels": {"app": "p"}},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
        **more,
    }


@pytest.fixture
def session(server: ApiServer, kubeconfig: Kubeconfig, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(transports, "_FIRST_PAUSE_S", 0.01)
    return Session(Flags(kubeconfig=kubeconfig(server.url)))


@pytest.fixture
def many(server: ApiServer) -> ApiServer:
    """1,234 pods besides those of the example."""
    server.put(*(pod(number) for number in range(1234)))
    return server


def names(session: Session) -> list[str]:
    """The names of the pods that a session reads."""
    facts = session.read(Question("shop"), minor=36, finds_scheduler=False)
    return sorted(item.name for item in facts.cluster.pods if item.name.startswith("p-"))


def asked(server: ApiServer, path: str = PODS) -> list[Request]:
    return [request for request in server.requests if request.path == path]


EXPECTED = [f"p-{number:04d}" for number in range(1234)]


def test_all_pages_of_a_list_are_read(many: ApiServer, session: Session) -> None:
    assert EXPECTED == names(session)
    assert ["500", "500", "500"] == [request.query["limit"] for request in asked(many)]
    assert {"gzip"} == {"".join(request.header("Accept-Encoding")) for request in many.requests}


def test_a_page_asks_for_what_the_first_one_asked_for(many: ApiServer, session: Session) -> None:
    names(session)

    assert {"status.phase!=Succeeded,status.phase!=Failed"} == {
        request.query["fieldSelector"] for request in asked(many)
    }


def test_finished_pods_are_read_only_when_pods_are_asked_about(server: ApiServer, session: Session) -> None:
    server.put(pod(0, status={"phase": "Succeeded"}))

    assert [] == names(session)
    facts = session.read(Question("shop", kinds=("Pod",)), minor=36, finds_scheduler=False)
    assert "p-0000" in [item.name for item in facts.cluster.pods]


def test_a_list_is_as_it_was_when_its_first_page_was_read(many: ApiServer, session: Session) -> None:
    def fault(request: Request) -> None:
        if request.path == PODS and "continue" in request.query:
            many.delete("Pod", "p-1233")
            many.put(pod(5000))

    many.faults.append(fault)

    assert EXPECTED == names(session)


def test_a_list_that_expires_is_read_anew_as_it_is_then(many: ApiServer, session: Session) -> None:
    """No pod of before the restart is left over, and none is missing."""
    done: list[bool] = []

    def fault(request: Request) -> None:
        if request.path == PODS and "continue" in request.query and not done:
            done.append(True)
            many.delete("Pod", "p-0001")
            many.put(pod(5000))
            many.compact()

    many.faults.append(fault)

    assert [name for name in EXPECTED if name != "p-0001"] + ["p-5000"] == names(session)
    assert ["500", "500", "5000"] == [request.query.get("limit") for request in asked(many)]


@pytest.mark.slow
def test_a_list_that_expires_always_is_read_at_once(many: ApiServer, session: Session) -> None:
    many.put(*(pod(number) for number in range(6000)))

    def fault(request: Request) -> None:
        if "continue" in request.query:
            many.put(pod(1))
            many.compact()

    many.faults.append(fault)

    assert 6000 == len(names(session))
    assert [("500", False), ("500", True), ("5000", False), ("5000", True), (None, False)] == [
        (request.query.get("limit"), "continue" in request.query) for request in asked(many)
    ]


TRANSIENT: dict[str, Callable[[], Reply]] = {
    "429": lambda: status(429, "TooManyRequests", "slow down"),
    "429 with Retry-After": lambda: status(429, "TooManyRequests", "slow down")._replace(
        headers=(("Content-Type", "application/json"), ("Retry-After", "0"))
    ),
    "500": lambda: status(500, "InternalError", "etcdserver: leader changed"),
    "503": lambda: Reply(503, b"no healthy upstream", (("Content-Type", "text/plain"),)),
    "504": lambda: status(504, "Timeout", "timed out"),
    "broken off": lambda: Reply(200, b'{"kind": "PodList", "metadata": {}, "items": []}', cut=20),
}


@pytest.mark.parametrize("make", TRANSIENT.values(), ids=TRANSIENT)
def test_what_passes_is_asked_again(make: Callable[[], Reply], many: ApiServer, session: Session) -> None:
    many.faults.append(once(PODS, make(), None, make(), make()))

    assert EXPECTED == names(session)
    assert 6 == len(asked(many))


def test_retry_after_is_honoured(many: ApiServer, session: Session) -> None:
    wait = status(429, "TooManyRequests", "slow down")._replace(
        headers=(("Content-Type", "application/json"), ("Retry-After", "1"))
    )
    many.faults.append(once(PODS, wait))
    began = time.monotonic()

    assert EXPECTED == names(session)
    assert time.monotonic() - began >= 1


def always(path: str, reply: Reply) -> Fault:
    return lambda request: reply if request.path == path else None


FAILURES = {
    "never ready": (
        status(503, "ServiceUnavailable", "the server is\x1b[31m starting"),
        "the server HOST answered /api/v1/nodes with 503 5 times: the server is\x1b[31m starting",
    ),
    "asks for too long a pause": (
        Reply(429, b"", (("Retry-After", "86400"),)),
        "the server HOST asks to retry after 86400 s",
    ),
    "not JSON": (
        Reply(
            200,
            b'{"items": [',
        ),
        "the server HOST answered /api/v1/nodes with something other than a list",
    ),
    "not a list": (Reply(200, b"[]"), "the server HOST answered /api/v1/nodes with something other than a list"),
    "no metadata": (
        Reply(200, b'{"items": []}'),
        "the server HOST answered /api/v1/nodes with something other than a list",
    ),
    "items that are a mapping": (
        Reply(200, b'{"metadata": {}, "items": {}}'),
        "the server HOST answered /api/v1/nodes with something other than a list",
    ),
    "items that are text": (
        Reply(200, b'{"metadata": {}, "items": ""}'),
        "the server HOST answered /api/v1/nodes with something other than a list",
    ),
    "bytes": (Reply(200, b"\xff\xfe"), "the server HOST answered /api/v1/nodes with something other than a list"),
    "deep": (Reply(200, b"[" * 100_000), "the server HOST answered /api/v1/nodes with something other than a list"),
    "another status": (
        status(400, "BadRequest", "no"),
        "the server HOST answered a list of nodes with 400: no",
    ),
    "always breaks off": (
        Reply(200, b'{"kind": "NodeList"}', cut=3),
        "unable to read from the server HOST: ",
    ),
}


@pytest.mark.parametrize(("reply", "said"), FAILURES.values(), ids=FAILURES)
def test_what_does_not_pass_is_told(reply: Reply, said: str, server: ApiServer, session: Session) -> None:
    server.faults.append(always(NODES, reply))
    with pytest.raises(ClusterError) as caught:
        names(session)

    assert str(caught.value).startswith(said.replace("HOST", server.url.removeprefix("http://")))


def test_an_object_that_does_not_decode_is_left_out_and_told(server: ApiServer, session: Session) -> None:
    server.put(pod(1, spec={"nodeName": 7}), pod(2))
    facts = session.read(Question("shop"), minor=36, finds_scheduler=False)

    assert "p-0001" not in [item.name for item in facts.cluster.pods]
    assert ["Pod p-0001 is left out: spec.nodeName: "] == [
        error.message[: len("Pod p-0001 is left out: spec.nodeName: ")] for error in facts.errors
    ]


@pytest.mark.parametrize("item", [b"1", b'"n"', b"[]", b"null", b"true"])
@pytest.mark.parametrize(("path", "plural"), [(PODS, "pods"), (NODES, "nodes")])
def test_an_item_that_is_no_object_is_left_out_and_told(
    item: bytes, path: str, plural: str, server: ApiServer, session: Session
) -> None:
    """The cluster is then incomplete: nothing may follow from an object that is not there."""
    named = b'{"metadata": {"name": "x"}}'
    server.faults.append(once(path, Reply(200, b'{"metadata": {}, "items": [%s, %s]}' % (item, named))))
    facts = session.read(Question("shop"), minor=36, finds_scheduler=False)

    assert [f"an item of the list of {plural} is left out: not an object"] == [error.message for error in facts.errors]
    assert facts.cluster.undecodable


def test_only_the_kinds_that_a_question_needs_are_read(server: ApiServer, session: Session) -> None:
    def kinds(question: Question, minor: int = 36) -> set[str]:
        server.requests.clear()
        session.read(question, minor=minor, finds_scheduler=False)
        return {request.path.rpartition("/")[2] for request in server.requests}

    scaled = {"horizontalpodautoscalers"}  # of workloads in manifests
    manifest = kinds(Question("shop", texts=("kind: Deployment",)))
    plain = manifest - scaled
    claims = {
        "persistentvolumeclaims",
        "persistentvolumes",
        "storageclasses",
        "csinodes",
        "csidrivers",
        "csistoragecapacities",
        "volumeattachments",
    }

    assert not plain & (claims | {"jobs", "events"})
    assert scaled < manifest
    assert manifest - {"deviceclasses"} == kinds(Question("shop", texts=("kind: Deployment",)), minor=35)
    claiming = kinds(Question("shop", texts=("kind: Job\npersistentVolumeClaim: {claimName: c}",)))
    assert (plain | claims) - {"deployments"} == claiming
    asked_about = plain | {"events"}
    assert asked_about == kinds(Question("shop", kinds=("Deployment",)))
    assert asked_about | {"jobs", "cronjobs"} == kinds(Question("shop", kinds=("CronJob",)))
    everything = asked_about | {"jobs", "cronjobs", "daemonsets"}
    assert everything == kinds(Question("", is_overview=True))
    revisions = {"controllerrevisions"}
    assert everything | revisions == kinds(Question("", is_overview=True, has_revisions=True))
    stored = everything | claims | {"runtimeclasses", "karpenter.sh"} | scaled | revisions
    assert stored == kinds(Question("", is_overview=True, keeps_objects=True))
    server.put(pod(1, spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}))
    assert asked_about | claims == kinds(Question("shop", kinds=("Pod",)))


def test_the_next_page_is_asked_for_while_one_is_read(many: ApiServer, session: Session) -> None:
    """The first item of a page is only let go once the next page was asked for."""
    asked_again = threading.Event()
    many.faults.append(lambda request: asked_again.set() if "continue" in request.query else None)
    waited: list[bool] = []

    def item(plain: dict[str, Any]) -> None:
        if not waited:
            waited.append(asked_again.wait(30))

    reading.read_list(session.transport, PODS, {}, lambda: item)

    assert [True] == waited


def page(token: Any, *items: dict[str, Any]) -> Reply:
    metadata = {"resourceVersion": "1", "continue": token}
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": list(items)}
    return Reply(200, json.dumps(body).encode())


ENDLESS: dict[str, Callable[[int], Any]] = {
    "a token that comes again": lambda _: "again",
    "two tokens in turn": lambda number: f"token-{number % 2}",
    "empty pages": lambda number: f"token-{number}",
}


@pytest.mark.parametrize("token", ENDLESS.values(), ids=ENDLESS)
def test_a_list_that_never_ends_is_refused(token: Callable[[int], Any], server: ApiServer, session: Session) -> None:
    numbers = itertools.count()
    server.faults.append(lambda request: page(token(next(numbers))) if request.path == PODS else None)

    with pytest.raises(ClusterError, match="answered /api/v1/pods with pages that never end"):
        names(session)
    assert len(asked(server)) < 60


@pytest.mark.parametrize("token", [5, True, ["a"], {"a": "b"}])
def test_a_token_that_is_no_string_is_refused(token: Any, server: ApiServer, session: Session) -> None:
    server.faults.append(lambda request: page(token, pod(1)) if request.path == PODS else None)

    with pytest.raises(ClusterError, match="answered /api/v1/pods with something other than a list"):
        names(session)


@pytest.mark.parametrize("items", [5, "many", {"a": 1}, True])
def test_items_that_are_no_list_are_refused(items: Any, server: ApiServer, session: Session) -> None:
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
    server.faults.append(lambda request: Reply(200, json.dumps(body).encode()) if request.path == PODS else None)

    with pytest.raises(ClusterError, match="answered /api/v1/pods with something other than a list"):
        names(session)


@pytest.mark.parametrize("name", ["nodes-page1", "pods-shop", "namespaces", "services-shop", "replicasets-shop"])
def test_the_stand_in_writes_lists_as_the_real_one_does(name: str, kubeconfig: Kubeconfig) -> None:
    _, headers, body = recorded(name)
    kind = body["kind"].removesuffix("List")
    server = ApiServer([{**item, "kind": kind} for item in body["items"]])
    group, _, version = body["apiVersion"].rpartition("/")
    plural = {"Node": "nodes", "Pod": "pods", "Namespace": "namespaces", "Service": "services"}.get(kind, "replicasets")
    path = f"/apis/{group}/{version}/{plural}" if group else f"/api/{version}/{plural}"
    reply = server.reply(Request("GET", path, {}, []))
    told = json.loads(reply.body)

    assert (list(body), body["items"]) == (list(told), told["items"])
    assert headers["Content-Type"] == dict(reply.headers)["Content-Type"]


def test_the_stand_in_refuses_as_the_real_one_does() -> None:
    server = ApiServer([])
    server.tokens = {"t": "viewer"}
    server.forbidden = {"pods"}
    known = [("Authorization", "Bearer t")]

    for name, path, query, headers in (
        ("nodes-unauthorized", NODES, {}, [("Authorization", "Bearer wrong")]),
        ("pods-forbidden", PODS, {}, known),
        ("continue-garbage", NODES, {"continue": "abc"}, known),
        ("pod-notfound", "/api/v1/namespaces/shop/configmaps/nope", {}, known),
    ):
        code, _, body = recorded(name)
        reply = server.reply(Request("GET", path, query, headers))
        told = json.loads(json.dumps(json.loads(reply.body)).replace("configmaps", "pods"))

        assert (code, body) == (reply.status, told)
