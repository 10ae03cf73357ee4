# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and functions of programs as operations of JAX: under jax.jit they are calls of the compiled code, on its stream.

    saxpy = tenon.jax_op("mylib::saxpy", k, grid=lambda x, y, a, n: (n + 127) // 128)
    y = saxpy(x, y, 2.0, n)                  # JAX's arrays do not change: what the kernel writes comes out

    add = tenon.jax_op("mylib::add", k, grid=..., results={"out": lambda x, y: jax.ShapeDtypeStruct(x.shape, x.dtype)})
    out = add(x, y)                          # `out` is made by the operation

    mul = tenon.jax_op("mylib::mul", program.mul, results=lambda a, b: jax.ShapeDtypeStruct(a.shape, a.dtype))

The same name, call, grid and results as `tenon.torch_op`. Where JAX runs on the CPU the call has to be on the emulator.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._core import native
from ._core.native import Function, Kernel
from .reflection import FunctionInfo, KernelInfo

_TYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "index": "int64", "f16": "float16",
          "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_declared: dict[str, int] = {}
_are_targets_known = False


def _register_targets() -> None:
    """Tells JAX of the two calls: work that is the same every time, which it may put into a graph, and work that is not."""
    global _are_targets_known
    if _are_targets_known:
        return
    import jax

    for platform, is_gpu in (("cpu", False), ("CUDA", True)):
        for name, runs_on_host in (("tenon", False), ("tenon_host", True)):
            jax.ffi.register_ffi_target(name, native.jax_target(is_gpu, runs_on_host), platform=platform)
    _are_targets_known = True


def _number(value: Any, what: str) -> Any:
    """A number that is known when JAX traces the call."""
    import jax

    if isinstance(value, jax.core.Tracer):
        raise TypeError(f"{what} is a number, which has to be known when the call is traced: pass a Python number, or make it "
                        f"static (jax.jit(..., static_argnums=...))")
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _call(target: str, key: str, arrays: list[Any], types: list[Any], data: list[int], aliases: dict[int, int]) -> list[Any]:
    import jax
    import numpy

    made = jax.ffi.ffi_call(target, types, vmap_method="sequential", input_output_aliases=aliases)(
        *arrays, call=key, data=numpy.array(data or [0], numpy.int64))
    return list(made)


def jax_op(name: str, call: Any, *, grid: Any = None, results: Any = None) -> Callable[..., Any]:
    """A kernel or a program's function as a function of JAX's arrays, for jax.jit, jax.vmap and the rest.

    Of a kernel: `grid`, as numbers or as a function of the operation's arguments; every written binding is a result. Those that
    `results` names are made by the operation, with the shape and type that these functions of its arguments say
    (jax.ShapeDtypeStruct); the others are arguments whose new contents come out. Of a function: `results`, a function of the
    arguments, says the shapes and types of what it returns; where all shapes are static it may be left out. The new contents of
    arrays that it assigns to come behind its results. Scalars are Python's numbers, known when the call is traced.
    """
    call = call.load() if hasattr(call, "load") else call  # one of tenon.gpu
    if not isinstance(call, (Kernel, Function)):
        raise TypeError(f"{call!r} is neither a kernel nor a function of a program")
    if isinstance(call, Kernel):
        run = _of_kernel(call, grid if grid is not None else call.grid, dict(results or {}))
    else:
        run = _of_function(call, results)
    # Code that was compiled for an earlier declaration of the name keeps calling that one.
    _declared[name] = _declared.get(name, 0) + 1
    key = name if _declared[name] == 1 else f"{name}#{_declared[name]}"
    native.jax_register(key, call)

    def operation(*arguments: Any) -> Any:
        _register_targets()
        return run(key, *arguments)

    operation.__name__ = operation.__qualname__ = name.rpartition("::")[2]
    operation.__doc__ = f"{call!r} as an operation of JAX."
    return operation


def _of_kernel(kernel: Kernel, grid: Any, results: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    info = KernelInfo.of(kernel)
    written = [one.name for one in info.parameters if one.kind == "binding" and not one.read_only]
    unknown = set(results) - set(written)
    if unknown:
        raise ValueError(f"results: kernel '{info.name}' has no written binding {', '.join(sorted(unknown))}")
    if grid is None:
        raise ValueError(f"an operation of kernel '{info.name}' needs grid=, numbers or a function of its arguments")
    if not written:
        raise ValueError(f"kernel '{info.name}' writes nothing, so an operation of it has no result")
    taken = [one for one in info.parameters if one.name not in results]

    def run(key: str, *arguments: Any) -> Any:
        import jax
        import numpy

        if len(arguments) != len(taken):
            raise TypeError(f"'{key}' takes {len(taken)} arguments ({', '.join(one.name or '?' for one in taken)}), "
                            f"{len(arguments)} were given")
        given = iter(arguments)
        arrays: list[Any] = []
        types: list[Any] = []
        places: list[int] = []
        constants: list[Any] = []
        aliases: dict[int, int] = {}
        shapes: list[tuple[int, ...]] = []  # of the parameters, for tensor maps
        numbers = []  # the arguments, with numbers for constants: what `grid` sees
        for number, one in enumerate(info.parameters):
            if one.name in results:
                places.append(-1 - len(types))
                types.append(results[one.name](*arguments))
                shapes.append(tuple(types[-1].shape))
                continue
            value = next(given)
            shapes.append(tuple(getattr(value, "shape", ())))
            if one.kind != "binding":
                constants.append(_number(value, f"argument {number}, {one.name}, of '{key}'"))
                numbers.append(constants[-1])
                continue
            value = jax.numpy.asarray(value)
            numbers.append(value)
            if one.element and _TYPES[one.element] != value.dtype.name.replace("uint", "int"):
                raise TypeError(f"argument {number}, {one.name}, of '{key}': its elements are {value.dtype.name}, the kernel takes "
                                f"{_TYPES[one.element]}")
            if one.read_only:
                places.append(len(arrays))
            else:
                aliases[len(arrays)] = len(types)
                places.append(-1 - len(types))
                types.append(jax.ShapeDtypeStruct(value.shape, value.dtype))
            arrays.append(value)
        size = grid(*numbers) if callable(grid) else grid
        extents = [int(extent) for extent in (size if isinstance(size, (tuple, list)) else (size,))]
        words = numpy.frombuffer(kernel.pack((*constants, *(shapes[number] for number in kernel.maps))), numpy.int64).tolist()
        data = [*(extents + [1, 1])[:3], *places, *words]
        made = _call("tenon", key, arrays, types, data, aliases)
        return made[0] if len(made) == 1 else tuple(made)

    return run


def _of_function(function: Function, results: Callable[..., Any] | None) -> Callable[..., Any]:
    import jax

    info = FunctionInfo.of(function)
    if any(one.shape is None for one in info.results):
        raise ValueError(f"'{info.name}' returns a number ({info}), which JAX would have to read back from the device")
    if info.has_expectations:
        raise ValueError(f"'{info.name}' has expectations (check.*), which a stream does not take")
    if results is None:
        if any(min(one.shape or (0,)) < 0 for one in info.results):
            raise ValueError(f"results of '{info.name}' have shapes that are known at the call ({info}): give results=, a function "
                             f"of the arguments that returns jax.ShapeDtypeStruct")

        def static(*_: Any) -> Any:
            return [jax.ShapeDtypeStruct(one.shape, _TYPES[one.element]) for one in info.results]

        results = static
    said_by: Callable[..., Any] = results

    def run(key: str, *arguments: Any) -> Any:
        if len(arguments) != len(info.inputs):
            raise TypeError(f"'{key}' takes {len(info.inputs)} arguments, {len(arguments)} were given: {info}")
        arrays: list[Any] = []
        data: list[Any] = []
        places: dict[int, int] = {}  # of inputs that the function may write, among the arrays
        for number, (one, value) in enumerate(zip(info.inputs, arguments)):
            if one.element == "any":
                continue  # the function does not read it
            if one.shape is None:
                data.append(native.scalar_bits(_number(value, f"argument {number} of '{key}'"), one.element))
                continue
            value = jax.numpy.asarray(value)
            wanted, shape = _TYPES[one.element], value.shape
            if wanted != value.dtype.name.replace("uint", "int"):
                raise TypeError(f"argument {number} of '{key}': its elements are {value.dtype.name}, the function takes {wanted}")
            if len(shape) != len(one.shape) or any(w not in (-1, s) for w, s in zip(one.shape, shape)):
                raise TypeError(f"argument {number} of '{key}' has shape {shape}, the function takes {one}")
            if one.donated:
                places[number] = len(arrays)
            arrays.append(value)
        said = said_by(*arguments)
        types = list(said) if isinstance(said, (tuple, list)) else [said]
        if len(types) != len(info.results):
            raise ValueError(f"results= of '{key}' says {len(types)}, the function returns {len(info.results)}")
        # A written input is a result in the same memory: one of the function's, or one more. XLA copies the array first, unless
        # the caller donates it (jax.jit(..., donate_argnums=...)).
        aliases = {places[one.input]: index for index, one in enumerate(info.results) if one.input in places}
        updated = []
        for number, place in places.items():
            if place not in aliases:
                aliases[place] = len(types)
                types.append(jax.ShapeDtypeStruct(arrays[place].shape, arrays[place].dtype))
            if info.inputs[number].updated:
                updated.append(aliases[place])
        made = _call("tenon_host" if info.runs_on_host else "tenon", key, arrays, types, data, aliases)
        made = made[:len(info.results)] + [made[index] for index in updated]
        return made[0] if len(made) == 1 else tuple(made)

    return run
