# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of tenon/runtime.h that benchmarks and tests need, through ctypes: open a program, call it, on a stream of the
caller with tensors that are already on the device or waited for, again and again into the same results."""
import ctypes
from ctypes import (POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p,
                    cast, sizeof)

ELEMENTS = {"i1": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "bf16": 6, "f32": 7, "f64": 8, "index": 9}


class Value(Structure):
    _fields_ = [("struct_size", c_size_t), ("element", c_int), ("buffer", c_void_p), ("shape", POINTER(c_int64)),
                ("rank", c_size_t), ("scalar_bits", c_int64)]


class CallOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("synchronous", c_bool), ("no_graph", c_bool), ("on_stream", c_bool),
                ("stream", c_void_p), ("result_memory", c_void_p), ("result_user", c_void_p), ("copies_results", c_bool), ("keeps_inputs", c_bool)]


class FunctionInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("documentation", c_char_p), ("input_count", c_size_t),
                ("result_count", c_size_t), ("runs_on_host", c_bool)]


class TenonError(Exception):
    pass


class Runtime:
    def __init__(self, library, driver="cuda"):
        self.library = ctypes.CDLL(library)
        lib = self.library
        lib.tenon_status_message.restype = c_char_p
        lib.tenon_buffer_address.restype = lib.tenon_buffer_size.restype = c_uint64
        lib.tenon_results_count.restype = c_size_t
        lib.tenon_version.restype = c_char_p
        for name in ("driver_open", "device_open", "program_open", "program_find_function", "program_call_again",
                     "results_value", "buffer_import_device", "buffer_allocate", "buffer_write", "buffer_read"):
            getattr(lib, "tenon_" + name).restype = c_void_p
        self.driver, self.device = c_void_p(), c_void_p()
        self.check(lib.tenon_driver_open(driver.encode(), byref(self.driver)))
        self.check(lib.tenon_device_open(self.driver, c_size_t(0), byref(self.device)))

    def check(self, status):
        if status:
            message = self.library.tenon_status_message(c_void_p(status)).decode()
            self.library.tenon_status_free(c_void_p(status))
            raise TenonError(message)

    def import_buffer(self, address, size):
        """Memory of somebody else, as a buffer: it has to outlive the buffer."""
        buffer = c_void_p()
        self.check(self.library.tenon_buffer_import_device(self.device, c_uint64(address), c_uint64(size), None, None, None,
                                                           byref(buffer)))
        return buffer

    def upload(self, data):
        """Device memory that holds `data` (bytes)."""
        buffer = c_void_p()
        self.check(self.library.tenon_buffer_allocate(self.device, c_uint64(max(len(data), 1)), None, byref(buffer)))
        self.check(self.library.tenon_buffer_write(buffer, c_uint64(0), data, c_size_t(len(data))))
        return buffer

    def part(self, buffer, begin):
        """The buffer from byte `begin` on, as one of its own that does not outlive it."""
        address, size = self.library.tenon_buffer_address(buffer), self.library.tenon_buffer_size(buffer)
        return self.import_buffer(address + begin, size - begin)

    def open(self, path):
        return Program(self, path)


class Program:
    def __init__(self, runtime, path):
        self.runtime, self.handle = runtime, c_void_p()
        runtime.check(runtime.library.tenon_program_open(runtime.device, path.encode(), byref(self.handle)))

    def release(self):
        self.runtime.library.tenon_program_release(self.handle)

    def prepare(self, inputs, name="run"):
        """inputs: (element, buffer, shape), or (element, bits) for a scalar. Gives a Call that owns the buffers."""
        function = c_uint32()
        self.runtime.check(self.runtime.library.tenon_program_find_function(self.handle, name.encode(), byref(function)))
        return Call(self, function, inputs)


class Call:
    """One set of inputs, and the results that every call of it writes."""

    def __init__(self, program, function, inputs):
        self.program, self.buffers, self.results = program, [], c_void_p()
        self.taken = []  # references to results' buffers
        self.values = (Value * len(inputs))()
        for value, given in zip(self.values, inputs):
            value.struct_size, value.element = sizeof(Value), ELEMENTS[given[0]]
            if len(given) == 2:
                value.scalar_bits = given[1]
                continue
            _, buffer, shape = given
            self.buffers.append(buffer)
            value.buffer = buffer
            value.shape = cast((c_int64 * len(shape))(*shape), POINTER(c_int64))
            value.rank = len(shape)
        self.options = CallOptions(sizeof(CallOptions))
        self.arguments = (program.handle, function, self.values, c_size_t(len(inputs)))
        self.call = program.runtime.library.tenon_program_call_again

    def runs_on_host(self):
        """Whether the function branches, reads back or keeps state."""
        info = FunctionInfo(sizeof(FunctionInfo))
        library = self.program.runtime.library
        self.program.runtime.check(library.tenon_program_function_info(self.arguments[0], self.arguments[1], byref(info)))
        return info.runs_on_host

    def run(self, keeps=False):
        """Waits for the results. keeps: inputs that the function may write stay as they are."""
        self.options.on_stream, self.options.stream, self.options.keeps_inputs = False, None, keeps
        self.program.runtime.check(self.call(*self.arguments, byref(self.options), byref(self.results)))

    def on_stream(self, stream):
        self.options.on_stream, self.options.stream = True, stream
        status = self.call(*self.arguments, byref(self.options), byref(self.results))
        if status:
            self.program.runtime.check(status)

    def outputs(self):
        """(element number, address, bytes, shape, buffer) of each result; valid as long as this call."""
        library, found = self.program.runtime.library, []
        for i in range(library.tenon_results_count(self.results)):
            value = Value(sizeof(Value))
            self.program.runtime.check(library.tenon_results_value(self.results, c_size_t(i), byref(value)))
            shape = tuple(value.shape[d] for d in range(value.rank))
            buffer = c_void_p(value.buffer)
            self.taken.append(buffer)
            found.append((value.element, library.tenon_buffer_address(buffer), library.tenon_buffer_size(buffer), shape,
                          buffer))
        return found

    def read(self, buffer, size):
        data = ctypes.create_string_buffer(size)
        self.program.runtime.check(self.program.runtime.library.tenon_buffer_read(buffer, c_uint64(0), data, c_size_t(size)))
        return data.raw

    def release(self):
        library = self.program.runtime.library
        if self.results:
            library.tenon_results_release(self.results)
        for buffer in self.buffers + self.taken:
            library.tenon_buffer_release(buffer)
        self.results, self.buffers, self.taken = c_void_p(), [], []
