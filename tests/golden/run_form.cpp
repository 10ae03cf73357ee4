// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/run_form.h"

#include "tests/golden/values.h"
#include "tests/kernels/driver.h"

#include <cstring>

namespace tenon::golden {

size_t tupleBytes(const Form &form) {
  size_t bytes = 0;
  for (const std::string &type : form.results)
    bytes += resultBytes(type);
  return bytes;
}

uint64_t resultOf(const Form &form, const Recorded &recorded, size_t tuple, size_t result) {
  size_t at = tuple * tupleBytes(form);
  for (size_t k = 0; k < result; ++k)
    at += resultBytes(form.results[k]);
  uint64_t value = 0;
  if (at + resultBytes(form.results[result]) <= recorded.bytes.size())
    memcpy(&value, recorded.bytes.data() + at, resultBytes(form.results[result]));
  return value;
}

Recorded runForm(const Form &form, std::string *message) {
  const kernels::Driver &driver = kernels::driver();
  std::string ptx = kernelOf(form);
  std::vector<uint64_t> operands = operandsOf(form);
  size_t width = std::max<size_t>(form.operands.size(), 1), count = operands.size() / width;
  unsigned blocks = static_cast<unsigned>((count + 127) / 128);

  Recorded recorded;
  recorded.question = hashOf(operands.data(), operands.size() * 8, hashOf(ptx.data(), ptx.size()));
  CUmodule module = nullptr;
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  recorded.status = driver.cuModuleLoadDataEx_(&module, ptx.c_str(), 2, options, values);
  if (recorded.status != CUDA_SUCCESS) {
    if (message)
      *message = log;
    return recorded;
  }
  CUfunction function = nullptr;
  recorded.status = driver.cuModuleGetFunction_(&function, module, "k");
  kernels::Array<uint64_t> in(operands), out(static_cast<size_t>(blocks) * 128 * form.results.size()),
      scratch(static_cast<size_t>(blocks) * 128 * 8);
  uint32_t tuples = static_cast<uint32_t>(count);
  void *parameters[] = {&in.address, &out.address, &scratch.address, &tuples};
  if (recorded.status == CUDA_SUCCESS)
    recorded.status = driver.cuLaunchKernel_(function, blocks, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr);
  if (recorded.status == CUDA_SUCCESS)
    recorded.status = driver.cuCtxSynchronize_();
  if (recorded.status == CUDA_SUCCESS) {
    std::vector<uint64_t> results = out.read();
    for (size_t tuple = 0; tuple < count; ++tuple)
      for (size_t k = 0; k < form.results.size(); ++k) {
        const uint8_t *value = reinterpret_cast<const uint8_t *>(&results[tuple * form.results.size() + k]);
        recorded.bytes.insert(recorded.bytes.end(), value, value + resultBytes(form.results[k]));
      }
  }
  driver.cuModuleUnload_(module);
  return recorded;
}

} // namespace tenon::golden
