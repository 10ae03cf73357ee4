# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Python: what `@gpu.kernel` gives."""
from __future__ import annotations

import inspect
import math
import threading
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from .._core.native import Device
from ..cuda import _target_of
from ..devices import device as _device
from .built import build, check_targets, declaration, ptx_of
from .errors import KernelError
from .expressions import is_known
from .parameters import Extent, Parameter, generics_of, parameters_of
from .source import Source, names_of
from .trace import Traced, trace
from .kinds import Scalar

_lock = threading.RLock()
_Sizes = int | tuple[int, ...] | Callable[..., Any] | None
_Count = int | Callable[..., Any] | None


def _extents(what: str, given: Any, generics: dict[str, Any], source: Source) -> tuple[int, ...] | None:
    """A block or a grid, for these sizes."""
    place = source.place(source.tree)
    if callable(given):
        wanted = list(inspect.signature(given).parameters)
        missing = [one for one in wanted if one not in generics]
        if missing:
            raise KernelError(place, f"{what} takes '{missing[0]}', which is no size of the kernel; there are {', '.join(generics) or 'none'}")
        given = given(**{name: generics[name] for name in wanted})
    if given is None:
        return None
    listed = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(listed) <= 3 or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in listed):
        raise KernelError(place, f"{what} is {given!r}; wanted: 1 to 3 numbers above 0")
    return listed


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def _fits_of(parameters: tuple[Parameter, ...]) -> Callable[[tuple[Any, ...]], bool]:
    """A function that says whether the shapes of a call's arguments are those that are wanted: Python of one expression, since a
    loop over parameters takes longer than the launch. Where it says no, `_check` says why."""
    places = {one.name: at for at, one in enumerate(parameters) if not one.access}
    conditions = []
    for at, one in enumerate(parameters):
        if not one.access:
            continue
        if all(isinstance(extent, int) for extent in one.shape):
            conditions.append(f"a[{at}].shape == {tuple(one.shape)}")
            continue
        conditions.append(f"len(s := a[{at}].shape) == {len(one.shape)}")
        for axis, extent in enumerate(one.shape):
            if isinstance(extent, Extent):
                conditions.append(f"s[{axis}] {'==' if axis else '>='} a[{places[extent.name]}]")
            elif extent is not None:
                conditions.append(f"s[{axis}] == {extent}")
    fits: Callable[[tuple[Any, ...]], bool] = eval(f"lambda a: {' and '.join(conditions) or True}")
    return fits


class Kernel:
    """A kernel whose sizes and types are known: k(A, B, C, grid=8), or k[8](A, B, C).

    It is written as MLIR when it is first asked for (KernelError), compiled and proved when it is first called (ToolError).
    """

    def __init__(self, function: types.FunctionType, source: Source, generics: dict[str, Any], block: _Sizes, grid: _Sizes, cluster: _Sizes,
                 min_blocks: _Count) -> None:
        self.__name__ = self.name = function.__name__
        self.__doc__ = function.__doc__
        self.function, self.source, self.generics = function, source, generics
        self.parameters: tuple[Parameter, ...] = parameters_of(source, names_of(function), generics)
        listed = _extents("block", block, generics, source)
        if listed is None:
            raise KernelError(source.place(source.tree), f"how many threads a block of '{self.name}' has is not said", "write @gpu.kernel(block=256)")
        self.block = _three(listed)
        if self.block[0] * self.block[1] * self.block[2] > 1024 or self.block[2] > 64:
            raise KernelError(source.place(source.tree), f"a block of '{self.name}' is {' x '.join(map(str, self.block))} threads; wanted: at most 1024, and 64 along z")
        self.grid = _extents("grid", grid, generics, source)
        self.cluster = _three(_extents("cluster", cluster, generics, source) or (1,))
        if math.prod(self.cluster) > 8:
            raise KernelError(source.place(source.tree), f"a cluster of '{self.name}' is {' x '.join(map(str, self.cluster))} blocks; wanted: at most 8")
        if self.grid is not None and any(one % each for one, each in zip((*self.grid, 1, 1), self.cluster)):
            raise KernelError(source.place(source.tree), f"the grid of '{self.name}' is {' x '.join(map(str, (*self.grid, 1, 1)[:3]))} blocks; wanted: "
                              f"multiples of the cluster, {' x '.join(map(str, self.cluster))}")
        self.min_blocks = self._min_blocks(min_blocks)
        self._traced: Traced | None = None
        self._built: dict[Any, Any] = {}
        self._last: Any = None
        self._with_grid: Any = None
        self._fits = _fits_of(self.parameters)

    def _min_blocks(self, given: _Count) -> int | None:
        listed = _extents("min_blocks", given, self.generics, self.source)
        if listed is None:
            return None
        threads, place = math.prod(self.block), self.source.place(self.source.tree)
        if len(listed) != 1:
            raise KernelError(place, f"min_blocks is {given!r}; wanted: one number, of the blocks that a multiprocessor is to hold")
        # No multiprocessor holds more than 32 blocks, or 2048 threads; ptxas would leave out what it cannot keep without an error.
        if listed[0] > min(32, 2048 // threads):
            raise KernelError(place, f"min_blocks is {listed[0]}; wanted: at most {min(32, 2048 // threads)}, since a multiprocessor holds 32 blocks and 2048 "
                              f"threads at most, and a block of '{self.name}' is {threads} threads")
        return listed[0]

    @property
    def traced(self) -> Traced:
        """What the kernel's Python says, in MLIR."""
        if self._traced is None:
            try:
                self._traced = trace(self.name, self.source, names_of(self.function), self.parameters, self.generics, self.block, self.cluster,
                                     self.min_blocks)
            except KernelError as error:
                raise error.with_traceback(None) from None  # it says the place: the interpreter's own frames tell a reader nothing
        return self._traced

    @property
    def mlir(self) -> str:
        """The kernel in MLIR's gpu dialect: an object `kernel.mlir`."""
        return self.traced.module

    def ptx(self, target: str) -> str:
        """The kernel's PTX for "sm_80" and the like. Its entry is the kernel's name, its parameters are `signature`: other loaders take it, as
        CuPy's RawModule does. What else a launch needs is `block`, `cluster` and `dynamic_shared_bytes`."""
        return ptx_of(self.name, self.traced, self.parameters, self.block, (target,))[target]

    @property
    def dynamic_shared_bytes(self) -> int:
        """Bytes of shared memory that a launch asks for; 0 where all of it is the kernel's own (48 KiB)."""
        return self.traced.dynamic_shared_bytes

    @property
    def signature(self) -> str:
        """The kernel as CUDA C++ would declare it. Tensor maps, which the runtime encodes, stand behind the other parameters."""
        listed = [f"{one.c_type}{'' if one.c_type.endswith('*') else ' '}{one.name}" for one in self.parameters]
        given = ", ".join([*listed, *(f"const __grid_constant__ CUtensorMap {one.name}" for one in self.traced.maps)])
        cluster = f"__cluster_dims__({', '.join(map(str, self.cluster))}) " if self.cluster != (1, 1, 1) else ""
        bounds = ", ".join(map(str, (math.prod(self.block), *([self.min_blocks] if self.min_blocks else []))))
        return f'extern "C" __global__ void {cluster}__launch_bounds__({bounds}) {self.name}({given})'

    def declaration(self, targets: str | Iterable[str], *, symbol: str | None = None, file: str | None = None) -> str:
        """A `hal.executable.source` of the kernel, for a program in MLIR that `tenon.compile(..., objects=[kernel])` compiles:
        `flow.dispatch @SYMBOL::@NAME(...)` calls it; the symbol is the kernel's name with `_kernel` behind it, unless it is said.
        Where the kernel has no grid of its own, the dispatch says its blocks: `flow.dispatch @SYMBOL::@NAME[%x, %y, %z](...)`."""
        listed = targets.split(",") if isinstance(targets, str) else list(targets)
        check_targets(self.name, self.traced, listed)
        return declaration(self.name, self.traced, self.parameters, self.block, self.grid, listed, file or f"{self.name}.mlir",
                           symbol or f"{self.name}_kernel")

    def write_object(self, folder: Any, name: str | None) -> None:
        """Puts the kernel where `#hal.executable.object<{path = "NAME.mlir"}>` finds it."""
        (folder / (name or f"{self.name}.mlir")).write_text(self.mlir)

    def load(self, targets: str | Iterable[str] | None = None, device: str | Device | None = None) -> Any:
        """The kernel on a device, compiled for `targets` (left out: the device's own): what tenon.cuda_kernel gives, which
        tenon.check, tenon.torch_op and tenon.jax_op take."""
        used = _device(device)
        listed = (tuple(targets.split(",")) if isinstance(targets, str) else tuple(targets)) if targets else (_target_of(used),)
        key = (listed, repr(used))
        with _lock:  # two threads that call it first build it once
            if key not in self._built:
                self._built[key] = build(self.name, self.traced, self.parameters, self.block, self.grid, listed, used)
        return self._built[key]

    def _check(self, arguments: tuple[Any, ...]) -> None:
        """The shapes of arrays are those that the kernel is made for. ValueError: they are not."""
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments ({', '.join(one.name for one in self.parameters)}), found {len(arguments)}")
        numbers = {one.name: value for one, value in zip(self.parameters, arguments) if not one.access}
        for one, value in zip(self.parameters, arguments):
            shape = getattr(value, "shape", None)
            if not one.access or shape is None:
                continue
            wanted = tuple(numbers.get(extent.name) if isinstance(extent, Extent) else extent for extent in one.shape)
            first = isinstance(one.shape[0], Extent)
            if len(shape) != len(wanted) or any(extent is not None and (have < extent if at == 0 and first else have != extent)
                                                for at, (have, extent) in enumerate(zip(shape, wanted))):
                raise ValueError(f"{self.name}: '{one.name}' has the shape {tuple(shape)}; wanted: "
                                 f"({', '.join('any' if extent is None else str(extent) for extent in wanted)})")

    def __call__(self, *arguments: Any, grid: int | tuple[int, ...] | None = None, stream: Any = None) -> None:
        try:
            fits = len(arguments) == len(self.parameters) and self._fits(arguments)
        except (AttributeError, TypeError):
            fits = False
        if not fits:
            self._check(arguments)
        if self._last is None:
            self._last = self.load()
        if grid is None:
            if self._with_grid is None:
                if self.grid is None:
                    raise TypeError(f"{self.name}: how many blocks? Say grid=8, {self.name}[8](...), or grid= in @gpu.kernel")
                self._with_grid = self._last[self.grid]
            self._with_grid(*arguments, stream=stream)
        else:
            self._last(*arguments, grid=grid, stream=stream)

    def __getitem__(self, grid: int | tuple[int, ...]) -> Callable[..., None]:
        return lambda *arguments, stream=None: self(*arguments, grid=grid, stream=stream)

    def __repr__(self) -> str:
        made = f"[{', '.join(f'{name}={value}' for name, value in self.generics.items())}]" if self.generics else ""
        given = ", ".join(f"{one.access} {one.dtype} {one.name}".strip() for one in self.parameters)
        return f"<tenon.gpu kernel {self.name}{made}({given}), {' x '.join(map(str, self.block))} threads>"


class Generic:
    """A kernel for any sizes and types: sgemm[1024, 1024, 1024, gpu.f32], or sgemm(M=1024, N=1024, K=1024, dtype=gpu.f32), is one Kernel."""

    def __init__(self, function: types.FunctionType, source: Source, block: _Sizes, grid: _Sizes, cluster: _Sizes, min_blocks: _Count) -> None:
        self.__name__ = self.name = function.__name__
        self.__doc__ = function.__doc__
        self.function, self.source, self.block, self.grid, self.cluster, self.min_blocks = function, source, block, grid, cluster, min_blocks
        self.generics = [name for name, _ in generics_of(source)]
        self._defaults = function.__kwdefaults__ or {}
        self._made: dict[Any, Kernel] = {}

    def __getitem__(self, given: Any) -> Kernel:
        values = given if isinstance(given, tuple) else (given,)
        if len(values) > len(self.generics):
            raise TypeError(f"{self.name} is made for {len(self.generics)} things ({', '.join(self.generics)}), found {len(values)}")
        return self(**dict(zip(self.generics, values)))

    def __call__(self, *arguments: Any, **given: Any) -> Kernel:
        listed = ", ".join(self.generics)
        if arguments:
            raise TypeError(f"{self.name} is made for {listed} first: {self.name}[{listed}](...)")
        values = {**{name: self._defaults[name] for name in self.generics if name in self._defaults}, **given}
        for name in values:
            if name not in self.generics:
                raise TypeError(f"{self.name} has no '{name}'; it is made for {listed}")
        missing = [name for name in self.generics if name not in values]
        if missing:
            raise TypeError(f"{self.name} is made for {listed}; missing: {', '.join(missing)}")
        ordered = {name: values[name] for name in self.generics}
        for name, value in ordered.items():
            if not isinstance(value, (int, float, bool, str, Scalar, tuple)) or not is_known(value):
                raise TypeError(f"{self.name}: {name} is {value!r}; wanted: a number, a string, a tuple or a type of tenon.gpu")
        key = tuple((type(value), value) for value in ordered.values())
        if key not in self._made:
            self._made[key] = Kernel(self.function, self.source, ordered, self.block, self.grid, self.cluster, self.min_blocks)
        return self._made[key]

    def __getattr__(self, name: str) -> Any:
        listed = ", ".join(self.__dict__.get("generics", ()))
        if not name.startswith("_") and hasattr(Kernel, name):
            raise AttributeError(f"{self.name} is made for {listed} first: {self.name}[{listed}].{name}")
        raise AttributeError(f"a kernel for any {listed} has no {name!r}")

    def __repr__(self) -> str:
        return f"<tenon.gpu kernel {self.name}[{', '.join(self.generics)}]>"


if TYPE_CHECKING:
    class Made(Kernel):
        """What a type checker takes for a kernel: a Kernel, or a Generic."""

        name: str

        def __call__(self, *arguments: Any, **given: Any) -> Any: ...

        def __getitem__(self, given: Any) -> Any: ...


@overload
def kernel(function: Callable[..., Any], /) -> Made: ...


@overload
def kernel(*, block: _Sizes = None, grid: _Sizes = None, cluster: _Sizes = None, min_blocks: _Count = None) -> Callable[[Callable[..., Any]], Made]: ...


def kernel(function: Any = None, /, *, block: _Sizes = None, grid: _Sizes = None, cluster: _Sizes = None, min_blocks: _Count = None) -> Any:
    """Makes a kernel of a function: `@gpu.kernel(block=256)`.

    `block`: threads along x, y, z, or a function of the kernel's sizes that gives them. `grid`: blocks likewise, where the sizes say them;
    otherwise each call does. `cluster`: likewise, blocks that run at the same time and reach each other's shared memory, at most 8; from sm_90 on.
    `min_blocks`: how many blocks a multiprocessor is to hold at the same time: threads then get no more registers than that leaves, as
    `__launch_bounds__(256, 3)` says in CUDA C++. Where the kernel needs more, they are kept in memory, which is slow: measure it.
    A function with names in brackets (Python 3.12) or keyword-only parameters is a Generic, made for their values.
    """

    def decorate(given: Any) -> Any:
        if not isinstance(given, types.FunctionType):
            raise TypeError(f"@gpu.kernel makes a kernel of a function, found {given!r}")
        source = Source.of(given)
        if generics_of(source):
            return Generic(given, source, block, grid, cluster, min_blocks)
        return Kernel(given, source, {}, block, grid, cluster, min_blocks)

    return decorate if function is None else decorate(function)
