// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/kernel_record.h"

#include "tests/unit/linker/declare_testing.h"
#include "tests/unit/linker/fatbin_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

struct Read {
  std::vector<KernelRecord> records;
  std::string findings;
};

Read read(std::string body) {
  ObjectInput input = objectOf(std::move(body));
  Diagnostics diagnostics;
  std::unique_ptr<Object> object = parseObject(input, diagnostics);
  EXPECT_TRUE(object) << diagnostics.toString();
  Read result;
  if (object)
    result.records = readRecords(*object, diagnostics);
  result.findings = diagnostics.toString();
  return result;
}

TEST(KernelRecord, IsReadFromTheBytesOfAVariable) {
  Read result = read(recordOf("k", kRecordOfPw) + entry("k", "pw"));
  EXPECT_EQ(result.findings, "");
  ASSERT_EQ(result.records.size(), 1u);
  const abi::Export &declared = result.records[0].declaration.exported;
  EXPECT_EQ(declared.name, "k");
  EXPECT_EQ(declared.symbol, "k");
  EXPECT_EQ(declared.declaredAt.toString(), "k.cu:7");
  EXPECT_EQ(declared.launch.workgroupSize, (abi::Extent3{64, 1, 1}));
  EXPECT_EQ(declared.layout.toString(), "1 binding (ReadOnly), constants = [i32]");
  EXPECT_EQ(result.records[0].declaration.signature, (std::vector<std::string>{"const float *", "int"}));
  EXPECT_EQ(result.records[0].where.toString(), "a.ptx:4:31");
}

TEST(KernelRecord, ForgetsTypesThatOnlyStandForOthers) {
  Read result = read(recordOf("k", R"("launch":{"workgroup_size":[1]},"layout":{"bindings":[{}]},)"
                                   R"("signature":["tenon::Any *"])") +
                     entry("k", "p"));
  EXPECT_EQ(result.findings, "");
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_TRUE(result.records[0].declaration.signature.empty());
}

TEST(KernelRecord, FindsAMangledKernelInTheRecordsNamespace) {
  std::string text = recordOf("k", kRecordOfPw);
  text.replace(text.find("__tenon_record_k"), 16, "_ZN2ns16__tenon_record_kE");
  Read result = read(text + entry("_ZN2ns1kEPKfi", "pw") + entry("_Z1kPKfi", "pw"));
  EXPECT_EQ(result.findings, "");
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.records[0].declaration.exported.symbol, "_ZN2ns1kEPKfi");
}

// As nvcc 13.0 names them, without and with -rdc=true.
TEST(KernelRecord, FindsAKernelThatIsPrivateToItsFile) {
  const std::string file = "d8a3927e_5_an_cu_a0b12b05", front = "__nv_static_26__" + file + "_",
                    inner = "_ZN37_GLOBAL__N__" + file,
                    nameless = "_ZN35_INTERNAL_" + file + "37_GLOBAL__N__" + file + "16__tenon_record_kE";
  struct Case {
    std::string record, kernel;
  };
  const Case cases[] = {{"__tenon_record_k", front + "_Z1kPKfi"},
                        {"_ZN2ns16__tenon_record_kE", front + "_ZN2ns1kEPKfi"},
                        {nameless, inner + "1kEPKfi"},
                        {front + nameless, front + inner + "1kEPKfi"}};
  for (const Case &c : cases) {
    std::string text = recordOf("k", kRecordOfPw);
    text.replace(text.find("__tenon_record_k"), 16, c.record);
    Read result = read(text + entry(c.kernel, "pw") + entry("_ZN5other1kEPKfi", "pw"));
    EXPECT_EQ(result.findings, "");
    ASSERT_EQ(result.records.size(), 1u);
    EXPECT_EQ(result.records[0].declaration.exported.symbol, c.kernel);
  }
}

TEST(KernelRecord, RefusesANameThatSeveralKernelsHave) {
  Read result = read(recordOf("k", kRecordOfPw) + entry("_Z1kPKfi", "pw") + entry("_Z1kPKff", "pw"));
  EXPECT_TRUE(result.records.empty());
  EXPECT_NE(result.findings.find("a.ptx:4:31: error: [K-20] record '__tenon_record_k' is for kernel 'k', which may be "
                                 "'_Z1kPKfi' or '_Z1kPKff'"),
            std::string::npos)
      << result.findings;
}

TEST(KernelRecord, RefusesWhatIsNoRecord) {
  auto finding = [](std::string_view bytes) { return read(bytesVariable("__tenon_record_k", bytes)).findings; };
  EXPECT_NE(finding("hello").find("[K-20] record '__tenon_record_k' does not begin with 'tenon-kernel 1'"),
            std::string::npos);
  EXPECT_NE(finding("tenon-kernel 2\n{}")
                .find("[K-20] record '__tenon_record_k' has format 2, this linker reads "
                      "format 1"),
            std::string::npos);
  EXPECT_NE(finding("tenon-kernel 1\n{\"nam\":1}").find("[K-20] record '__tenon_record_k' does not read: "),
            std::string::npos);
  EXPECT_NE(finding("tenon-kernel 1\n{\"name\":\"k\",\"layout\":{},\"launch\":{}}").find("has no workgroup_size"),
            std::string::npos);
  EXPECT_NE(finding("").find("does not begin"), std::string::npos);
}

TEST(KernelRecord, SeesEveryDifference) {
  abi::Export record = makeExport("k", 2, {abi::Constant::word(), abi::Constant::scalar(abi::ElementType::I64)});
  EXPECT_TRUE(differences(record, record).empty());
  abi::Export declared = record;
  declared.layout.constants[0] = abi::Constant::scalar(abi::ElementType::F32); // a word is untyped
  declared.layout.constants[1] = abi::Constant::scalar(abi::ElementType::Index);
  declared.layout.bindings[0].alignment = 16; // more than asked for
  declared.launch.subgroupSize = 32;
  EXPECT_TRUE(differences(record, declared).empty());

  declared.layout.bindings.push_back({});
  declared.layout.bindings[0].readOnly = true;
  record.layout.bindings[1].alignment = 32;
  declared.layout.constants[1] = abi::Constant::scalar(abi::ElementType::F64);
  declared.layout.hiddenPointers = 1;
  declared.launch.workgroupSize = {64, 2, 1};
  record.launch.subgroupSize = 64;
  declared.launch.dynamicSharedBytes = 4;
  declared.launch.cluster = {2, 1, 1};
  declared.launch.cooperative = true;
  declared.launch.programmaticDependentLaunch = true;
  std::string text;
  for (const Difference &difference : differences(record, declared))
    text += concat(difference.field, ": ", difference.record, " / ", difference.declared, '\n');
  EXPECT_EQ(text, "the number of bindings: 2 / 3\n"
                  "access of binding 0: read and write / read-only\n"
                  "alignment of binding 1: 32 / 0\n"
                  "constant 1: i64 / f64\n"
                  "hidden_pointers: 0 / 1\n"
                  "workgroup_size: 64x1x1 / 64x2x1\n"
                  "subgroup_size: 64 / 32\n"
                  "dynamic_shared_bytes: 0 / 4\n"
                  "cluster: none / 2x1x1\n"
                  "cooperative: false / true\n"
                  "programmatic_dependent_launch: false / true\n");
}

// Two declarations of k(int n, struct { float *x; float a; float *y; }) that number differently.
TEST(KernelRecord, ComparesByPlaceWhereTheOrderIsSaid) {
  using Kind = abi::ParameterKind;
  const abi::Constant i32 = abi::Constant::scalar(abi::ElementType::I32),
                      f32 = abi::Constant::scalar(abi::ElementType::F32);
  abi::Export record = makeExport("k", 2, {i32, f32}), declared = makeExport("k", 2, {f32, i32});
  record.layout.bindings[0].readOnly = declared.layout.bindings[1].readOnly = true;
  record.layout.parameters = {
      abi::DeclaredParameter::constant(0),
      abi::DeclaredParameter::structOf(24, 8, {{Kind::Binding, 0, 0}, {Kind::Constant, 1, 8}, {Kind::Binding, 1, 16}})};
  declared.layout.parameters = {
      abi::DeclaredParameter::constant(1),
      abi::DeclaredParameter::structOf(24, 8, {{Kind::Binding, 0, 16}, {Kind::Constant, 0, 8}, {Kind::Binding, 1, 0}})};
  auto text = [&] {
    std::string out;
    for (const Difference &difference : differences(record, declared))
      out += concat(difference.field, ": ", difference.record, " / ", difference.declared, '\n');
    return out;
  };
  EXPECT_EQ(text(), "");
  declared.layout.bindings[0].readOnly = true;
  declared.layout.constants[1] = f32;
  EXPECT_EQ(text(), "access of byte 16 of parameter 1: read and write / read-only\nparameter 0: i32 / f32\n");
  declared.layout.bindings[0].readOnly = false;
  declared.layout.constants[1] = i32;
  std::swap(declared.layout.parameters[0], declared.layout.parameters[1]); // the struct comes first
  EXPECT_EQ(text(), "parameter 0: i32 / f32\nbyte 8 of parameter 1: f32 / i32\n"
                    "the order of the parameters: [constant 0, struct<24, alignment = 8>(binding 0 at 0, constant 1 at "
                    "8, binding 1 at 16)] / [struct<24, alignment = 8>(binding 0 at 16, constant 0 at 8, binding 1 at "
                    "0), constant 1]\n");
  declared.layout.parameters.clear();
  EXPECT_NE(text().find("/ bindings, then constants\n"), std::string::npos) << text();
}

TEST(KernelRecord, ComparesStructsAndTensorMapsByShape) {
  auto exportOf = [](abi::ConstantKind kind, uint32_t size, uint32_t alignment) {
    abi::Constant constant;
    constant.kind = kind;
    constant.size = size;
    constant.alignment = alignment;
    return makeExport("k", 0, {constant});
  };
  using Kind = abi::ConstantKind;
  auto one = [](const abi::Export &a, const abi::Export &b) {
    std::vector<Difference> found = differences(a, b);
    return found.size() == 1 ? concat(found[0].record, " / ", found[0].declared) : concat(found.size());
  };
  EXPECT_EQ(one(exportOf(Kind::Struct, 128, 64), exportOf(Kind::TensorMap, 128, 64)),
            "a struct of 128 bytes, alignment 64 / a tensor map of 128 bytes, alignment 64");
  EXPECT_EQ(one(exportOf(Kind::Struct, 12, 4), exportOf(Kind::Struct, 16, 4)),
            "a struct of 12 bytes, alignment 4 / a struct of 16 bytes, alignment 4");
  EXPECT_EQ(one(exportOf(Kind::Word, 4, 4), exportOf(Kind::Struct, 8, 4)), "a word / a struct of 8 bytes, alignment 4");
}

TEST(KernelRecord, GivesTheExportsOfAJobThatHasNone) {
  LinkJob job{.name = "test"};
  job.objects.push_back(
      objectOf(recordOf("b", kRecordOfPw) + recordOf("a", kRecordOfPw) + entry("b", "pw") + entry("a", "pw")));
  job.objects.push_back(objectOf(
      recordOf("a", kRecordOfPw) + recordOf("c", kRecordOfPw) + entry("a", "pw") + entry("c", "pw"), "sm_90", "b.ptx"));
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  ASSERT_EQ(job.exports.size(), 3u);
  EXPECT_EQ(job.exports[0].name, "b");
  EXPECT_EQ(job.exports[1].name, "a");
  EXPECT_EQ(job.exports[2].name, "c");
  EXPECT_EQ(job.exports[2].ordinal, 2u);
  EXPECT_EQ(extras.signatures[2], (std::vector<std::string>{"const float *", "int"}));
}

TEST(KernelRecord, LeavesDeclaredExportsAndGivesThemTheirSignature) {
  LinkJob job{.name = "test"};
  job.exports.push_back(makeExport("k", 1, {abi::Constant::word()}));
  job.objects.push_back(objectOf(recordOf("k", kRecordOfPw) + entry("k", "pw")));
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  ASSERT_EQ(job.exports.size(), 1u);
  EXPECT_EQ(job.exports[0].declaredAt.file, "job.json");
  EXPECT_EQ(extras.signatures[0].size(), 2u);
}

TEST(KernelRecord, GivesTheExportsOfPtxInContainers) {
  const std::string a = ptxModule(recordOf("a", kRecordOfPw) + entry("a", "pw"), "sm_80"),
                    b = ptxModule(recordOf("b", kRecordOfPw) + entry("b", "pw"), "sm_75");
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(""));
  job.objects.back().bytes = "!<arch>\n" + archiveMember("x.fatbin/", makeFatbin({{.kind = 1, .payload = a}})) +
                             archiveMember("y.fatbin/", makeFatbin({{.kind = 1, .arch = 75, .payload = b}}));
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  ASSERT_EQ(job.exports.size(), 1u); // the other is for another target
  EXPECT_EQ(job.exports[0].name, "a");
}

TEST(KernelRecord, SaysHowToDeclareWhatNothingInAContainerDeclares) {
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(""));
  job.objects.back().bytes = makeFatbin({{.kind = 1, .payload = "text"}});
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_EQ(diagnostics.toString(),
            "a.ptx: error: executable 'test' declares no exports, and no object holds a record of one\n"
            "fix: put TENON_KERNEL(...) of tenon/kernel.cuh next to the kernels, or draft a manifest from their PTX "
            "(nvcc -ptx): tenon-link --import=KERNELS.ptx -o kernels.json\n");
}

TEST(KernelRecord, SaysHowToDeclareWhatNothingDeclares) {
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(entry("k", "pw")));
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_EQ(diagnostics.toString(),
            "a.ptx: error: executable 'test' declares no exports, and no object holds a record of one\n"
            "fix: put TENON_KERNEL(...) of tenon/kernel.cuh next to the kernels, or draft a "
            "manifest: tenon-link --import=a.ptx -o kernels.json\n");
}

// It cannot hold one: what it is comes first.
TEST(KernelRecord, SaysOfWhatKindAnObjectWithoutRecordsIs) {
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(""));
  job.objects.back().bytes = std::string("\xff\xfe.v");
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_EQ(diagnostics.toString(), "a.ptx: error: [K-1] the object is text in UTF-16\nfix: save it as ASCII\n");
}

TEST(CheckRecords, AcceptsADeclarationThatAgrees) {
  abi::Export declared = makeExport("k", 1, {abi::Constant::word()});
  declared.layout.bindings[0].readOnly = true;
  EXPECT_LINKS(linkOne(recordOf("k", kRecordOfPw) + entry("k", "pw"), declared));
}

TEST(CheckRecords, ShowsBothWhereTheyDiffer) {
  Linked linked = linkOne(recordOf("k", kRecordOfPw) + entry("k", "pw"), makeExport("k", 1, {abi::Constant::word()}));
  EXPECT_EQ(linked.text(),
            "k.cu:7: error: [K-21] access of binding 0 of 'k' is read-only in its TENON_KERNEL (read from "
            "a.ptx), read and write in the declaration\n"
            "job.json:7:3: note: export 'k' is declared here\n"
            "fix: change the one that is wrong; a new record needs the kernel compiled again\n");
}

TEST(CheckRecords, ComparesBySymbol) {
  abi::Export declared = makeExport("other", 1, {abi::Constant::word()});
  declared.symbol = "k";
  EXPECT_FINDS(linkOne(recordOf("k", kRecordOfPw) + entry("k", "pw"), declared),
               "[K-21] access of binding 0 of 'other'");
}

TEST(CheckRecords, ReportsARecordThatDoesNotRead) {
  EXPECT_FINDS(linkOne(bytesVariable("__tenon_record_k", "?") + entry("k", "p"), makeExport("k", 1)), "[K-20]");
}

// Records of two variants are held against each other through the declaration that came from the first.
TEST(CheckRecords, FindsVariantsThatAreRecordedDifferently) {
  LinkJob job{.name = "test"};
  std::string other(kRecordOfPw);
  other.replace(other.find("64,"), 3, "32,");
  job.objects.push_back(objectOf(recordOf("k", kRecordOfPw) + entry("k", "pw")));
  job.objects.push_back(objectOf(recordOf("k", other) + entry("k", "pw"), "sm_90", "b.ptx"));
  ManifestExtras extras;
  Diagnostics diagnostics;
  addExportsFromRecords(job, extras, diagnostics);
  EXPECT_FINDS(linkJob(job),
               "k.cu:7: error: [K-21] workgroup_size of 'k' is 32x1x1 in its TENON_KERNEL (read from b.ptx)");
}

} // namespace
} // namespace tenon::linker
