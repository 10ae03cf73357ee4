# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python function as a tree, with the places of its file."""
from __future__ import annotations

import ast
import inspect
import textwrap
import types
import weakref
from collections.abc import Iterable
from typing import Any

from .errors import KernelError, Place
from .exits import without_exits


class Source:
    """`tree` is the function, `body` its statements without exits; `names` are those of its file and of functions around it."""

    _known: weakref.WeakKeyDictionary[types.FunctionType, Source] = weakref.WeakKeyDictionary()

    @classmethod
    def of(cls, function: types.FunctionType) -> Source:
        # By the function: the code of two functions may be equal, in two files.
        if function not in cls._known:
            cls._known[function] = cls(function)
        return cls._known[function]

    def __init__(self, function: types.FunctionType) -> None:
        code = function.__code__
        self.file = code.co_filename
        try:
            lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise KernelError(Place(self.file, code.co_firstlineno, 1), f"the source of {function.__name__} is not to be had",
                              "define it in a file, or in a notebook's cell") from None
        text = "".join(lines)
        dedented = textwrap.dedent(text)
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        try:
            parsed = ast.parse(dedented).body[0]
        except SyntaxError:
            parsed = None
        if not isinstance(parsed, ast.FunctionDef):
            raise KernelError(Place(self.file, self.first, 1), f"{function.__name__} is no function of a `def`", "write it with def")
        self.tree = parsed
        self.body = without_exits(parsed)

    def place(self, node: Any) -> Place:
        """Of a node of the tree."""
        return Place(self.file, self.first + node.lineno - 1, node.col_offset + self.indent + 1)


def names_of(function: types.FunctionType) -> dict[str, Any]:
    """The names that a function takes from around it: its file's, then those of the functions that it is defined in."""
    found = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass
    return found


def assigned(statements: Iterable[ast.AST]) -> set[str]:
    """The variables that statements may set, without those of functions and comprehensions within."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name) and isinstance(one.ctx, (ast.Store, ast.Del)):
            found.add(one.id)
        if not isinstance(one, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(one))
    return found
