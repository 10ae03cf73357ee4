#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheel_test.py MESON BUILD NVCC: makes the wheels of a build, installs them into new virtual environments without a network,
and uses what is there as a stranger would: no GPU, nothing of Tenon on PATH. Every Python from 3.10 on that is found here is
tried; NumPy comes from the machine's own Python, so the others run without it."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

if sys.version_info < (3, 11):
    print("skipped: scripts/wheel.py needs Python 3.11")
    sys.exit(77)
import tomllib  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location("wheel", SOURCE / "scripts/wheel.py")
wheel = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(wheel)

THREE_LINES = """
import tenon, numpy
program = tenon.load(tenon.sample())
print(program.mixed_invocation(numpy.full(8, 2, "f4"), numpy.full(8, 4, "f4")))
"""
WITHOUT_NUMPY = """
import tenon
program = tenon.load(tenon.sample())
print(program.mixed_invocation(tenon.empty(8, "float32"), tenon.empty(8, "float32")).shape)
"""
COMPILED = """
import numpy, tenon
text = '''func.func @root(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.sqrt %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
'''
print(tenon.load(tenon.compile(text, targets="sm_90")).root(numpy.array([4, 9], "f4")))
"""
PYTHON_KERNEL = """
import numpy
from tenon import gpu
@gpu.kernel(block=32, grid=1)
def twice(x: gpu.InOut[gpu.f32, 5]):
    if gpu.thread_id.x < 5:
        x[gpu.thread_id.x] *= 2
x = numpy.arange(5, dtype="f4")
twice(x)
print(x)
"""
KERNEL = """
import numpy, tenon
k = tenon.cuda_kernel('extern "C" __global__ void twice(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }', "twice", block=32)
x = numpy.arange(5, dtype="f4")
k(x, 5, grid=1)
print(x)
"""
REFUSED = """
import tenon
try:
    tenon.compile("module {\\n}")
except tenon.ToolError as error:
    print(error)
"""


def fail(text):
    sys.exit(f"wheel_test: {text}")


def run(*command, environment, status=0):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, env=environment, cwd=environment["HOME"])
    if done.returncode != status:
        fail(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def expect(found, wanted):
    if wanted not in found:
        fail(f"found: {found}\nwanted: {wanted}")


def size(path, most, most_unpacked=None):
    unpacked = sum(one.file_size for one in zipfile.ZipFile(path).infolist())
    if path.stat().st_size > most * 1e6 or (most_unpacked and unpacked > most_unpacked * 1e6):
        fail(f"{path.name} has {path.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} unpacked; at most {most} and {most_unpacked}")


def version_of(python):
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def environment_of(work, venv, **more):
    return {"PATH": f"{venv}/bin:/usr/bin:/bin", "HOME": str(work), "TENON_CUDA_DRIVER": "emulator", "TENON_EMULATOR_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONNOUSERSITE": "1", **more}


def main():
    meson, build, nvcc = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tenon-wheel-test-") as folder:
        work = pathlib.Path(folder)
        wheels = work / "wheels"
        make = [sys.executable, SOURCE / "scripts/wheel.py", build]
        made = subprocess.run([*make, wheels, f"--meson={meson}"], capture_output=True, text=True)
        print(made.stdout.strip())
        if made.returncode:
            fail(made.stderr)
        package = next(wheels.glob("tenon-*-cp310-abi3-manylinux_2_*_x86_64.whl"))
        size(package, 10)
        compiler = next(wheels.glob("tenon_compiler-*-py3-none-manylinux_2_*_x86_64.whl"), None)
        if compiler:
            size(compiler, 60, 100)

        # Same build, same bytes; and what is no wheel's is refused by name.
        subprocess.run([*make, work / "again", f"--meson={meson}", "--without-compiler"], check=True, stdout=subprocess.DEVNULL)
        if package.read_bytes() != (work / "again" / package.name).read_bytes():
            fail("the wheels of one build differ")
        try:
            wheel.platform_tag({"libtenon_runtime.so": pathlib.Path(build, "runtime/libtenon_runtime.so")}, (2, 17))
            fail("a library that needs libstdc++ was taken")
        except wheel.Refused as refused:
            expect(str(refused), "libtenon_runtime.so needs libstdc++.so.6; wanted: nothing but libc")
            expect(str(refused), "wanted: 2.17 at most")

        # The extra brings the nvcc that the tests here have: a later one may write PTX that the emulator does not read.
        wanted = re.search(r"^CUDA_WHEEL_VERSION='(.*)'$", (SOURCE / "scripts/toolchain.sh").read_text(), re.M).group(1)
        extra = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["optional-dependencies"]["nvcc"]
        if any(not one.endswith(f"== {wanted}") for one in extra):
            fail(f"the extra nvcc is {extra}, the toolchain's version is {wanted}")

        # What `pip wheel .` makes says that it is for this kind of machine: meson-python goes by where the extension is installed.
        plan = json.loads(subprocess.run([meson, "introspect", build, "--install-plan"], capture_output=True, text=True, check=True).stdout)
        expect(next(one["destination"] for kind in plan.values() for name, one in kind.items() if name.endswith("native.abi3.so")), "{py_platlib}")

        # From source, by the compiler that pip takes where none is named: not a wheel without a package, but what to do.
        setup = tomllib.loads((SOURCE / "pyproject.toml").read_text())["tool"]["meson-python"]["args"]["setup"]
        if shutil.which("g++"):
            refused = subprocess.run([meson, "setup", work / "from_source", SOURCE, *setup], capture_output=True, text=True,
                                     env={**os.environ, "CC": "gcc", "CXX": "g++"})
            expect(refused.stdout, "the Python package has the emulator in it, which g++ does not build. fix: say clang")

        # The machine's Python, which has NumPy.
        venv = work / "venv"
        environment = environment_of(work, venv)
        run(sys.executable, "-m", "venv", "--system-site-packages", venv, environment=environment)
        pip = [venv / "bin/python", "-m", "pip", "-q", "install", "--no-index", f"--find-links={wheels}"]
        python = venv / "bin/python"
        run(*pip, "tenon", environment=environment)
        expect(run(python, "-c", THREE_LINES, environment=environment), "[96. 96. 96. 96. 96. 96. 96. 96.]")
        expect(run("tenon-run", "--version", environment=environment), "tenon-run")
        expect(run(python, "-c", REFUSED, environment=environment), 'install the wheel tenon_compiler')
        if importlib.util.find_spec("pytest"):  # 5: there is no test; the plugin is there, named or not
            (work / "none").mkdir()
            for named in ([], ["-p", "tenon.pytest_plugin"]):
                expect(run(python, "-m", "pytest", "-p", "no:cacheprovider", *named, work / "none", environment=environment, status=5), "tenon: ")
        if compiler:
            run(*pip, "tenon[compiler]", environment=environment)
            expect(run("tenon-compile", "--version", environment=environment), "LLVM")
            # Without nvcc. The source is read from its file.
            (work / "twice.py").write_text(PYTHON_KERNEL)
            expect(run(python, work / "twice.py", environment=environment), "[0. 2. 4. 6. 8.]")
        if compiler and nvcc != "none":
            with_cuda = environment_of(work, venv, TENON_NVCC=nvcc)
            expect(run(python, "-c", COMPILED, environment=with_cuda), "[2. 3.]")
            expect(run(python, "-c", KERNEL, environment=with_cuda), "[0. 2. 4. 6. 8.]")

        tried = [version_of(sys.executable)]
        for minor in range(10, 20):
            found = [shutil.which(f"python3.{minor}"), *map(str, pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3.{minor}"))]
            other = next((one for one in found if one and version_of(one) == (3, minor)), None)
            if not other or (3, minor) in tried:
                continue
            venv = work / f"venv-3.{minor}"
            environment = environment_of(work, venv)
            run(other, "-m", "venv", venv, environment=environment)
            run(venv / "bin/python", "-m", "pip", "-q", "install", "--no-index", "--no-deps", package, environment=environment)
            expect(run(venv / "bin/python", "-c", WITHOUT_NUMPY, environment=environment), "(8,)")
            tried.append((3, minor))
        print("installed and called on Python", *(f"{major}.{minor}" for major, minor in sorted(tried)))


if __name__ == "__main__":
    main()
