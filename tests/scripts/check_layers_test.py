#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check_layers.py on small trees: each kind of breach is found, with its place, and a good tree passes."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_layers


class CheckLayers(unittest.TestCase):
    def breaches(self, files):
        """What is wrong with a tree of {path: [included headers]}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, includes in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("".join(f'#include "{include}"\n' for include in includes))
            return check_layers.check(root)[0]

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.breaches({
            "support/status.h": [],
            "abi/layout.h": ["support/status.h"],
            "abi/format/verify/verify.cpp": ["abi/layout.h", "support/status.h"],
            "runtime/cuda/driver.h": ["abi/layout.h"],
            "runtime/device/device.cpp": ["runtime/device/device.h", "runtime/cuda/driver.h"],
            "runtime/device/device.h": [],
        }), [])

    def test_a_floor_may_not_include_one_to_its_right(self):
        found = self.breaches({"abi/layout.h": ["runtime/device/device.h"]})
        self.assertEqual(len(found), 1)
        self.assertIn("abi/layout.h:1: error: abi/ includes runtime/; it may include support", found[0])

    def test_a_room_may_not_include_one_behind_it(self):
        found = self.breaches({"runtime/cuda/driver.cpp": ["runtime/cuda/driver.h", "runtime/program/program.h"],
                               "runtime/cuda/driver.h": [], "runtime/program/program.h": []})
        self.assertEqual(len(found), 1)
        self.assertIn("runtime/cuda/driver.cpp:2: error: room runtime/cuda includes runtime/program", found[0])

    def test_pairs_of_a_room_may_not_form_a_circle(self):
        found = self.breaches({"ptx/a.h": ["ptx/b.h"], "ptx/b.h": [], "ptx/b.cpp": ["ptx/c.h"], "ptx/c.h": ["ptx/a.h"]})
        self.assertIn("circle between a, b, c", found[0])
        self.assertTrue(any("ptx/b.cpp:1: includes c.h" in line for line in found))

    def test_a_pair_may_include_itself(self):
        self.assertEqual(self.breaches({"ptx/a.h": [], "ptx/a.cpp": ["ptx/a.h"]}), [])

    def test_a_folder_that_is_no_room_is_named(self):
        found = self.breaches({"runtime/attic/thing.h": []})
        self.assertIn("runtime/attic is no room of ROOMS", found[0])

    def test_only_the_compiler_sees_llvm(self):
        found = self.breaches({"linker/link.cpp": ["mlir/IR/Value.h"], "compiler/pipeline.cpp": ["mlir/IR/Value.h"]})
        self.assertEqual(len(found), 1)
        self.assertIn("linker/link.cpp:1: error: linker/ includes mlir/; only compiler/ sees LLVM", found[0])


if __name__ == "__main__":
    unittest.main()
