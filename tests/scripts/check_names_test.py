#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check_names.py on small trees: names that two headers define are found, with their places, and others pass."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_names


class CheckNames(unittest.TestCase):
    def breaches(self, files, namespace="tenon"):
        """What is wrong with headers of {path: lines inside of the namespace}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, lines in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(f"namespace {namespace} {{\n\n{lines}\n\n}} // namespace {namespace}\n")
            return check_names.check(root)[0]

    def test_constants_of_two_types(self):
        found = self.breaches({"abi/a.h": "inline constexpr unsigned kRows = 64, kConsumers = 2;",
                               "ptx/b.h": 'inline constexpr StringLiteral kParts = "parts",\n    kConsumers = "consumers";'})
        self.assertEqual(len(found), 1)
        self.assertIn("ptx/b.h:4: error: 'kConsumers' of tenon is defined in abi/a.h:3, too", found[0])

    def test_types(self):
        found = self.breaches({"abi/a.h": "struct Sums {\n  int a;\n};", "abi/b.h": "class Sums : public Base {\n};"})
        self.assertEqual(len(found), 1)

    def test_what_is_no_definition_passes(self):
        self.assertEqual(self.breaches({
            "abi/a.h": "struct Sums;\nclass Other {\n  struct Inner {\n  };\n  static constexpr int kMark = 1;\n};",
            "abi/b.h": "struct Sums {\n};\nclass Third {\n  struct Inner {\n  };\n  static constexpr int kMark = 2;\n};",
            "abi/c.h": "inline constexpr Row kRow = {.kMark = 1, .size = 2};\ninline constexpr bool isSmall(int a = 1) {\n  return a == 2;\n}",
            "abi/d.h": "inline constexpr Row kOther = {.kMark = 3, .size = 4};"}), [])

    def test_the_sources_pass(self):
        breaches, count = check_names.check(pathlib.Path(__file__).resolve().parents[2])
        self.assertEqual(breaches, [])
        self.assertGreater(count, 500)


if __name__ == "__main__":
    unittest.main()
