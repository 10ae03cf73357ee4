# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuBLASLt's algorithms by number, through its C interface: a product with one that we choose, not with the one that it would.

So its kernels of an older architecture can be raced on a newer GPU: cuBLAS holds them, and never chooses them there. An algorithm
is a number, a tile, a count of stages and an option; which kernel that is, only a profiler says.
"""
import ctypes
import dataclasses
import itertools
import re

import torch

from measure import Participant

# Of library_types.h and cublas_api.h: type of the operands, of the result, of the sums and of the factor alpha.
R_16F, R_16BF, R_32F, R_64F, R_8I, R_32I, R_8F_E4M3 = 2, 14, 0, 1, 3, 10, 28
COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_64F, COMPUTE_32I = 68, 77, 70, 72
TYPES = {"f16": (R_16F, R_16F, COMPUTE_32F, R_32F), "bf16": (R_16BF, R_16BF, COMPUTE_32F, R_32F), "tf32": (R_32F, R_32F, COMPUTE_32F_FAST_TF32, R_32F),
         "f32": (R_32F, R_32F, COMPUTE_32F, R_32F), "f64": (R_64F, R_64F, COMPUTE_64F, R_64F), "i8": (R_8I, R_32I, COMPUTE_32I, R_32I),
         "f8": (R_8F_E4M3, R_16BF, COMPUTE_32F, R_32F)}
RESULTS = {R_16F: torch.float16, R_16BF: torch.bfloat16, R_32F: torch.float32, R_64F: torch.float64, R_32I: torch.int32}
ALPHAS = {R_32F: ctypes.c_float, R_64F: ctypes.c_double, R_32I: ctypes.c_int32}
# Of cublasLt.h: attributes of a product, of an algorithm's abilities and of its configuration.
TRANSPOSE_A, TRANSPOSE_B, A_SCALE, B_SCALE = 3, 4, 17, 18
CAN_SPLIT, TILE_IDS, MOST_OPTION, STAGE_IDS = 0, 6, 7, 13
SET_TILE, SET_SPLIT, SET_REDUCTION, SET_SWIZZLE, SET_OPTION, SET_STAGES = 1, 2, 3, 4, 5, 6
REDUCE_IN_COMPUTE_TYPE = 2
WORKSPACE = 64 << 20
MOST_ALGORITHMS, MOST_OPTIONS = 200, 4


class Algorithm(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64 * 8)]


class Found(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t"""
    _fields_ = [("algorithm", Algorithm), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float),
                ("reserved", ctypes.c_int * 4)]


@dataclasses.dataclass
class Choice:
    number: int
    text: str
    algorithm: Algorithm
    workspace: int


class Library:
    def __init__(self):
        self.c = ctypes.CDLL("libcublasLt.so.13")
        self.c.cublasLtGetVersion.restype = ctypes.c_size_t
        self.handle = ctypes.c_void_p()
        self.check(self.c.cublasLtCreate(ctypes.byref(self.handle)))
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")

    @staticmethod
    def check(status):
        if status:
            raise RuntimeError(f"cuBLASLt: status {status}")

    def version(self):
        return self.c.cublasLtGetVersion()


class LtProduct(Participant):
    """A product of row-major matrices: cuBLAS, whose matrices are column-major, computes the transposed result from the right side and the left.

    case: of shapes.py; inputs: left, right [and two scales of f8]"""

    def __init__(self, library, case, inputs):
        super().__init__("cublas")
        self.library, self.c = library, library.c
        operand, result, compute, scale = TYPES[case.kind]
        self.types = (compute, scale, operand, operand, result, result)
        self.left, self.right = inputs[:2]
        shape = ((case.batch,) if case.batch else ()) + (case.m, case.n)
        self.out = torch.empty(shape, dtype=RESULTS[result], device="cuda")
        self.description = ctypes.c_void_p()
        library.check(self.c.cublasLtMatmulDescCreate(ctypes.byref(self.description), compute, scale))
        self.set_description(TRANSPOSE_A, ctypes.c_int32(case.layout[1] == "t"))
        self.set_description(TRANSPOSE_B, ctypes.c_int32(case.layout[0] == "t"))
        if case.is_f8():
            self.scales = inputs[2:4]
            self.set_description(A_SCALE, ctypes.c_void_p(self.scales[1].data_ptr()))
            self.set_description(B_SCALE, ctypes.c_void_p(self.scales[0].data_ptr()))
        self.layouts = [self.layout(operand, self.right), self.layout(operand, self.left), self.layout(result, self.out)]
        self.alpha, self.beta = ALPHAS[scale](1), ALPHAS[scale](0)
        self.choice = None

    def set_description(self, attribute, value):
        self.library.check(self.c.cublasLtMatmulDescSetAttribute(self.description, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))))

    def layout(self, kind, tensor):
        layout, (rows, columns) = ctypes.c_void_p(), tensor.shape[-2:]
        self.library.check(self.c.cublasLtMatrixLayoutCreate(ctypes.byref(layout), kind, ctypes.c_uint64(columns), ctypes.c_uint64(rows),
                                                             ctypes.c_int64(columns)))
        if tensor.dim() == 3:
            for attribute, value in ((5, ctypes.c_int32(tensor.shape[0])), (6, ctypes.c_int64(rows * columns))):  # batch count, distance
                self.library.check(self.c.cublasLtMatrixLayoutSetAttribute(layout, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))))
        return layout

    def numbers(self):
        ids, count = (ctypes.c_int * MOST_ALGORITHMS)(), ctypes.c_int()
        self.library.check(self.c.cublasLtMatmulAlgoGetIds(self.library.handle, *self.types, MOST_ALGORITHMS, ids, ctypes.byref(count)))
        return list(ids[:count.value])

    def ability(self, algorithm, attribute, most):
        values, size = (ctypes.c_uint32 * most)(), ctypes.c_size_t()
        if self.c.cublasLtMatmulAlgoCapGetAttribute(ctypes.byref(algorithm), attribute, values, ctypes.c_size_t(ctypes.sizeof(values)), ctypes.byref(size)):
            return []
        return list(values[:size.value // 4])

    def choices(self, number, splits=(1,)):
        """What algorithm `number` can do with this product."""
        algorithm = Algorithm()
        if self.c.cublasLtMatmulAlgoInit(self.library.handle, *self.types, number, ctypes.byref(algorithm)):
            return
        tiles, stages = (self.ability(algorithm, attribute, 1000) or [0] for attribute in (TILE_IDS, STAGE_IDS))
        options = range(min((self.ability(algorithm, MOST_OPTION, 1) or [0])[0], MOST_OPTIONS) + 1)
        can_split = bool((self.ability(algorithm, CAN_SPLIT, 1) or [0])[0])
        for tile, stage, option, split, swizzle in itertools.product(tiles, stages, options, splits if can_split else (1,), (0, 1)):
            own = Algorithm.from_buffer_copy(algorithm)
            wanted = ((SET_TILE, tile), (SET_STAGES, stage), (SET_OPTION, option), (SET_SPLIT, split), (SET_SWIZZLE, swizzle),
                      (SET_REDUCTION, REDUCE_IN_COMPUTE_TYPE if split > 1 else 0))
            if any(self.c.cublasLtMatmulAlgoConfigSetAttribute(ctypes.byref(own), attribute, ctypes.byref(ctypes.c_uint32(value)), ctypes.c_size_t(4))
                   for attribute, value in wanted):
                continue
            found = Found()
            right, left, out = self.layouts
            if self.c.cublasLtMatmulAlgoCheck(self.library.handle, self.description, right, left, out, out, ctypes.byref(own), ctypes.byref(found)):
                continue
            if found.workspace <= WORKSPACE:
                text = f"{number}: tile {tile}, stages {stage}, option {option}, parts {split}, swizzle {swizzle}"
                yield Choice(number, text, own, found.workspace)

    def multiply(self, choice):
        """@return cuBLAS's status"""
        right, left, out = self.layouts
        address = [ctypes.c_void_p(t.data_ptr()) for t in (self.right, self.left, self.out, self.library.workspace)]
        return self.c.cublasLtMatmul(self.library.handle, self.description, ctypes.byref(self.alpha), address[0], right, address[1], left,
                                     ctypes.byref(self.beta), address[2], out, address[2], out, ctypes.byref(choice.algorithm), address[3],
                                     ctypes.c_size_t(WORKSPACE), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def kernels(self, choices):
        """What a profiler says each of them launches: [(choice, name)], without those that fail."""
        runs = [choice for choice in choices if self.multiply(choice) == 0]
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for choice in runs:
                self.multiply(choice)
            torch.cuda.synchronize()
        names = [event.name for event in sorted(profile.events(), key=lambda e: e.time_range.start)
                 if event.device_type == torch.autograd.DeviceType.CUDA and not re.search("^mem|memset|memcpy", event.name, re.IGNORECASE)]
        if len(names) != len(runs):  # one by one, since some launch several
            if len(runs) <= 1:
                return [(choice, " + ".join(names)) for choice in runs]
            return [pair for choice in runs for pair in self.kernels([choice])]
        return list(zip(runs, names))

    def fastest(self, choices, calls=3, again=6):
        """The choice that takes the least time, of those that run."""
        def time_of(choice, count):
            return min(self.timed(lambda: self.multiply(choice)) for _ in range(count))
        tried = [(time_of(choice, calls), number) for number, choice in enumerate(choices) if self.multiply(choice) == 0]
        torch.cuda.synchronize()
        best = sorted(tried)[:again]
        return choices[min((time_of(choices[number], 4 * calls), number) for _, number in best)[1]] if best else None

    def call(self, i):
        self.library.check(self.multiply(self.choice))
        return self.out

    def outputs(self, i):
        return (self.call(i),)
