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
  EXPECT_EQ(
      diagnostics.toString(),
      "m.json:1:36: error: export 'k': binding 0 has kind 9, which is none (known: StorageBuffer, UniformBuffer)\n"
      "m.json:1:36: error: export 'k': constant 0 has kind 77, which is none (known: Word, Scalar, Struct, TensorMap)\n"
      "m.json:1:36: error: export 'k': constant 1 has element 200, which is none (known: I1, I8, I16, I32, I64, F16, "
      "BF16, F32, F64, Index)\n");
}

TEST(Declaration, ReadsBackTheOrderOfParameters) {
  using Kind = abi::ParameterKind;
  abi::Constant block;
  block.kind = abi::ConstantKind::Struct;
  block.element = abi::ElementType::I1;
  block.size = 24;
  block.alignment = 8;
  Declaration declaration;
  declaration.exported = makeExport("k", 3, {abi::Constant::scalar(abi::ElementType::F64), block});
  abi::DeclaredParameter filled = abi::DeclaredParameter::constant(1);
  filled.members = {{Kind::Binding, 2, 8}};
  declaration.exported.layout.parameters = {
      abi::DeclaredParameter::hidden(),
      abi::DeclaredParameter::structOf(32, 8, {{Kind::Hidden, 0, 0}, {Kind::Binding, 0, 8}, {Kind::Constant, 0, 16}}),
      filled, abi::DeclaredParameter::binding(1), abi::DeclaredParameter::structOf(2, 1)};
  Diagnostics diagnostics;
  const std::string json = declarationToJson(declaration, 0);
  EXPECT_NE(json.find("\"parameters\": [{\"hidden\": true}, {\"size\": 32, \"alignment\": 8, \"members\": "
                      "[{\"offset\": 0, \"hidden\": true}, {\"offset\": 8, \"binding\": 0}, {\"offset\": 16, "
                      "\"constant\": 0}]}, {\"constant\": 1, \"members\": [{\"offset\": 8, \"binding\": 2}]}, "
                      "{\"binding\": 1}, {\"size\": 2, \"alignment\": 1}]"),
            std::string::npos)
      << json;
  EXPECT_EQ(parse(json, diagnostics).exported.layout, declaration.exported.layout) << json;
  EXPECT_EQ(diagnostics.toString(), "");
}

TEST(Declaration, WantsEachParameterToBeOneThing) {
  auto found = [](const std::string &parameters) {
    Diagnostics diagnostics;
    parse("{name: \"k\", launch: {workgroup_size: [1]}, layout: {bindings: [{}], parameters: [" + parameters + "]}}",
          diagnostics);
    return diagnostics.toString();
  };
  const std::string fix = "fix: write each parameter as {\"binding\": 0}, {\"constant\": 0}, {\"hidden\": true} or "
                          "{\"size\": 24, \"alignment\": 8, \"members\": [{\"offset\": 0, \"binding\": 0}]}\n";
  const std::string at = "m.json:1:36: error: [K-3] layout of export 'k': ";
  EXPECT_EQ(found("{binding: 0}, {}"),
            at + "parameters[1]: is empty, one of 'binding', 'constant', 'hidden' and 'size' is wanted\n" + fix);
  EXPECT_EQ(found("{binding: 0, hidden: true}"),
            at +
                "parameters[0]: has 'binding' and 'hidden', one of 'binding', 'constant', 'hidden' and 'size' is "
                "wanted\n" +
                fix);
  EXPECT_EQ(found("{size: 8, alignment: 8, members: [{offset: 0}]}"),
            at + "parameters[0]: members[0]: is empty, one of 'binding', 'constant' and 'hidden' is wanted\n" + fix);
  EXPECT_EQ(found("{binding: 0, alignment: 8}"),
            at + "parameters[0]: has an 'alignment', which only a struct has ('size')\n" + fix);
  EXPECT_EQ(found("{binding: -1}"),
            "m.json:1:127: error: malformed manifest: 'binding' of a parameter: -1 is not from 0 to 4294967295\n"
            "fix: write \"binding\": 1\n");
}

TEST(Declaration, CountsParametersForTheSignature) {
  Diagnostics diagnostics;
  parse("{name: \"k\", launch: {workgroup_size: [1]}, layout: {bindings: [{}], constants: [{}], parameters: [{size: "
        "16, alignment: 8, members: [{offset: 0, binding: 0}, {offset: 8, constant: 0}]}], hidden_pointers: 1}, "
        "signature: [\"Params\"]}",
        diagnostics);
  EXPECT_EQ(diagnostics.toString(),
            "m.json:1:36: error: export 'k' has a signature of 1 types, the parameters of its layout are 2\n"
            "fix: list one type for each of 'parameters' and hidden pointer, in their order\n");
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
