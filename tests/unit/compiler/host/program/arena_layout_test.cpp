// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/arena_layout.h"

#include "abi/format/arithmetic.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tenon::compiler::host {
namespace {

/// Values of every register, with dimension d of input 0 being dims[d].
std::vector<int64_t> evaluate(const RegisterProgram &program, const std::vector<int64_t> &dims) {
  std::vector<int64_t> values;
  for (const RegisterOperation &op : program.operations()) {
    if (op.opcode == Opcode::Const)
      values.push_back(op.imm);
    else if (op.opcode == Opcode::Dim)
      values.push_back(dims[op.b]);
    else
      values.push_back(abi::evaluate(op.opcode, values[op.a], values[op.b]).value);
  }
  return values;
}

/// A function whose command i copies transient i into transient i + 1, so each lives for two commands.
Function chain(const std::vector<Register> &sizes, RegisterProgram registers) {
  Function function;
  function.registers = std::move(registers);
  for (Register size : sizes)
    function.buffers.push_back({.source = BufferSource::Transient, .size = size});
  for (BufferIndex i = 0; i + 1 < sizes.size(); ++i)
    function.commands.push_back({Copy{i, i + 1}, ""});
  return function;
}

/// Bytes of the arena; fails where two transients of one command overlap, or one leaves the arena or is not aligned.
int64_t checkedBytes(const Function &function, const std::vector<int64_t> &dims) {
  const std::vector<int64_t> values = evaluate(function.registers, dims);
  auto begin = [&](BufferIndex buffer) { return values[function.buffers[buffer].offset]; };
  auto bytes = [&](BufferIndex buffer) { return values[function.buffers[buffer].size]; };
  const int64_t arena = values[function.arena];
  for (BufferIndex i = 0; i < function.buffers.size(); ++i) {
    EXPECT_EQ(begin(i) % kArenaAlignment, 0);
    EXPECT_GE(begin(i), 0);
    EXPECT_LE(begin(i) + bytes(i), arena);
  }
  // Lifetimes are the first and last command that name a buffer.
  auto lifetime = [&](BufferIndex buffer) {
    std::pair<size_t, size_t> life = {function.commands.size(), 0};
    for (size_t at = 0; at < function.commands.size(); ++at)
      if (const Copy &copy = std::get<Copy>(function.commands[at].body); copy.source == buffer || copy.target == buffer)
        life = {std::min(life.first, at), at};
    return life;
  };
  for (BufferIndex a = 0; a < function.buffers.size(); ++a)
    for (BufferIndex b = a + 1; b < function.buffers.size(); ++b) {
      const bool together = lifetime(a).first <= lifetime(b).second && lifetime(b).first <= lifetime(a).second;
      const bool overlap = begin(a) < begin(b) + bytes(b) && begin(b) < begin(a) + bytes(a);
      EXPECT_FALSE(together && overlap) << "buffers " << a << " and " << b;
    }
  return arena;
}

TEST(ArenaLayout, KnownSizesArePackedAsNumbers) {
  RegisterProgram registers;
  const Register small = registers.constant(100), large = registers.constant(1000);
  Function function = chain({small, large, small, large}, registers);
  layOutArena(function);
  // At most two live at a time: 256 + 1024 bytes would do for each pair, and do for all.
  EXPECT_EQ(checkedBytes(function, {}), 1280);
  EXPECT_EQ(function.registers.constantValue(function.arena), 1280) << "nothing is left to compute";
}

TEST(ArenaLayout, SizesOfOneProductAreWholeUnits) {
  RegisterProgram registers;
  const Register n = registers.dim(0, 0);
  const Register four = registers.mul(n, registers.constant(4)), eight = registers.mul(n, registers.constant(8));
  Function function = chain({four, eight, four, eight, four}, registers);
  layOutArena(function);
  EXPECT_EQ(checkedBytes(function, {1}), 3 * 256);
  EXPECT_EQ(checkedBytes(function, {1000}), 3 * 4096); // align(4000, 256)
  EXPECT_EQ(checkedBytes(function, {0}), 0);
}

TEST(ArenaLayout, FamiliesThatDoNotMeetShareMemory) {
  RegisterProgram registers;
  const Register n = registers.dim(0, 0), m = registers.dim(0, 1);
  const Register first = registers.mul(n, registers.constant(4)), second = registers.mul(m, registers.constant(4));
  Function function;
  function.registers = registers;
  for (Register size : {first, first, second, second})
    function.buffers.push_back({.source = BufferSource::Transient, .size = size});
  function.commands = {{Copy{0, 1}, ""}, {Copy{2, 3}, ""}};
  layOutArena(function);
  EXPECT_EQ(checkedBytes(function, {64, 640}), 2 * 2560);
  EXPECT_EQ(checkedBytes(function, {640, 64}), 2 * 2560);
}

TEST(ArenaLayout, LeavesOutWhatOutlivesTheCallAndWhatNobodyUses) {
  RegisterProgram registers;
  const Register bytes = registers.constant(64);
  Function function = chain({bytes, bytes, bytes}, registers);
  const ValueType type{true, abi::ElementType::F32, {16}};
  function.results.push_back({type, 2, {registers.constant(16)}});
  function.buffers.push_back({.source = BufferSource::Input, .index = 0});
  function.buffers.push_back({.source = BufferSource::Transient, .size = bytes}); // unused
  function.commands.push_back({Copy{3, 2}, ""});
  function.expectations.push_back(
      {.operation = "check.expect_all_true", .found = {type, 0, {}}, .wanted = {}, .location = ""});
  layOutArena(function);
  EXPECT_EQ(function.registers.constantValue(function.arena), 256);
  EXPECT_EQ(function.buffers[0].offset, kNoRegister) << "expected";
  EXPECT_NE(function.buffers[1].offset, kNoRegister);
  EXPECT_EQ(function.buffers[2].offset, kNoRegister) << "a result";
  EXPECT_EQ(function.buffers[3].offset, kNoRegister) << "an input";
  EXPECT_EQ(function.buffers[4].offset, kNoRegister) << "unused";
}

TEST(ArenaLayout, WithoutTransientsThereIsNone) {
  Function function;
  layOutArena(function);
  EXPECT_EQ(function.arena, kNoRegister);
}

TEST(ArenaLayout, NeverOverlapsWhatIsAlive) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Function function;
    RegisterProgram &registers = function.registers;
    const Register n = registers.dim(0, 0), m = registers.dim(0, 1), one = registers.constant(1);
    const Register products[] = {one, n, m, registers.mul(n, m)};
    const size_t count = 2 + random() % 10;
    for (size_t i = 0; i < count; ++i)
      function.buffers.push_back(
          {.source = BufferSource::Transient,
           .size = registers.mul(products[random() % 4], registers.constant(1 + int64_t(random() % 1000)))});
    for (BufferIndex i = 0; i < count; ++i) // each is used
      function.commands.push_back({Copy{i, BufferIndex(random() % count)}, ""});
    std::shuffle(function.commands.begin(), function.commands.end(), random);
    layOutArena(function);
    for (const std::vector<int64_t> &dims : std::vector<std::vector<int64_t>>{{0, 5}, {1, 1}, {7, 300}, {1000, 3}})
      checkedBytes(function, dims);
  }
}

/// What lives together at some command is the least that any layout needs.
int64_t lowerBound(const Function &function) {
  std::vector<int64_t> live(function.commands.size(), 0);
  for (BufferIndex buffer = 0; buffer < function.buffers.size(); ++buffer) {
    size_t first = function.commands.size(), last = 0;
    for (size_t at = 0; at < function.commands.size(); ++at)
      if (const Copy &copy = std::get<Copy>(function.commands[at].body);
          copy.source == buffer || copy.target == buffer) {
        first = std::min(first, at);
        last = at;
      }
    const int64_t bytes = *function.registers.constantValue(function.buffers[buffer].size);
    for (size_t at = first; at <= last && at < live.size(); ++at)
      live[at] += (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  }
  return *std::max_element(live.begin(), live.end());
}

TEST(ArenaLayout, IsNearTheLeastThatLivesTogether) {
  std::mt19937 random(7);
  auto below = [&](uint32_t limit) { return random() % limit; };
  constexpr int kFunctions = 300;
  double sum = 0, worst = 0;
  int within = 0;
  for (int number = 0; number < kFunctions; ++number) {
    RegisterProgram registers;
    std::vector<Register> sizes;
    for (uint32_t i = 0, count = 4 + below(50); i < count; ++i)
      sizes.push_back(registers.constant(int64_t(kArenaAlignment) << below(7)));
    Function function = chain(sizes, std::move(registers));
    // Each is made from one of the last few, as residual connections and several readers do.
    for (BufferIndex i = 0; i + 1 < sizes.size(); ++i)
      function.commands[i].body = Copy{i - std::min<BufferIndex>(i, below(6)), i + 1};
    layOutArena(function);
    const double ratio = double(checkedBytes(function, {})) / double(lowerBound(function));
    EXPECT_GE(ratio, 1.0);
    sum += ratio;
    worst = std::max(worst, ratio);
    within += ratio <= 1.10;
  }
  RecordProperty("mean", std::to_string(sum / kFunctions));
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(sum / kFunctions, 1.03);
  EXPECT_LE(worst, 1.5);
  EXPECT_GE(within, kFunctions * 9 / 10);
}

} // namespace
} // namespace tenon::compiler::host
