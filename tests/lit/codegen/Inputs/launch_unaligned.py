# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches the kernel @add of a PTX file (x + y, f32) on bases that are no multiple of 16 bytes, and checks every result.

usage: launch_unaligned.py FILE.ptx; the driver is $TENON_EMULATOR_LIBRARY, which faults on a misaligned access
"""
import ctypes
import os
import sys

driver = ctypes.CDLL(os.environ["TENON_EMULATOR_LIBRARY"])


def check(result, what):
    if result:
        sys.exit(f"{what}: error {result}")


def allocate(size):
    address = ctypes.c_uint64()
    check(driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)), "cuMemAlloc")
    return address


def load(path):
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(driver.cuInit(0), "cuInit")
    check(driver.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    with open(path, "rb") as file:
        check(driver.cuModuleLoadData(ctypes.byref(module), file.read() + b"\0"), "cuModuleLoadData")
    check(driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"add"), "cuModuleGetFunction")
    return kernel


def run(kernel, count, offsets):
    values = (ctypes.c_float * count)(*range(count))
    buffers = [allocate(4 * count + offset) for offset in offsets]
    bases = [ctypes.c_uint64(buffer.value + offset) for buffer, offset in zip(buffers, offsets)]
    for base in bases[:2]:
        check(driver.cuMemcpyHtoD_v2(base, values, ctypes.c_size_t(4 * count)), "cuMemcpyHtoD")
    arguments = bases + [ctypes.c_int64(count)]
    pointers = (ctypes.c_void_p * 4)(*[ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments])
    check(driver.cuLaunchKernel(kernel, (count + 1023) // 1024, 1, 1, 256, 1, 1, 0, None, pointers, None), "launch")
    check(driver.cuCtxSynchronize(), "cuCtxSynchronize")
    results = (ctypes.c_float * count)()
    check(driver.cuMemcpyDtoH_v2(results, bases[2], ctypes.c_size_t(4 * count)), "cuMemcpyDtoH")
    for buffer in buffers:
        check(driver.cuMemFree_v2(buffer), "cuMemFree")
    return all(results[i] == 2 * i for i in range(count))


kernel = load(sys.argv[1])
for offsets in [(0, 0, 0), (4, 0, 0), (0, 8, 0), (0, 0, 12), (4, 4, 4), (16, 32, 48)]:
    for count in (1, 4, 7, 1000, 1025):
        if not run(kernel, count, offsets):
            sys.exit(f"wrong results at offsets {offsets}, {count} elements")
print("right at every offset")
