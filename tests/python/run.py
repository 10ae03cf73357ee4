#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py MESON BUILD REPORT [PYTEST'S ARGUMENTS]: installs the Python package of a build into a new folder, as a wheel would
have it, and runs the tests of this folder against it. Exit status 77, with a reason, where Python lacks NumPy or pytest."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    meson, build, report, *rest = sys.argv[1:]
    for name in ("numpy", "pytest"):
        if importlib.util.find_spec(name) is None:
            print(f"skipped: {sys.executable} has no {name}: apt-get install python3-{name}, or pip install {name}")
            return 77
    with tempfile.TemporaryDirectory(prefix="tenon-python-") as folder:
        done = subprocess.run([meson, "install", "-C", build, "--no-rebuild", "--quiet", "--tags", "python-runtime", "--destdir", folder],
                              capture_output=True, text=True)
        found = next(pathlib.Path(folder).rglob("tenon/__init__.py"), None)
        if done.returncode or found is None:
            print(done.stdout, done.stderr, "the package was not installed", sep="\n")
            return 1
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TENON_")}
        environment.update(
            PYTHONPATH=str(found.parent.parent), PYTHONDONTWRITEBYTECODE="1", TENON_CUDA_DRIVER="emulator", TENON_EMULATOR_QUIET="1",
            TENON_CACHE_DIR=os.environ.get("TENON_CACHE_DIR", os.path.join(folder, "cache")), HOME=folder)
        compiler = pathlib.Path(build, "compiler", "tools", "tenon-compile")
        if compiler.exists():
            environment["TENON_COMPILE"] = str(compiler)
        if os.environ.get("TENON_NVCC"):
            environment["TENON_NVCC"] = os.environ["TENON_NVCC"]
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "tenon.pytest_plugin",
                               f"--junit-xml={report}", str(pathlib.Path(__file__).parent), *rest], env=environment,
                              cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
