// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/fault_plan.h"

#include "emulator/driver/error.h"
#include "emulator/driver/settings.h"

#include "support/nearest_names.h"
#include "support/number.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tenon::emulator {
namespace {

std::string_view withoutVersion(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
    --end;
  return end < name.size() && end > 2 && name.substr(end - 2, 2) == "_v" ? name.substr(0, end - 2) : name;
}

CUresult defaultCode(std::string_view function) {
  return function.find("Alloc") != std::string_view::npos ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
}

} // namespace

std::string FaultPlan::parseFault(std::string_view text, std::span<const std::string> functions) {
  Fault fault;
  std::string whole = "'" + std::string(text) + "'";
  if (size_t equals = text.find('='); equals != std::string_view::npos) {
    fault.code = errorOf(text.substr(equals + 1));
    if (fault.code == CUDA_SUCCESS)
      return whole + ": '" + std::string(text.substr(equals + 1)) +
             "' is not an error; wanted a CUresult, as CUDA_ERROR_OUT_OF_MEMORY or 2";
    text = text.substr(0, equals);
  }
  if (size_t colon = text.find(':'); colon != std::string_view::npos) {
    std::string_view which = text.substr(colon + 1);
    fault.at = 0;
    if (which != "all")
      fault.at = parseNumber<uint64_t>(which).value_or(0);
    if (which != "all" && fault.at == 0)
      return whole + ": '" + std::string(which) + "' is not a call; wanted a number from 1, or 'all'";
    text = text.substr(0, colon);
  }
  fault.function = withoutVersion(text);
  if (fault.function != "*" && std::find(functions.begin(), functions.end(), fault.function) == functions.end()) {
    std::vector<std::string> near = nearestNames(fault.function, functions);
    return whole + ": the emulator has no driver function '" + fault.function + "'" +
           (near.empty() ? std::string() : "; near it: " + quotedList(near, "and"));
  }
  faults_.push_back(std::move(fault));
  return {};
}

std::string FaultPlan::parse(std::string_view text, std::span<const std::string> functions) {
  faults_.clear();
  made_ = 0;
  for (bool more = !text.empty(); more;) {
    size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    if (std::string wrong = parseFault(text.substr(0, comma), functions); !wrong.empty()) {
      faults_.clear();
      return wrong;
    }
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return {};
}

CUresult FaultPlan::call(std::string_view function) {
  function = withoutVersion(function);
  CUresult result = CUDA_SUCCESS;
  for (Fault &fault : faults_) {
    if (fault.function != "*" && fault.function != function)
      continue;
    ++fault.calls;
    if (result != CUDA_SUCCESS || (fault.at != 0 && fault.at != fault.calls))
      continue;
    result = fault.code != CUDA_SUCCESS ? fault.code : defaultCode(function);
    ++made_;
    if (isQuiet(getenv("TENON_EMULATOR_QUIET")))
      continue;
    const char *name = errorName(result);
    fprintf(stderr, "tenon emulator: TENON_EMULATOR_FAIL: call %llu of %.*s fails with %s\n",
            static_cast<unsigned long long>(fault.calls), static_cast<int>(function.size()), function.data(),
            name ? name : std::to_string(static_cast<int>(result)).c_str());
  }
  return result;
}

} // namespace tenon::emulator
