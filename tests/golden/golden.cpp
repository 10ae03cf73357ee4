// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden vectors: results of single instructions on operands at the edges of their types, recorded on a GPU, that the
// emulator has to give too.
//
//   tenon-golden-test                      compares the driver at hand with the recorded file (GoogleTest)
//   tenon-golden-test --record=FILE        asks the driver at hand and writes FILE
//   tenon-golden-test --table              distance of each approximate form from the recorded one
//   tenon-golden-test --print=FOLDER       each form's kernel as FOLDER/N.ptx
#include "tests/golden/compare.h"
#include "tests/golden/hopper.h"
#include "tests/golden/run_form.h"
#include "tests/golden/values.h"
#include "tests/kernels/driver.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

namespace tenon::golden {
namespace {

std::string folder() {
  const char *named = getenv("TENON_GOLDEN_DIR");
  return named ? named : kernels::ownFolder();
}

std::string readText(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const std::vector<Form> &forms() {
  static const std::vector<Form> *all = [] {
    std::vector<std::string> errors;
    auto *parsed = new std::vector<Form>(parseForms(readText(folder() + "/forms.txt"), errors));
    for (const std::string &error : errors)
      fprintf(stderr, "%s/forms.txt: %s\n", folder().c_str(), error.c_str());
    if (!errors.empty() || parsed->empty())
      exit(1);
    return parsed;
  }();
  return *all;
}

const GoldenFile &golden() {
  static const GoldenFile *file = [] {
    auto *read = new GoldenFile;
    std::string error = readGolden(folder() + "/sm_90.golden", *read);
    if (!error.empty())
      fprintf(stderr, "%s\n", error.c_str());
    return read;
  }();
  return *file;
}

std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string tupleText(const Form &form, size_t tuple) {
  std::vector<uint64_t> operands = operandsOf(form);
  std::string text;
  for (size_t k = 0; k < form.operands.size(); ++k)
    text += (k ? ", " : "") + hex(operands[tuple * form.operands.size() + k]);
  return text;
}

/// Where the answer differs from the recorded one: the first few places, and how many there are.
std::string differences(const Form &form, const Recorded &got, const Recorded &want) {
  std::string text;
  size_t count = 0, tuples = want.bytes.size() / tupleBytes(form);
  for (size_t tuple = 0; tuple < tuples; ++tuple)
    for (size_t k = 0; k < form.results.size(); ++k) {
      uint64_t a = resultOf(form, got, tuple, k), b = resultOf(form, want, tuple, k);
      if (agrees(form, form.results[k], a, b))
        continue;
      if (++count <= 4)
        text += "\n    " + form.name + " of " + tupleText(form, tuple) + ": %d" + std::to_string(k) + " is " + hex(a) +
                ", recorded " + hex(b);
    }
  return count
             ? std::to_string(count) + " of " + std::to_string(tuples * form.results.size()) + " results differ" + text
             : "";
}

std::vector<std::string> opcodes() {
  std::set<std::string> all;
  for (const Form &form : forms())
    all.insert(form.name.substr(0, form.name.find_first_of(". ")));
  return {all.begin(), all.end()};
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, AgreesWithTheRecordedDevice) {
  ASSERT_EQ(kernels::driver().error, "");
  if (kernels::driver().capability != 90)
    GTEST_SKIP() << "recorded on sm_90; this device is sm_" << kernels::driver().capability;
  for (const Form &form : forms()) {
    if (form.name.substr(0, form.name.find_first_of(". ")) != GetParam())
      continue;
    auto found = golden().forms.find(form.name);
    if (found == golden().forms.end()) {
      ADD_FAILURE() << form.name << " was not recorded";
      continue;
    }
    std::string message;
    Recorded got = runForm(form, &message);
    if (got.question != found->second.question) {
      ADD_FAILURE() << form.name << " changed since it was recorded: record again";
      continue;
    }
    EXPECT_EQ(got.status, found->second.status) << form.name << ": " << message;
    if (got.status != found->second.status)
      continue;
    if (std::string text = differences(form, got, found->second); !text.empty())
      ADD_FAILURE() << text;
  }
}
INSTANTIATE_TEST_SUITE_P(Opcode, Golden, ::testing::ValuesIn(opcodes()), [](const auto &info) { return info.param; });

std::string wordAfterBlank(const std::string &text) {
  return text.substr(text.find(' ') + 1);
}

class HopperGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(HopperGolden, AgreesWithTheRecordedDevice) {
  ASSERT_EQ(kernels::driver().error, "");
  if (kernels::driver().capability != 90)
    GTEST_SKIP() << "recorded on sm_90; this device is sm_" << kernels::driver().capability;
  auto found = golden().forms.find(GetParam());
  ASSERT_NE(found, golden().forms.end()) << GetParam() << " was not recorded";
  Recorded got;
  std::string error = runHopper(GetParam(), got);
  if (error.rfind("no ", 0) == 0)
    GTEST_SKIP() << error;
  ASSERT_EQ(error, "");
  ASSERT_EQ(got.question, found->second.question) << "changed since it was recorded: record again";
  ASSERT_EQ(got.bytes.size(), found->second.bytes.size());
  if (isApproximateHopper(GetParam())) {
    for (size_t k = 0; k < got.bytes.size(); k += 4) {
      float a, b;
      memcpy(&a, &got.bytes[k], 4);
      memcpy(&b, &found->second.bytes[k], 4);
      EXPECT_NEAR(a, b, 0x1p-11f * std::max(std::abs(b), 64.0f)) << "element " << k / 4;
    }
    return;
  }
  for (size_t k = 0; k < got.bytes.size(); ++k)
    ASSERT_EQ(got.bytes[k], found->second.bytes[k]) << "byte " << k;
}
INSTANTIATE_TEST_SUITE_P(Kernel, HopperGolden, ::testing::ValuesIn(hopperEntries()),
                         [](const auto &info) { return wordAfterBlank(info.param); });

TEST(GoldenTable, HoldsThreeHundredForms) {
  std::set<std::string> instructions;
  for (const Form &form : forms())
    if (golden().forms.count(form.name) && !golden().forms.at(form.name).bytes.empty())
      instructions.insert(form.instruction());
  EXPECT_GE(instructions.size(), 300u);
  printf("%zu recorded instruction forms in %zu entries, by %s\n", instructions.size(), golden().forms.size(),
         golden().device.c_str());
}

int record(const std::string &path) {
  const kernels::Driver &driver = kernels::driver();
  if (!driver.error.empty()) {
    fprintf(stderr, "%s\n", driver.error.c_str());
    return 1;
  }
  GoldenFile file;
  int version = 0, refused = 0;
  driver.cuDriverGetVersion_(&version);
  file.device =
      driver.deviceName + ", CUDA driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  for (const Form &form : forms()) {
    std::string message;
    Recorded recorded = runForm(form, &message);
    if (recorded.status != CUDA_SUCCESS && !form.mayBeRefused) {
      printf("refused: %s (line %d): %u %s\n", form.name.c_str(), form.line, recorded.status, message.c_str());
      ++refused;
      continue;
    }
    file.forms[form.name] = std::move(recorded);
  }
  for (const std::string &entry : hopperEntries()) {
    Recorded recorded;
    std::string error = runHopper(entry, recorded);
    if (!error.empty()) {
      printf("refused: %s: %s\n", entry.c_str(), error.c_str());
      ++refused;
      continue;
    }
    file.forms[entry] = std::move(recorded);
  }
  std::string error = writeGolden(path, file);
  if (!error.empty()) {
    fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  printf("%zu forms recorded, %d refused, by %s\n", file.forms.size(), refused, file.device.c_str());
  return refused ? 1 : 0;
}

int printTable() {
  printf("| form | results | worst distance: ulp | absolute | relative |\n|---|---|---|---|---|\n");
  for (const Form &form : forms()) {
    auto found = golden().forms.find(form.name);
    if (!form.tolerance.isApproximate() || found == golden().forms.end())
      continue;
    Recorded got = runForm(form);
    Distance worst;
    size_t tuples = found->second.bytes.size() / tupleBytes(form);
    for (size_t tuple = 0; tuple < tuples; ++tuple)
      for (size_t k = 0; k < form.results.size(); ++k) {
        Distance one =
            distanceOf(form.results[k], resultOf(form, got, tuple, k), resultOf(form, found->second, tuple, k));
        worst = {std::max(worst.ulp, one.ulp), std::max(worst.absolute, one.absolute),
                 std::max(worst.relative, one.relative)};
      }
    printf("| %s | %zu | %.3g | %.3g | %.3g |\n", form.name.c_str(), tuples, worst.ulp, worst.absolute, worst.relative);
  }
  return 0;
}

int printKernels(const std::string &where) {
  for (size_t k = 0; k < forms().size(); ++k)
    std::ofstream(where + "/" + std::to_string(k) + ".ptx") << "// " << forms()[k].name << "\n" << kernelOf(forms()[k]);
  return 0;
}

} // namespace
} // namespace tenon::golden

int main(int argc, char **argv) {
  for (int k = 1; k < argc; ++k) {
    std::string argument = argv[k];
    if (argument.rfind("--record=", 0) == 0)
      return tenon::golden::record(argument.substr(9));
    if (argument == "--table")
      return tenon::golden::printTable();
    if (argument.rfind("--print=", 0) == 0)
      return tenon::golden::printKernels(argument.substr(8));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
