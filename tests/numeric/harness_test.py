#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what judges the programs: would it notice a mistake?

usage: harness_test.py --build=BUILD

Random programs get one mistake each (another operation in a body or a reduction) and are held against what the program without
it computes. A run that both would allow is no test; every other one has to be found wrong.
"""
import copy
import sys
import tempfile
import unittest

import fuzz  # first: it sets up NumPy
import bounded
from draws import edge_programs
import elements
import numpy as np
from draws import random_program
import shrink
import suite
import suite_cases
from bounded import Bounded
from cases.attention.forward import attention
from nodes.node import Argument, Elementwise, Reduce, Step
from nodes.program import Program

SWAPS = {"arith.addf": "arith.subf", "arith.subf": "arith.addf", "arith.mulf": "arith.addf", "arith.maximumf": "arith.minimumf",
         "arith.minimumf": "arith.maximumf", "arith.addi": "arith.subi", "arith.muli": "arith.addi", "arith.maxsi": "arith.minsi",
         "arith.minsi": "arith.maxsi", "arith.xori": "arith.ori",
         "math.ceil": "math.floor", "math.floor": "math.ceil", "math.exp": "math.exp2", "math.sin": "math.cos",
         "math.tanh": "math.atan", "math.absf": "arith.negf"}
OPTIONS = {}


def with_mistakes(program):
    """The program with one operation swapped, for each that can be."""
    for i, node in enumerate(program.nodes):
        if isinstance(node, Elementwise):
            for s, step in enumerate(node.steps):
                if step.name in SWAPS:
                    changed = copy.deepcopy(node)
                    changed.steps[s].name = SWAPS[step.name]
                    yield i, changed
        elif isinstance(node, Reduce):
            swap = SWAPS.get(node.operations[0])
            if swap and "sub" not in swap:
                changed = copy.deepcopy(node)
                changed.operations[0] = swap
                yield i, changed


def differ(a, b):
    """Is an element of one surely none of the other?"""
    with np.errstate(all="ignore"):
        gap = np.abs(a.v.astype(np.float64) - b.v.astype(np.float64))
        return bool((np.isfinite(a.e) & np.isfinite(b.e) & (gap > 4 * (a.e + b.e) + 4 * (
            elements.ulp(a.kind, a.v) if elements.is_float(a.kind) else 0))).any())


class Mistaken:
    """The text of one program and what another one computes."""

    def __init__(self, mistaken, right):
        self.text, self.inputs, self.nodes, self.expected = mistaken.text, mistaken.inputs, mistaken.nodes, right.expected


class HarnessTest(unittest.TestCase):
    def test_each_mistake_that_shows_is_found(self):
        tried, seed = 0, 0
        with tempfile.TemporaryDirectory() as folder:
            runner = fuzz.Runner({**OPTIONS, "temporary": folder})
            while tried < 25:
                seed += 1
                self.assertLess(seed, 400, "too few programs take a mistake")
                program = random_program.generate(seed)
                for i, changed in with_mistakes(program) if program else ():
                    nodes = list(program.nodes)
                    nodes[i] = changed
                    mistaken = Program(nodes, program.outputs)
                    with np.errstate(all="ignore"):
                        if not any(map(differ, mistaken.expected(), program.expected())):
                            continue
                    verdict, detail, _ = runner.run(Mistaken(mistaken, program))
                    if verdict != "refused":
                        self.assertEqual(verdict, "wrong", f"seed {seed}, {program.nodes[i]} as {changed}: {detail}")
                        tried += 1
                    break

    def test_the_suite_begins_tensors_where_its_cases_say(self):
        case = attention("bmd", "f16", "multiplied", "operation", "none", "plain", (5, 16), (64, 64), False, few=True, heads=1, together=3)
        seen = []

        class Device:
            def open(self, path):
                return self

            def release(self):
                pass

            def call(self, program, name, inputs, behind=()):
                seen.extend(behind)
                return [(made.kind, made.v) for made in case.program.expected()]

        group = suite_cases.Group(0, case.operation, case.kind)
        group.add(case)
        pipe = type("Pipe", (), {"send": staticmethod(lambda answer: self.assertEqual(answer.problem, ""))})
        before = dict(suite.STATE)
        suite.STATE.update(device=Device(), peer=suite.Peer(False))
        try:
            suite.Batch([group], "", {}, {}).run([(suite.Judged(group), *group.cases[0])], pipe)
        finally:
            suite.STATE.clear()
            suite.STATE.update(before)
        self.assertEqual(seen, [0, 1, 0])

    def test_elements_go_to_bytes_and_back(self):
        bits = np.arange(1 << 16, dtype=np.uint16)
        for kind in ("f16", "bf16"):
            values = elements.decode(kind, bits.tobytes(), bits.shape)
            again = np.frombuffer(elements.encode(kind, values), dtype=np.uint16)
            same = np.isnan(values) | (again == bits)
            self.assertTrue(same.all(), f"{kind}: {bits[~same][:4]}")
        # Halfway between two bf16: to the even one.
        self.assertEqual(elements.rounded("bf16", np.array([1 + 2 ** -8, 1 + 3 * 2 ** -8])).tolist(), [1.0, 1 + 2 ** -6])
        self.assertEqual(elements.wrap("i8", np.array([127, 128, -129, 256])).tolist(), [127, -128, 127, 0])

    def test_distance_of_neighbours(self):
        for kind, dtype in (("f16", np.float16), ("f32", np.float32)):
            values = np.array([1.0, 1.5, 1000.0, 2.0 ** -20, 6e-5], dtype=dtype)
            self.assertEqual(elements.ulp(kind, values.astype(np.float64)).tolist(), np.spacing(values).astype(np.float64).tolist())

    def test_an_element_that_nobody_knows_is_not_compared(self):
        class One:
            def expected(self):
                return [Bounded("f32", np.array([1.0, 2.0]), np.array([0.0, np.inf]))]

        self.assertEqual(fuzz.difference(One(), [("f32", np.array([1.0, 77.0]))]), ("", 1))
        self.assertNotEqual(fuzz.difference(One(), [("f32", np.array([1.001, 2.0]))])[0], "")
        self.assertNotEqual(fuzz.difference(One(), [("f32", np.array([np.nan, 2.0]))])[0], "")
        self.assertNotEqual(fuzz.difference(One(), [("f16", np.array([1.0, 2.0]))])[0], "")
        self.assertNotEqual(fuzz.difference(One(), [])[0], "")

    def test_bounds_are_those_of_plans(self):
        numbers, vectors = edge_programs.numbers_of(
            "%c8195 = arith.constant 8195 : index\n#map = affine_map<(d0) -> (d0 ceildiv 48)>\n"
            'tenon.strategy = {blocks = 2 : i64, chunks = 2 : i64, lanes = 512 : i64, name = "rows", shared = 7 : i64, width = 4 : i64}')
        self.assertLessEqual({8195, 48, 4096, 8192, 36864}, set(numbers))  # a guard, a tile, a vector of each lane, 2 of them, all
        self.assertEqual(vectors, [1, 4, 8])

    def test_sizes_at_bounds_are_known_or_not(self):
        edge_programs.READER[:] = [OPTIONS["reader"]]
        known, unknown = (edge_programs.generate(seed) for seed in (96, 97))
        self.assertEqual([data.shape for _, data in known.inputs()], [data.shape for _, data in unknown.inputs()])
        self.assertNotIn("?", known.text())
        self.assertIn("?", unknown.text())

    def test_an_argument_may_lie_anywhere(self):
        data = elements.rounded("f32", np.arange(1200.0).reshape(3, 400))
        argument = Argument("f32", data, [False, False])
        argument.behind = 3
        body = Elementwise([(0, 0)], [[0, 1]], data.shape, [Step("arith.addf", "f32", (0, 0))], [1])
        with tempfile.TemporaryDirectory() as folder:
            runner = fuzz.Runner({**OPTIONS, "temporary": folder})
            self.assertEqual(runner.run(Program([argument, body], [(1, 0)])), ("right", "", 1200))

    def test_an_operation_without_its_step_is_a_body(self):
        argument = Argument("f32", np.ones((3, 4)), [False, False])
        for style in ("tensor", "map"):
            body = Elementwise([(0, 0), (0, 0)], [[0, 1]] * 2, (3, 4), [Step("arith.addf", "f32", (0, 1))], [2], style)
            program = Program([argument, shrink.without(body, 2, 0, 1)], [(1, 0)])
            self.assertIn("linalg.generic", program.text())

    def test_whole_numbers_have_exact_sums(self):
        whole = bounded.reduce_sum(Bounded("f32", np.full((3, 40000), 2.0)), [1])
        self.assertFalse(whole.e.any())
        self.assertTrue(bounded.reduce_sum(Bounded("f32", np.full((3, 40000), 0.1)), [1]).e.all())
        self.assertTrue(bounded.reduce_sum(Bounded("f32", np.full((1, 40000), 1000.0)), [1]).e.all())  # beyond 2 ** 24


if __name__ == "__main__":
    build = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--build="))
    OPTIONS.update(fuzz.options_of(build))
    unittest.main(argv=[sys.argv[0]])
