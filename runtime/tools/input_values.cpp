// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs are counted before a file is opened, so that a forgotten one is not taken for a bad one.
#include "runtime/tools/input_values.h"

#include "runtime/program/plan/call_inputs.h"

#include <algorithm>

namespace tenon::runtime {

Result<std::vector<OptionalValue>> readInputs(const std::vector<std::string> &specs,
                                              const abi::fb::Function &function) {
  // A '*' stands for as many arrays as its file holds.
  const bool countIsKnown =
      std::none_of(specs.begin(), specs.end(), [](const std::string &spec) { return spec.starts_with('*'); });
  if (countIsKnown)
    TENON_RETURN_IF_ERROR(checkInputCount(function, specs.size()));
  std::vector<const abi::fb::ValueType *> types;
  if (function.inputs())
    types.assign(function.inputs()->begin(), function.inputs()->end());
  return ValueReader(Fill::One).readAll(specs, types, "input");
}

Result<std::vector<Value>> uploadInputs(Device &device, const std::vector<OptionalValue> &hostInputs) {
  std::vector<const HostTensor *> tensors;
  for (size_t i = 0; i < hostInputs.size(); ++i) {
    if (!hostInputs[i])
      return makeError(StatusCode::InvalidArgument, "input ", i, " ('(ignored)'): an input has a value");
    if (const HostTensor *tensor = std::get_if<HostTensor>(&*hostInputs[i]))
      tensors.push_back(tensor);
  }
  Result<std::vector<Tensor>> uploaded = uploadTensors(device, tensors);
  if (!uploaded.ok())
    return uploaded.takeStatus().withContext("inputs");
  std::vector<Value> inputs;
  auto next = uploaded->begin();
  for (const OptionalValue &input : hostInputs) {
    if (const Scalar *scalar = std::get_if<Scalar>(&*input))
      inputs.push_back(*scalar);
    else
      inputs.push_back(std::move(*next++));
  }
  return inputs;
}

} // namespace tenon::runtime
