// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TENON_EMULATOR_* variables: cuInit reads them once, so each set of values has a process of its own. One that is
// refused leaves the driver as it was, and another may be tried.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

struct Variable {
  const char *name, *value;
};

/// False, with a line on stderr: cuInit takes the value.
bool isRefused(const Variable &variable) {
  setenv(variable.name, variable.value, 1);
  CUresult result = cuInit(0);
  unsetenv(variable.name);
  if (result != CUDA_ERROR_INVALID_VALUE)
    fprintf(stderr, "%s=%s gives %d\n", variable.name, variable.value, static_cast<int>(result));
  return result == CUDA_ERROR_INVALID_VALUE;
}

bool refusesAllOf(const std::vector<Variable> &variables) {
  bool all = true;
  for (const Variable &variable : variables)
    all &= isRefused(variable);
  return all;
}

bool takes(const std::vector<Variable> &variables) {
  for (const Variable &variable : variables)
    setenv(variable.name, variable.value, 1);
  return cuInit(0) == CUDA_SUCCESS;
}

#define EXPECT_IN_A_PROCESS(body, said)                                                                                \
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";                                                              \
  EXPECT_EXIT(_exit((body) ? 0 : 1), ::testing::ExitedWithCode(0), said)

TEST(EmulatorSettings, RefusesWhatItDoesNotUnderstand) {
  const std::vector<Variable> bad = {
      {"TENON_EMULATOR_MEMORY", "0"},
      {"TENON_EMULATOR_MEMORY", "1048577"},
      {"TENON_EMULATOR_MEMORY", "-1"},
      {"TENON_EMULATOR_MEMORY", "12x"},
      {"TENON_EMULATOR_DEVICES", "0"},
      {"TENON_EMULATOR_DEVICES", "9"},
      {"TENON_EMULATOR_DEVICES", "2x"},
      {"TENON_EMULATOR_THREADS", "0"},
      {"TENON_EMULATOR_THREADS", "1025"},
      {"TENON_EMULATOR_THREADS", "2,"},
      {"TENON_EMULATOR_THREADS", "2x,together"},
      {"TENON_EMULATOR_DRIVER_VERSION", "13"},
      {"TENON_EMULATOR_DRIVER_VERSION", "13.0x"},
      {"TENON_EMULATOR_DRIVER_VERSION", "10.0"},
      {"TENON_EMULATOR_DRIVER_VERSION", "13."},
      {"TENON_EMULATOR_ORDER", "random:"},
      {"TENON_EMULATOR_ORDER", "random:7x"},
      {"TENON_EMULATOR_ORDER", "eagerly"},
      {"TENON_EMULATOR_IDLE_MILLISECONDS", "5x"},
      {"TENON_EMULATOR_IDLE_MILLISECONDS", "0"},
      {"TENON_EMULATOR_DEADLOCK_SECONDS", "1s"},
      {"TENON_EMULATOR_DEADLOCK_SECONDS", "-1"},
      {"TENON_EMULATOR_DEADLOCK_SECONDS", "nan"},
      {"TENON_EMULATOR_TIMEOUT", "-1"},
      {"TENON_EMULATOR_TIMEOUT", "1m"},
      {"TENON_EMULATOR_TIMEOUT", "nan"},
      {"TENON_EMULATOR_TIMEOUT", "1e10"},
      {"TENON_EMULATOR_SM", "91"},
      {"TENON_EMULATOR_FAULTS", "all"},
      {"TENON_EMULATOR_LEVEL", "v4"},
      {"TENON_EMULATOR_CHECK", "nothing"},
  };
  EXPECT_IN_A_PROCESS(refusesAllOf(bad), "TENON_EMULATOR_MEMORY=12x is not understood; wanted device memory in MiB");
  EXPECT_IN_A_PROCESS(refusesAllOf(bad),
                      "TENON_EMULATOR_TIMEOUT=1m is not understood; wanted seconds that a launch may "
                      "take, as 60 or 0.5; 0: any time");
  EXPECT_IN_A_PROCESS(refusesAllOf(bad), "TENON_EMULATOR_DEADLOCK_SECONDS=1s is not understood; wanted seconds");
}

TEST(EmulatorSettings, TakesWhatItUnderstands) {
  EXPECT_IN_A_PROCESS(takes({{"TENON_EMULATOR_MEMORY", "64"},
                             {"TENON_EMULATOR_DEVICES", "8"},
                             {"TENON_EMULATOR_THREADS", "2,together"},
                             {"TENON_EMULATOR_TIMEOUT", "0.5"},
                             {"TENON_EMULATOR_DRIVER_VERSION", "12.9"},
                             {"TENON_EMULATOR_ORDER", "random:18446744073709551615"},
                             {"TENON_EMULATOR_IDLE_MILLISECONDS", "1000000"},
                             {"TENON_EMULATOR_DEADLOCK_SECONDS", "0.2"},
                             {"TENON_EMULATOR_SM", "90a"},
                             {"TENON_EMULATOR_FAULTS", "context"}}),
                      "");
  EXPECT_IN_A_PROCESS(takes({{"TENON_EMULATOR_MEMORY", ""},
                             {"TENON_EMULATOR_DEVICES", ""},
                             {"TENON_EMULATOR_THREADS", "1024"},
                             {"TENON_EMULATOR_ORDER", "lazy"},
                             {"TENON_EMULATOR_DEADLOCK_SECONDS", "0"},
                             {"TENON_EMULATOR_SM", "sm_75"}}),
                      "");
}

} // namespace
} // namespace tenon::emulator::test
