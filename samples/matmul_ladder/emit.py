# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of a kernel in MLIR's gpu dialect, operation by operation. Values are strings: what MLIR calls them."""
import contextlib


class Kernel:
    def __init__(self, name, parameters, threads, shared=()):
        """`parameters` and `shared`: {name: shape} of f32; shared memory is the block's."""
        self.types = {f"%{one}": f"memref<{'x'.join(map(str, shape))}xf32>" for one, shape in parameters.items()}
        tiles = {f"%{one}": f"memref<{'x'.join(map(str, shape))}xf32, #gpu.address_space<workgroup>>" for one, shape in dict(shared).items()}
        given = ", ".join(f"{one}: {kind}" for one, kind in self.types.items())
        # 16 bytes at a time need addresses that are multiples of 16; parameters' are by the declaration of their bindings.
        held = f" workgroup({', '.join(f'{one}: {kind} {{llvm.align = 16 : i64}}' for one, kind in tiles.items())})" if tiles else ""
        self.types.update(tiles)
        self.lines = [f"gpu.func @{name}({given}){held} kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{"]
        self.count, self.depth, self.numbers = 0, 1, {}

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def op(self, text):
        """An operation with one result."""
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def text(self):
        constants = [f"  {name} = arith.constant {value} : index" for value, name in self.numbers.items()]
        return "\n".join([self.lines[0], *constants, *self.lines[1:], "  gpu.return", "}"])

    def index(self, value):
        """A number; values are given back as they are."""
        if isinstance(value, str):
            return value
        return self.numbers.setdefault(value, f"%n{value}")

    def thread(self):
        return self.op("gpu.thread_id x")

    def block(self, axis):
        return self.op(f"gpu.block_id {axis}")

    def _binary(self, name, a, b):
        return self.op(f"arith.{name} {self.index(a)}, {self.index(b)} : index")

    def add(self, *values):
        total = values[0]
        for one in values[1:]:
            if one != 0:
                total = one if total == 0 else self._binary("addi", total, one)
        return total

    def mul(self, a, b):
        return self._binary("muli", a, b)

    def div(self, a, b):
        return self._binary("divui", a, b)

    def rem(self, a, b):
        return self._binary("remui", a, b)

    def _at(self, memory, indices, attributes=""):
        return f"{memory}[{', '.join(self.index(one) for one in indices)}]{attributes} : {self.types[memory]}"

    def load(self, memory, *indices):
        return self.op(f"memref.load {self._at(memory, indices)}")

    def store(self, value, memory, *indices):
        self.line(f"memref.store {value}, {self._at(memory, indices)}")

    def vector_load(self, width, memory, *indices):
        return self.op(f"vector.load {self._at(memory, indices, ' {alignment = 16 : i64}')}, vector<{width}xf32>")

    def vector_store(self, width, value, memory, *indices):
        self.line(f"vector.store {value}, {self._at(memory, indices, ' {alignment = 16 : i64}')}, vector<{width}xf32>")

    def lane(self, width, value, at):
        return self.op(f"vector.extract {value}[{at}] : f32 from vector<{width}xf32>")

    def splat(self, width, value):
        return self.op(f"vector.broadcast {value} : f32 to vector<{width}xf32>")

    def zero(self, width=0):
        return self.op(f"arith.constant dense<0.0> : vector<{width}xf32>" if width else "arith.constant 0.0 : f32")

    def fma(self, a, b, c, width=0):
        return self.op(f"math.fma {a}, {b}, {c} : {f'vector<{width}xf32>' if width else 'f32'}")

    def barrier(self):
        self.line("gpu.barrier")

    @contextlib.contextmanager
    def loop(self, begin, end, step, carried=(), kind="f32"):
        """`with k.loop(0, 8, 1, [sum]) as (i, values, hand_on)`: hand_on([...]) ends the body, and `values` are then results."""
        number = self.count = self.count + 1
        values = [f"%c{number}_{at}" for at in range(len(carried))]
        bounds = f"%i{number} = {self.index(begin)} to {self.index(end)} step {self.index(step)}"
        if carried:
            given = ", ".join(f"{name} = {value}" for name, value in zip(values, carried))
            self.line(f"%r{number}:{len(carried)} = scf.for {bounds} iter_args({given}) -> ({', '.join([kind] * len(carried))}) {{")
        else:
            self.line(f"scf.for {bounds} {{")
        self.depth += 1
        state = list(values)

        def hand_on(following):
            self.line(f"scf.yield {', '.join(following)} : {', '.join([kind] * len(following))}")
            state[:] = [f"%r{number}#{at}" for at in range(len(following))]

        yield f"%i{number}", state, hand_on
        self.depth -= 1
        self.line("}")
