// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/expectation.h"

#include "runtime/values/element_compare.h"
#include "runtime/values/element_text.h"
#include "support/number.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::runtime {

using abi::ElementType;
using abi::fb::ExpectationKind;

namespace {

constexpr size_t kMostListed = 8; // elements of one expectation

/// A tensor, or a scalar as a tensor of rank 0.
Result<HostTensor> downloaded(Device &device, const Value &value) {
  if (const auto *tensor = std::get_if<Tensor>(&value))
    return downloadTensor(device, *tensor);
  const Scalar &scalar = *std::get_if<Scalar>(&value);
  HostTensor host{scalar.element, {}, std::vector<uint8_t>(abi::byteSize(scalar.element))};
  std::memcpy(host.bytes.data(), &scalar.bits, host.bytes.size());
  return host;
}

/// "[1, 3]: "; nothing for a scalar.
std::string indexText(size_t index, const Shape &shape) {
  if (shape.empty())
    return "";
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(shape[axis]);
    text.insert(0, concat(axis == 0 ? "[" : ", ", index % extent));
    index /= extent;
  }
  return text + "]: ";
}

/// One expectation over its elements.
class Comparison {
public:
  Comparison(const abi::fb::Expectation &source, const HostTensor &found, const HostTensor &wanted)
      : source_(source), found_(found), wanted_(wanted), size_(abi::byteSize(found.element)),
        count_(found.bytes.size() / size_) {}

  /// Empty: it holds.
  std::string difference() {
    const bool compares = source_.kind() == ExpectationKind::Equal || source_.kind() == ExpectationKind::AlmostEqual;
    if (compares && found_.shape != wanted_.shape)
      return concat("got ", tensorTypeSpelling(found_.shape, found_.element), ", wanted ",
                    tensorTypeSpelling(wanted_.shape, wanted_.element));
    std::vector<size_t> listed;
    size_t differing = 0;
    for (size_t i = 0; i < count_; ++i)
      if (!holdsAt(i) && differing++ < kMostListed)
        listed.push_back(i);
    if (differing == 0)
      return "";
    std::string text = concat(differing, " of ", count_, count_ == 1 ? " element " : " elements ", rule(differing));
    for (size_t index : listed)
      text += concat("\n    ", indexText(index, found_.shape), elementsText(index, compares));
    if (differing > listed.size())
      text += concat("\n    and ", differing - listed.size(), " more");
    return text;
  }

private:
  bool holdsAt(size_t index) {
    const uint8_t *found = &found_.bytes[index * size_];
    switch (source_.kind()) {
    case ExpectationKind::NonZero:
      return !isZero(found);
    case ExpectationKind::Zero:
      return isZero(found);
    case ExpectationKind::Equal:
      return elementDistance(found, &wanted_.bytes[index * size_], found_.element) == 0;
    case ExpectationKind::AlmostEqual:
      break;
    }
    const uint8_t *wanted = &wanted_.bytes[index * size_];
    const double distance = elementDistance(found, wanted, found_.element);
    const double size = std::fabs(elementAsDouble(wanted, found_.element));
    // Without a relative tolerance an infinity is not multiplied: 0 * inf is no number.
    const double relative = source_.relative_tolerance() == 0 ? 0 : source_.relative_tolerance() * size;
    const bool holds = isNear(distance, source_.absolute_tolerance() + relative);
    if (!holds)
      largest_ = std::fmax(largest_, distance);
    return holds;
  }

  bool isZero(const uint8_t *data) const {
    if (abi::isFloat(found_.element))
      return elementAsDouble(data, found_.element) == 0;
    return std::all_of(data, data + size_, [](uint8_t byte) { return byte == 0; });
  }

  std::string rule(size_t differing) const {
    switch (source_.kind()) {
    case ExpectationKind::NonZero:
      return differing == 1 ? "is zero" : "are zero";
    case ExpectationKind::Zero:
      return differing == 1 ? "is not zero" : "are not zero";
    case ExpectationKind::Equal:
      return differing == 1 ? "differs" : "differ";
    case ExpectationKind::AlmostEqual:
      break;
    }
    return concat(differing == 1 ? "differs" : "differ", " by more than atol ",
                  numberText(source_.absolute_tolerance()), " + rtol ", numberText(source_.relative_tolerance()),
                  " * |wanted|, at most by ", numberText(largest_));
  }

  std::string elementsText(size_t index, bool compares) const {
    const uint8_t *found = &found_.bytes[index * size_];
    if (!compares)
      return concat("got ", formatElement(found, found_.element));
    const uint8_t *wanted = &wanted_.bytes[index * size_];
    std::string got = formatElement(found, found_.element), want = formatElement(wanted, found_.element);
    if (got == want) { // they differ behind the sixth digit
      got = formatElementExactly(found, found_.element);
      want = formatElementExactly(wanted, found_.element);
    }
    return concat("got ", got, ", wanted ", want);
  }

  const abi::fb::Expectation &source_;
  const HostTensor &found_, &wanted_;
  const size_t size_, count_;
  double largest_ = 0; // distance of those that are not near
};

} // namespace

std::string ExpectationOutcome::toString() const {
  return concat(place, place.empty() ? "" : ": ", operation, holds() ? "" : ": ", difference);
}

Result<std::vector<ExpectationOutcome>> evaluateExpectations(Device &device, const CallPlan &plan,
                                                             std::span<const Value> results) {
  std::vector<ExpectationOutcome> outcomes;
  for (const CallPlan::Expectation &expectation : plan.expectations) {
    const abi::fb::Expectation &source = *expectation.source;
    TENON_ASSIGN_OR_RETURN(const HostTensor found, downloaded(device, results[expectation.found]));
    TENON_ASSIGN_OR_RETURN(const HostTensor wanted, downloaded(device, results[expectation.wanted]));
    outcomes.push_back({source.location() ? source.location()->str() : std::string(), source.operation()->str(),
                        Comparison(source, found, wanted).difference()});
  }
  return outcomes;
}

Status statusOf(std::span<const ExpectationOutcome> outcomes, std::string_view function) {
  const auto failed = std::count_if(outcomes.begin(), outcomes.end(), [](const auto &o) { return !o.holds(); });
  if (failed == 0)
    return okStatus();
  std::string text = concat("function '", function, "': ", failed, " of ", outcomes.size(),
                            outcomes.size() == 1 ? " expectation" : " expectations", " failed");
  for (const ExpectationOutcome &outcome : outcomes)
    if (!outcome.holds())
      text += concat("\n  ", outcome.toString());
  return makeError(StatusCode::FailedPrecondition, text);
}

} // namespace tenon::runtime
