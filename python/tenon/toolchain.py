# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools as functions. They run as processes: what they print when they fail is the exception's text.

tenon-link, tenon-dump, tenon-run, tenon-check and tenon-check-kernel come with the package. tenon-compile is looked for
in $TENON_COMPILE, in the package tenon-compiler (the extra `compiler`), then on PATH.
"""
from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ._core.native import Error, version
from .views import Findings, Text

_CORE = pathlib.Path(__file__).parent / "_core"


class ToolError(Error):
    """A tool refused: its text, its exit status (`status`) and the command (`command`)."""

    def __init__(self, text: str, status: int = 1, command: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.code = "failed precondition"
        self.status = status
        self.command = command

    @property
    def findings(self) -> Findings:
        """What the tool said, one by one, with places."""
        return Findings.of(str(self))


def _compiler_package() -> str | None:
    """The program in the package tenon-compiler, if that is installed."""
    found = importlib.util.find_spec("tenon_compiler")
    return str(pathlib.Path(found.origin).parent / "tenon-compile") if found and found.origin else None


def find_tool(name: str) -> str:
    """The path of a tool: $TENON_COMPILE and the like, the package's own, tenon-compiler's, PATH."""
    variable = name.upper().replace("-", "_")
    given = os.environ.get(variable)
    if given and not os.access(given, os.X_OK):
        raise ToolError(f"${variable} is {given!r}, which is no program that can be run")
    packaged = _compiler_package() if name == "tenon-compile" else None
    for candidate in (given, str(_CORE / name), packaged, shutil.which(name)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    hint = (": the compiler comes apart from this package: install the wheel tenon_compiler, put it on PATH, or name it in "
            "$TENON_COMPILE" if name == "tenon-compile" else "")
    raise ToolError(f"{name} is not found in {_CORE} or on PATH{hint}")


def run_tool(name: str, arguments: Iterable[Any], *, text: str | None = None, environment: Mapping[str, str] | None = None,
             allowed: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs a tool and gives what it printed. ToolError: it ended with a status that is not allowed."""
    command = [find_tool(name), *map(os.fspath, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace",
                          env={**os.environ, **(environment or {})})
    if done.returncode not in allowed:
        said = (done.stderr.strip() + "\n" + done.stdout.strip()).strip()
        if "host compiler" in said and not shutil.which("g++") and not shutil.which("gcc"):
            said += "\nnvcc needs a C++ compiler for the host's half of a source: apt-get install g++, or what your distribution calls it"
        elif "unsupported GNU version" in said:
            said += ("\nthis nvcc does not take the machine's g++: install an earlier one and say NVCC_PREPEND_FLAGS=-ccbin=g++-15 (its name) in the "
                     "environment")
        raise ToolError(said or f"{name} ended with status {done.returncode}", done.returncode, tuple(command))
    return done


def main() -> None:
    """The entry point of every tool of the package: runs the one that it was called by."""
    name = pathlib.Path(sys.argv[0]).name
    try:
        tool = find_tool(name)
    except ToolError as error:
        sys.exit(f"{name}: error: {error}")
    os.execve(tool, [name, *sys.argv[1:]], tool_environment())


def tool_environment() -> dict[str, str]:
    """The environment for a tool that is called by itself: it looks for nvcc, ptxas and libdevice in a toolkit, and not in NVIDIA's wheels."""
    environment, nvcc = dict(os.environ), find_nvcc()
    if nvcc and not (environment.get("CUDA_HOME") or environment.get("CUDA_PATH") or shutil.which("nvcc")):
        environment["CUDA_HOME"] = str(pathlib.Path(nvcc).parent.parent)
    return environment


def cache_folder() -> pathlib.Path:
    """Where what is built in place is kept: tenon's own cache."""
    given = os.environ.get("TENON_CACHE_DIR")
    if given == "none":
        return _own_folder(os.getpid())
    if given:
        return pathlib.Path(given) / "python"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "tenon" / "python"


@functools.cache
def _own_folder(process: int) -> pathlib.Path:
    """This process's, and gone when it ends."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="tenon-"))
    atexit.register(lambda: shutil.rmtree(made, ignore_errors=True) if os.getpid() == process else None)
    return made


def make_folder(folder: pathlib.Path) -> None:
    """Makes a folder of the cache. OSError: what to do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}: what Tenon builds is kept in {str(folder)!r}. fix: TENON_CACHE_DIR names a folder that can be "
                      "written; with TENON_CACHE_DIR=none nothing is kept when the process ends") from None


def write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file that another process may be reading, which builds the same: it sees all of it, before or after."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    partial.write_text(text)
    os.replace(partial, path)


def digest(*parts: Any) -> str:
    """A name for what is built from these."""
    return hashlib.sha256(repr((version, parts)).encode()).hexdigest()[:24]


def find_nvcc() -> str | None:
    """An nvcc: $TENON_NVCC, PATH, $CUDA_HOME, /usr/local/cuda, or NVIDIA's wheels. None: there is none."""
    candidates = [os.environ.get("TENON_NVCC"), shutil.which("nvcc")]
    candidates += [os.path.join(os.environ[name], "bin", "nvcc") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    candidates.append("/usr/local/cuda/bin/nvcc")
    for folder in sys.path:
        candidates += map(str, sorted(pathlib.Path(folder or ".").glob("nvidia/*/bin/nvcc")))
    return next((one for one in candidates if one and os.access(one, os.X_OK)), None)


def _libdevice_home() -> dict[str, str]:
    """CUDA_HOME for tenon-compile, which looks there for libdevice: a toolkit that it would not find by itself."""
    if os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH"):
        return {}
    nvcc = find_nvcc()
    roots = [pathlib.Path(nvcc).resolve().parent.parent] if nvcc else []
    for folder in sys.path:
        roots += sorted(pathlib.Path(folder or ".").glob("nvidia/*"))
    found = next((root for root in roots if (root / "nvvm/libdevice/libdevice.10.bc").exists()), None)
    return {"CUDA_HOME": str(found)} if found else {}


def _targets(targets: str | Iterable[str] | None) -> list[str]:
    if targets is None:
        return []
    return targets.split(",") if isinstance(targets, str) else list(targets)


def _object_folder(objects: Mapping[str, Any] | Iterable[Any], into: pathlib.Path) -> list[str]:
    """Puts objects under their names into a folder; the flags that let them be found."""
    folders = [into]
    named = objects.items() if isinstance(objects, Mapping) else ((None, one) for one in objects)
    for name, one in named:
        source: Any = getattr(one, "meta", one)
        if type(source).__name__ == "Generic":  # of tenon.gpu, which this module does not import
            source.write_object  # says that it is made for sizes first
        if hasattr(source, "write_object"):
            source.write_object(into, name)
            continue
        path = pathlib.Path(os.fspath(source)).resolve()
        if path.is_dir():
            folders.append(path)
        else:
            shutil.copyfile(path, into / (name or path.name))
    return [f"--object-search-path={folder}" for folder in folders]


def compile(source: str | os.PathLike[str], *, targets: str | Iterable[str] | None = None,
            objects: Mapping[str, Any] | Iterable[Any] = (), output: str | os.PathLike[str] | None = None,
            options: Iterable[str] = ()) -> pathlib.Path:
    """Compiles MLIR, given as text or as a file's path, to a program, and gives its path; `tenon.load` takes it.

    `targets`: architectures for the compiler's own kernels, "sm_80,sm_90a". `objects`: what `#hal.executable.object`
    names: paths (PTX, .cu, a gpu.module in a .mlir, ...), folders, kernels of `tenon.cuda_kernel`, or a dict from such a name
    to one of these. `options`: more flags of tenon-compile. Without `output` the program is kept in Tenon's cache.
    """
    is_text = isinstance(source, str) and ("\n" in source or not source.endswith((".mlir", ".mlirbc")))
    wanted = _targets(targets)
    with tempfile.TemporaryDirectory(prefix="tenon-") as folder:
        given = pathlib.Path(folder)
        flags = ([f"--target={','.join(wanted)}"] if wanted else []) + _object_folder(objects, given) + list(options)
        nvcc = find_nvcc()
        if nvcc and not any(flag.startswith("--nvcc") for flag in flags):
            flags.append(f"--nvcc={nvcc}")
        path = given / "program.mlir" if is_text else pathlib.Path(source)
        if is_text:
            path.write_text(os.fspath(source))
        built = given / "program.tenon"
        run_tool("tenon-compile", [path, "-o", built, *flags], environment=_libdevice_home())
        if output is not None:
            target = pathlib.Path(output)
            if not target.parent.is_dir():
                raise FileNotFoundError(f"output={str(target)!r}: there is no folder {str(target.parent)!r}")
        else:
            target = cache_folder() / f"{hashlib.sha256(built.read_bytes()).hexdigest()[:24]}.tenon"
            make_folder(target.parent)
        partial = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}")
        shutil.copyfile(built, partial)
        os.replace(partial, target)
        return target


def link(objects: str | os.PathLike[str] | Iterable[Any], *, output: str | os.PathLike[str],
         manifest: str | os.PathLike[str] | Mapping[str, Any] | None = None, targets: str | Iterable[str] | None = None,
         options: Iterable[str] = ()) -> pathlib.Path:
    """Links objects to an executable, proved against a manifest (a path, or the manifest itself as a dict) or against
    what the objects declare, and gives its path; `tenon.load` takes it."""
    import json

    listed = [objects] if isinstance(objects, (str, os.PathLike)) or hasattr(objects, "meta") else list(objects)
    for one in listed:
        if hasattr(one, "meta"):
            raise TypeError(f"{one!r} is linked already, into kernel.meta.executable, which tenon.load takes; wanted: paths of objects, as "
                            "kernel.meta.path")
    flags = list(options)
    wanted = _targets(targets)
    if wanted:
        flags.append(f"--target={','.join(wanted)}")
    nvcc = find_nvcc()
    if nvcc and not any(flag.startswith("--nvcc") for flag in flags):
        flags.append(f"--nvcc={nvcc}")
    text = None
    if isinstance(manifest, Mapping):
        text = json.dumps(manifest)
        listed.insert(0, "-")
        flags.append(f"--object-search-path={os.getcwd()}")
    elif manifest is not None:
        listed.insert(0, manifest)
    run_tool("tenon-link", [*listed, "-o", output, *flags], text=text)
    return pathlib.Path(output)


def dump(path: str | os.PathLike[str], *options: str) -> Text:
    """What `tenon-dump` prints of a file."""
    return Text(run_tool("tenon-dump", [path, *options]).stdout)
