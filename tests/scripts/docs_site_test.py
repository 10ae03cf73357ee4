#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of scripts/docs_site.py and docs_reference.py: what they must find."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import docs_reference
import docs_site


class Links(unittest.TestCase):
    def broken(self, pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(docs_site.broken_links_of_site(pathlib.Path(folder)))

    def test_pages_files_and_anchors(self):
        good = {"index.html": '<a href="a/#x">1</a><a href="#y" id="y">2</a><a href="https://nowhere">3</a>',
                "a/index.html": '<h2 id="x">x</h2><a href="..">up</a>'}
        self.assertEqual(self.broken(good), [])
        self.assertEqual(self.broken({"index.html": '<a href="b/">1</a>'}), ["index.html: 'b/' leads nowhere"])
        self.assertEqual(self.broken({"index.html": '<img src="c.png">'}), ["index.html: 'c.png' leads nowhere"])
        self.assertEqual(self.broken({"index.html": '<a href="#z">1</a>'}), ["index.html: '#z' names no part of the page"])


class Reference(unittest.TestCase):
    def test_every_rule_has_an_entry_and_a_cure(self):
        page = docs_reference.errors_page()
        for rule in range(1, 25):
            part = page.split(f"### K-{rule}\n")[1].split("### K-")[0]
            self.assertTrue("**Cures:**" in part or "**Cure:**" in part or "```text" in part, rule)

    def test_attributes_have_their_spellings(self):
        self.assertIn("#hal.pipeline.binding<storage_buffer, ReadOnly>", docs_reference.spellings("#", "hal.pipeline.binding"))
        self.assertEqual(docs_reference.spellings("#", "hal.no_such_attribute"), [])

    def test_operations_of_a_class_with_a_summary_for_each(self):
        for folder in ("hal", "flow", "util", "linalg_ext"):
            for path in sorted((docs_reference.ROOT / "compiler/dialect" / folder).glob("*Ops.td")):
                for kind, name, summary, _ in docs_reference.definitions(path):
                    self.assertTrue(summary, kind + name)
        ops = docs_reference.definitions(docs_reference.ROOT / "compiler/dialect/linalg_ext/LinalgExtOps.td")
        summaries = {name: summary for _, name, summary, _ in ops}
        self.assertEqual(summaries["iree_linalg_ext.winograd.filter_transform"], "filters, transformed: tensor<8x8xCxF>")
        self.assertEqual(summaries["iree_linalg_ext.map_store"],
                         "each element stored where a body of its indices says, if it says so")

    def test_headers_are_read(self):
        page = docs_reference.c_api_page()
        for name in ("tenon_program_call(", "tenon_executable_launch(", "tenon_status_release("):
            self.assertIn(name, page)


if __name__ == "__main__":
    unittest.main()
