// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do the checks find mistakes? Every broken twin of every kernel here has to be reported, and the kernels themselves
// must not be. A mutant that means the same as its kernel is listed with the reason, and must not be reported either: a
// stale list fails.
//
// Prints a table: kernel, mutant, the check that reported it.
#include "tests/mutants/mutate.h"

#include "tests/unit/emulator/harness.h"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace tenon::mutants {
namespace {

using emulator::test::load;
using emulator::test::Loaded;
using emulator::test::Session;

enum class Access : uint8_t { ReadOnly, Written };
struct Argument {
  // A buffer of `count` elements that hold `value(k)`, or (count 0) the integer `scalar`.
  size_t count = 0, elementBytes = 4;
  Access access = Access::ReadOnly;
  std::function<uint32_t(size_t)> value;
  int scalar = 0;
  bool isBuffer() const { return count != 0; }
};

Argument scalar(int value) {
  Argument argument;
  argument.scalar = value;
  return argument;
}
uint32_t floatBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}
Argument reals(size_t count, Access access = Access::ReadOnly, size_t elementBytes = 4) {
  Argument argument;
  argument.count = count;
  argument.elementBytes = elementBytes;
  argument.access = access;
  argument.value = [](size_t k) { return floatBits(static_cast<float>(k * 37 % 101) * 0.03125f - 1.0f); };
  return argument;
}
Argument integers(size_t count, Access access = Access::ReadOnly) {
  Argument argument = reals(count, access);
  argument.value = [](size_t k) { return static_cast<uint32_t>(k * 7919 % 1000); };
  return argument;
}

struct Subject {
  const char *file, *kernel;
  unsigned grid[2], block[2];
  unsigned dynamicShared;
  size_t sharedElement; // bytes of an element of its shared arrays
  std::vector<Argument> arguments;
  std::map<std::string, std::string> equivalent; // mutant, why it means the same
  std::vector<int> sizes = {}; // the scalar is each of these in turn: an unrolled loop has several ends
};

/// Launches the PTX with the subject's arguments. shorter: index of the buffer that lacks an element, or -1. Returns
/// the emulator's report, or nothing.
std::string launchOnce(const Subject &subject, const std::string &ptx, int shorter, unsigned dynamicShared) {
  Session session;
  Loaded loaded = load(ptx);
  if (loaded.result != CUDA_SUCCESS) {
    ADD_FAILURE() << subject.kernel << ": " << loaded.log;
    return {};
  }
  void *found = nullptr;
  EXPECT_EQ(cuGetProcAddress("tenonEmulatorReadOnlyParameter", &found, 13000, 0, nullptr), CUDA_SUCCESS);
  auto readOnly = reinterpret_cast<bool (*)(CUfunction, size_t, const char *)>(found);
  CUfunction function;
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, subject.kernel), CUDA_SUCCESS);
  std::vector<CUdeviceptr> values(subject.arguments.size());
  std::vector<void *> parameters;
  for (size_t k = 0; k < values.size(); ++k) {
    const Argument &argument = subject.arguments[k];
    parameters.push_back(&values[k]);
    if (!argument.isBuffer()) {
      values[k] = static_cast<uint32_t>(argument.scalar);
      continue;
    }
    size_t bytes = argument.count * argument.elementBytes;
    std::vector<uint8_t> data(bytes + 4);
    for (size_t at = 0; at < bytes; at += std::min<size_t>(4, argument.elementBytes)) {
      uint32_t value = argument.value(at / std::min<size_t>(4, argument.elementBytes));
      memcpy(data.data() + at, &value, 4);
    }
    if (static_cast<int>(k) == shorter)
      bytes -= argument.elementBytes;
    EXPECT_EQ(cuMemAlloc(&values[k], bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(values[k], data.data(), bytes), CUDA_SUCCESS);
    if (argument.access == Access::ReadOnly)
      EXPECT_TRUE(readOnly(function, k, nullptr));
  }
  EXPECT_EQ(cuLaunchKernel(function, subject.grid[0], subject.grid[1], 1, subject.block[0], subject.block[1], 1,
                           dynamicShared, nullptr, parameters.data(), nullptr),
            CUDA_SUCCESS);
  return cuCtxSynchronize() == CUDA_SUCCESS ? std::string() : emulator::test::lastReport();
}

/// As launchOnce, in every size, up to the first report.
std::string launch(const Subject &subject, const std::string &ptx, int shorter, unsigned dynamicShared) {
  if (subject.sizes.empty())
    return launchOnce(subject, ptx, shorter, dynamicShared);
  Subject sized = subject;
  for (int size : subject.sizes) {
    for (Argument &argument : sized.arguments)
      if (!argument.isBuffer())
        argument.scalar = size;
    if (std::string report = launchOnce(sized, ptx, shorter, dynamicShared); !report.empty())
      return report;
  }
  return {};
}

std::string checkOf(const std::string &report) {
  std::string checks;
  for (const char *check : {"readonly", "uninitialised", "races", "barriers"})
    if (report.find("[" + std::string(check) + "]") != std::string::npos)
      checks += (checks.empty() ? "" : ", ") + std::string(check);
  for (const char *text :
       {"out-of-bounds", "misaligned", "the source of a bulk copy", "the destination of a bulk copy"})
    if (report.find(text) != std::string::npos)
      checks += (checks.empty() ? "" : ", ") + std::string("memory");
  if (report.find("deadlock") != std::string::npos)
    checks += (checks.empty() ? "" : ", ") + std::string("deadlock");
  return checks;
}

std::string textOf(const std::string &name, bool &found) {
  const char *folders[] = {getenv("TENON_KERNELS_DIR"), getenv("TENON_MUTANTS_DIR")};
  for (const char *folder : folders) {
    std::ifstream in(std::string(folder ? folder : ".") + "/" + name);
    if (!in)
      continue;
    std::stringstream text;
    text << in.rdbuf();
    found = true;
    return text.str();
  }
  found = false;
  return {};
}

void PrintTo(const Subject &subject, std::ostream *out) {
  *out << subject.kernel;
}

class Mutants : public ::testing::TestWithParam<Subject> {};

TEST_P(Mutants, AreAllReported) {
  const Subject &subject = GetParam();
  bool found = false;
  std::string ptx = textOf(subject.file, found);
  if (!found)
    GTEST_SKIP() << "no " << subject.file << " (nvcc was not found when it was built)";
  ASSERT_EQ(launch(subject, ptx, -1, subject.dynamicShared), "") << "the kernel itself";
  size_t count = 0;
  auto judge = [&](const std::string &name, uint32_t line, const std::string &report) {
    ++count;
    auto known = subject.equivalent.find(name);
    std::string checks = checkOf(report);
    bool equivalent = known != subject.equivalent.end();
    std::string where = line ? " (source line " + std::to_string(line) + ")" : "";
    printf("%-22s | %-50s | %s\n", subject.kernel, (name + where).c_str(),
           equivalent       ? ("equivalent: " + known->second).c_str()
           : report.empty() ? "NOT REPORTED"
                            : checks.c_str());
    EXPECT_EQ(report.empty(), equivalent) << subject.kernel << ", " << name << ": " << report;
    if (!equivalent)
      EXPECT_NE(checks, "") << subject.kernel << ", " << name << ": " << report;
    if (getenv("TENON_MUTANTS_REPORTS"))
      printf("%s\n", report.c_str());
  };
  std::vector<size_t> readOnly;
  for (size_t k = 0; k < subject.arguments.size(); ++k)
    if (subject.arguments[k].isBuffer() && subject.arguments[k].access == Access::ReadOnly)
      readOnly.push_back(k);
  std::vector<Mutant> mutants = mutantsOf(ptx, subject.kernel, readOnly, subject.sharedElement);
  // The other checks see most of what goes around a barrier first: this one has to do without them, too.
  const char *checked = getenv("TENON_EMULATOR_CHECK");
  if (checked && std::string_view(checked) == "barriers") {
    std::erase_if(mutants, [](const Mutant &mutant) { return !mutant.name.starts_with("around a barrier"); });
    for (const Mutant &mutant : mutants)
      judge(mutant.name, mutant.line, launch(subject, mutant.ptx, -1, subject.dynamicShared));
    return;
  }
  for (const Mutant &mutant : mutants)
    judge(mutant.name, mutant.line, launch(subject, mutant.ptx, -1, subject.dynamicShared));
  for (size_t k = 0; k < subject.arguments.size(); ++k)
    if (subject.arguments[k].isBuffer())
      judge("buffer " + std::to_string(k) + " one element shorter", 0,
            launch(subject, ptx, static_cast<int>(k), subject.dynamicShared));
  if (subject.dynamicShared)
    judge("dynamic shared memory one element shorter", 0,
          launch(subject, ptx, -1, subject.dynamicShared - static_cast<unsigned>(subject.sharedElement)));
  EXPECT_GE(count, 4u) << "a kernel without mutants proves nothing";
}

std::vector<Subject> subjects() {
  const Access out = Access::Written;
  const char *kNeverLast = "an unrolled copy of the loop body that is never the last";
  Argument bytes = integers(4000);
  bytes.elementBytes = 1;
  bytes.value = [](size_t k) { return static_cast<uint32_t>(k * 89 % 251 == 0 ? 255 : k * 89 % 256); };
  return {
      {"blocks_sm_80.ptx", "softmax", {2, 1}, {1024, 1}, 0, 4, {reals(2048), reals(2048, out), scalar(1024)}, {}},
      {"blocks_sm_80.ptx",
       "layernorm",
       {2, 1},
       {1024, 1},
       0,
       4,
       {reals(2048), reals(1024), reals(2048, out), scalar(1024)},
       {}},
      {"blocks_sm_80.ptx",
       "matmul",
       {2, 2},
       {16, 16},
       0,
       4,
       {reals(32 * 48), reals(48 * 32), reals(32 * 32, out), scalar(32), scalar(32), scalar(48)},
       {{"shared array _ZZ6matmulE2ta one element shorter", "the last element is padding, never accessed"}}},
      {"blocks_sm_80.ptx",
       "transpose",
       {2, 2},
       {32, 8},
       0,
       4,
       {reals(64 * 64), reals(64 * 64, out), scalar(64), scalar(64)},
       {{"shared array _ZZ9transposeE4tile one element shorter", "the last element is padding, never accessed"}}},
      {"blocks_sm_80.ptx", "histogram", {2, 1}, {128, 1}, 0, 4, {bytes, integers(256, out), scalar(4000)}, {}},
      {"blocks_sm_80.ptx", "scan", {2, 1}, {256, 1}, 1024, 4, {integers(512), integers(512, out)}, {}},
      {"blocks_sm_80.ptx", "bitonic", {1, 1}, {256, 1}, 1024, 4, {integers(256, out)}, {}},
      {"blocks_sm_80.ptx",
       "pipeline",
       {1, 1},
       {64, 1},
       0,
       16,
       {reals(8 * 64, Access::ReadOnly, 16), reals(8 * 64, out, 16), scalar(8)},
       {{"no cp.async.wait_group 2", kNeverLast},
        {"no cp.async.wait_group 4", kNeverLast},
        {"no cp.async.wait_group 6", kNeverLast}},
       {7, 8}},
      {"tensor_sm_80.ptx",
       "matmul_double_buffered",
       {4, 4},
       {16, 16},
       0,
       4,
       {reals(64 * 64), reals(64 * 64), reals(64 * 64, out), scalar(64)},
       {}},
      {"tensor_sm_90.ptx", "mbarrier_pipeline", {1, 1}, {128, 1}, 0, 4, {reals(512), reals(128, out), scalar(4)}, {}},
      {"bulk_sm_90.ptx", "bulk_double", {1, 1}, {128, 1}, 0, 4, {reals(640), reals(640, out), scalar(5)}, {}},
      {"mutants_sm_80.ptx", "tree_sum", {2, 1}, {256, 1}, 0, 4, {integers(512), integers(2, out)}, {}},
      {"mutants_sm_80.ptx", "stencil", {3, 1}, {128, 1}, 0, 4, {reals(384), reals(384, out), scalar(384)}, {}},
  };
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mutants, ::testing::ValuesIn(subjects()),
                         [](const auto &test) { return std::string(test.param.kernel); });

} // namespace
} // namespace tenon::mutants
