# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files on a device: programs, whose functions are methods, and executables, whose kernels are."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Iterator

from ._core import native
from .devices import device as _device
from .reflection import FunctionInfo, KernelInfo
from .views import Text, table_html

_IMAGES = {"default": 0, "any": 1, "cubin": 2, "ptx": 3}


def _images(name: str) -> int:
    if name not in _IMAGES:
        raise ValueError(f"images is {name!r}, expected one of {', '.join(_IMAGES)}")
    return _IMAGES[name]


class Program:
    """A .tenon file on a device: `program.f(a, b)` calls its function f; `program["f"]` where the name is no identifier."""

    def __init__(self, path: str | bytes | os.PathLike[str], device: str | native.Device | None = None, *,
                 data: bytes | None = None, images: str = "default", variant: str | None = None) -> None:
        self.path = os.fsdecode(path)
        self.device = _device(device)
        self._native = native.Program(self.device, self.path, data, _images(images), variant)
        self.functions: dict[str, native.Function] = {f.__name__: f for f in self._native.functions()}
        for name, function in self.functions.items():
            if name not in self.__dict__ and not hasattr(type(self), name):
                self.__dict__[name] = function

    def __getitem__(self, name: str) -> native.Function:
        if name not in self.functions:
            raise KeyError(f"{self.path} has no function {name!r}; there are {', '.join(self.functions) or 'none'}")
        return self.functions[name]

    def __getattr__(self, name: str) -> native.Function:
        functions = self.__dict__.get("functions", {})
        raise AttributeError(f"{self.__dict__.get('path', 'the program')} has no function {name!r}; there are "
                             f"{', '.join(functions) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    @property
    def info(self) -> tuple[FunctionInfo, ...]:
        """What each function takes and gives."""
        return tuple(FunctionInfo.of(function) for function in self.functions.values())

    def explain(self) -> Text:
        """Which image each kernel runs from on this device, and why: what `tenon-run --explain` prints."""
        return Text(self._native.explain())

    def dump(self) -> Text:
        """What is in the file: what `tenon-dump` prints."""
        from .toolchain import dump

        return dump(self.path)

    def __repr__(self) -> str:
        lines = "".join(f"\n  {info}" for info in self.info)
        return f"<tenon.Program {self.path} on {self.device.name}>{lines}"

    def _repr_html_(self) -> str:
        return table_html(("function", "what it is"), ((info, info.documentation) for info in self.info),
                          caption=f"{self.path} on {self.device.name}")


class Executable:
    """A .tnx file on a device: `kernels.saxpy(x, y, 2.0, n, grid=8)` launches its export saxpy."""

    def __init__(self, path: str | bytes | os.PathLike[str], device: str | native.Device | None = None, *,
                 images: str = "default", variant: str | None = None) -> None:
        self.path = os.fsdecode(path)
        self.device = _device(device)
        self._native = native.Executable(self.device, self.path, _images(images), variant)
        self.kernels: dict[str, native.Kernel] = {name: self._native.kernel(name) for name in self._native.names()}
        for name, kernel in self.kernels.items():
            if name not in self.__dict__ and not hasattr(type(self), name):
                self.__dict__[name] = kernel

    def __getitem__(self, name: str) -> native.Kernel:
        if name not in self.kernels:
            raise KeyError(f"{self.path} has no export {name!r}; there are {', '.join(self.kernels) or 'none'}")
        return self.kernels[name]

    def __getattr__(self, name: str) -> native.Kernel:
        kernels = self.__dict__.get("kernels", {})
        raise AttributeError(f"{self.__dict__.get('path', 'the executable')} has no export {name!r}; there are "
                             f"{', '.join(kernels) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    @property
    def info(self) -> tuple[KernelInfo, ...]:
        """What each kernel takes."""
        return tuple(KernelInfo.of(kernel) for kernel in self.kernels.values())

    def explain(self) -> Text:
        """Which image each export runs from on this device, and why."""
        return Text(self._native.explain())

    def dump(self) -> Text:
        """What is in the file: what `tenon-dump` prints."""
        from .toolchain import dump

        return dump(self.path)

    def __repr__(self) -> str:
        return f"<tenon.Executable {self.path} on {self.device.name}: {', '.join(self.kernels)}>"

    def _repr_html_(self) -> str:
        return table_html(("kernel", "threads", "dynamic shared bytes"), (
            (info, " x ".join(map(str, info.workgroup_size)), info.dynamic_shared_bytes) for info in self.info),
            caption=f"{self.path} on {self.device.name}")


def sample(name: str = "example.tenon") -> str:
    """The path of a file of the sample that comes with the package: `example.tenon`, a program of a hand-written kernel
    and generated ones, and what it was made from, `example.mlir` and `kernels.cu`."""
    folder = pathlib.Path(__file__).parent / "_samples" / "custom_dispatch"
    if not (folder / name).exists():
        there = ", ".join(sorted(one.name for one in folder.glob("*"))) or "none"
        why = ("" if (folder / "example.tenon").exists() else
               ": the compiler and nvcc make it, and this package was built from source without one of them")
        raise FileNotFoundError(f"the package has no sample {name!r}, there are {there}{why}")
    return str(folder / name)


def load(path: str | bytes | os.PathLike[str], device: str | native.Device | None = None, *, images: str = "default",
         variant: str | None = None) -> Any:
    """A file on a device: a Program (.tenon) or an Executable (.tnx), told apart by what is in them.

    `device`: "cuda", "cuda:1", "emulator", a tenon.Device; None: a GPU if there is one, else the emulator. `images`:
    "cubin" loads finished code only, "ptx" PTX only; `variant`: this one only.
    """
    path = os.fsdecode(path)  # bytes name a file, too; a number is none
    with open(path, "rb") as file:
        kind = file.read(8)[4:8]
    if kind == b"TNX1":
        return Executable(path, device, images=images, variant=variant)
    return Program(path, device, images=images, variant=variant)
