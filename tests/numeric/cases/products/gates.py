# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells of recurrent networks: a product of few rows by the matrices of several gates below each other, something added to each
of its results, and elements that are computed from one column of every gate, for which the compiler has one kernel.

cell     a next state alone
states   two results, of which the second reads the first and the last gate
kept     the gates are a result of the program, too: then they are stored
again    a step behind another one, of the same matrix
"""
import numpy as np

import elements
from bounded import convert, float_operation
from cases.case import Case, Raw, argument, generator
from cases.products.contraction import contract, contracted
from nodes.program import Program

# Rows, units, gates, what is summed.
SHAPES = ((1, 40, 4, 64), (3, 33, 3, 72), (8, 16, 4, 136), (2, 100, 2, 65), (17, 50, 4, 64), (32, 24, 8, 96), (5, 40, 5, 64), (1, 48, 3, 520), (33, 24, 4, 64), (1, 3, 4, 64),
          (2, 5, 2, 72))
KINDS = (("bf16", "f32"), ("f16", "f32"), ("f32", "f32"), ("f64", "f64"))
FORMS = ("cell", "states", "kept", "again")


def slices(form, gates):
    """How a reader says where a gate begins: by an index of the map, a slice, or a place of its body."""
    return ("map", "slice", "body")[(len(form) + gates) % 3]


class Cell:
    """One step, written and evaluated."""

    def __init__(self, form, kind, total, shape, by):
        self.form, self.kind, self.total, self.by = form, kind, total, by
        self.rows, self.units, self.gates, self.depth = shape

    # ---- As text ----

    def added(self, f, state, matrix, before):
        """What each gate is: the product, rounded as the state is, and what stands before it."""
        product = contract(f, "ik,jk->ij", self.kind, self.total, state, matrix)
        return f.generic([(product, [0, 1]), (before, [0, 1])], [(f.empty(self.kind, [self.rows, self.units * self.gates]), [0, 1])], "pp",
                         lambda p, b, _: f.op("arith.addf", self.kind, f.convert(p, self.total, self.kind) if self.kind != self.total else p, b))[0]

    def computed(self, f, sums, numbers, more, body):
        """An operation over rows and units that reads the gates of these numbers, and tensors of its own form."""
        inputs, places = [], []
        for number in numbers:
            begin = number * self.units
            if self.by == "slice":
                inputs.append((f.slice(sums, [0, begin], [self.rows, self.units]), [0, 1]))
            elif self.by == "map" and number:
                inputs.append((sums, [0, f"d1 + {begin}"]))
            else:
                places.append((number - numbers[0], begin))
        inputs += [(tensor, [0, 1]) for tensor in more]

        def all_of(*scalars):
            read = list(scalars[:-1])
            for at, begin in places:
                column = f.loop_index(1)
                read.insert(at, f.extract(sums, f.loop_index(0), f.index_op("arith.addi", column, begin) if begin else column))
            return body(*read)

        return f.generic(inputs, [(f.empty(self.kind, [self.rows, self.units]), [0, 1])], "pp", all_of)[0]

    def write(self, f, state, matrix, before, cell):
        add, multiply = (lambda a, b: f.op("arith.addf", self.kind, a, b)), (lambda a, b: f.op("arith.mulf", self.kind, a, b))
        sums = self.added(f, state, matrix, before)
        last = self.gates - 1

        def next_of(*scalars):
            *gates, old = scalars
            result = old
            for number, gate in enumerate(gates):
                result = add(multiply(result, gate), old) if number % 2 else add(result, gate)
            return result

        if self.form == "states":
            first = self.computed(f, sums, range(last), [cell], next_of)
            return [first, self.computed(f, sums, [last], [first], lambda gate, new: multiply(gate, new))]
        made = self.computed(f, sums, range(self.gates), [cell], next_of)
        return [made, sums] if self.form == "kept" else [made]

    # ---- As numbers ----

    def evaluate(self, state, matrix, before, cell):
        def operation(name, *operands):
            return float_operation(name, self.kind, operands)
        product = contracted("ik,jk->ij", self.total, state.v, matrix.v)
        product.e = product.e + state.e @ np.abs(matrix.v).T
        sums = operation("arith.addf", convert(product, self.kind) if self.kind != self.total else product, before)
        gates = [sums.move(lambda x, n=number: x[:, n * self.units:(n + 1) * self.units]) for number in range(self.gates)]
        result = cell
        for number, gate in enumerate(gates[:-1] if self.form == "states" else gates):
            result = operation("arith.addf", operation("arith.mulf", result, gate), cell) if number % 2 else operation("arith.addf", result, gate)
        if self.form == "states":
            return [result, operation("arith.mulf", gates[-1], result)]
        return [result, sums] if self.form == "kept" else [result]


def again(step):
    """Two steps: the first one's next state is the second one's."""
    def write(f, state, matrix, before, cell):
        first = step.write(f, state, matrix, before, cell)[0]
        return step.write(f, first, matrix, before, cell)

    def evaluate(state, matrix, before, cell):
        first = step.evaluate(state, matrix, before, cell)[0]
        return step.evaluate(first, matrix, before, cell)

    return write, evaluate


def program(form, kind, total, shape):
    rows, units, gates, depth = shape
    if form == "again":
        depth = units
    random = generator("gates", form, kind, shape)
    step = Cell(form, kind, total, (rows, units, gates, depth), slices(form, gates))

    def drawn(*of):
        return argument(kind, elements.draw(random, kind, of, -1, 1))
    write, evaluate = again(step) if form == "again" else (step.write, step.evaluate)
    arguments = [drawn(rows, depth), drawn(gates * units, depth), drawn(rows, gates * units), drawn(rows, units)]
    outputs = 2 if form in ("states", "kept") else 1
    return Program([*arguments, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, i) for i in range(outputs)])


def cases(sizes):
    whole = len(sizes) > 1
    for kind, total in KINDS:
        for number, shape in enumerate(SHAPES):
            for which, form in enumerate(FORMS):
                if whole or (number + which + len(kind)) % 2 == 0:
                    yield Case(f"gates, {form}", kind, program(form, kind, total, shape))
