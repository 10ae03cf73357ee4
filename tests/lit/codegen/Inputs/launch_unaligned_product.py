# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches a product of f32 on operands that begin at no multiple of 16 bytes, and checks every result.

usage: launch_unaligned_product.py FILE.ptx KERNEL ROWS COLUMNS REDUCED BLOCKS THREADS; the driver is $TENON_EMULATOR_LIBRARY, which
faults on a misaligned access
"""
import ctypes
import os
import sys

driver = ctypes.CDLL(os.environ["TENON_EMULATOR_LIBRARY"])
path, name = sys.argv[1:3]
rows, columns, reduced, blocks, threads = map(int, sys.argv[3:])


def check(result, what):
    if result:
        sys.exit(f"{what}: error {result}")


def load():
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(driver.cuInit(0), "cuInit")
    check(driver.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    with open(path, "rb") as file:
        check(driver.cuModuleLoadData(ctypes.byref(module), file.read() + b"\0"), "cuModuleLoadData")
    check(driver.cuModuleGetFunction(ctypes.byref(kernel), module, name.encode()), "cuModuleGetFunction")
    return kernel


def place(count, offset):
    address = ctypes.c_uint64()
    check(driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * count + offset)), "cuMemAlloc")
    return ctypes.c_uint64(address.value + offset)


def run(kernel, left, right, offsets):
    sizes = (rows * reduced, reduced * columns, rows * columns)
    bases = [place(size, offset) for size, offset in zip(sizes, offsets)]
    for base, values in zip(bases, (left, right)):
        check(driver.cuMemcpyHtoD_v2(base, (ctypes.c_float * len(values))(*values), ctypes.c_size_t(4 * len(values))), "cuMemcpyHtoD")
    pointers = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.pointer(base), ctypes.c_void_p) for base in bases])
    check(driver.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None), "launch")
    check(driver.cuCtxSynchronize(), "cuCtxSynchronize")
    results = (ctypes.c_float * sizes[2])()
    check(driver.cuMemcpyDtoH_v2(results, bases[2], ctypes.c_size_t(4 * sizes[2])), "cuMemcpyDtoH")
    return list(results)


left = [float(i * 7 % 11 - 5) for i in range(rows * reduced)]
right = [float(i * 5 % 13 - 6) for i in range(reduced * columns)]
across = [right[column::columns] for column in range(columns)]
exact = [sum(map(float.__mul__, left[row * reduced:(row + 1) * reduced], across[column])) for row in range(rows) for column in range(columns)]
kernel = load()
for offsets in [(0, 0, 0), (4, 0, 0), (0, 8, 0), (12, 4, 0), (4, 4, 4)]:
    if run(kernel, left, right, offsets) != exact:
        sys.exit(f"wrong results at offsets {offsets}")
print("right at every offset")
