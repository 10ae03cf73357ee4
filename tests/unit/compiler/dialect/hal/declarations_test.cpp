// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/hal/declarations.h"

#include "compiler/dialect/hal/HalOps.h"
#include "tests/unit/compiler/dialect/parse.h"

#include "mlir/IR/Builders.h"

namespace tenon::compiler {
namespace {

class Declarations : public ParseTest {
protected:
  hal::ExecutableTargetAttr target(llvm::StringRef configuration) {
    return parseAttr<hal::ExecutableTargetAttr>(
        ("#hal.executable.target<\"cuda\", \"cuda-nvptx-fb\", {" + configuration + "}>").str());
  }
};

TEST_F(Declarations, KnowsTheScalarTypesThatKernelsTake) {
  mlir::Builder b(&context_);
  EXPECT_EQ(elementTypeOf(b.getI1Type()), abi::ElementType::I1);
  EXPECT_EQ(elementTypeOf(b.getIntegerType(8)), abi::ElementType::I8);
  EXPECT_EQ(elementTypeOf(b.getIntegerType(16)), abi::ElementType::I16);
  EXPECT_EQ(elementTypeOf(b.getI32Type()), abi::ElementType::I32);
  EXPECT_EQ(elementTypeOf(b.getI64Type()), abi::ElementType::I64);
  EXPECT_EQ(elementTypeOf(b.getIndexType()), abi::ElementType::Index);
  EXPECT_EQ(elementTypeOf(b.getF16Type()), abi::ElementType::F16);
  EXPECT_EQ(elementTypeOf(b.getBF16Type()), abi::ElementType::BF16);
  EXPECT_EQ(elementTypeOf(b.getF32Type()), abi::ElementType::F32);
  EXPECT_EQ(elementTypeOf(b.getF64Type()), abi::ElementType::F64);
  EXPECT_EQ(elementTypeOf(b.getIntegerType(24)), std::nullopt);
  EXPECT_EQ(elementTypeOf(b.getNoneType()), std::nullopt);
}

TEST_F(Declarations, LayoutOfWordsAndBindings) {
  abi::Layout layout = layoutOf(parseAttr<hal::PipelineLayoutAttr>(
      "#hal.pipeline.layout<constants = 2, bindings = [<storage_buffer, \"ReadOnly|Indirect\">, "
      "<uniform_buffer, alignment = 16>]>"));
  ASSERT_EQ(layout.bindings.size(), 2u);
  EXPECT_TRUE(layout.bindings[0].readOnly);
  EXPECT_TRUE(layout.bindings[0].indirect);
  EXPECT_EQ(layout.bindings[0].alignment, 0u);
  EXPECT_EQ(layout.bindings[1].kind, abi::BindingKind::UniformBuffer);
  EXPECT_FALSE(layout.bindings[1].readOnly);
  EXPECT_EQ(layout.bindings[1].alignment, 16u);
  EXPECT_EQ(layout.constants, std::vector<abi::Constant>(2, abi::Constant::word()));
}

TEST_F(Declarations, LayoutOfTypedConstants) {
  abi::Layout layout =
      layoutOf(parseAttr<hal::PipelineLayoutAttr>("#hal.pipeline.layout<constants = [i64, f16], bindings = []>"));
  EXPECT_EQ(layout.constants, (std::vector<abi::Constant>{abi::Constant::scalar(abi::ElementType::I64),
                                                          abi::Constant::scalar(abi::ElementType::F16)}));
}

TEST_F(Declarations, LayoutOfParametersInAnyOrder) {
  using Kind = abi::ParameterKind;
  const std::string head =
      "#hal.pipeline.layout<constants = [i64, f32], bindings = [<storage_buffer>, <storage_buffer>], "
      "parameters = [";
  abi::Layout layout = layoutOf(parseAttr<hal::PipelineLayoutAttr>(
      head + "hidden, constant 1, struct<32, alignment = 8>(binding 1 at 0, constant 0 at 8, hidden at 16), "
             "padding<4, alignment = 2>, binding 0, hidden]>"));
  EXPECT_EQ(layout.parameters, (std::vector<abi::DeclaredParameter>{
                                   abi::DeclaredParameter::hidden(), abi::DeclaredParameter::constant(1),
                                   abi::DeclaredParameter::structOf(
                                       32, 8, {{Kind::Binding, 1, 0}, {Kind::Constant, 0, 8}, {Kind::Hidden, 0, 16}}),
                                   abi::DeclaredParameter::structOf(4, 2), abi::DeclaredParameter::binding(0)}));
  EXPECT_EQ(layout.hiddenPointers, 1u);
  // The usual order, said.
  layout = layoutOf(
      parseAttr<hal::PipelineLayoutAttr>(head + "binding 0, binding 1, constant 0, constant 1, hidden, hidden]>"));
  EXPECT_TRUE(layout.parameters.empty());
  EXPECT_EQ(layout.hiddenPointers, 2u);
}

TEST_F(Declarations, ReadsTheArchitectureOfATarget) {
  mlir::FailureOr<abi::TargetArch> arch = targetArchOf(target("target_arch = \"sm_90a\""));
  ASSERT_TRUE(mlir::succeeded(arch));
  EXPECT_EQ(*arch, (abi::TargetArch{90, abi::ArchSuffix::A}));
}

TEST_F(Declarations, RefusesAMissingOrUnknownArchitectureWithTheKnownOnes) {
  EXPECT_TRUE(mlir::failed(targetArchOf(target(""))));
  auto emit = [&] { return mlir::emitError(mlir::UnknownLoc::get(&context_)); };
  EXPECT_TRUE(mlir::failed(targetArchOf(target(""), emit)));
  EXPECT_TRUE(mlir::failed(targetArchOf(target("target_arch = \"gfx942\""), emit)));
  EXPECT_TRUE(mlir::failed(targetArchOf(target("target_arch = 80"), emit)));
  EXPECT_NE(errors_.find("the target has no 'target_arch', one of the known architectures is wanted: "),
            std::string::npos);
  EXPECT_NE(errors_.find("target architecture 'gfx942' is unknown"), std::string::npos);
  EXPECT_NE(errors_.find("'target_arch' of the target is no string"), std::string::npos);
  EXPECT_NE(errors_.find(abi::knownArchList()), std::string::npos);
}

TEST_F(Declarations, MakesTheTargetOfAnArchitecture) {
  context_.getOrLoadDialect<hal::HalDialect>();
  EXPECT_EQ(cudaTarget(&context_, {100, abi::ArchSuffix::F}), target("target_arch = \"sm_100f\""));
}

TEST_F(Declarations, TargetsComeFromDevicesThenObjectsThenTheCaller) {
  hal::ExecutableTargetAttr sm75 = target("target_arch = \"sm_75\""), sm80 = target("target_arch = \"sm_80\""),
                            sm90 = target("target_arch = \"sm_90\"");
  const char *body = R"(
    hal.executable.source private @e attributes {objects = #hal.executable.objects<{
      <"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}> = [#hal.executable.object<{path = "a"}>],
      <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "b"}>],
      <"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "c"}>]
    }>} {})";
  using Targets = llvm::SmallVector<hal::ExecutableTargetAttr>;
  auto withDevices = parse((llvm::Twine(R"(
    #t = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
    module attributes {hal.device.targets = [#hal.device.target<"cuda", [#t, #t]>]} {)") +
                            body + "}")
                               .str());
  EXPECT_EQ(targetsOf(*withDevices, {sm75}), (Targets{sm80}));
  auto withObjects = parse((llvm::Twine("module {") + body + "}").str());
  EXPECT_EQ(targetsOf(*withObjects, {sm75}), (Targets{sm90, sm80}));
  auto withNothing = parse("module {}");
  EXPECT_EQ(targetsOf(*withNothing, {sm75}), (Targets{sm75}));
  EXPECT_TRUE(targetsOf(*withNothing).empty());
}

TEST_F(Declarations, ExportHasLaunchAndPlace) {
  auto module = parse(R"(hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "a"}>]
}>} {
  hal.executable.export @f ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [<storage_buffer>]>)
    attributes {workgroup_size = [8 : index, 4 : index, 2 : index], subgroup_size = 32 : index,
                workgroup_local_memory = 512 : index}
})",
                      "dir/x.mlir");
  abi::Export result = exportOf(find<hal::ExecutableExportOp>(*module));
  EXPECT_EQ(result.name, "f");
  EXPECT_EQ(result.symbol, "f");
  EXPECT_EQ(result.ordinal, 0u);
  EXPECT_EQ(result.layout.bindings.size(), 1u);
  EXPECT_EQ(result.launch.workgroupSize, (abi::Extent3{8, 4, 2}));
  EXPECT_EQ(result.launch.subgroupSize, 32u);
  EXPECT_EQ(result.launch.dynamicSharedBytes, 512u);
  EXPECT_EQ(result.declaredAt, (SourceLocation{"dir/x.mlir", 4, 3}));
}

TEST_F(Declarations, PlaceOfALocationIsItsFirstFile) {
  auto place = mlir::FileLineColLoc::get(&context_, "a.mlir", 3, 4);
  auto unknown = mlir::UnknownLoc::get(&context_);
  EXPECT_FALSE(sourceLocationOf(unknown).known());
  EXPECT_EQ(sourceLocationOf(place), (SourceLocation{"a.mlir", 3, 4}));
  EXPECT_EQ(sourceLocationOf(mlir::FusedLoc::get(&context_, {unknown, place})), (SourceLocation{"a.mlir", 3, 4}));
}

} // namespace
} // namespace tenon::compiler
