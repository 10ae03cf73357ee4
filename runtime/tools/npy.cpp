// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header is a Python literal of a fixed form; a small reader takes exactly that form and names what else it finds.
#include "runtime/tools/npy.h"

#include "support/memory.h"
#include "support/number.h"

#include <algorithm>
#include <optional>

namespace tenon::runtime {

using abi::ElementType;

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64; // the header ends at a multiple of it

// The dictionary of a header.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  Shape shape;
};

/// Reads the literal that numpy.lib.format writes: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  Result<Header> read() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take("{"))
      return malformed("'{'");
    while (!take("}")) {
      std::optional<std::string> key = string();
      if (!key || !take(":"))
        return malformed("a key and ':'");
      if (*key == "descr") {
        std::optional<std::string> value = string();
        if (!value && peek('['))
          return makeError(StatusCode::Unimplemented, "a .npy of structured elements is not supported");
        if (!value)
          return malformed("a type string");
        header.descr = *value, hasDescr = true;
      } else if (*key == "fortran_order") {
        header.fortranOrder = take("True");
        if (!header.fortranOrder && !take("False"))
          return malformed("True or False");
        hasOrder = true;
      } else if (*key == "shape") {
        if (!shape(header.shape))
          return malformed("a tuple of sizes");
        hasShape = true;
      } else {
        return makeError(StatusCode::InvalidArgument, "the header of the .npy has an unknown key '", *key, "'");
      }
      (void)take(",");
    }
    if (!hasDescr || !hasOrder || !hasShape)
      return makeError(StatusCode::InvalidArgument, "the header of the .npy lacks ",
                       !hasDescr   ? "'descr'"
                       : !hasOrder ? "'fortran_order'"
                                   : "'shape'");
    return header;
  }

private:
  void skipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool peek(char c) {
    skipSpace();
    return rest_.starts_with(c);
  }
  bool take(std::string_view word) {
    skipSpace();
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> string() {
    skipSpace();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"'))
      return std::nullopt;
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }
  bool shape(Shape &out) {
    if (!take("("))
      return false;
    while (!take(")")) {
      skipSpace();
      const std::optional<int64_t> extent = takeNumber<int64_t>(rest_);
      if (!extent || *extent < 0)
        return false;
      (void)take("L"); // NumPy under Python 2
      out.push_back(*extent);
      if (!take(",") && !peek(')'))
        return false;
    }
    return true;
  }
  Status malformed(std::string_view wanted) {
    return makeError(StatusCode::InvalidArgument, "the header of the .npy does not parse: '", rest_.substr(0, 24),
                     "', expected ", wanted);
  }

  std::string_view rest_;
};

/// Complex numbers are pairs of floats, as functions of programs take them.
bool isComplex(std::string_view descr) {
  return descr.ends_with("c8") || descr.ends_with("c16");
}

Result<ElementType> elementOfDescr(std::string_view descr) {
  if (descr.empty())
    return makeError(StatusCode::InvalidArgument, "the .npy has an empty type string");
  const char order = descr.front();
  const std::string_view kind = descr.substr(1);
  const bool isByte = kind == "i1" || kind == "u1" || kind == "b1";
  if (order == '>' && !isByte)
    return makeError(StatusCode::Unimplemented, "the .npy has big-endian elements ('", descr,
                     "'): not supported; save it with .astype('<", kind, "')");
  if (order == '<' || order == '|' || order == '=' || order == '>') {
    if (kind == "b1")
      return ElementType::I1;
    if (kind == "i1" || kind == "u1")
      return ElementType::I8;
    if (kind == "i2" || kind == "u2")
      return ElementType::I16;
    if (kind == "i4" || kind == "u4")
      return ElementType::I32;
    if (kind == "i8" || kind == "u8")
      return ElementType::I64;
    if (kind == "f2")
      return ElementType::F16;
    if (kind == "f4" || kind == "c8")
      return ElementType::F32;
    if (kind == "f8" || kind == "c16")
      return ElementType::F64;
  }
  return makeError(StatusCode::Unimplemented, "the .npy has elements of type '", descr, "': not supported");
}

std::string_view descrOf(ElementType element) {
  switch (element) {
  case ElementType::I1:
    return "|b1";
  case ElementType::I8:
    return "|i1";
  case ElementType::I16:
    return "<i2";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
  case ElementType::Index:
    return "<i8";
  case ElementType::F16:
    return "<f2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::BF16:
    break;
  }
  return "";
}

} // namespace

Result<HostTensor> readNpy(std::string_view file, size_t &offset) {
  std::string_view rest = file.substr(std::min(offset, file.size()));
  if (rest.size() < 10 || !rest.starts_with(kMagic))
    return makeError(StatusCode::InvalidArgument, "no .npy array at byte ", offset, " of ", file.size(),
                     offset == file.size() && offset != 0 ? ": the file has no further array" : "");
  const unsigned major = static_cast<uint8_t>(rest[6]), minor = static_cast<uint8_t>(rest[7]);
  if (major < 1 || major > 3 || minor != 0)
    return makeError(StatusCode::Unimplemented, ".npy version ", major, '.', minor,
                     " is not supported; 1.0, 2.0 and 3.0 are");
  const size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < 8 + lengthBytes)
    return makeError(StatusCode::OutOfRange, "the .npy ends within its header");
  size_t headerBytes = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    headerBytes |= size_t(static_cast<uint8_t>(rest[8 + i])) << (8 * i);
  rest.remove_prefix(8 + lengthBytes);
  if (rest.size() < headerBytes)
    return makeError(StatusCode::OutOfRange, "the .npy ends within its header");

  TENON_ASSIGN_OR_RETURN(Header header, HeaderReader(rest.substr(0, headerBytes)).read());
  TENON_ASSIGN_OR_RETURN(ElementType element, elementOfDescr(header.descr));
  // With at most one dimension longer than 1 both orders are the same bytes.
  if (header.fortranOrder &&
      std::count_if(header.shape.begin(), header.shape.end(), [](int64_t n) { return n != 1; }) > 1)
    return makeError(StatusCode::Unimplemented,
                     "the .npy is in Fortran order: not supported; save it with numpy.ascontiguousarray");
  if (isComplex(header.descr))
    header.shape.push_back(2);
  TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(header.shape, element));
  rest.remove_prefix(headerBytes);
  if (rest.size() < bytes)
    return makeError(StatusCode::OutOfRange, "the .npy holds ", rest.size(), " bytes of elements, ",
                     tensorTypeSpelling(header.shape, element), " has ", bytes);
  const std::string_view behind = rest.substr(bytes);
  if (!behind.empty() && !behind.starts_with(kMagic))
    return makeError(StatusCode::InvalidArgument, "after the .npy array come ", behind.size(),
                     " bytes that begin no other: the file is damaged, or its header is of another array");
  HostTensor tensor{element, std::move(header.shape), {}};
  TENON_RETURN_IF_ERROR(resizeChecked(tensor.bytes, bytes, tensorTypeSpelling(tensor.shape, element)));
  std::copy_n(rest.begin(), bytes, tensor.bytes.begin());
  offset = static_cast<size_t>(rest.data() - file.data()) + bytes;
  return tensor;
}

Result<std::string> writeNpy(const HostTensor &tensor) {
  const std::string_view descr = descrOf(tensor.element);
  if (descr.empty())
    return makeError(StatusCode::Unimplemented, "NumPy has no type for ", abi::spelling(tensor.element),
                     ", it cannot be written as .npy");
  std::string header = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (int64_t extent : tensor.shape)
    header += concat(extent, tensor.shape.size() == 1 ? "," : ", ");
  if (tensor.shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  const size_t lengthBytes = header.size() + 10 + kAlignment < 65536 ? 2 : 4;
  const size_t prefix = 8 + lengthBytes;
  const size_t padding = kAlignment - (prefix + header.size() + 1) % kAlignment;
  header.append(padding % kAlignment, ' ');
  header += '\n';

  std::string out(kMagic);
  out += lengthBytes == 2 ? '\x01' : '\x02';
  out += '\0';
  for (size_t i = 0; i < lengthBytes; ++i)
    out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  out += header;
  out.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  return out;
}

} // namespace tenon::runtime
