// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/failure_plan.h"

#include "emulator/driver/error.h"
#include "emulator/driver/settings.h"

#include "support/number.h"
#include "support/text/nearest_names.h"

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

std::string FailurePlan::parseFailure(std::string_view text, std::span<const std::string> functions) {
  Failure failure;
  std::string whole = "'" + std::string(text) + "'";
  if (size_t equals = text.find('='); equals != std::string_view::npos) {
    failure.code = errorOf(text.substr(equals + 1));
    if (failure.code == CUDA_SUCCESS)
      return whole + ": '" + std::string(text.substr(equals + 1)) +
             "' is not an error; wanted a CUresult, as CUDA_ERROR_OUT_OF_MEMORY or 2";
    text = text.substr(0, equals);
  }
  if (size_t colon = text.find(':'); colon != std::string_view::npos) {
    std::string_view which = text.substr(colon + 1);
    failure.at = 0;
    if (which != "all")
      failure.at = parseNumber<uint64_t>(which).value_or(0);
    if (which != "all" && failure.at == 0)
      return whole + ": '" + std::string(which) + "' is not a call; wanted a number from 1, or 'all'";
    text = text.substr(0, colon);
  }
  failure.function = withoutVersion(text);
  if (failure.function != "*" && std::find(functions.begin(), functions.end(), failure.function) == functions.end()) {
    std::vector<std::string> near = nearestNames(failure.function, functions);
    return whole + ": the emulator has no driver function '" + failure.function + "'" +
           (near.empty() ? std::string() : "; near it: " + quotedList(near, "and"));
  }
  failures_.push_back(std::move(failure));
  return {};
}

std::string FailurePlan::parse(std::string_view text, std::span<const std::string> functions) {
  failures_.clear();
  made_ = 0;
  for (bool more = !text.empty(); more;) {
    size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    if (std::string wrong = parseFailure(text.substr(0, comma), functions); !wrong.empty()) {
      failures_.clear();
      return wrong;
    }
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return {};
}

CUresult FailurePlan::call(std::string_view function) {
  function = withoutVersion(function);
  CUresult result = CUDA_SUCCESS;
  for (Failure &failure : failures_) {
    if (failure.function != "*" && failure.function != function)
      continue;
    ++failure.calls;
    if (result != CUDA_SUCCESS || (failure.at != 0 && failure.at != failure.calls))
      continue;
    result = failure.code != CUDA_SUCCESS ? failure.code : defaultCode(function);
    ++made_;
    if (isQuiet(getenv("TENON_EMULATOR_QUIET")))
      continue;
    const char *name = errorName(result);
    fprintf(stderr, "tenon emulator: TENON_EMULATOR_FAIL: call %llu of %.*s fails with %s\n",
            static_cast<unsigned long long>(failure.calls), static_cast<int>(function.size()), function.data(),
            name ? name : std::to_string(static_cast<int>(result)).c_str());
  }
  return result;
}

} // namespace tenon::emulator
