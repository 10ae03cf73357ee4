# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type stubs say what the extension has: every name of the one is in the other. mypy takes the package, and what its users
write (typed_use.py)."""
import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest
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


HAS_MYPY = importlib.util.find_spec("mypy") is not None
# Other libraries are no part of it, and take longer than the rest.
CONFIG = """[mypy]
strict = true
python_version = 3.10
mypy_path = {site}
ignore_missing_imports = true
[mypy-numpy.*,pytest.*,_pytest.*]
follow_imports = skip
follow_imports_for_stubs = true
[mypy-tenon.pytest_plugin,tenon.checks]
disallow_untyped_decorators = false
"""


def mypy(tmp_path, *command):
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG.format(site=pathlib.Path(tenon.__file__).parent.parent))
    module, *rest = command
    given = "--mypy-config-file" if module.endswith("stubtest") else "--config-file"
    done = subprocess.run([sys.executable, "-m", module, *rest, f"{given}={config}"], capture_output=True, text=True, cwd=tmp_path)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(not HAS_MYPY, reason="there is no mypy")
def test_mypy_takes_the_package_and_what_its_users_write(tmp_path):
    cache = f"--cache-dir={tmp_path / 'cache'}"
    assert mypy(tmp_path, "mypy", cache, "-p", "tenon")[1].startswith("Success: no issues found")
    own = pathlib.Path(__file__).parent / "typed_use.py"
    assert mypy(tmp_path, "mypy", cache, str(own))[1].startswith("Success: no issues found")
    # It does see what is wrong.
    (tmp_path / "wrong.py").write_text("import tenon\nx: int = tenon.device('emulator').name\ntenon.empty((1, 'a'))\ntenon.nothing\n"
                                       "def f(k: tenon.Kernel) -> None:\n    k(grid='a')\n")
    _, said = mypy(tmp_path, "mypy", cache, "wrong.py")
    assert [line.split(":")[1] for line in said.splitlines()[:-1]] == ["2", "3", "4", "6"], said


@pytest.mark.skipif(not HAS_MYPY, reason="there is no mypy")
def test_the_extension_is_what_its_stub_says(tmp_path):
    status, said = mypy(tmp_path, "mypy.stubtest", "tenon._core.native", "--concise")
    assert status == 0, said
