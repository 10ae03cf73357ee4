# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads, processes that are forked, and Ctrl-C."""
import subprocess
import sys
import threading

import numpy
import tenon
from conftest import SAXPY


def run(text):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def test_threads_build_and_call_one_kernel(nvcc, tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path))
    x, sums, failed = numpy.arange(300, dtype="f4"), [numpy.full(300, at, "f4") for at in range(4)], []

    def work(y):
        try:
            kernel = tenon.cuda_kernel(SAXPY + "// of several threads", "saxpy", targets="sm_80")
            for _ in range(5):
                kernel(x, y, 1.0, 300, grid=3)
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in sums]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed
    for at, one in enumerate(sums):
        assert (one == at + 5 * x).all()


def test_a_forked_child_is_told_what_to_do(saxpy):
    said = run(f"""
import os, numpy, tenon
kernel, y = tenon.load({str(saxpy.meta.executable)!r}).saxpy, numpy.ones(4, "f4")
kernel(y, y, 1.0, 4, grid=1)
child = os.fork()
if child == 0:
    try:
        kernel(y, y, 1.0, 4, grid=1)
    except tenon.Error as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
kernel(y, y, 1.0, 4, grid=1)
print(y)
""")
    assert "this process was forked from one that had used CUDA, and cannot use it itself. fix: fork before the first use" in said, said
    assert "[4. 4. 4. 4.]" in said, said


def test_ctrl_c_ends_a_kernel_that_never_does(nvcc):
    said = run("""
import os, signal, threading, numpy, tenon
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
spin = tenon.cuda_kernel('extern "C" __global__ void spin(volatile int *x) { while (x[0] == 0); }', "spin", block=32)
for seconds in (0.5, 2, 8):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        spin(numpy.zeros(1, "i4"), grid=1)
    except KeyboardInterrupt as error:
        if error.__context__ is not None:  # else it came before the kernel ran: the machine is busy
            print("KeyboardInterrupt", error.__context__)
            break
""")
    # The timer is a thread of Python's, which runs meanwhile.
    assert "KeyboardInterrupt" in said and "spin.cu:1:" in said and "warp 0 of block (0,0,0)" in said, said
