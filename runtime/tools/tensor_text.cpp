// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brackets only repeat what the shape says, so they may be left out; where they are, they must agree with it.
#include "runtime/tools/tensor_text.h"

#include "runtime/values/element_text.h"
#include "support/memory.h"
#include "support/number.h"
#include "support/text/text.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::runtime {

namespace {

constexpr uint64_t kFillPiece = 256 << 10;            // bytes, of whole elements
constexpr uint64_t kMaxTextBytes = uint64_t(1) << 40; // of a tensor given on a command line

bool isSeparator(char c) {
  return c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '\r';
}

/// The elements between the brackets, in order, and the check that the brackets are the shape's.
class ElementReader {
public:
  ElementReader(const TensorType &type, std::string_view text, std::vector<uint8_t> &out)
      : type_(type), text_(text), out_(out), size_(abi::byteSize(type.element)) {}

  /// Number of elements read; stops with an error at the first one too many.
  Result<uint64_t> read(uint64_t capacity) {
    const size_t rank = type_.shape.size();
    const size_t nesting = deepestNesting();
    // [[1 2][3 4]] names every dimension, [1 2][3 4] all but the first, [1 2 3 4] none.
    if (nesting == rank)
      outermost_ = 0;
    else if (nesting + 1 == rank && (nesting > 1 || text_.find('[') != text_.rfind('[')))
      outermost_ = 1;
    if (nesting > 1 && !outermost_)
      return makeError(StatusCode::InvalidArgument, "brackets nest ", nesting, " deep, the tensor has rank ", rank);
    for (size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (isSeparator(c)) {
        ++at;
      } else if (c == '[') {
        starts_.push_back(count_);
        ++at;
      } else if (c == ']') {
        TENON_RETURN_IF_ERROR(close());
        ++at;
      } else {
        const size_t end = std::min(text_.find_first_of(" ,\t\n\r[]", at), text_.size());
        TENON_RETURN_IF_ERROR(element(text_.substr(at, end - at), capacity));
        at = end;
      }
    }
    if (!starts_.empty())
      return makeError(StatusCode::InvalidArgument, "'[' without ']'");
    return count_;
  }

private:
  size_t deepestNesting() const {
    size_t depth = 0, deepest = 0;
    for (char c : text_) {
      if (c == '[')
        deepest = std::max(deepest, ++depth);
      else if (c == ']' && depth > 0)
        --depth;
    }
    return deepest;
  }

  Status close() {
    if (starts_.empty())
      return makeError(StatusCode::InvalidArgument, "']' without '['");
    const uint64_t inside = count_ - starts_.back();
    starts_.pop_back();
    if (!outermost_)
      return okStatus();
    // A bracket at depth d (0 outermost) holds the dimensions from outermost_ + d on.
    uint64_t expected = 1;
    for (size_t i = *outermost_ + starts_.size(); i < type_.shape.size(); ++i)
      expected *= static_cast<uint64_t>(type_.shape[i]);
    if (inside != expected)
      return makeError(StatusCode::InvalidArgument, "brackets around ", inside, " elements, expected ", expected,
                       " for a tensor of type ", formatTensorType(type_));
    return okStatus();
  }

  Status element(std::string_view word, uint64_t capacity) {
    if (count_ == capacity)
      return makeError(StatusCode::InvalidArgument, "more than the ", capacity, " elements of ",
                       formatTensorType(type_));
    Result<uint64_t> bits = parseElement(word, type_.element);
    if (!bits.ok())
      return bits.takeStatus().withContext(concat("element ", count_));
    std::memcpy(out_.data() + count_ * size_, &*bits, size_);
    ++count_;
    return okStatus();
  }

  const TensorType &type_;
  std::string_view text_;
  std::vector<uint8_t> &out_;
  uint32_t size_;
  uint64_t count_ = 0;
  std::vector<uint64_t> starts_;    // elements read before each open bracket
  std::optional<size_t> outermost_; // dimension of the outermost bracket; nothing: brackets only separate
};

void formatDimension(const HostTensor &tensor, size_t dimension, const uint8_t *&data, size_t &left, std::string &out) {
  const uint32_t size = abi::byteSize(tensor.element);
  if (dimension + 1 >= tensor.shape.size()) {
    const int64_t extent = tensor.shape.empty() ? 1 : tensor.shape.back();
    const int64_t shown = static_cast<int64_t>(std::min<uint64_t>(left, static_cast<uint64_t>(extent)));
    for (int64_t i = 0; i < shown; ++i)
      out += concat(i ? " " : "", formatElement(data + i * size, tensor.element));
    data += extent * size;
    left -= static_cast<size_t>(shown);
    if (shown < extent)
      out += "...";
    return;
  }
  for (int64_t i = 0; i < tensor.shape[dimension]; ++i) {
    if (left == 0) {
      out += "...";
      return;
    }
    out += '[';
    formatDimension(tensor, dimension + 1, data, left, out);
    out += ']';
  }
}

} // namespace

Result<TensorType> parseTensorType(std::string_view text) {
  text = trimmed(text);
  const size_t last = text.rfind('x');
  // "index" is the one element type with an x in it.
  const bool isIndex = text == "index" || text.ends_with("xindex");
  const std::string_view word = isIndex ? "index" : text.substr(last == std::string_view::npos ? 0 : last + 1);
  std::optional<abi::ElementType> element = abi::parseElementType(word);
  if (!element)
    return makeError(StatusCode::InvalidArgument, "'", text, "' is no tensor type: '", word,
                     "' is no element type; expected i1, i8, i16, i32, i64, f16, bf16, f32 or f64");
  TensorType type{*element, {}};
  std::string_view dimensions = text.substr(0, text.size() - word.size());
  while (!dimensions.empty()) {
    const size_t end = dimensions.find('x');
    const std::string_view digits = dimensions.substr(0, end);
    const std::optional<int64_t> extent = parseNumber<int64_t>(digits);
    if (!extent || *extent < 0)
      return makeError(StatusCode::InvalidArgument, "'", text, "' is no tensor type: '", digits, "' is no extent",
                       digits == "?" ? "; a value has a size for every dimension" : "");
    type.shape.push_back(*extent);
    dimensions.remove_prefix(end + 1);
  }
  return type;
}

std::string formatTensorType(const TensorType &type) {
  std::string out;
  for (int64_t extent : type.shape)
    out += concat(extent, 'x');
  return concat(out, abi::spelling(type.element));
}

Result<HostTensor> parseTensorElements(const TensorType &type, std::string_view text, Fill fill) {
  TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(type.shape, type.element));
  if (bytes > kMaxTextBytes)
    return makeError(StatusCode::OutOfRange, formatTensorType(type), " has ", bytes, " bytes, the limit here is ",
                     kMaxTextBytes);
  const uint32_t size = abi::byteSize(type.element);
  const uint64_t capacity = bytes / size;
  HostTensor tensor{type.element, type.shape, {}};
  text = trimmed(text);
  // No more room than the text has elements, until it is known that it says them all.
  const uint64_t room = text.empty() ? std::min<uint64_t>(capacity, 1) : std::min<uint64_t>(capacity, text.size());
  TENON_RETURN_IF_ERROR(resizeChecked(tensor.bytes, room * size, formatTensorType(type)));
  uint64_t count = room;
  if (!text.empty()) {
    TENON_ASSIGN_OR_RETURN(count, ElementReader(type, text, tensor.bytes).read(capacity));
  }
  if (count != capacity && count != 1)
    return makeError(StatusCode::InvalidArgument, count, " elements, ", formatTensorType(type), " has ", capacity,
                     " (one alone would fill it)");
  tensor.bytes.resize(count * size);
  if (count == capacity || fill == Fill::One)
    return tensor;
  TENON_RETURN_IF_ERROR(resizeChecked(tensor.bytes, bytes, formatTensorType(type)));
  // What is filled is copied behind itself, in pieces that stay in a cache.
  for (uint64_t filled = size; filled < bytes;) {
    const uint64_t piece = std::min({filled, bytes - filled, kFillPiece});
    std::memcpy(tensor.bytes.data() + filled, tensor.bytes.data(), piece);
    filled += piece;
  }
  return tensor;
}

Result<HostTensor> parseTensor(std::string_view text, Fill fill) {
  const size_t equals = text.find('=');
  TENON_ASSIGN_OR_RETURN(TensorType type, parseTensorType(text.substr(0, equals)));
  return parseTensorElements(type, equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1),
                             fill);
}

std::string formatTensor(const HostTensor &tensor, size_t maxElements) {
  std::string out = concat(formatTensorType({tensor.element, tensor.shape}), '=');
  const uint8_t *data = tensor.bytes.data();
  formatDimension(tensor, 0, data, maxElements, out);
  return out;
}

Result<Scalar> parseScalar(std::string_view text, abi::ElementType type) {
  std::string_view value = trimmed(text);
  if (const size_t equals = value.find('='); equals != std::string_view::npos) {
    const std::string_view word = trimmed(value.substr(0, equals));
    const bool same = word == abi::spelling(type) || (word == "i64" && type == abi::ElementType::Index);
    if (!same)
      return makeError(StatusCode::InvalidArgument, "'", text, "' is given for a scalar of type ", abi::spelling(type));
    value = trimmed(value.substr(equals + 1));
  }
  TENON_ASSIGN_OR_RETURN(uint64_t bits, parseElement(value, type));
  int64_t extended = static_cast<int64_t>(bits);
  if (!abi::isFloat(type) && type != abi::ElementType::I1 && abi::byteSize(type) < 8) {
    const int shift = static_cast<int>(64 - 8 * abi::byteSize(type));
    extended = static_cast<int64_t>(bits << shift) >> shift;
  }
  if (type == abi::ElementType::I1)
    extended = bits ? -1 : 0; // sign-extended, as every integer
  return Scalar{type, extended};
}

std::string formatScalar(const Scalar &scalar) {
  uint8_t bytes[8];
  std::memcpy(bytes, &scalar.bits, sizeof(bytes));
  return formatElement(bytes, scalar.element);
}

} // namespace tenon::runtime
