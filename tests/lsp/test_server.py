"""The language server as an editor has it: a process, and messages over its standard input and output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lsp.client import CAPABILITIES, edited, editing, Editor, TIMEOUT_S

pytestmark = pytest.mark.slow

WEB = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      containers: [{name: c, image: web}]
"""
MISSPELT = WEB.replace("ScheduleAnyway", "scheduleanyway", 1)
UNSAFE = WEB.replace("maxSkew: 1", "maxSkew: 0", 1)
DUPLICATE = WEB.replace("kubernetes.io/hostname", "topology.kubernetes.io/zone")
OTHER = "file:///shop/other.yaml"
WEB_URI = "file:///shop/web.yaml"

Message = dict[str, Any]


def place(line: int, start: int, end: int) -> Message:
    """A range in one line; line and characters count from 0."""
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def told(diagnostics: list[Message]) -> list[str]:
    """`line code` of diagnostics, lines from 1."""
    return [f"{item['range']['start']['line'] + 1} {item['code']}" for item in diagnostics]


def edits_of(action: Message) -> list[Message]:
    (change,) = action["edit"]["documentChanges"]
    return list(change["edits"])


@pytest.fixture(scope="module")
def started() -> Iterator[Editor]:
    """A server for all tests that need no other: starting one takes a second."""
    with editing() as editor:
        editor.initialize()
        yield editor


@pytest.fixture
def editor(started: Editor) -> Iterator[Editor]:
    """An editor in which nothing is open."""
    yield started
    started.close_all()


def test_a_session_ends_without_a_word() -> None:
    """Nothing but messages is written, and nothing to standard error."""
    with editing() as editor:
        editor.initialize()
        editor.open(MISSPELT)
        editor.actions(place(10, 30, 30))

        assert 0 == editor.leave()

    assert [b""] == editor.errors


def test_what_it_can_is_announced() -> None:
    with editing() as editor:
        found = editor.initialize()
        editor.leave()

    assert "kubectl-spread" == found["serverInfo"]["name"]
    assert {
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
        "hoverProvider": True,
        "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll.kubectl-spread"]},
    }.items() <= found["capabilities"].items()


# Diagnostics


def test_a_finding_is_a_diagnostic(editor: Editor) -> None:
    expected = {
        "range": place(10, 27, 41),
        "severity": 1,
        "code": "SPR104",
        "source": "kubectl-spread",
        "message": "spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "
        '"scheduleanyway": supported values: "DoNotSchedule", "ScheduleAnyway"\nhint: did you mean `ScheduleAnyway`?',
    }

    assert [expected] == editor.open(MISSPELT)


def test_a_good_manifest_has_none(editor: Editor) -> None:
    assert [] == editor.open(WEB)


def test_a_change_is_checked_and_a_mended_document_has_none(editor: Editor) -> None:
    editor.open(MISSPELT)
    editor.change(UNSAFE)

    assert ["9 SPR101"] == told(editor.diagnostics(version=2))

    editor.change(WEB, version=3)

    assert [] == editor.diagnostics(version=3)


def test_changes_in_quick_succession_are_checked_once(editor: Editor) -> None:
    """The last of them; saving does not wait for a pause in typing."""
    editor.open(WEB)
    editor.seen.clear()
    for version in range(2, 20):
        editor.change(MISSPELT if version % 2 else UNSAFE, version=version)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": WEB_URI}})

    assert ["11 SPR104"] == told(editor.diagnostics(version=19))
    assert [] == editor.seen


def test_related_places_are_told_where_the_client_wants_them(editor: Editor) -> None:
    (found,) = editor.open(DUPLICATE)

    assert [{"location": {"uri": WEB_URI, "range": place(13, 21, 48)}, "message": "repeated here"}] == found[
        "relatedInformation"
    ]

    with editing() as plain:
        plain.initialize({"textDocument": {}})
        (found,) = plain.open(DUPLICATE)
        plain.leave()

    assert "SPR105" == found["code"]
    assert "relatedInformation" not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n---\n", []),
        ("name: web\nimage: {", []),
        ("- kind of\n- a: list\n", []),
        ("kind: Kustomization\nresources: [web.yaml]\n", []),
        ("# Shop\n\nA *page* about `kind` and more: [", []),
        ("kind: Deployment\n", []),
        ("kind: 7\nspec: null\n", []),
        ("kind: Deployment\nspec: {template: [", ["2 SPR001"]),
        ("kind: Deployment\nspec:\n\ttemplate: {}\n", ["3 SPR001"]),
        (MISSPELT.replace("name: web}", "name: {{ .Values.name }}}"), []),
        ("kind: Deployment\nspec: " + "[" * 5000, ["2 SPR001"]),
        ("kind: Deployment\nspec: &a [*a]\n", ["2 SPR001"]),
        ("kind: Deployment\nmetadata: {name: \0}\n", ["2 SPR001"]),
        (MISSPELT + "---\n" + MISSPELT, ["11 SPR104", "29 SPR104"]),
        ("\ufeff" + MISSPELT, ["11 SPR104"]),
        (MISSPELT + "# \ud800 \udc00\ud83d\n", ["11 SPR104"]),
    ],
)
def test_any_text_is_answered(editor: Editor, text: str, expected: list[str]) -> None:
    """Documents without Kubernetes objects have no findings; a Kubernetes object that does not parse has one."""
    assert expected == told(editor.open(text))


def test_a_huge_document_is_answered(editor: Editor) -> None:
    """Several megabytes, most of them one string; and the findings of many workloads."""
    blob = 'kind: ConfigMap\ndata: {blob: "' + "x" * 5_000_000 + '"}\n'
    found = editor.open("---\n".join([blob, *[MISSPELT] * 300]))

    assert 300 == len(found)


def test_suppressions_count(editor: Editor) -> None:
    """Comments and annotations, and those in vain are told."""
    comment = MISSPELT.replace("scheduleanyway", "scheduleanyway  # spread: ignore[SPR104]")
    annotation = MISSPELT.replace("{name: web}", "{name: web, annotations: {spread.kubectl.io/ignore: SPR104}}", 1)

    assert [] == editor.open(comment)
    assert [] == editor.open(annotation, OTHER)

    editor.change(comment.replace("scheduleanyway", "ScheduleAnyway"))

    assert ["11 SPR005"] == told(editor.diagnostics(version=2))


def test_closed_documents_have_no_diagnostics(editor: Editor) -> None:
    editor.open(MISSPELT)
    editor.close()

    assert [] == editor.diagnostics()
    assert ["11 SPR104"] == told(editor.open(MISSPELT, version=7))


def test_open_documents_are_one_project(editor: Editor) -> None:
    """A HorizontalPodAutoscaler in another tab says how many replicas there are, until that is closed."""
    honest = "DoNotSchedule\n        nodeTaintsPolicy: Honor"
    web = WEB.replace("spec:", "spec:\n  replicas: 2", 1).replace("ScheduleAnyway", honest, 1)
    web = web.replace("maxSkew: 1", "maxSkew: 3", 1)
    scaler = (
        "kind: HorizontalPodAutoscaler\nspec:\n  maxReplicas: 9\n  scaleTargetRef: {kind: StatefulSet, name: web}\n"
    )

    assert ["10 SPR204"] == told(editor.open(web))
    editor.send_open(scaler, OTHER)
    assert [] == editor.diagnostics(WEB_URI)
    assert [] == editor.diagnostics(OTHER)

    editor.close(OTHER)

    assert ["10 SPR204"] == told(editor.diagnostics(WEB_URI))


def test_rules_are_chosen_on_the_command_line() -> None:
    with editing("--stdio", "--ignore", "SPR1") as editor:
        editor.initialize()

        assert [] == editor.open(MISSPELT)
        assert 0 == editor.leave()


# Places


@pytest.mark.parametrize(("encodings", "width"), [(["utf-16"], 2), (["utf-8"], 4), (["utf-32", "utf-16"], 1), ([], 2)])
def test_characters_count_as_agreed(encodings: list[str], width: int) -> None:
    """Two of them stand before the finding; without agreement UTF-16 counts."""
    text = WEB.replace("- maxSkew: 1", '- {"\U0001f389\U0001f389": 1, maxSkew: 0}\n      - maxSkew: 1', 1)
    general = {"positionEncodings": encodings} if encodings else {}
    with editing() as editor:
        editor.initialize({**CAPABILITIES, "general": general})
        found = editor.open(text)
        hovered = editor.hover(8, 16 + 2 * width + 9)
        editor.leave()

    where = next(item["range"] for item in found if item["code"] == "SPR101")

    assert place(8, 25 + 2 * width, 26 + 2 * width) == where
    assert "SPR101" in hovered["contents"]["value"]


@pytest.mark.parametrize("between", ["\u2028", "\x85", "\u2029"])
def test_only_the_protocols_line_ends_end_lines(editor: Editor, between: str) -> None:
    """YAML and Python know more of them."""
    found = editor.open(MISSPELT.replace("name: web}", f'name: web, note: "a{between}b"}}', 1))

    assert ["11 SPR104"] == told(found)


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
def test_edits_keep_line_ends(editor: Editor, line_end: str) -> None:
    """Of each kind of action."""
    text = f"# \U0001f389\n{MISSPELT}".replace("\n", line_end)
    right = text.replace("scheduleanyway", "ScheduleAnyway")
    (found,) = editor.open(text)
    fix, ignore, fix_all = editor.actions(found["range"])

    assert right == edited(text, edits_of(fix))
    assert right == edited(text, edits_of(fix_all))
    assert text.replace("scheduleanyway", "scheduleanyway  # spread: ignore[SPR104]") == edited(text, edits_of(ignore))


# Actions


def test_a_safe_fix_is_preferred(editor: Editor) -> None:
    (found,) = editor.open(MISSPELT)
    fix, *_ = editor.actions(found["range"])
    edit = {"range": found["range"], "newText": "ScheduleAnyway"}

    assert {
        "title": "write ScheduleAnyway",
        "kind": "quickfix",
        "diagnostics": [found],
        "isPreferred": True,
        "edit": {"documentChanges": [{"textDocument": {"uri": WEB_URI, "version": 1}, "edits": [edit]}]},
    } == fix


def test_an_unsafe_fix_is_offered_and_not_preferred(editor: Editor) -> None:
    """It is not among the fixes that are applied at once."""
    (found,) = editor.open(UNSAFE)
    fix, ignore = editor.actions(found["range"])

    assert ("set maxSkew to 1", None) == (fix["title"], fix.get("isPreferred"))
    assert WEB == edited(UNSAFE, edits_of(fix))
    assert "ignore SPR101 here" == ignore["title"]


def test_a_client_without_versions_gets_plain_changes() -> None:
    with editing() as editor:
        editor.initialize({"textDocument": {}})
        (found,) = editor.open(MISSPELT)
        fix = editor.actions(found["range"])[0]
        editor.leave()

    assert {"changes": {WEB_URI: [{"range": found["range"], "newText": "ScheduleAnyway"}]}} == fix["edit"]


def test_actions_are_those_of_the_range_and_kind(editor: Editor) -> None:
    editor.open(MISSPELT)
    there, elsewhere = place(10, 30, 30), place(0, 0, 5)

    def titles(where: Message, **chosen: Any) -> list[str]:
        return [action["title"] for action in editor.actions(where, **chosen)]

    fixes, all_of_it = ["write ScheduleAnyway", "ignore SPR104 here"], ["fix all that is safe to fix"]
    assert [*fixes, *all_of_it] == titles(there)
    assert fixes == titles(there, trigger=2)
    assert fixes == titles(there, only=["quickfix"])
    assert all_of_it == titles(elsewhere)
    assert all_of_it == titles(elsewhere, only=["source.fixAll"], trigger=2)
    assert all_of_it == titles(elsewhere, only=["source"])
    assert all_of_it == titles(elsewhere, only=["source.fixAll.kubectl-spread"])
    assert [*fixes, *all_of_it] == titles(there, only=[""])
    assert [] == titles(there, only=["source.fixAll.other", "refactor", "quickfix.other"])


def test_all_safe_fixes_are_made_at_once_in_one_document(editor: Editor) -> None:
    """The unsafe ones, and the other document, stay as they are."""
    text = MISSPELT.replace("maxSkew: 1", "maxSkew: 0", 1).replace("maxSkew", "maxskew")
    editor.open(MISSPELT, OTHER)
    editor.open(text)
    (action,) = editor.actions(place(0, 0, 0), only=["source.fixAll"])

    assert UNSAFE == edited(text, edits_of(action))


def test_ignoring_silences_a_finding(editor: Editor) -> None:
    """What the comment says is understood."""
    (found,) = editor.open(UNSAFE)
    ignore = editor.actions(found["range"])[-1]
    text = edited(UNSAFE, edits_of(ignore))
    editor.change(text)

    assert "      - maxSkew: 0  # spread: ignore[SPR101]" == text.split("\n")[8]
    assert [] == editor.diagnostics(version=2)


def test_an_action_is_about_the_text_as_it_is_now(editor: Editor) -> None:
    """Though typing has not paused yet."""
    editor.open(WEB)
    editor.change("# a line more\n" + MISSPELT)
    fix = editor.actions(place(11, 30, 30))[0]

    assert [{"range": place(11, 27, 41), "newText": "ScheduleAnyway"}] == edits_of(fix)


def test_a_range_with_very_many_findings_is_answered(editor: Editor) -> None:
    """About the first of them."""
    editor.open("---\n".join([MISSPELT] * 50))
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 9_999, "character": 0}}

    assert 20 == len([action for action in editor.actions(everything) if action.get("isPreferred")])


# Hover


def test_a_finding_explains_its_rule(editor: Editor) -> None:
    editor.open(MISSPELT)
    found = editor.hover(10, 27)

    assert place(10, 27, 41) == found["range"]
    assert "markdown" == found["contents"]["kind"]
    assert found["contents"]["value"].startswith("**SPR104 when-unsatisfiable-invalid (error, safe fix)**\n\n")


def test_elsewhere_nothing_is_explained(editor: Editor) -> None:
    """Before it, behind it, and where there is no text."""
    editor.open(MISSPELT)

    assert [None] * 5 == [editor.hover(*where) for where in ((10, 26), (10, 41), (0, 0), (10, 9_999), (9_999, 0))]


def test_a_client_without_markdown_gets_text() -> None:
    with editing() as editor:
        editor.initialize({"textDocument": {"hover": {"contentFormat": ["plaintext"]}}})
        editor.open(MISSPELT)
        found = editor.hover(10, 27)["contents"]
        editor.leave()

    assert "plaintext" == found["kind"]
    assert found["value"].startswith("SPR104 when-unsatisfiable-invalid (error, safe fix)\n\n")


# What should not happen


def test_documents_that_are_not_open_are_no_trouble(editor: Editor) -> None:
    """Nor is a request that is not known."""
    editor.change(MISSPELT)
    editor.close()

    assert [] == editor.actions(place(0, 0, 0))
    assert editor.hover(0, 0) is None
    assert -32601 == editor.answer("shop/close", {})["error"]["code"]
    assert [] == editor.open(WEB)


def test_a_request_may_be_taken_back(editor: Editor) -> None:
    """It is answered in any case, and so is the next."""
    editor.open(MISSPELT)
    editor.change(UNSAFE)
    params = {"textDocument": {"uri": WEB_URI}, "position": {"line": 8, "character": 17}}
    asked = editor.send_request("textDocument/hover", params)
    editor.notify("$/cancelRequest", {"id": asked})
    editor.wait_for(lambda found: found.get("id") == asked)

    assert "SPR101" in editor.hover(8, 17)["contents"]["value"]


def test_odd_addresses_are_given_back_as_they_are(editor: Editor) -> None:
    for uri in ("untitled:Untitled-1", "file:///c%3A/my%20shop/web.yaml", "git:/shop/web.yaml?%7B%7D", "x"):
        assert ["11 SPR104"] == told(editor.open(MISSPELT, uri))


def test_messages_that_are_none_are_survived() -> None:
    with editing() as editor:
        editor.initialize()
        editor.send_bytes(b"{this is not JSON")
        editor.send_bytes(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 7}}')

        assert ["11 SPR104"] == told(editor.open(MISSPELT))
        assert 0 == editor.leave()


BROKEN = """
from kubectl_spread.lint.selection import Config, LintPolicy
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.lsp import serve

class Broken(DocumentChecker):
    def findings(self, results):
        if any("BROKEN" in result.source.text for result in results):
            raise RecursionError("deep")
        return super().findings(results)

serve(Broken(LintPolicy(), Config("/")))
"""


def test_a_bug_is_logged_and_hides_only_the_document_it_is_about() -> None:
    with editing(command=(sys.executable, "-c", BROKEN)) as editor:
        editor.initialize()

        assert [] == editor.open(MISSPELT + "# BROKEN\n", OTHER)
        assert ["11 SPR104"] == told(editor.open(MISSPELT))
        assert 0 == editor.leave()

    logged = [message["params"] for message in editor.seen if message["method"] == "window/logMessage"]
    assert {(1, "this is a bug in kubectl spread 0.1.0: RecursionError: deep")} == {
        (item["type"], item["message"]) for item in logged
    }
    assert b"RecursionError: deep" in editor.errors[0]


@pytest.mark.parametrize("is_told", [True, False])
def test_a_client_that_just_goes_is_noticed(is_told: bool) -> None:
    """With `exit` before `shutdown`, and without a word."""
    with editing() as editor:
        editor.initialize()
        editor.open(MISSPELT)
        if is_told:
            editor.notify("exit")
        assert editor.process.stdin is not None
        editor.process.stdin.close()

        assert 1 == editor.process.wait(TIMEOUT_S)
