# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the extension asks of other libraries, each imported when one of its arrays was passed."""
from __future__ import annotations

from typing import Any

from ._core.native import Array

# The extension's Family.
OTHER, NUMPY, TORCH, CUPY, JAX, TENON = range(6)


def numpy_type(name: str) -> Any:
    import numpy

    if name != "bfloat16":
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("NumPy has no bfloat16: install ml_dtypes, or take the result by DLPack") from None
    return numpy.dtype(ml_dtypes.bfloat16)


def to_numpy(array: Array) -> Any:
    """An array as NumPy's: the emulator's memory itself, a GPU's copied."""
    import numpy

    wanted = numpy_type(array.dtype)
    if array.device.is_emulator and array.nbytes:
        if array.dtype != "bfloat16":
            return numpy.asarray(array)
        holder = _Bits(array)
        return numpy.asarray(holder).view(wanted)
    made = numpy.empty(array.shape, wanted)
    if array.nbytes:
        array.read_into(made)
    return made


class _Bits:
    """An array's 16-bit elements, by a name that NumPy knows."""

    def __init__(self, array: Array) -> None:
        array.device.wait()
        self.array = array
        self.__array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": "<u2", "data": (array.host_address, False), "strides": None,
        }


_CUPY_TYPES: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    if name == "torch_empty_like":
        import torch

        return torch.empty_like
    raise AttributeError(name)


def empty(family: int, shape: tuple[int, ...], dtype: str, ordinal: int) -> Any:
    """Device memory from a library's own allocator, on its current stream."""
    if family == CUPY:
        import cupy

        kind = _CUPY_TYPES.get(dtype) or _CUPY_TYPES.setdefault(dtype, cupy.dtype("uint16" if dtype == "bfloat16" else dtype))
        if cupy.cuda.runtime.getDevice() == ordinal:
            return cupy.ndarray(shape, kind)
        with cupy.cuda.Device(ordinal):
            return cupy.ndarray(shape, kind)
    raise NotImplementedError(f"no allocator of library {family}")


def wrap(family: int, array: Array, is_host: int) -> Any:
    """A result as an array of the library that the arguments came from. `is_host`: theirs were in host memory."""
    on_gpu = not array.device.is_emulator
    if family == NUMPY or (is_host and on_gpu):
        host = to_numpy(array)
        if family == TORCH:
            import torch

            return torch.from_numpy(host)
        return host
    if family == TORCH:
        import torch

        return torch.from_dlpack(array)
    if family == CUPY:
        import cupy

        return cupy.from_dlpack(array)
    if family == JAX:
        import jax

        return jax.dlpack.from_dlpack(array) if on_gpu else jax.numpy.asarray(to_numpy(array))
    return array


def signature_text(info: tuple[Any, ...]) -> str:
    """'mul(f32[?], f32[?]) -> f32[?]' of what Function.info gives."""
    name, _, inputs, results, _, _ = info

    def spell(kind: tuple[Any, ...]) -> str:
        label, element, is_scalar, shape, *_ = kind
        text: str = element if is_scalar else f"{element}[{', '.join('?' if d < 0 else str(d) for d in shape)}]"
        return f"{label}: {text}" if label else text

    given = ", ".join(spell(kind) for kind in results)
    return f"{name}({', '.join(spell(kind) for kind in inputs)}) -> {given if len(results) == 1 else f'({given})'}"
