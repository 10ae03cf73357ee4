// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/executable.h"

#include "runtime/memory/buffer.h"
#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::runtime {

using namespace tenon::test;

class ExecutableTest : public FakeDeviceTest {
protected:
  /// An executable with exports 'a' (2 bindings, 1 word) and 'b', in the given variants.
  Executable &make(const std::vector<VariantSpec> &variants, abi::Launch launch = {.workgroupSize = {64, 1, 1}}) {
    std::vector<abi::Export> exports = {makeExport("a", 2, 1), makeExport("b", 1, 0)};
    exports[0].launch = launch;
    bytes = std::make_unique<AlignedBytes>(buildExecutable("exe", exports, variants));
    view = std::make_unique<abi::ExecutableView>(abi::ExecutableView::create(bytes->span(), "test").take());
    executable = std::make_unique<Executable>(open(), *view);
    return *executable;
  }
  void TearDown() override { executable.reset(); }

  const std::vector<VariantSpec> threeVariants = {{.name = "sm_75", .arch = 75, .image = "for 75"},
                                                  {.name = "sm_80", .arch = 80, .image = "for 80"},
                                                  {.name = "sm_90", .arch = 90, .image = "for 90"}};
  std::unique_ptr<AlignedBytes> bytes;
  std::unique_ptr<abi::ExecutableView> view;
  std::unique_ptr<Executable> executable;
};

TEST_F(ExecutableTest, LoadsTheBestImageOnceForAllExports) {
  make(threeVariants);
  auto a = executable->load(0);
  ASSERT_OK(a.status());
  EXPECT_EQ((*a)->variantName, "sm_80");
  EXPECT_EQ((*a)->parameters.parameters.size(), 3u);
  ASSERT_OK(executable->load(1).status());
  ASSERT_OK(executable->load(0).status());
  EXPECT_EQ(fake.loadedImages, std::vector<std::string>{"for 80"});
}

TEST_F(ExecutableTest, PrefersACubinOnAGpuOnly) {
  std::vector<VariantSpec> variants = threeVariants;
  variants.push_back({.name = "cubin", .arch = 80, .image = std::string("ELF", 4), .kind = abi::fb::ImageKind::Cubin});
  make(variants);
  EXPECT_EQ((*executable->load(0))->variantName, "cubin");
  executable.reset();
  fake.deviceName = "Tenon emulator sm_80 (CPU)";
  make(variants);
  EXPECT_EQ((*executable->load(0))->variantName, "sm_80");
}

TEST_F(ExecutableTest, TakesTheNextWhereTheDriverRefuses) {
  fake.refusedImages["for 80"] = CUDA_ERROR_INVALID_PTX;
  fake.jitLog = "ptxas says no";
  make(threeVariants);
  auto loaded = executable->load(0);
  ASSERT_OK(loaded.status());
  EXPECT_EQ((*loaded)->variantName, "sm_75");
  ASSERT_OK(executable->load(1).status());
  EXPECT_EQ(fake.loadedImages, (std::vector<std::string>{"for 80", "for 75"})); // the refusal is remembered
  const std::string text = executable->explain();
  EXPECT_NE(text.find("refused by the driver: cuModuleLoadDataEx of 'sm_80.ptx': CUDA_ERROR_INVALID_PTX (218)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ptxas says no"), std::string::npos) << text;
  EXPECT_NE(text.find("loaded: variant 'sm_75', kernel 'a', compute_80 code running as sm_80"), std::string::npos)
      << text;
}

TEST_F(ExecutableTest, ALazyDriverRefusesAtTheFunction) {
  fake.failures = {{"cuModuleGetFunction", CUDA_ERROR_NO_BINARY_FOR_GPU}};
  fake.failuresLeft = {{"cuModuleGetFunction", 1}};
  make(threeVariants);
  auto loaded = executable->load(0);
  ASSERT_OK(loaded.status());
  EXPECT_EQ((*loaded)->variantName, "sm_75");
}

TEST_F(ExecutableTest, OtherFailuresAreFinal) {
  fake.refusedImages["for 80"] = CUDA_ERROR_OUT_OF_MEMORY;
  make(threeVariants);
  EXPECT_STATUS(executable->load(0).status(), ResourceExhausted,
                "export 'a' of executable 'exe', variant 'sm_80': cuModuleLoadDataEx");
  EXPECT_EQ(fake.loadedImages, std::vector<std::string>{"for 80"});
}

TEST_F(ExecutableTest, NothingThatRunsPrintsTheTable) {
  fake.major = 7;
  fake.minor = 0;
  make(threeVariants);
  Status status = executable->load(0).takeStatus();
  EXPECT_STATUS(status, FailedPrecondition, "no image of export 'a' of executable 'exe' runs on 'Fake GPU' (sm_70");
  for (const char *variant : {"sm_75", "sm_80", "sm_90", "build PTX for sm_70"})
    EXPECT_STATUS(status, FailedPrecondition, variant);
  EXPECT_TRUE(fake.loadedImages.empty());
}

TEST_F(ExecutableTest, ExplainsEveryVariant) {
  make(threeVariants);
  const std::string text = executable->explain();
  EXPECT_NE(text.find("executable 'exe' on 'Fake GPU' (sm_80, driver 13.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("export 0 'a'"), std::string::npos) << text;
  EXPECT_NE(text.find("export 1 'b'"), std::string::npos) << text;
  EXPECT_NE(text.find("* sm_80"), std::string::npos) << text;
  EXPECT_NE(text.find("export 1 'b'\n  as export 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sm_90"), std::string::npos) << text;
}

TEST_F(ExecutableTest, ChecksParametersAgainstTheDriver) {
  fake.parameters["a"] = {{0, 8}, {8, 8}, {16, 4}};
  fake.parameters["b"] = {{0, 8}, {8, 4}};
  make(threeVariants);
  EXPECT_TRUE(executable->load(0).ok());
  EXPECT_STATUS(executable->load(1).status(), FailedPrecondition,
                "[K-11] kernel 'b' takes 2 parameters in the loaded image, the layout declares 1");
  executable.reset();
  fake.parameters["a"] = {{0, 8}, {8, 8}, {16, 8}};
  make(threeVariants);
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition,
                "[K-4] parameter 2 of kernel 'a' is 8 bytes at offset 16 in the loaded image, the layout declares 4");
}

TEST_F(ExecutableTest, ChecksThreads) {
  fake.functionThreads["a"] = 32;
  make(threeVariants);
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition,
                "[K-8] the workgroup has 64 threads, kernel 'a' takes at most 32");
}

TEST_F(ExecutableTest, OptsInToSharedMemoryWithStaticIncluded) {
  fake.functionShared["a"] = 1024;
  make(threeVariants, {.workgroupSize = {64, 1, 1}, .dynamicSharedBytes = 48 * 1024 - 512});
  ASSERT_OK(executable->load(0).status());
  EXPECT_EQ(fake.dynamicSharedAttribute["a"], 48 * 1024 - 512);
  executable.reset();
  fake.functionShared["a"] = 512;
  fake.dynamicSharedAttribute.clear();
  make(threeVariants, {.workgroupSize = {64, 1, 1}, .dynamicSharedBytes = 48 * 1024 - 512});
  ASSERT_OK(executable->load(0).status());
  EXPECT_TRUE(fake.dynamicSharedAttribute.empty());
}

TEST_F(ExecutableTest, RefusesMoreSharedMemoryThanThereIs) {
  fake.functionShared["a"] = 4096;
  make(threeVariants, {.workgroupSize = {64, 1, 1}, .dynamicSharedBytes = 166000});
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition,
                "[K-9] kernel 'a' needs 170096 bytes of shared memory (4096 static, 166000 dynamic)");
}

TEST_F(ExecutableTest, AFallbackTakesWhatTheDeclaredSharedMemoryKeepsOut) {
  std::vector<VariantSpec> variants = threeVariants;
  variants.push_back({.name = "fallback", .arch = 75, .image = "generated", .origin = abi::fb::Origin::Generated});
  make(variants, {.workgroupSize = {64, 1, 1}, .dynamicSharedBytes = 200000});
  auto loaded = executable->load(0);
  ASSERT_OK(loaded.status());
  EXPECT_EQ((*loaded)->variantName, "fallback");
  EXPECT_EQ((*loaded)->launch.dynamicSharedBytes, 0u);
  EXPECT_EQ((*loaded)->launch.workgroupSize, (abi::Extent3{64, 1, 1}));
  EXPECT_TRUE(fake.dynamicSharedAttribute.empty());
}

TEST_F(ExecutableTest, AGeneratedKernelHasItsOwnWorkgroup) {
  make({{.name = "g", .image = "g", .origin = abi::fb::Origin::Generated, .requiredThreads = {384, 1, 1}}});
  EXPECT_EQ((*executable->load(0))->launch.workgroupSize, (abi::Extent3{384, 1, 1}));
  make({{.name = "h", .image = "h", .requiredThreads = {384, 1, 1}}}); // which the linker has compared
  EXPECT_EQ((*executable->load(0))->launch.workgroupSize, (abi::Extent3{64, 1, 1}));
}

TEST_F(ExecutableTest, OfAKernelForAnyGridNoMoreBlocksAreLaunchedThanRunAtOnce) {
  make({{.name = "g", .image = "g", .origin = abi::fb::Origin::Generated, .takesAnyGrid = true}});
  auto loaded = executable->load(0);
  ASSERT_OK(loaded.status());
  EXPECT_EQ((*loaded)->mostBlocks, 132u * 32); // 64 threads of 32 registers: 32 blocks of a multiprocessor of sm_80
  LoadedExport limited = **loaded;
  limited.mostBlocks = 132;
  using Grid = std::array<uint32_t, 3>;
  EXPECT_EQ(limited.gridFor({1000, 1, 1}), (Grid{132, 1, 1}));
  EXPECT_EQ(limited.gridFor({100, 1, 1}), (Grid{100, 1, 1}));
  EXPECT_EQ(limited.gridFor({1000, 2, 1}), (Grid{1000, 2, 1}));
  EXPECT_EQ((*loaded)->gridFor({1000, 1, 1}), (Grid{1000, 1, 1}));
  limited.clusterBlocks = 2;
  EXPECT_EQ(limited.gridFor({35, 1, 1}), (Grid{36, 1, 1}));
  EXPECT_EQ(limited.gridFor({1000, 1, 1}), (Grid{132, 1, 1}));
  limited.mostBlocks = 0; // not known
  EXPECT_EQ(limited.gridFor({100000, 1, 1}), (Grid{100000, 1, 1}));
}

TEST_F(ExecutableTest, AnAbsentExportIsAnError) {
  make(threeVariants);
  EXPECT_STATUS(executable->load(2).status(), OutOfRange, "has 2 exports, there is no export 2");
}

TEST_F(ExecutableTest, EveryFailureWhileLoadingIsReported) {
  for (const char *function : {"cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute"}) {
    make(threeVariants);
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(executable->load(0).status(), ResourceExhausted, function);
    fake.failures.clear();
    executable.reset();
  }
}

// K-3: behind an alignment above 16 the image has offsets of its own.
TEST_F(ExecutableTest, TakesTheImagesOffsetsWhereTheLayoutFixesNone) {
  abi::Export declared = makeExport("a", 1, 2);
  declared.layout.constants[0] = {abi::ConstantKind::Struct, abi::ElementType::I32, 64, 64, "", {}};
  bytes = std::make_unique<AlignedBytes>(buildExecutable("exe", {declared}, threeVariants));
  view = std::make_unique<abi::ExecutableView>(abi::ExecutableView::create(bytes->span(), "test").take());
  fake.parameters["a"] = {{0, 8}, {48, 64}, {112, 4}}; // sm_90, where parameters begin at 0x210
  executable = std::make_unique<Executable>(open(), *view);
  ASSERT_OK(executable->load(0).status());
  fake.parameters["a"] = {{0, 8}, {48, 64}, {112, 8}};
  executable = std::make_unique<Executable>(open(), *view);
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition, "[K-4] parameter 2 of kernel 'a' is 8 bytes");
}

TEST_F(ExecutableTest, RefusesTensorMapsOnADriverThatCannotEncodeThem) {
  abi::Export declared = makeExport("a", 1, 1);
  declared.layout.bindings[0].alignment = 16;
  declared.layout.constants[0] = {abi::ConstantKind::TensorMap, abi::ElementType::F32, 128, 64, "",
                                  abi::TensorMap{.box = {4, 8}}};
  bytes = std::make_unique<AlignedBytes>(buildExecutable("exe", {declared}, threeVariants));
  view = std::make_unique<abi::ExecutableView>(abi::ExecutableView::create(bytes->span(), "test").take());
  executable = std::make_unique<Executable>(open(), *view);
  EXPECT_STATUS(executable->load(0).status(), Unimplemented, "[K-22] kernel 'a' takes tensor maps");
}

TEST_F(ExecutableTest, AFallbackNeedsNoTensorMaps) {
  abi::Export declared = makeExport("a", 1, 1);
  declared.layout.bindings[0].alignment = 16;
  declared.layout.constants[0] = {abi::ConstantKind::TensorMap, abi::ElementType::F32, 128, 64, "",
                                  abi::TensorMap{.box = {4, 8}}};
  std::vector<VariantSpec> variants = {{.name = "sm_90", .arch = 90, .image = "for 90"},
                                       {.name = "fallback", .image = "f", .origin = abi::fb::Origin::Generated}};
  bytes = std::make_unique<AlignedBytes>(buildExecutable("exe", {declared}, variants));
  view = std::make_unique<abi::ExecutableView>(abi::ExecutableView::create(bytes->span(), "test").take());
  executable = std::make_unique<Executable>(open(), *view); // whose driver encodes none
  auto loaded = executable->load(0);
  ASSERT_OK(loaded.status());
  EXPECT_EQ((*loaded)->encodeTensorMap, &encodeNoTensorMap);
}

TEST_F(ExecutableTest, AGeneratedKernelAsksForMapsWhereThereAreAny) {
  abi::Export declared = makeExport("a", 1, 1);
  declared.layout.constants[0] = {abi::ConstantKind::TensorMap,
                                  abi::ElementType::F32,
                                  128,
                                  64,
                                  "",
                                  abi::TensorMap{.box = {4, 8}, .isOptional = true}};
  for (uint16_t arch : {80, 90}) {
    const VariantSpec variant = {.name = "g", .arch = arch, .image = "g", .origin = abi::fb::Origin::Generated};
    bytes = std::make_unique<AlignedBytes>(buildExecutable("exe", {declared}, {variant}));
    view = std::make_unique<abi::ExecutableView>(abi::ExecutableView::create(bytes->span(), "test").take());
    EXPECT_TRUE(view->exportAt(0).layout.constants[0].map->isOptional);
    fake.major = arch / 10;
    executable = std::make_unique<Executable>(open(), *view); // whose driver encodes none
    auto loaded = executable->load(0);
    ASSERT_OK(loaded.status());
    EXPECT_EQ((*loaded)->encodeTensorMap, &encodeNoTensorMap);
  }
}

TEST_F(ExecutableTest, WhatIsRuledOutStaysInTheTable) {
  make(threeVariants);
  executable = std::make_unique<Executable>(open(), *view, ExecutableOptions{.variant = "sm_75"});
  EXPECT_EQ((*executable->load(0))->variantName, "sm_75");
  const std::string text = executable->explain();
  EXPECT_NE(text.find("no: ruled out: only variant 'sm_75' was asked for"), std::string::npos) << text;
  executable = std::make_unique<Executable>(open(), *view, ExecutableOptions{.origin = abi::Origin::Generated});
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition, "only generated code was asked for");
}

TEST_F(ExecutableTest, WithoutJitPtxIsRuledOut) {
  std::vector<VariantSpec> variants = threeVariants;
  make(variants);
  executable = std::make_unique<Executable>(open(), *view, ExecutableOptions{.images = ImagePolicy::Cubin});
  EXPECT_STATUS(executable->load(0).status(), FailedPrecondition,
                "ruled out: PTX needs a JIT compilation, and no JIT was asked for");
  EXPECT_TRUE(fake.loadedImages.empty());
}

TEST_F(ExecutableTest, PtxCanBeForced) {
  std::vector<VariantSpec> variants = threeVariants;
  variants.push_back({.name = "cubin", .arch = 80, .image = std::string("ELF", 4), .kind = abi::fb::ImageKind::Cubin});
  make(variants);
  executable = std::make_unique<Executable>(open(), *view, ExecutableOptions{.images = ImagePolicy::Ptx});
  EXPECT_EQ((*executable->load(0))->variantName, "sm_80");
  EXPECT_NE(executable->explain().find("ruled out: only PTX was asked for"), std::string::npos);
}

TEST_F(ExecutableTest, GlobalsKeepTheirModule) {
  open();
  fake.globals["table"] = {1, 2, 3, 4};
  auto executable = Executable::create(
                        device, buildExecutable("exe", {makeExport("add", 1, 0)}, {{.name = "v", .image = "ptx"}}), "t")
                        .take();
  fake.parameters["add"] = {{0, 8}};
  auto table = findGlobal(executable, 0, "table");
  ASSERT_TRUE(table.ok()) << table.status().message();
  executable.reset();
  EXPECT_EQ(fake.liveModules, 1);
  EXPECT_EQ((*table)->size(), 4u);
  executable = Executable::create(
                   device, buildExecutable("exe", {makeExport("add", 1, 0)}, {{.name = "v", .image = "ptx"}}), "t")
                   .take();
  EXPECT_STATUS(findGlobal(executable, 0, "chair").status(), NotFound, "has no visible global 'chair'");
  EXPECT_STATUS(findGlobal(executable, 1, "table").status(), OutOfRange, "there is no export 1");
  fake.failures["cuModuleGetGlobal_v2"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(findGlobal(executable, 0, "table").status(), ResourceExhausted, "cuModuleGetGlobal_v2('table')");
}

} // namespace tenon::runtime
