// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/declaration.h"

#include "tests/unit/linker/declare_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// The export that a manifest with `json` in its list declares.
Declaration parse(const std::string &json, Diagnostics &diagnostics) {
  ManifestExtras extras;
  LinkJob job =
      readManifest("m.json", concat("{name: \"x\", objects: [], exports: [", json, "]}"), {}, diagnostics, &extras);
  if (job.exports.empty())
    return {};
  return {job.exports[0], extras.signatures[0]};
}

TEST(Declaration, ReadsBackWhatItWrites) {
  abi::Constant block;
  block.kind = abi::ConstantKind::Struct;
  block.size = 24;
  block.alignment = 8;
  abi::Constant map;
  map.kind = abi::ConstantKind::TensorMap;
  map.size = 128;
  map.alignment = 128;
  block.element = map.element = abi::ElementType::I1; // scalars alone have one; 0 is how it reads
  Declaration declaration;
  declaration.exported = makeExport("k", 2,
                                    {abi::Constant::word(), abi::Constant::scalar(abi::ElementType::I1),
                                     abi::Constant::scalar(abi::ElementType::BF16), block, map});
  abi::Export &declared = declaration.exported;
  declared.symbol = "_Z1kv";
  declared.layout.bindings[0] = {abi::BindingKind::UniformBuffer, true, true, 16, "a \"b\" \\\n"};
  declared.layout.constants[2].name = "c";
  declared.layout.hiddenPointers = 2;
  declared.launch = {.workgroupSize = {8, 1, 2},
                     .subgroupSize = 32,
                     .dynamicSharedBytes = 16,
                     .cluster = {2, 2, 1},
                     .cooperative = true,
                     .programmaticDependentLaunch = true};
  declaration.signature.assign(9, "T<int, 2>");

  Diagnostics diagnostics;
  const std::string json = declarationToJson(declaration, 0, {"unsure: everything"});
  Declaration again = parse(json, diagnostics);
  EXPECT_EQ(diagnostics.toString(), "") << json;
  EXPECT_EQ(again.exported.name, declared.name);
  EXPECT_EQ(again.exported.symbol, declared.symbol);
  EXPECT_EQ(again.exported.layout, declared.layout) << json;
  EXPECT_EQ(again.exported.launch, declared.launch) << json;
  EXPECT_EQ(again.signature, declaration.signature);
}

TEST(Declaration, LeavesOutWhatIsSoAnyway) {
  Declaration declaration{makeExport("k", 1, {abi::Constant::word()}), {}};
  EXPECT_EQ(declarationToJson(declaration, 2), "  {\"name\": \"k\",\n"
                                               "   \"launch\": {\"workgroup_size\": [64]},\n"
                                               "   \"layout\": {\"bindings\": [{}],\n"
                                               "              \"constants\": [{}]}}");
}

TEST(Declaration, RefusesTypesThatWouldLeaveTheirLine) {
  Diagnostics diagnostics;
  parse("{name: \"k\", launch: {workgroup_size: [1]}, layout: {bindings: [{}]}, signature: [\"int *\\n#error\"]}",
        diagnostics);
  EXPECT_EQ(diagnostics.toString(),
            "m.json:1:36: error: export 'k' has a signature with \"int *\\u000a#error\", which is no type\n");
}

TEST(Declaration, RefusesEnumeratorsThatAreNone) {
  Diagnostics diagnostics;
  parse("{name: \"k\", launch: {workgroup_size: [1]}, layout: {bindings: [{kind: 9}], constants: [{kind: 77}, "
        "{element: 200}]}}",
        diagnostics);
  EXPECT_EQ(diagnostics.toString(), "m.json:1:36: error: export 'k': binding 0 has kind 9, which is none\n"
                                    "m.json:1:36: error: export 'k': constant 0 has kind 77, which is none\n"
                                    "m.json:1:36: error: export 'k': constant 1 has element 200, which is none\n");
}

TEST(Declaration, WantsASignatureOfEveryParameter) {
  Diagnostics diagnostics;
  parse("{name: \"k\", launch: {workgroup_size: [1]}, layout: {bindings: [{}]}, signature: [\"int *\", \"int\"]}",
        diagnostics);
  EXPECT_EQ(diagnostics.toString(),
            "m.json:1:36: error: export 'k' has a signature of 2 types, the parameters of its layout are 1\n"
            "fix: list one type for each binding, constant and hidden pointer, in this order\n");
}

} // namespace
} // namespace tenon::linker
