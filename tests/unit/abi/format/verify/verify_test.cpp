// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// F-1 to F-4 and what any byte of a file may be. verify_executable_test.cpp, verify_program_test.cpp and
// verify_blocks_test.cpp break every other rule, one per test.
#include "abi/format/verify/verify.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/type_spelling.h"
#include "abi/format/views/program_view.h"
#include "tests/unit/abi/sample_files.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <zstd.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

static std::string verifyBoth(std::span<const uint8_t> bytes, bool program) {
  Status status = program ? verifyProgram(bytes, "x.tenon") : verifyExecutable(bytes, "x.tnx");
  return status.toString();
}

TEST(Verify, AcceptsTheSampleFiles) {
  EXPECT_EQ(verifyBoth(AlignedBytes(write(ExecutableParts())).span(), false), "ok");
  EXPECT_EQ(verifyBoth(AlignedBytes(write(ProgramParts())).span(), true), "ok");
  EXPECT_EQ(verifyBoth(AlignedBytes(write(sampleOfBlocks())).span(), true), "ok");
}

TEST(Verify, WantsAnAlignedBuffer) {
  std::vector<uint8_t> bytes = write(ExecutableParts());
  bytes.insert(bytes.begin(), 0);
  AlignedBytes shifted(bytes);
  Status status = verifyExecutable(shifted.span().subspan(1), "x.tnx");
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "'x.tnx': [F-1] the buffer is not at a multiple of 16 bytes in memory");
}

TEST(Verify, RefusesAnEmptyFile) {
  alignas(16) const uint8_t none[16] = {};
  EXPECT_EQ(verifyBoth({none, 0}, false),
            "data loss: 'x.tnx': [F-1] found an empty file, a Tenon executable (TNX1) is wanted: "
            "did the tool that wrote it fail? (0 bytes)");
}

TEST(Verify, RefusesTheOtherKindOfFile) {
  AlignedBytes executable(write(ExecutableParts())), program(write(ProgramParts()));
  EXPECT_EQ(verifyBoth(executable.span(), true),
            "data loss: 'x.tenon': [F-1] found a Tenon executable (TNX1), a Tenon program (TNP1) is wanted: "
            "tenon-compile makes programs, of MLIR that dispatches the kernels; tenon-check-kernel runs kernels of an "
            "executable");
  EXPECT_EQ(verifyBoth(program.span(), false),
            "data loss: 'x.tnx': [F-1] found a Tenon program (TNP1), a Tenon executable (TNX1) is wanted: give "
            "the executable (.tnx) that tenon-link writes");
}

TEST(Verify, RefusesEveryTruncatedFile) {
  for (const std::vector<uint8_t> &bytes : {write(ExecutableParts()), write(ProgramParts()), write(sampleOfBlocks())}) {
    const bool isProgram = bytes.data()[4 + 2] == 'P'; // TNP1, TNX1
    size_t accepted = 0;
    for (size_t size = 0; size < bytes.size(); ++size) {
      AlignedBytes cut(std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)));
      Status status = isProgram ? verifyProgram(cut.span(), "x") : verifyExecutable(cut.span(), "x");
      accepted += status.ok(); // only padding at the end may be missing
      if (!status.ok())
        EXPECT_EQ(status.code(), StatusCode::DataLoss);
    }
    EXPECT_LT(accepted, 64u); // the largest alignment
  }
}

TEST(Verify, NamesTheFormatVersion) {
  ExecutableParts executable;
  executable.version = 4;
  EXPECT_EQ(verifyBoth(AlignedBytes(write(executable)).span(), false),
            "data loss: 'x.tnx': [F-3] format version 4, this build reads 2 and 3: update Tenon");
  ProgramParts program;
  program.version = 4;
  EXPECT_EQ(verifyBoth(AlignedBytes(write(program)).span(), true),
            "data loss: 'x.tenon': [F-3] format version 4, this build reads 2 and 3: update Tenon");
  program.version = 0;
  EXPECT_EQ(verifyBoth(AlignedBytes(write(program)).span(), true),
            "data loss: 'x.tenon': [F-3] format version 0, this build reads 2 and 3: build the file again");
}

/// Writes with data of every length from 1 to 64 behind a vector that wants `alignment` and does not get it; the
/// messages without their offsets, each once.
static std::set<std::string> misaligned(const std::function<std::vector<uint8_t>(const std::string &)> &writeWith,
                                        bool isProgram) {
  std::set<std::string> out;
  for (size_t length = 1; length <= 64; ++length) {
    std::string text = verifyBoth(AlignedBytes(writeWith(std::string(length, 'x'))).span(), isProgram);
    size_t digits = text.find("byte ");
    if (digits != std::string::npos)
      text.erase(digits + 5, text.find(',', digits) - digits - 5);
    out.insert(text);
  }
  return out;
}

TEST(Verify, WantsDataAligned) {
  auto image = [](const std::string &data) {
    ExecutableParts parts;
    parts.images[0].data = data;
    parts.images[0].alignment = 1;
    return write(parts);
  };
  EXPECT_EQ(misaligned(image, false),
            (std::set<std::string>{"ok", "data loss: 'x.tnx': images[0]: [F-2] data starts at "
                                         "byte , not at a multiple of 16"}));
  auto constant = [](const std::string &data) {
    ProgramParts parts;
    parts.constants[0].data = data;
    parts.constants[0].alignment = 1;
    return write(parts);
  };
  EXPECT_EQ(misaligned(constant, true),
            (std::set<std::string>{"ok", "data loss: 'x.tenon': constants[0]: [F-2] data starts at byte , not at a "
                                         "multiple of 64"}));
  auto nested = [](const std::string &data) {
    ProgramParts parts;
    parts.constants[0].data = data;
    parts.executableAlignment = 1;
    return write(parts);
  };
  EXPECT_TRUE(misaligned(nested, true)
                  .contains("data loss: 'x.tenon': executables[0]: [F-2] data starts at byte , not at a multiple of "
                            "64"));
}

/// A program of `count` commands that are one shared table with `count` bindings: a small file, count^2 checks.
static std::vector<uint8_t> sharedCommands(uint32_t count) {
  flatbuffers::FlatBufferBuilder builder;
  ExecutableParts executable;
  executable.exports[0].bindings.assign(4000, {true});
  executable.exports[0].constants.clear();
  executable.variants.clear();
  std::vector<uint8_t> nested = write(executable);
  auto data = createAlignedBytes(builder, nested.data(), nested.size(), 64);
  auto executables = builder.CreateVector(std::vector{fb::CreateNestedExecutable(builder, data)});
  auto grid = builder.CreateVector(Uints{0, 0, 0});
  auto bindings = builder.CreateVectorOfStructs(std::vector<fb::BufferRange>(4000, fb::BufferRange(0, -1, -1)));
  auto dispatch = fb::CreateDispatch(builder, 0, 0, grid, bindings);
  auto command = fb::CreateCommand(builder, fb::CommandBody::Dispatch, dispatch.Union());
  auto commands = builder.CreateVector(std::vector(count, command));
  auto registers = builder.CreateVectorOfStructs(std::vector{fb::RegisterOp(fb::RegisterOpcode::Const, 0, 0, 0, 1)});
  auto buffer = fb::CreateBuffer(builder, fb::BufferSource::Transient, 0, 0);
  auto buffers = builder.CreateVector(std::vector{buffer});
  auto function = fb::CreateFunction(builder, builder.CreateString("f"), 0, registers, buffers, 0, commands);
  auto functions = builder.CreateVector(std::vector{function});
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, kFormatVersion, 0, 0, executables, functions));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(Verify, BoundsTheWorkOfSharedTables) {
  EXPECT_EQ(verifyBoth(AlignedBytes(sharedCommands(1)).span(), true), "ok");
  std::string text = verifyBoth(AlignedBytes(sharedCommands(100000)).span(), true);
  EXPECT_NE(text.find("[F-2] tables are shared so often"), std::string::npos) << text;
}

/// Reads everything the views offer; a wrong index or pointer crashes or trips the sanitizer.
static size_t walk(const ExecutableView &view) {
  size_t sum = view.name().size();
  for (uint32_t ordinal = 0; ordinal < view.exportCount(); ++ordinal) {
    sum += view.exportAt(ordinal).layout.toString().size() + view.exportAt(ordinal).declaredAt.toString().size();
    std::vector<Candidate> candidates = view.candidates(ordinal);
    DeviceTraits device{"test", 90, 12080};
    sum += explainRanking(candidates, rankCandidates(candidates, device), &device).size();
    for (const Candidate &candidate : candidates) {
      sum += view.symbolOf(*view.findKernel(candidate.variantIndex, ordinal)).size();
      if (auto bytes = view.imageBytes(candidate.imageIndex); bytes.ok())
        sum += bytes->size();
    }
  }
  return sum;
}

static size_t walk(const ProgramView &view, const fb::Function &function) {
  size_t sum = function.name()->size();
  for (uint32_t k = 0; function.inputs() && k < function.inputs()->size(); ++k)
    sum += typeSpelling(*function.inputs()->Get(k)).size();
  for (uint32_t k = 0; function.registers() && k < function.registers()->size(); ++k)
    sum += static_cast<size_t>(function.registers()->Get(k)->imm());
  for (uint32_t k = 0; function.commands() && k < function.commands()->size(); ++k)
    if (const fb::Dispatch *dispatch = function.commands()->Get(k)->body_as_Dispatch())
      sum += view.executableAt(dispatch->executable()).exportAt(dispatch->export_ordinal()).name.size();
  for (uint32_t k = 0; function.results() && k < function.results()->size(); ++k)
    sum += typeSpelling(*function.results()->Get(k)->type()).size();
  for (uint32_t k = 0; function.loads() && k < function.loads()->size(); ++k)
    sum += view.raw().globals()->Get(function.loads()->Get(k))->name()->size();
  for (uint32_t k = 0; function.stores() && k < function.stores()->size(); ++k)
    sum += view.raw().globals()->Get(function.stores()->Get(k)->global())->name()->size() +
           typeSpelling(*function.results()->Get(function.stores()->Get(k)->result())->type()).size();
  for (uint32_t block = 0; function.blocks() && block < function.blocks()->size(); ++block) {
    const fb::Function &from = *function.blocks()->Get(block);
    sum += walk(view, from);
    for (uint32_t k = 0; from.targets() && k < from.targets()->size(); ++k) {
      const fb::Target &target = *from.targets()->Get(k);
      sum += function.blocks()->Get(target.block())->name()->size();
      for (uint32_t i = 0; target.arguments() && i < target.arguments()->size(); ++i)
        sum += typeSpelling(*from.results()->Get(target.arguments()->Get(i))->type()).size();
    }
  }
  return sum;
}

static size_t walk(const ProgramView &view) {
  size_t sum = 0;
  for (size_t i = 0; i < view.executableCount(); ++i)
    sum += walk(view.executableAt(i));
  for (size_t i = 0; i < view.functionCount(); ++i)
    sum += walk(view, view.functionAt(i));
  if (const fb::Function *initializer = view.raw().initializer())
    sum += walk(view, *initializer);
  return sum;
}

// Whatever byte is wrong: either the file is refused, or it can be read to the end.
TEST(Verify, SurvivesEveryDamage) {
  std::string data(ZSTD_compressBound(500), '\0');
  data.resize(ZSTD_compress(data.data(), data.size(), std::string(500, 'p').data(), 500, 3));
  ExecutableParts executable;
  executable.images.push_back({fb::ImageKind::Cubin, fb::Compression::Zstd, 500, 0, data});
  executable.variants[0].images = {1, 0};
  executable.exports[0].cluster = executable.variants[0].kernels[0].requiredCluster = Uints{2, 1, 1};
  ProgramParts program;
  program.executables = {executable};
  std::mt19937 random(20240607);
  size_t refused = 0, read = 0;
  for (const std::vector<uint8_t> &good : {write(executable), write(program), write(sampleOfBlocks())}) {
    const bool isProgram = good.data()[4 + 2] == 'P'; // TNP1, TNX1
    for (int round = 0; round < 6000; ++round) {
      std::vector<uint8_t> bytes = good;
      for (uint32_t flips = 1 + random() % 3; flips != 0; --flips)
        bytes[random() % bytes.size()] ^= static_cast<uint8_t>(random() % 2 ? 1u << random() % 8 : random());
      AlignedBytes damaged(bytes);
      if (isProgram) {
        auto view = ProgramView::create(damaged.span(), "x");
        view.ok() ? read += walk(*view) != 0 : ++refused;
      } else {
        auto view = ExecutableView::create(damaged.span(), "x");
        view.ok() ? read += walk(*view) != 0 : ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(read, 1000u);
}
