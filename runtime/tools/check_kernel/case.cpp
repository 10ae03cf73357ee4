// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From lines to cases. Element types are not in an executable, so bindings are said; a constant that has the name of a
// size (TENON_CONSTANT(int, n)) is that size.
#include "runtime/tools/check_kernel/case.h"

#include "abi/parameter_layout.h"
#include "runtime/device/stream_commands.h"
#include "support/align.h"
#include "support/text/text.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

/// Split at commas outside parentheses.
std::vector<std::string_view> splitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size())
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (i < text.size() && (text[i] != ',' || depth > 0))
      continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return parts;
}

/// What to write, for an export that was called with the wrong things.
std::string usageOf(const abi::Export &declared) {
  std::string text;
  for (size_t i = 0; i < declared.layout.bindings.size(); ++i) {
    const abi::Binding &binding = declared.layout.bindings[i];
    text += concat("\n  --binding=nxf32", "   binding ", i, binding.name.empty() ? "" : concat(" '", binding.name, "'"),
                   binding.readOnly ? ", read-only" : ", written");
  }
  for (size_t i = 0; i < declared.layout.constants.size(); ++i) {
    const abi::Constant &constant = declared.layout.constants[i];
    if (!constant.map)
      text +=
          concat("\n  --constant=n      constant ", i, constant.name.empty() ? "" : concat(" '", constant.name, "'"));
  }
  return concat("; export '", declared.name, "' takes ", declared.layout.toString(), ", one line each:", text);
}

/// Values that a size is tried with where none are given: one, around the workgroup, and odd ones above.
std::vector<int64_t> defaultValues(const abi::Launch &launch) {
  const int64_t threads = int64_t(launch.threads());
  std::set<int64_t> values = {1, 7, threads - 1, threads, threads + 1, 3 * threads + 7};
  values.erase(values.begin(), values.lower_bound(1));
  return {values.begin(), values.end()};
}

class CaseMaker {
public:
  CaseMaker(const Workload &workload, const abi::Export &declared, uint64_t seed)
      : workload_(workload), declared_(declared), seed_(seed) {}

  Result<std::vector<Case>> run() {
    const abi::Layout &layout = declared_.layout;
    if (workload_.bindings.size() != layout.bindings.size())
      return makeError(StatusCode::InvalidArgument, workload_.bindings.size(), " bindings given", usageOf(declared_));
    TENON_RETURN_IF_ERROR(readSizes());
    TENON_RETURN_IF_ERROR(readConstants());
    TENON_RETURN_IF_ERROR(addNames());
    std::vector<Case> cases;
    Sizes sizes;
    TENON_RETURN_IF_ERROR(combine(values_.begin(), sizes, cases));
    return cases;
  }

private:
  using Values = std::map<std::string, std::vector<int64_t>, std::less<>>;

  /// "n = 1, 31" or "n".
  Status readSizes() {
    for (const std::string &text : workload_.sizes) {
      const size_t equal = text.find('=');
      const std::string name(trimmed(std::string_view(text).substr(0, equal)));
      const bool isName = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return c != 'x' && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
      });
      if (!isName)
        return makeError(StatusCode::InvalidArgument, "size '", name, "': a name has letters other than x");
      std::vector<int64_t> &values = values_[name];
      if (!values.empty())
        return makeError(StatusCode::InvalidArgument, "size '", name, "' is given twice");
      if (equal != std::string::npos)
        for (std::string_view part : splitList(std::string_view(text).substr(equal + 1))) {
          Result<int64_t> value = evaluateSize(part, {});
          if (!value.ok())
            return value.takeStatus().withContext(concat("size '", name, "'"));
          values.push_back(*value);
        }
      else
        values = defaultValues(declared_.launch);
    }
    return okStatus();
  }

  /// One text per constant of the layout; empty for a described tensor map.
  Status readConstants() {
    const std::vector<abi::Constant> &declared = declared_.layout.constants;
    const bool byName = workload_.constants.empty();
    size_t next = 0;
    for (const abi::Constant &constant : declared) {
      std::string text;
      if (constant.map) {
        constants_.push_back(text);
        continue;
      }
      if (byName && usesName(constant.name))
        text = constant.name;
      else if (next < workload_.constants.size())
        text = workload_.constants[next++];
      else
        return makeError(StatusCode::InvalidArgument, workload_.constants.size(), " constants given",
                         usageOf(declared_));
      constants_.push_back(std::move(text));
    }
    if (next != workload_.constants.size())
      return makeError(StatusCode::InvalidArgument, workload_.constants.size(), " constants given", usageOf(declared_));
    return okStatus();
  }

  bool usesName(const std::string &name) const {
    if (name.empty())
      return false;
    std::set<std::string> names;
    for (const std::string &binding : workload_.bindings)
      if (Result<BindingSpec> spec = parseBindingSpec(binding); spec.ok())
        for (const std::string &extent : spec->extents)
          (void)collectNames(extent, names).ok();
    return values_.contains(name) || names.contains(name);
  }

  /// Sizes that are used and not given get default values.
  Status addNames() {
    std::set<std::string> names;
    for (size_t i = 0; i < workload_.bindings.size(); ++i) {
      Result<BindingSpec> spec = parseBindingSpec(workload_.bindings[i]);
      if (!spec.ok())
        return spec.takeStatus().withContext(concat("binding ", i, " ('", workload_.bindings[i], "')"));
      for (const std::string &extent : spec->extents)
        TENON_RETURN_IF_ERROR(
            collectNames(extent, names).withContext(concat("binding ", i, " ('", workload_.bindings[i], "')")));
    }
    if (!workload_.grid.empty())
      for (std::string_view part : splitList(workload_.grid))
        TENON_RETURN_IF_ERROR(collectNames(part, names).withContext("grid"));
    for (const std::string &name : names)
      if (!values_.contains(name))
        values_[name] = defaultValues(declared_.launch);
    return okStatus();
  }

  Status combine(Values::const_iterator size, Sizes &sizes, std::vector<Case> &out) {
    if (size == values_.end()) {
      if (out.size() == kMaxCases)
        return makeError(StatusCode::OutOfRange, "the sizes have more than ", kMaxCases, " combinations: give fewer");
      TENON_ASSIGN_OR_RETURN(Case made, makeCase(sizes));
      out.push_back(std::move(made));
      return okStatus();
    }
    for (int64_t value : size->second) {
      sizes[size->first] = value;
      TENON_RETURN_IF_ERROR(combine(std::next(size), sizes, out));
    }
    return okStatus();
  }

  Result<Case> makeCase(const Sizes &sizes) {
    Case out;
    out.sizes = sizes;
    const std::vector<abi::Binding> &bindings = declared_.layout.bindings;
    for (size_t i = 0; i < bindings.size(); ++i) {
      Result<CaseBinding> binding = makeBinding(workload_.bindings[i], bindings[i].readOnly, sizes, seed_ + i * 7919);
      if (!binding.ok())
        return binding.takeStatus().withContext(concat("binding ", i, " ('", workload_.bindings[i], "')"));
      out.bindings.push_back(binding.take());
    }
    for (size_t i = 0; i < constants_.size(); ++i) {
      const abi::Constant &constant = declared_.layout.constants[i];
      Status status = addConstant(constant, constants_[i], out);
      if (!status.ok())
        return std::move(status).withContext(concat("constant ", i, " ('", constants_[i], "')"));
    }
    TENON_RETURN_IF_ERROR(setGrid(out).withContext("grid"));
    return out;
  }

  Status addConstant(const abi::Constant &constant, const std::string &text, Case &out) const {
    std::vector<uint8_t> bytes;
    if (constant.map) { // the extents of its tensor
      const Shape &shape = out.bindings[constant.map->binding].value.shape;
      if (shape.size() != constant.map->rank())
        return makeError(StatusCode::InvalidArgument, "the tensor map has ", constant.map->rank(),
                         " dimensions, binding ", constant.map->binding, " ", shape.size());
      out.constants.insert(out.constants.end(), shape.begin(), shape.end());
    } else {
      TENON_ASSIGN_OR_RETURN(bytes, parseConstant(text, constant, out.sizes));
      for (size_t at = 0; at < bytes.size(); at += 8) {
        uint64_t word = 0;
        std::copy_n(bytes.begin() + ptrdiff_t(at), std::min<size_t>(8, bytes.size() - at),
                    reinterpret_cast<uint8_t *>(&word));
        out.constants.push_back(word);
      }
    }
    out.constantBytes.push_back(std::move(bytes));
    return okStatus();
  }

  Status setGrid(Case &out) const {
    std::vector<int64_t> counts;
    if (workload_.grid.empty()) {
      size_t from = 0;
      while (from + 1 < out.bindings.size() && out.bindings[from].role == BindingRole::Input)
        ++from;
      uint64_t elements = 1;
      if (!out.bindings.empty())
        for (int64_t extent : out.bindings[from].value.shape)
          elements *= static_cast<uint64_t>(extent);
      const uint64_t threads = std::max<uint64_t>(1, declared_.launch.threads());
      counts.push_back(static_cast<int64_t>(ceilDiv(elements, threads)));
    } else {
      for (std::string_view part : splitList(workload_.grid)) {
        TENON_ASSIGN_OR_RETURN(int64_t count, evaluateSize(part, out.sizes));
        counts.push_back(count);
      }
    }
    if (counts.size() > 3)
      return makeError(StatusCode::InvalidArgument, counts.size(), " workgroup counts, at most 3 are possible");
    TENON_RETURN_IF_ERROR(checkGrid(counts, /*least=*/1));
    std::copy(counts.begin(), counts.end(), out.grid.begin());
    return okStatus();
  }

  const Workload &workload_;
  const abi::Export &declared_;
  uint64_t seed_;
  Values values_;
  std::vector<std::string> constants_;
};

} // namespace

std::string Case::text() const {
  std::string out;
  for (const auto &[name, value] : sizes)
    out += concat(out.empty() ? "" : ", ", name, "=", value);
  return out.empty() ? "one size" : out;
}

Result<std::vector<Case>> makeCases(const Workload &workload, const abi::Export &declared, uint64_t seed) {
  return CaseMaker(workload, declared, seed).run();
}

} // namespace tenon::runtime
