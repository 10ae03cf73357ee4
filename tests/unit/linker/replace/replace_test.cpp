// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/replace/replace.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/verify/verify.h"
#include "abi/format/views/program_view.h"
#include "linker/tools/diff.h"
#include "tests/unit/linker/blocks_testing.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

constexpr char kAdd[] = "  .reg .b32 %r<3>;\n  add.s32 %r1, %r2, 1;\n";

class Replace : public ::testing::Test {
protected:
  void SetUp() override {
    Job job;
    job.add(makeExport("a", 1)).add(makeExport("b", 1));
    job.object("both.ptx", ptxModule(entry("a", "p") + entry("b", "p")));
    job.object("newer.ptx", ptxModule(entry("a", "p") + entry("b", "p"), "sm_90"), "sm_90");
    old_ = linkJob(job).bytes;
  }

  Result<std::vector<uint8_t>> replace(std::span<const uint8_t> file, std::string name, std::string ptx,
                                       std::string_view target = "sm_80", std::string variant = "") {
    Replacement replacement{.exportName = std::move(name), .variantName = std::move(variant), .job = {}};
    ObjectInput object;
    object.path = "new.ptx";
    object.bytes = std::move(ptx);
    object.target = *abi::parseTargetArch(target);
    replacement.job.objects.push_back(std::move(object));
    diagnostics_ = {};
    return replaceKernel(file, "old.tnx", replacement, diagnostics_);
  }
  static std::string images(std::span<const uint8_t> file) {
    Result<abi::ExecutableView> view = abi::ExecutableView::create(file, "x");
    std::string text;
    for (const abi::fb::Variant *variant : *view->raw().variants()) {
      text +=
          variant->name()->str() + " of " + view->raw().images()->Get(variant->images()->Get(0))->source()->str() + ":";
      for (const abi::fb::Kernel *kernel : *variant->kernels())
        text += " " + view->exportAt(kernel->export_ordinal()).name;
      text += "\n";
    }
    return text;
  }

  std::vector<uint8_t> old_;
  Diagnostics diagnostics_;
};

TEST_F(Replace, PutsTheNewKernelWhereTheOldOneStood) {
  Result<std::vector<uint8_t>> replaced = replace(old_, "b", ptxModule(entry("b", "p", "", kAdd)));
  ASSERT_TRUE(replaced.ok()) << replaced.status().message() << diagnostics_.toString();
  EXPECT_EQ(images(*replaced), "sm_80 of new.ptx: b\nsm_80 of both.ptx: a\nsm_90 of newer.ptx: a b\n");
  // The other kernel of the old object goes too: nothing of it stays.
  replaced = replace(*replaced, "a", ptxModule(entry("a", "p", "", kAdd)));
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ(images(*replaced), "sm_80 of new.ptx: b\nsm_80 of new.ptx: a\nsm_90 of newer.ptx: a b\n");
  EXPECT_EQ(abi::ExecutableView::create(*replaced, "x")->raw().images()->size(), 3u);
}

TEST_F(Replace, ProvesTheNewKernel) {
  Result<std::vector<uint8_t>> replaced = replace(old_, "a", ptxModule(entry("a", "pw")));
  EXPECT_FALSE(replaced.ok());
  EXPECT_NE(diagnostics_.toString().find("new.ptx:4:17: error: [K-11] 'a' has 2 parameters"), std::string::npos)
      << diagnostics_.toString();
  EXPECT_NE(diagnostics_.toString().find("job.json:7:3: note: export 'a' is declared here"), std::string::npos);
  replaced = replace(old_, "a", ptxModule(entry("c", "p")));
  EXPECT_NE(diagnostics_.toString().find("[K-2]"), std::string::npos) << diagnostics_.toString();
}

/// An export that is launched while the dispatch before it ends.
std::vector<uint8_t> launchedEarly(abi::Origin origin) {
  Job job;
  job.add(makeExport("a", 1));
  job.job.exports[0].launch.programmaticDependentLaunch = true;
  for (const char *target : {"sm_80", "sm_90"}) {
    job.object("old.ptx", ptxModule(entry("a", "p", "", "  griddepcontrol.wait;\n"), target), target);
    job.job.objects.back().origin = origin;
  }
  return linkJob(job).bytes;
}

TEST_F(Replace, AKernelInPlaceOfAGeneratedOneIsLaunchedBehindTheDispatchBeforeIt) {
  const std::vector<uint8_t> generated = launchedEarly(abi::Origin::Generated);
  ASSERT_TRUE(abi::ExecutableView::create(generated, "x")->exportAt(0).launch.programmaticDependentLaunch);
  Result<std::vector<uint8_t>> replaced =
      replace(generated, "a", ptxModule(entry("a", "p", "", kAdd), "sm_90"), "sm_90");
  ASSERT_TRUE(replaced.ok()) << replaced.status().message() << diagnostics_.toString();
  EXPECT_EQ(diagnostics_.toString(), "");
  EXPECT_FALSE(abi::ExecutableView::create(*replaced, "x")->exportAt(0).launch.programmaticDependentLaunch);

  // Who wrote the old kernel has said so of the export; the new one is told that it does not wait.
  replaced =
      replace(launchedEarly(abi::Origin::HandWritten), "a", ptxModule(entry("a", "p", "", kAdd), "sm_90"), "sm_90");
  ASSERT_TRUE(replaced.ok()) << replaced.status().message() << diagnostics_.toString();
  EXPECT_NE(diagnostics_.toString().find("warning: [K-24] 'a'"), std::string::npos) << diagnostics_.toString();
  EXPECT_TRUE(abi::ExecutableView::create(*replaced, "x")->exportAt(0).launch.programmaticDependentLaunch);
}

TEST_F(Replace, SaysWhatIsNotThere) {
  EXPECT_NE(replace(old_, "c", ptxModule(entry("c", "p"))).status().message().find("'a'"), std::string::npos);
  EXPECT_EQ(replace(old_, "a", ptxModule(entry("a", "p"), "sm_86"), "sm_86").status().message(),
            "export 'a' of executable 'test' has no variant for sm_86; it has 'sm_80' and 'sm_90': nothing to replace");
  EXPECT_EQ(replace(old_, "a", ptxModule(entry("a", "p")), "sm_80", "fast").status().message(),
            "export 'a' of executable 'test' has no variant 'fast' for sm_80; it has 'sm_80'");
  const std::vector<uint8_t> nothing(64);
  EXPECT_EQ(replace(nothing, "a", "").status().code(), StatusCode::InvalidArgument);
  std::vector<uint8_t> damaged = old_;
  damaged.resize(damaged.size() / 2);
  EXPECT_EQ(replace(damaged, "a", ptxModule(entry("a", "p"))).status().code(), StatusCode::DataLoss);
}

/// A program of two executables that both have an export 'a', a constant inside and one behind the tables.
class ReplaceInProgram : public Replace {
protected:
  void SetUp() override {
    Replace::SetUp();
    program_ = build(build(0).size());
    program_.resize((program_.size() + 63) / 64 * 64);
    for (int i = 0; i < 100; ++i)
      program_.push_back(uint8_t(i));
  }
  std::vector<uint8_t> build(uint64_t end) {
    namespace fb = abi::fb;
    flatbuffers::FlatBufferBuilder builder;
    Job other;
    other.add(makeExport("a", 1)).object("other.ptx", ptxModule(entry("a", "p")));
    other.job.name = "other";
    std::vector<flatbuffers::Offset<fb::NestedExecutable>> executables;
    for (const std::vector<uint8_t> &bytes : {old_, linkJob(other).bytes})
      executables.push_back(
          fb::CreateNestedExecutable(builder, abi::createAlignedBytes(builder, bytes.data(), bytes.size(), 64)));
    const std::vector<uint8_t> inside = {1, 2, 3, 4};
    auto data = abi::createAlignedBytes(builder, inside.data(), inside.size(), 64);
    std::vector<flatbuffers::Offset<fb::ConstantData>> constants = {
        fb::CreateConstantData(builder, data, 0, inside.size()),
        fb::CreateConstantData(builder, 0, (end + 64 + 63) / 64 * 64, 100)};
    auto name = builder.CreateString("program");
    auto executableVector = builder.CreateVector(executables);
    auto constantVector = builder.CreateVector(constants);
    fb::FinishProgramBuffer(
        builder, fb::CreateProgram(builder, abi::kFormatVersion, 0, name, executableVector, 0, constantVector));
    std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    if (end)
      bytes.resize((end + 64 + 63) / 64 * 64);
    return bytes;
  }

  std::vector<uint8_t> program_;
};

TEST_F(ReplaceInProgram, ReplacesInTheExecutableThatIsNamed) {
  ASSERT_TRUE(abi::ProgramView::create(program_, "p").ok())
      << abi::ProgramView::create(program_, "p").status().message();
  EXPECT_NE(replace(program_, "a", ptxModule(entry("a", "p"))).status().message().find("several executables"),
            std::string::npos);
  Result<std::vector<uint8_t>> replaced = replace(program_, "other::a", ptxModule(entry("a", "p", "", kAdd)));
  ASSERT_TRUE(replaced.ok()) << replaced.status().message() << diagnostics_.toString();
  Result<abi::ProgramView> view = abi::ProgramView::create(*replaced, "new");
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->executableAt(0).raw().images()->Get(0)->source()->str(), "both.ptx");
  EXPECT_EQ(view->executableAt(1).raw().images()->Get(0)->source()->str(), "new.ptx");
  const abi::fb::ConstantData &inside = *view->raw().constants()->Get(0), &behind = *view->raw().constants()->Get(1);
  EXPECT_EQ(std::vector<uint8_t>(inside.data()->begin(), inside.data()->end()), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(behind.size(), 100u);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ((*replaced)[behind.file_offset() + i], i);
}

// A kernel of a program that keeps state: blocks, globals and what sets them stay.
TEST_F(Replace, KeepsBlocksAndGlobals) {
  const std::vector<uint8_t> program = testing::makeBlockProgram(old_);
  Result<std::vector<uint8_t>> replaced = replace(program, "a", ptxModule(entry("a", "p", "", kAdd)));
  ASSERT_TRUE(replaced.ok()) << replaced.status().message() << diagnostics_.toString();
  Result<abi::ProgramView> before = abi::ProgramView::create(program, "old"),
                           after = abi::ProgramView::create(*replaced, "new");
  ASSERT_TRUE(after.ok()) << after.status().message();
  const std::string text = diffPrograms(*before, *after);
  EXPECT_NE(text.find("! export 'a' variant 'sm_80'"), std::string::npos) << text;
  EXPECT_EQ(text.find("function"), std::string::npos) << text;
  EXPECT_EQ(text.find("initializer"), std::string::npos) << text;
  EXPECT_EQ(text.find("global"), std::string::npos) << text;
  EXPECT_EQ(after->raw().format_version(), abi::kBlocksFormatVersion);
}

} // namespace
} // namespace tenon::linker
