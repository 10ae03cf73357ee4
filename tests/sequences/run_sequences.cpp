// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/run_sequences.h"

#include "tests/golden/compare.h"
#include "tests/golden/golden_file.h"
#include "tests/sequences/random_sequence.h"

namespace tenon::sequences {
namespace {

/// Device memory of one driver.
class Memory {
public:
  Memory(const kernels::Driver &driver, const std::vector<uint64_t> &values) : driver_(driver) {
    status = driver.cuMemAlloc_(&address, std::max<size_t>(values.size(), 1) * 8);
    if (status == CUDA_SUCCESS && !values.empty())
      status = driver.cuMemcpyHtoD_(address, values.data(), values.size() * 8);
  }
  ~Memory() {
    if (address)
      driver_.cuMemFree_(address);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  CUdeviceptr address = 0;
  CUresult status;

private:
  const kernels::Driver &driver_;
};

CUresult launchAll(const kernels::Driver &driver, CUmodule module, const std::vector<const Sequence *> &sequences,
                   size_t from, size_t count, std::vector<Outcome> &outcomes) {
  std::vector<uint64_t> inputs;
  std::vector<size_t> inputAt, outputAt;
  size_t outputs = 0;
  for (size_t k = 0; k < count; ++k) {
    inputAt.push_back(inputs.size());
    outputAt.push_back(outputs);
    const std::vector<uint64_t> own = inputsOf(*sequences[from + k]);
    inputs.insert(inputs.end(), own.begin(), own.end());
    outputs += sequences[from + k]->stores.size() * kThreads;
  }
  Memory in(driver, inputs), out(driver, std::vector<uint64_t>(outputs)),
      scratch(driver, std::vector<uint64_t>(kThreads * 8));
  for (const Memory *memory : {&in, &out, &scratch})
    if (memory->status != CUDA_SUCCESS)
      return memory->status;
  for (size_t k = 0; k < count; ++k) {
    CUfunction function = nullptr;
    CUdeviceptr input = in.address + inputAt[k] * 8, output = out.address + outputAt[k] * 8;
    void *parameters[] = {&input, &output, &scratch.address};
    if (CUresult result = driver.cuModuleGetFunction_(&function, module, ("k" + std::to_string(k)).c_str());
        result != CUDA_SUCCESS)
      return result;
    if (CUresult result = driver.cuLaunchKernel_(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr);
        result != CUDA_SUCCESS)
      return result;
  }
  std::vector<uint64_t> values(outputs);
  if (CUresult result = driver.cuCtxSynchronize_(); result != CUDA_SUCCESS)
    return result;
  if (outputs)
    if (CUresult result = driver.cuMemcpyDtoH_(values.data(), out.address, outputs * 8); result != CUDA_SUCCESS)
      return result;
  for (size_t k = 0; k < count; ++k) {
    const uint64_t *first = values.data() + outputAt[k];
    outcomes[from + k].values.assign(first, first + sequences[from + k]->stores.size() * kThreads);
  }
  return CUDA_SUCCESS;
}

void runRange(const kernels::Driver &driver, const std::vector<const Sequence *> &sequences, unsigned level,
              size_t from, size_t count, std::vector<Outcome> &outcomes) {
  std::string text = headOfModule();
  for (size_t k = 0; k < count; ++k)
    text += entryOf(*sequences[from + k], "k" + std::to_string(k));
  char log[2048] = "";
  CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {reinterpret_cast<void *>(static_cast<uintptr_t>(level)), log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module = nullptr;
  CUresult status = driver.cuModuleLoadDataEx_(&module, text.c_str(), 3, options, values);
  if (status == CUDA_SUCCESS) {
    status = launchAll(driver, module, sequences, from, count, outcomes);
    driver.cuModuleUnload_(module);
  } else if (count > 1) {
    runRange(driver, sequences, level, from, count / 2, outcomes);
    return runRange(driver, sequences, level, from + count / 2, count - count / 2, outcomes);
  }
  for (size_t k = 0; k < count; ++k) {
    outcomes[from + k].status = status;
    outcomes[from + k].log = log;
  }
}

/// Any NaN as the same one.
uint64_t withoutPayload(const std::string &type, uint64_t bits) {
  const std::string element = type.substr(0, type.find('x'));
  const unsigned width = 8 * golden::resultBytes(element), count = 8 * golden::resultBytes(type) / width;
  const uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  const uint64_t infinity = element == "f64"   ? 0x7ff0000000000000
                            : element == "f32" ? 0x7f800000
                            : element == "f16" ? 0x7c00
                                               : 0x7f80;
  uint64_t result = 0;
  for (unsigned part = 0; part < count; ++part) {
    uint64_t one = bits >> (part * width) & mask;
    if ((one & (mask >> 1)) > infinity)
      one = mask;
    result |= one << (part * width);
  }
  return result;
}

bool agree(const Register &what, uint64_t a, uint64_t b) {
  if (a == b)
    return true;
  if (what.unread && what.unread->tolerance.isApproximate())
    return golden::agrees(*what.unread, what.type, a, b);
  return what.isLoose && withoutPayload(what.type, a) == withoutPayload(what.type, b);
}

} // namespace

std::vector<Outcome> runSequences(const kernels::Driver &driver, const std::vector<const Sequence *> &sequences,
                                  unsigned level) {
  std::vector<Outcome> outcomes(sequences.size());
  if (!sequences.empty())
    runRange(driver, sequences, level, 0, sequences.size(), outcomes);
  return outcomes;
}

std::optional<Difference> differenceOf(const Sequence &sequence, const Outcome &a, const Outcome &b) {
  for (size_t store = 0; store < sequence.stores.size(); ++store)
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const size_t at = store * kThreads + thread;
      if (!agree(sequence.registers[sequence.stores[store].reg], a.values[at], b.values[at]))
        return Difference{store, thread};
    }
  return std::nullopt;
}

uint64_t hashOfAnswer(const Sequence &sequence, const Outcome &outcome) {
  uint64_t hash = 0;
  for (size_t store = 0; store < sequence.stores.size(); ++store) {
    const Register &what = sequence.registers[sequence.stores[store].reg];
    if (what.unread && what.unread->tolerance.isApproximate())
      continue;
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      uint64_t value = outcome.values[store * kThreads + thread];
      if (what.isLoose)
        value = withoutPayload(what.type, value);
      hash = golden::hashOf(&value, sizeof value, hash);
    }
  }
  return hash;
}

} // namespace tenon::sequences
