// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/manifest.h"

#include "support/files/file.h"
#include "tests/unit/linker/link_testing.h"

#include <filesystem>

namespace tenon::linker {
namespace {

using namespace testing;

/// A folder of its own with one object, k.ptx.
class Manifest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "tenon_manifest_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
    std::filesystem::create_directories(folder_ + "more");
    ASSERT_TRUE(writeFile(folder_ + "k.ptx", ptxModule(entry("k", "pw"))).ok());
    ASSERT_TRUE(writeFile(folder_ + "more/far.ptx", ptxModule(entry("far", "p"), "sm_90")).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  LinkJob read(std::string text, std::vector<std::string> searchPaths = {}) {
    return readManifest(folder_ + "m.json", std::move(text), {.searchPaths = std::move(searchPaths)}, diagnostics_);
  }
  bool has(std::string_view part) const { return diagnostics_.toString().find(part) != std::string::npos; }

  static std::string withExport(std::string_view exported) {
    return concat("{name: \"x\", exports: [", exported, "], objects: [{path: \"k.ptx\", target: \"sm_80\"}]}");
  }

  std::string folder_;
  Diagnostics diagnostics_;
};

TEST_F(Manifest, AnElementThatIsWrittenMakesAScalar) {
  LinkJob job = read(withExport(R"({"name": "k", "launch": {"workgroup_size": [8]},
    "layout": {"constants": [{"element": "I1"}, {}, {"element": "I8"}]}})"));
  ASSERT_FALSE(diagnostics_.hasErrors()) << diagnostics_.toString();
  const std::vector<abi::Constant> &constants = job.exports[0].layout.constants;
  EXPECT_EQ(constants[0], abi::Constant::scalar(abi::ElementType::I1));
  EXPECT_EQ(constants[1], abi::Constant::word());
  EXPECT_EQ(constants[2], abi::Constant::scalar(abi::ElementType::I8));
}

TEST_F(Manifest, ReadsExportsAndObjects) {
  LinkJob job = read(R"({
  "name": "kernels", // comments are fine
  "exports": [{
    "name": "k", "launch": {"workgroup_size": [8, 4], "dynamic_shared_bytes": 16, "cluster": [2]},
    "layout": {
      "bindings": [{"read_only": true, "alignment": 16, "name": "x"}],
      "constants": [{}, {"element": "F32", "name": "a"}, {"kind": "Scalar"}, {"kind": "Struct", "size": 12},
                    {"kind": "TensorMap"}],
      "hidden_pointers": 1
    }
  }],
  "objects": [{"path": "k.ptx", "target": "sm_80", "variant": "fast", "priority": -3}]
})");
  EXPECT_EQ(diagnostics_.toString(), "");
  EXPECT_EQ(job.name, "kernels");
  ASSERT_EQ(job.exports.size(), 1u);
  const abi::Export &declared = job.exports[0];
  EXPECT_EQ(declared.symbol, "k");
  EXPECT_EQ(declared.launch.workgroupSize, (abi::Extent3{8, 4, 1}));
  EXPECT_EQ(declared.launch.cluster, (abi::Extent3{2, 1, 1}));
  EXPECT_EQ(declared.launch.dynamicSharedBytes, 16u);
  EXPECT_EQ(declared.layout.bindings[0], (abi::Binding{.readOnly = true, .alignment = 16, .name = "x"}));
  ASSERT_EQ(declared.layout.constants.size(), 5u);
  EXPECT_EQ(declared.layout.constants[0], abi::Constant::word());
  EXPECT_EQ(declared.layout.constants[1].kind, abi::ConstantKind::Scalar);
  EXPECT_EQ(declared.layout.constants[1].element, abi::ElementType::F32);
  EXPECT_EQ(declared.layout.constants[1].name, "a");
  EXPECT_EQ(declared.layout.constants[2].size, 1u) << "i1";
  EXPECT_EQ(declared.layout.constants[3].size, 12u);
  EXPECT_EQ(declared.layout.constants[3].alignment, 4u);
  EXPECT_EQ(declared.layout.constants[4].size, 128u);
  EXPECT_EQ(declared.layout.hiddenPointers, 1u);
  EXPECT_EQ(declared.declaredAt.toString(), folder_ + "m.json:3:15");
  ASSERT_EQ(job.objects.size(), 1u);
  EXPECT_EQ(job.objects[0].variantName, "fast");
  EXPECT_EQ(job.objects[0].priority, -3);
  EXPECT_EQ(job.objects[0].declaredAt.line, 12u);
}

TEST_F(Manifest, NumbersExportsByPosition) {
  LinkJob job = read(withExport("{name: \"k\", layout: {}, launch: {workgroup_size: [1]}},"
                                "{name: \"j\", layout: {}, launch: {workgroup_size: [1]}}"));
  ASSERT_EQ(job.exports.size(), 2u);
  EXPECT_EQ(job.exports[1].ordinal, 1u);
}

TEST_F(Manifest, RefusesUnknownFieldsAndBadSyntaxWithTheLine) {
  read("{\n  \"name\": \"x\",\n  \"export\": []\n}");
  EXPECT_TRUE(has("m.json:3:")) << diagnostics_.toString();
  EXPECT_TRUE(has("error: malformed manifest: unknown field 'export' of a manifest; did you mean 'exports' or "
                  "'exports_from_records'?"))
      << diagnostics_.toString();
  diagnostics_ = {};
  read("{\n  \"name\" \"x\"}");
  EXPECT_TRUE(has("m.json:2:")) << diagnostics_.toString();
  diagnostics_ = {};
  read("{name: \"x\", exports: []}");
  EXPECT_TRUE(has("a manifest has no 'objects', which it has to have")) << diagnostics_.toString();
}

TEST_F(Manifest, RefusesAMissingOrLongWorkgroupSize) {
  read(withExport("{name: \"k\", layout: {}, launch: {}}"));
  EXPECT_TRUE(has("error: export 'k' has no workgroup_size\nfix: add \"launch\"")) << diagnostics_.toString();
  read(withExport("{name: \"k\", layout: {}, launch: {workgroup_size: [1, 1, 1, 1], cluster: [1, 1, 1, 1]}}"));
  EXPECT_TRUE(has("export 'k' has a workgroup_size of 4 extents, 1 to 3 are wanted")) << diagnostics_.toString();
  EXPECT_TRUE(has("export 'k' has a cluster of 4 extents, 1 to 3 are wanted")) << diagnostics_.toString();
}

TEST_F(Manifest, LooksInTheManifestsFolderThenInTheSearchPaths) {
  LinkJob job =
      read("{name: \"x\", exports: [], objects: [{path: \"far.ptx\", target: \"sm_90\"}]}", {folder_ + "more"});
  EXPECT_EQ(diagnostics_.toString(), "");
  ASSERT_EQ(job.objects.size(), 1u);
  EXPECT_EQ(job.objects[0].path, folder_ + "more/far.ptx");
}

TEST_F(Manifest, ListsEveryPathTried) {
  read("{name: \"x\", exports: [], objects: [{path: \"gone.ptx\", target: \"sm_90\"}]}",
       {folder_ + "more", "/nowhere"});
  EXPECT_TRUE(has("m.json:1:36: error: object 'gone.ptx' cannot be read; tried:\n")) << diagnostics_.toString();
  for (const std::string &path : {folder_ + "gone.ptx", folder_ + "more/gone.ptx", std::string("/nowhere/gone.ptx")})
    EXPECT_TRUE(has(concat("'", path, "'"))) << diagnostics_.toString();
  EXPECT_TRUE(has("--object-search-path=DIR"));
}

TEST_F(Manifest, RefusesUnknownTargets) {
  read("{name: \"x\", exports: [], objects: [{path: \"k.ptx\", target: \"sm80\"}, {path: \"k.ptx\", target: "
       "\"sm_83\"}]}");
  EXPECT_TRUE(has("error: [K-6] target 'sm80' is not known\nfix: did you mean 'sm_80'? Known: sm_"))
      << diagnostics_.toString();
  EXPECT_TRUE(has("target 'sm_83' is not known"));
}

TEST_F(Manifest, AddsObjectsOfTheCommandLine) {
  LinkJob job;
  addObject(job, "far.ptx", {.searchPaths = {folder_ + "more"}}, diagnostics_);
  addObject(job, concat("sm_80=", folder_, "k.ptx"), {}, diagnostics_);
  EXPECT_EQ(diagnostics_.toString(), "");
  ASSERT_EQ(job.objects.size(), 2u);
  EXPECT_EQ(job.objects[0].target.toString(), "sm_90") << "as its .target says";
  EXPECT_EQ(job.objects[1].target.toString(), "sm_80");
  ASSERT_TRUE(writeFile(folder_ + "empty.ptx", "hello").ok());
  addObject(job, folder_ + "empty.ptx", {}, diagnostics_);
  ASSERT_TRUE(writeFile(folder_ + "packed.ptx", "\x1f\x8b\x08").ok());
  addObject(job, folder_ + "packed.ptx", {}, diagnostics_);
  EXPECT_TRUE(has("error: [K-1] the object is gzip-compressed, PTX or code for a GPU is wanted\n"
                  "fix: unpack it and give the PTX in it"))
      << diagnostics_.toString();
  EXPECT_TRUE(has("error: [K-1] the object has no .target, and none is given for it")) << diagnostics_.toString();
  ASSERT_TRUE(writeFile(folder_ + "second.json", "\n {\"exports\": []}").ok());
  addObject(job, folder_ + "second.json", {}, diagnostics_);
  EXPECT_TRUE(has("error: [K-1] this is JSON, and an object is wanted here\n"
                  "fix: a link has one manifest, which stands first: put its exports and objects there"))
      << diagnostics_.toString();
}

} // namespace
} // namespace tenon::linker
