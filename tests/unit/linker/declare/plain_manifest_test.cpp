// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short way through a manifest and the long one make the same job. A comment is what only the long way takes.
#include "linker/declare/plain_manifest.h"

#include "linker/declare/declaration.h"
#include "linker/declare/manifest.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

/// What a job's exports say, and what was reported.
std::string readAs(std::string text) {
  Diagnostics diagnostics;
  ManifestExtras extras;
  LinkJob job = readManifest("m.json", std::move(text), {}, diagnostics, &extras);
  std::string out = concat(job.name, ' ', extras.exportsFromRecords, '\n', diagnostics.toString());
  for (size_t i = 0; i < job.exports.size(); ++i) {
    Declaration declaration{job.exports[i], extras.signatures[i]};
    out += concat(job.exports[i].ordinal, ' ', job.exports[i].declaredAt.toString(), ' ',
                  declarationToJson(declaration, 0, {}), '\n');
  }
  return out;
}

class PlainManifest : public ::testing::TestWithParam<const char *> {};

TEST_P(PlainManifest, ReadsAsTheSchemaSays) {
  const std::string text = GetParam();
  EXPECT_TRUE(readPlainManifest(text)) << text;
  EXPECT_FALSE(readPlainManifest(text + "// slow"));
  EXPECT_EQ(readAs(text), readAs(text + "// slow"));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, PlainManifest,
    ::testing::Values(
        R"({"name": "x", "objects": []})",
        R"({"name": "x", "exports": [], "objects": [{"path": "none.ptx", "target": "sm_80", "variant": "v", "priority": 3}]})",
        R"({"name": "x", "exports_from_records": true, "exports": [{"name": "k", "symbol": "_Z1kv", "ordinal": 0,
            "layout": {"bindings": [{"kind": "UniformBuffer", "read_only": true, "indirect": false, "alignment": 16,
            "name": "a"}, {}], "constants": [{}, {"element": "I1"}, {"kind": "Scalar", "element": "F32", "name": "n"},
            {"kind": "Struct", "size": 24, "alignment": 8}, {"kind": "TensorMap"}], "hidden_pointers": 2},
            "launch": {"workgroup_size": [8, 2, 1], "subgroup_size": 32, "dynamic_shared_bytes": 64, "cluster": [2, 1, 1],
            "cooperative": true, "programmatic_dependent_launch": false}, "declared_at": "k.cu:3",
            "signature": ["const float *", "int"]}], "objects": []})",
        R"( { "name" : "x" , "exports" : [ { "launch" : { } , "layout" : { } , "name" : "k" } ] , "objects" : [ ] } )"));

TEST(PlainManifestTest, LeavesTheRestToTheSchema) {
  for (
      const char *text :
      {"", "{", "[]", R"({"name": "x"})", R"({"objects": []})", R"({name: "x", "objects": []})",
       R"({"name": "x\n", "objects": []})", R"({"name": "x", "objects": [],})", R"({"name": "x", "objects": []} x)",
       R"({"name": "x", "name": "y", "objects": []})", R"({"name": "x", "objects": [], "other": 1})",
       R"({"name": "x", "objects": [{"target": "sm_80"}]})",
       // What fails inside of an element: its list is not made.
       R"({"name": "m", "exports": [{"name": "k", "layout": {"bindings": {{}]}, "launch": {}}], "objects": []})",
       R"({"name": "m", "layrts": [{"name": "k", "layout": {"bindings": [{}]}, "launch": {]}], "objects": []})",
       R"({"name": "m", "objects": [{"path": "a"}, {"path": 3}]})",
       R"({"name": "x", "objects": [{"path": "a", "target": "b", "priority": -1}]})",
       R"({"name": "x", "objects": [], "exports": [{"name": "k", "layout": {}}]})",
       R"({"name": "x", "objects": [], "exports": [{"name": "k", "layout": {"hidden_pointers": 1.5}, "launch": {}}]})",
       R"({"name": "x", "objects": [], "exports": [{"name": "k", "layout": {"hidden_pointers": 5000000000}, "launch": {}}]})",
       R"({"name": "x", "objects": [], "exports": [{"name": "k", "layout": {"constants": [{"element": "F99"}]}, "launch": {}}]})"})
    EXPECT_FALSE(readPlainManifest(text)) << text;
}

} // namespace
} // namespace tenon::linker
