"""No function of the program is too complex, with Boolean operators and comprehensions counted.

ruff's C901 limits the statements that branch, and leaves out `and`, `or`, conditional expressions and comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST = 15
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


def complexity(function: ast.AST) -> int:
    """Return one more than the number of decisions in a function; functions inside it count with it."""
    return 1 + sum(map(_decisions, ast.walk(function)))


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.Try)):
        return bool(node.orelse) + isinstance(node, BRANCHES)
    return isinstance(node, BRANCHES)


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (item for item in node.body if isinstance(item, FUNCTIONS))


def test_no_function_is_too_complex() -> None:
    """The limit is 15."""
    found = {
        f"{file.relative_to(ROOT)}:{function.lineno} {function.name}": complexity(function)
        for file in ROOT.glob("kubectl_spread/**/*.py")
        for function in functions(ast.parse(file.read_text("utf-8")))
    }
    assert {name: number for name, number in found.items() if number > MOST} == {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a", 1),
        ("return a and b or not c", 3),
        ("return a if b else c", 2),
        ("return [i for i in a if i if not b]", 4),
        ("for i in a:\n  pass\nelse:\n  pass", 3),
        ("try:\n  a\nexcept B:\n  pass\nexcept C:\n  pass", 3),
        ("if a:\n  pass\nelif b and c:\n  pass\nelse:\n  pass", 4),
        ("def inner():\n  return a or b\nreturn inner", 2),
    ],
)
def test_each_decision_counts(body: str, expected: int) -> None:
    """Branches, loops, handlers, Boolean operators, and the parts of comprehensions add one each."""
    text = "def function(a, b, c):\n" + "".join(f"  {line}\n" for line in body.splitlines())
    assert complexity(ast.parse(text).body[0]) == expected
