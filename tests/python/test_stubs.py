# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type stubs say what the extension has: every name of the one is in the other."""
import ast
import pathlib

import tenon
from tenon._core import native


def test_stubs_and_extension_have_the_same_names():
    package = pathlib.Path(tenon.__file__).parent
    assert (package / "py.typed").exists()
    tree = ast.parse((package / "_core" / "native.pyi").read_text())
    said = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            said[node.name] = {one.name for one in node.body if isinstance(one, ast.FunctionDef)} | {
                one.target.id for one in node.body if isinstance(one, ast.AnnAssign)}
        elif isinstance(node, ast.AnnAssign):
            said[node.target.id] = None
        elif isinstance(node, ast.FunctionDef):
            said[node.name] = None
    assert set(said) == {name for name in vars(native) if not name.startswith("__")}
    inherited = {"__new__", "__repr__", "__doc__", "__module__", "__call__", "__getitem__", "__weakref__"}
    for name, members in said.items():
        if members is None or name == "Error":
            continue
        has = {one for one in vars(getattr(native, name)) if one not in inherited}
        assert has == members - inherited, name
        assert members & {"__call__", "__getitem__"} <= set(vars(getattr(native, name))), name
