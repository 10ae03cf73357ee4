// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/hal/HalAttrs.h"

#include "tests/unit/compiler/dialect/parse.h"

namespace tenon::compiler {
namespace {

class HalAttrs : public ParseTest {
protected:
  hal::ExecutableTargetAttr target(llvm::StringRef text) {
    return parseAttr<hal::ExecutableTargetAttr>(("#hal.executable.target<" + text + ">").str());
  }
};

TEST_F(HalAttrs, GenericTargetServesEveryTargetThatHasItsEntries) {
  auto generic = target("\"cuda\", \"cuda-nvptx-fb\"");
  auto sm80 = target("\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\"}");
  auto sm80f = target("\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\", features = \"+ptx80\"}");
  auto sm90 = target("\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_90\"}");
  EXPECT_TRUE(generic.isGenericOf(sm80));
  EXPECT_TRUE(sm80.isGenericOf(sm80));
  EXPECT_TRUE(sm80.isGenericOf(sm80f));
  EXPECT_FALSE(sm80f.isGenericOf(sm80));
  EXPECT_FALSE(sm80.isGenericOf(sm90));
  EXPECT_FALSE(sm80.isGenericOf(generic));
  EXPECT_FALSE(target("\"cuda\", \"other\"").isGenericOf(sm80));
  EXPECT_FALSE(target("\"rocm\", \"cuda-nvptx-fb\"").isGenericOf(sm80));
}

TEST_F(HalAttrs, ObjectsOfATargetAreThoseOfEveryKeyThatServesIt) {
  auto objects = parseAttr<hal::ExecutableObjectsAttr>(R"(#hal.executable.objects<{
    <"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a"}>],
    <"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}> = [#hal.executable.object<{path = "b"}>],
    <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "c"}>, #hal.executable.object<{path = "d"}>]
  }>)");
  std::string paths;
  for (hal::ExecutableObjectAttr object :
       objects.objectsFor(target("\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\"}")))
    paths += object.getPath().str();
  EXPECT_EQ(paths, "acd");
}

TEST_F(HalAttrs, OlderLayoutsAreTheSameAttribute) {
  EXPECT_EQ(mlir::parseAttribute("#hal.pipeline.layout<push_constants = 1, sets = [<0, bindings = [<0, storage_buffer, "
                                 "ReadOnly>, <1, storage_buffer>]>]>",
                                 &context_),
            mlir::parseAttribute("#hal.pipeline.layout<constants = 1, bindings = [<storage_buffer, \"ReadOnly\">, "
                                 "#hal.pipeline.binding<storage_buffer>]>",
                                 &context_));
}

TEST_F(HalAttrs, DeviceTargetIsTyped) {
  auto device = parseAttr<hal::DeviceTargetAttr>("#hal.device.target<\"cuda\", {executable_targets = "
                                                 "[#hal.executable.target<\"cuda\", \"cuda-nvptx-fb\">]}>");
  EXPECT_TRUE(mlir::isa<hal::DeviceType>(device.getType()));
  EXPECT_EQ(device.getTargets().size(), 1u);
  EXPECT_TRUE(device.getConfiguration().empty());
}

} // namespace
} // namespace tenon::compiler
