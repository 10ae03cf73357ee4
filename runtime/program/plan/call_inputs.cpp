// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs against their declaration, and the key of a call.
#include "runtime/program/plan/call_inputs.h"

#include "abi/format/type_spelling.h"
#include "runtime/program/plan/function_data.h"

namespace tenon::runtime {

namespace {

abi::ElementType elementOf(const abi::fb::ValueType &type) {
  return static_cast<abi::ElementType>(type.element());
}

/// Empty when the value has the declared type, else what differs.
std::string typeDifference(const abi::fb::ValueType &declared, const Value &value, bool hasMemory) {
  if (declared.kind() == abi::fb::ValueKind::Unread)
    return "";
  if (declared.kind() == abi::fb::ValueKind::Scalar) {
    const Scalar *scalar = std::get_if<Scalar>(&value);
    if (!scalar)
      return "a tensor was given for a scalar";
    return scalar->element == elementOf(declared) ? "" : "the types differ";
  }
  const Tensor *tensor = std::get_if<Tensor>(&value);
  if (!tensor)
    return "a scalar was given for a tensor";
  if (tensor->element != elementOf(declared))
    return "the element types differ";
  const uint32_t rank = sizeOf(declared.shape());
  if (tensor->shape.size() != rank)
    return concat("rank ", tensor->shape.size(), ", expected rank ", rank);
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t extent = declared.shape()->Get(i);
    if (tensor->shape[i] < 0)
      return concat("dimension ", i, " is ", tensor->shape[i],
                    extent < 0 ? std::string(", a size of 0 or more is wanted") : concat(", expected ", extent));
    if (extent >= 0 && tensor->shape[i] != extent)
      return concat("dimension ", i, " is ", tensor->shape[i], ", expected ", extent);
  }
  Result<uint64_t> bytes = denseBytes(tensor->shape, tensor->element);
  if (!bytes.ok())
    return std::string(bytes.status().message());
  if (hasMemory && (!tensor->buffer || tensor->buffer->size() < *bytes))
    return concat("its buffer has ", tensor->buffer ? tensor->buffer->size() : 0, " bytes, the tensor needs ", *bytes);
  return "";
}

} // namespace

Status checkInputCount(const abi::fb::Function &function, size_t given) {
  const uint32_t declared = sizeOf(function.inputs());
  if (given == declared)
    return okStatus();
  std::string types;
  for (uint32_t i = 0; i < declared; ++i)
    types += concat(i ? ", " : "", abi::typeSpelling(*function.inputs()->Get(i)));
  return makeError(StatusCode::InvalidArgument, given, given == 1 ? " input" : " inputs", " given, function '",
                   function.name()->string_view(), "' takes ", declared, " (", types, ")");
}

static Status checkValues(const abi::fb::Function &function, std::span<const Value> inputs, bool hasMemory) {
  TENON_RETURN_IF_ERROR(checkInputCount(function, inputs.size()));
  const std::string_view name = function.name()->string_view();
  const uint32_t declared = sizeOf(function.inputs());
  for (uint32_t i = 0; i < declared; ++i) {
    const abi::fb::ValueType &type = *function.inputs()->Get(i);
    if (std::string difference = typeDifference(type, inputs[i], hasMemory); !difference.empty())
      return makeError(StatusCode::InvalidArgument, "input ", i, " of function '", name, "' is ",
                       typeSpelling(inputs[i]), ", expected ", abi::typeSpelling(type), ": ", difference);
  }
  return okStatus();
}

Status checkInputs(const abi::fb::Function &function, std::span<const Value> inputs) {
  return checkValues(function, inputs, /*hasMemory=*/true);
}

Status checkInputTypes(const abi::fb::Function &function, std::span<const Value> inputs) {
  return checkValues(function, inputs, /*hasMemory=*/false);
}

namespace {

// The words of a key, given to `visit` one by one; it returns false to stop. `isIgnored(i)`: the value of scalar i is
// none of them.
template <typename Visit, typename Ignored>
bool visitWords(std::span<const Value> inputs, Visit visit, Ignored isIgnored) {
  size_t index = 0;
  for (const Value &value : inputs) {
    const size_t i = index++;
    if (const auto *scalar = std::get_if<Scalar>(&value)) {
      if (!visit(int64_t(scalar->element) | int64_t(1) << 8) || (!isIgnored(i) && !visit(scalar->bits)))
        return false;
      continue;
    }
    const Tensor &tensor = *std::get_if<Tensor>(&value);
    if (!visit(int64_t(tensor.element) | int64_t(tensor.shape.size()) << 16))
      return false;
    for (int64_t extent : tensor.shape)
      if (!visit(extent))
        return false;
  }
  return true;
}

template <typename Ignored> uint64_t hashWords(std::span<const Value> inputs, Ignored isIgnored) {
  uint64_t hash = 1469598103934665603u; // FNV-1a, a word at a time
  visitWords(
      inputs,
      [&](int64_t word) {
        hash = (hash ^ static_cast<uint64_t>(word)) * 1099511628211u;
        hash ^= hash >> 29; // words are not bytes: what is high has to come down
        return true;
      },
      isIgnored);
  return hash;
}

template <typename Ignored>
bool equalWords(std::span<const int64_t> words, std::span<const Value> inputs, Ignored isIgnored) {
  size_t next = 0;
  return visitWords(
             inputs, [&](int64_t word) { return next < words.size() && words[next++] == word; }, isIgnored) &&
         next == words.size();
}

constexpr auto kNoneIgnored = [](size_t) { return false; };
auto isIn(const CallKey::IgnoredScalars &ignored) {
  return [&ignored](size_t i) { return i < ignored.size() && ignored[i]; };
}

} // namespace

uint64_t CallKey::hashOf(std::span<const Value> inputs) {
  return hashWords(inputs, kNoneIgnored);
}
uint64_t CallKey::hashOf(std::span<const Value> inputs, const IgnoredScalars &ignored) {
  return hashWords(inputs, isIn(ignored));
}

CallKey::CallKey(std::span<const Value> inputs, const IgnoredScalars &ignored) : hash_(hashOf(inputs, ignored)) {
  visitWords(
      inputs,
      [&](int64_t word) {
        words_.push_back(word);
        return true;
      },
      isIn(ignored));
}

bool CallKey::matches(std::span<const Value> inputs) const {
  return equalWords(words_, inputs, kNoneIgnored);
}
bool CallKey::matches(std::span<const Value> inputs, const IgnoredScalars &ignored) const {
  return equalWords(words_, inputs, isIn(ignored));
}

} // namespace tenon::runtime
