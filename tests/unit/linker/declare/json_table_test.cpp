// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/json_table.h"

#include "abi/format/manifest_generated.h"
#include "support/status.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

JsonTable read(std::string_view text, std::string_view type = "Manifest") {
  return JsonTableReader().read(text, type);
}

std::string mistakeOf(std::string_view text) {
  const JsonTable table = read(text);
  return table.mistake ? concat(table.mistake->offset, ": ", table.mistake->message) : "";
}

constexpr std::string_view kFull = R"({"name": "x", "exports_from_records": true, "exports": [
  {"name": "k", "symbol": "_Z1kv", "ordinal": 0,
   "layout": {"bindings": [{"kind": "UniformBuffer", "read_only": true, "indirect": false, "alignment": 16, "name": "a"}, {}],
              "constants": [{}, {"element": "I1"}, {"kind": "Struct", "size": 24}, {"kind": "TensorMap", "element": "F16",
                             "tensor_map": {"binding": 1, "box": [64, 32], "swizzle": "B128", "fill": "Nans"}}],
              "hidden_pointers": 2},
   "launch": {"workgroup_size": [8, 2, 1], "cooperative": true}, "signature": ["const float *", "int"]}],
 "objects": [{"path": "k.ptx", "target": "sm_80", "priority": -3}]})";

TEST(JsonTable, ReadsEveryKindOfField) {
  const JsonTable table = read(kFull);
  ASSERT_FALSE(table.mistake) << table.mistake->message;
  flatbuffers::Verifier verifier(table.buffer.data(), table.buffer.size());
  ASSERT_TRUE(verifier.VerifyBuffer<fb::Manifest>());
  const fb::Manifest &manifest = *flatbuffers::GetRoot<fb::Manifest>(table.buffer.data());
  EXPECT_EQ(manifest.name()->string_view(), "x");
  EXPECT_TRUE(manifest.exports_from_records());
  const fb::DeclaredExport &declared = *manifest.exports()->Get(0);
  EXPECT_EQ(declared.symbol()->string_view(), "_Z1kv");
  const fb::Layout &layout = *declared.layout();
  EXPECT_EQ(layout.bindings()->Get(0)->kind(), fb::BindingKind::UniformBuffer);
  EXPECT_TRUE(layout.bindings()->Get(0)->read_only());
  EXPECT_EQ(layout.bindings()->Get(0)->alignment(), 16u);
  EXPECT_EQ(layout.bindings()->Get(0)->name()->string_view(), "a");
  const auto &constants = *layout.constants();
  const auto hasElement = [](const fb::Constant *constant) {
    return reinterpret_cast<const flatbuffers::Table *>(constant)->CheckField(fb::Constant::VT_ELEMENT);
  };
  EXPECT_FALSE(hasElement(constants.Get(0)));
  EXPECT_TRUE(hasElement(constants.Get(1))) << "what is written is stored, the default too";
  EXPECT_EQ(constants.Get(2)->kind(), fb::ConstantKind::Struct);
  const fb::TensorMap &map = *constants.Get(3)->tensor_map();
  EXPECT_EQ(map.box()->Get(1), 32u);
  EXPECT_EQ(map.swizzle(), fb::TensorMapSwizzle::B128);
  EXPECT_EQ(map.fill(), fb::TensorMapFill::Nans);
  EXPECT_EQ(layout.hidden_pointers(), 2u);
  EXPECT_EQ(declared.launch()->workgroup_size()->Get(1), 2u);
  EXPECT_TRUE(declared.launch()->cooperative());
  EXPECT_EQ(declared.signature()->Get(1)->string_view(), "int");
  EXPECT_EQ(manifest.objects()->Get(0)->priority(), -3);
}

TEST(JsonTable, SaysWhereElementsStand) {
  const std::string_view text =
      "// {\n{name: \"x\", exports: [ /* [ */ {name: k, layout: {}, launch: {}},\n], objects: "
      "[{path: \"]\"}, {path: \"b\"},],}";
  // Names of tables are words, strings are not.
  EXPECT_EQ(mistakeOf(text), concat(text.find("k,"), ": 'name' of an export: expected a string, found 'k'"));
  std::string quoted(text);
  quoted.replace(quoted.find("k,"), 1, "\"k\"");
  const JsonTable table = read(quoted);
  ASSERT_FALSE(table.mistake) << table.mistake->message;
  ASSERT_EQ(table.elementsOf("exports").size(), 1u);
  EXPECT_EQ(table.elementsOf("exports")[0], quoted.find("{name: \"k\""));
  ASSERT_EQ(table.elementsOf("objects").size(), 2u);
  EXPECT_EQ(table.elementsOf("objects")[1], quoted.find("{path: \"b\""));
  EXPECT_TRUE(table.elementsOf("layout").empty());
}

TEST(JsonTable, ReadsARecord) {
  const JsonTable table = read(R"({"name": "k", "layout": {}, "launch": {}})", "DeclaredExport");
  ASSERT_FALSE(table.mistake);
  EXPECT_EQ(flatbuffers::GetRoot<fb::DeclaredExport>(table.buffer.data())->name()->string_view(), "k");
}

TEST(JsonTable, TakesEnumeratorsByNameWordAndNumber) {
  const JsonTable table = read(R"({"name": "k", "launch": {},
    "layout": {"constants": [{"element": "F32"}, {element: F32}, {"element": 7}, {"element": 99}, {"element": null}]}})",
                               "DeclaredExport");
  ASSERT_FALSE(table.mistake) << table.mistake->message;
  const auto &constants = *flatbuffers::GetRoot<fb::DeclaredExport>(table.buffer.data())->layout()->constants();
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(constants.Get(i)->element(), fb::ElementType::F32);
  EXPECT_EQ(int(constants.Get(3)->element()), 99) << "declarationFromTable() refuses it";
  EXPECT_EQ(int(constants.Get(4)->element()), 0);
}

TEST(JsonTable, ShowsAValueOfTheRightType) {
  const auto fixOf = [](std::string_view exported) {
    return read(concat(R"({"name": "x", "objects": [], "exports": [{)", exported, "}]}")).fix;
  };
  EXPECT_EQ(fixOf(R"("name": 1)"), R"(write "name": "text")");
  EXPECT_EQ(fixOf(R"("ordinal": "1")"), R"(write "ordinal": 1)");
  EXPECT_EQ(fixOf(R"("layout": [])"), R"(write "layout": {..})");
  EXPECT_EQ(fixOf(R"("layout": {"bindings": 2})"), R"(write "bindings": [{..}])");
  EXPECT_EQ(fixOf(R"("layout": {"bindings": [{"read_only": "yes"}]})"), R"(write "read_only": true)");
  EXPECT_EQ(fixOf(R"("layout": {"constants": [{"element": -1}]})"), R"(write "element": "I1")");
  EXPECT_EQ(fixOf(R"("launch": {"workgroup_size": "64"})"), R"(write "workgroup_size": [64])");
  EXPECT_EQ(fixOf(R"("launch": {"workgroup_size": [-1]})"), R"(write "workgroup_size": [64])");
  EXPECT_EQ(fixOf(R"("signature": "int")"), R"(write "signature": ["text"])");
  // Mistakes that name what they are about, and those of JSON.
  EXPECT_EQ(fixOf(R"("nam": 1)"), "");
  EXPECT_EQ(fixOf(R"("layout": {"constants": [{"element": "F99"}]})"), "");
  EXPECT_EQ(fixOf(R"("layout": {"bindings": [{} {}]})"), "");
}

TEST(JsonTable, SaysWhatIsWrong) {
  const auto inExport = [](std::string_view layout) {
    return concat(R"({"name": "x", "objects": [], "exports": [{"name": "k", "launch": {}, "layout": )", layout, "}]}");
  };
  EXPECT_EQ(mistakeOf("[]"), "0: expected an object, found '['");
  EXPECT_EQ(mistakeOf(R"({"name": "x"})"), "12: a manifest has no 'objects', which it has to have");
  EXPECT_EQ(mistakeOf(R"({"objects": []})"), "14: a manifest has no 'name', which it has to have");
  EXPECT_EQ(mistakeOf(R"({"name": null, "objects": []})"), "28: a manifest has no 'name', which it has to have");
  EXPECT_EQ(mistakeOf(R"({"name": "x", "other": 1})"),
            "14: unknown field 'other' of a manifest (known: exports, exports_from_records, name, objects)");
  EXPECT_EQ(mistakeOf(R"({"name": "x", "name": "y", "objects": []})"), "14: field set more than once: name");
  EXPECT_EQ(mistakeOf(R"({"name": 3})"), "9: 'name' of a manifest: expected a string, found a number");
  EXPECT_EQ(mistakeOf(R"({"name": "x", "objects": {}})"), "25: 'objects' of a manifest: expected a list, found '{'");
  EXPECT_EQ(mistakeOf(R"({"name": "x", "objects": [{"target": "sm_80"}]})"),
            "44: an object has no 'path', which it has to have");
  EXPECT_EQ(mistakeOf(R"({"name": "x", "objects": [{"path": "a"}, {"path": 3}]})"),
            "50: 'path' of an object: expected a string, found a number");
  EXPECT_EQ(mistakeOf(inExport(R"({"bindings": {{}]})")), "92: 'bindings' of a layout: expected a list, found '{'");
  EXPECT_EQ(mistakeOf(inExport(R"({"hidden_pointers": 1.5})")),
            "99: 'hidden_pointers' of a layout: '1.5' is no integer");
  EXPECT_EQ(mistakeOf(inExport(R"({"hidden_pointers": 5000000000})")),
            "99: 'hidden_pointers' of a layout: 5000000000 is not from 0 to 4294967295");
  EXPECT_EQ(mistakeOf(inExport(R"({"constants": [{"element": "F99"}]})")),
            "106: unknown value 'F99'; did you mean 'F16', 'F32' or 'F64'? (known: I1, I8, I16, I32, I64, F16, "
            "BF16, F32, F64, Index)");
  EXPECT_EQ(mistakeOf(inExport(R"({"constants": [{"element": 256}]})")),
            "106: 'element' of a constant: 256 is not from 0 to 255");
  EXPECT_EQ(mistakeOf(inExport(R"({"bindings": [{"read_only": "yes"}]})")),
            "107: 'read_only' of a binding: expected true or false, found a string");
}

TEST(JsonTable, KnowsElementsByTheNamesOfOtherLanguages) {
  for (const auto &[name, meant] : {std::pair("float", "F32"),
                                    {"int32", "I32"},
                                    {"uint8_t", "I8"},
                                    {"__half", "F16"},
                                    {"float64", "F64"},
                                    {"Bool", "I1"},
                                    {"i64", "I64"},
                                    {"bfloat16", "BF16"}}) {
    const JsonTable table = read(concat(
        R"({"name": "x", "objects": [], "exports": [{"layout": {"constants": [{"element": ")", name, "\"}]}}]}"));
    ASSERT_TRUE(table.mistake);
    EXPECT_TRUE(table.mistake->message.starts_with(
        concat("unknown value '", name, "'; did you mean '", meant, "'? (known: I1, ")))
        << table.mistake->message;
  }
}

TEST(JsonTable, SurvivesEveryTruncation) {
  for (size_t length = 0; length < kFull.size(); ++length)
    EXPECT_NE(mistakeOf(kFull.substr(0, length)), "") << length;
  EXPECT_EQ(mistakeOf(kFull), "");
}

} // namespace
} // namespace tenon::linker
