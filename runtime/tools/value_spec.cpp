// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each spec is text or a file; files are read once and remembered, for '+' to go on where the last one ended.
#include "runtime/tools/value_spec.h"

#include "runtime/tools/npy.h"
#include "support/files/file.h"
#include "support/memory.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tenon::runtime {

Result<std::vector<OptionalValue>> ValueReader::readAll(const std::vector<std::string> &specs,
                                                        const std::vector<const abi::fb::ValueType *> &types,
                                                        std::string_view what) {
  std::vector<OptionalValue> values;
  for (size_t i = 0; i < specs.size(); ++i) {
    const size_t position = values.size();
    const abi::fb::ValueType *type = position < types.size() ? types[position] : nullptr;
    TENON_RETURN_IF_ERROR(readSpec(specs[i], type, values).withContext(concat(what, ' ', i, " ('", specs[i], "')")));
  }
  return values;
}

Status ValueReader::readSpec(std::string_view spec, const abi::fb::ValueType *type, std::vector<OptionalValue> &out) {
  if (spec == "(ignored)") {
    out.push_back(std::nullopt);
    return okStatus();
  }
  if (!spec.empty() && (spec.front() == '@' || spec.front() == '+' || spec.front() == '*'))
    return readArrays(spec.front(), std::string(spec.substr(1)), out);

  const size_t raw = spec.find("=@");
  if (raw != std::string_view::npos) {
    TENON_ASSIGN_OR_RETURN(TensorType tensorType, parseTensorType(spec.substr(0, raw)));
    TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(tensorType.shape, tensorType.element));
    const std::string path(spec.substr(raw + 2));
    TENON_ASSIGN_OR_RETURN(std::string content, readFile(path));
    if (content.size() != bytes)
      return makeError(StatusCode::InvalidArgument, "'", path, "' has ", content.size(), " bytes, ",
                       formatTensorType(tensorType), " has ", bytes);
    HostTensor tensor{tensorType.element, tensorType.shape, {}};
    TENON_RETURN_IF_ERROR(resizeChecked(tensor.bytes, bytes, formatTensorType(tensorType)));
    std::copy(content.begin(), content.end(), tensor.bytes.begin());
    out.push_back(std::move(tensor));
    return okStatus();
  }
  if (type && type->kind() == abi::fb::ValueKind::Scalar) {
    TENON_ASSIGN_OR_RETURN(Scalar scalar, parseScalar(spec, static_cast<abi::ElementType>(type->element())));
    out.push_back(scalar);
    return okStatus();
  }
  if (type && type->kind() == abi::fb::ValueKind::Unread) // a number of any type does, too
    if (Result<Scalar> number = parseScalar(spec, abi::ElementType::F64); number.ok()) {
      out.push_back(*number);
      return okStatus();
    }
  TENON_ASSIGN_OR_RETURN(HostTensor tensor, parseTensor(spec, fill_));
  out.push_back(std::move(tensor));
  return okStatus();
}

Status ValueReader::readArrays(char mode, const std::string &path, std::vector<OptionalValue> &out) {
  auto known = files_.find(path);
  if (known == files_.end()) {
    TENON_ASSIGN_OR_RETURN(std::string bytes, readFile(path));
    known = files_.emplace(path, File{std::move(bytes), 0}).first;
  }
  File &file = known->second;
  if (mode != '+')
    file.offset = 0;
  do {
    Result<HostTensor> tensor = readNpy(file.bytes, file.offset);
    if (!tensor.ok())
      return tensor.takeStatus().withContext(concat("'", path, "'"));
    out.push_back(tensor.take());
  } while (mode == '*' && file.offset < file.bytes.size());
  return okStatus();
}

std::string describeResult(size_t index, const HostValue &value, size_t maxElements) {
  if (const HostTensor *tensor = std::get_if<HostTensor>(&value))
    return concat("result[", index, "]: hal.buffer_view\n", formatTensor(*tensor, maxElements), "\n");
  const Scalar &scalar = *std::get_if<Scalar>(&value);
  // index is 64 bits wide; `i64` is the word that reads back.
  const auto element = scalar.element == abi::ElementType::Index ? abi::ElementType::I64 : scalar.element;
  return concat("result[", index, "]: ", abi::spelling(element), "=", formatScalar(scalar), "\n");
}

static Status appendFile(const std::string &path, std::string_view bytes) {
  std::FILE *file = std::fopen(path.c_str(), "ab");
  bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file)
    written = std::fclose(file) == 0 && written;
  if (!written)
    return makeError(StatusCode::FailedPrecondition, "cannot write '", path, "': ", std::strerror(errno));
  return okStatus();
}

Status writeResult(std::string_view spec, size_t index, const HostValue &value, size_t maxElements, std::string &text) {
  if (spec.empty())
    return okStatus();
  if (spec == "-") {
    text += describeResult(index, value, maxElements);
    return okStatus();
  }
  const std::string what = concat("output ", index, " ('", spec, "')");
  const bool append = spec.front() == '+';
  if (!append && spec.front() != '@')
    return makeError(StatusCode::InvalidArgument, what, ": expected -, @FILE.npy, +FILE.npy or @FILE.bin");
  const HostTensor *tensor = std::get_if<HostTensor>(&value);
  if (!tensor)
    return makeError(StatusCode::InvalidArgument, what, ": the result is a scalar, it can only be printed");
  const std::string path(spec.substr(1));
  std::string bytes;
  if (path.ends_with(".npy")) {
    Result<std::string> npy = writeNpy(*tensor);
    if (!npy.ok())
      return npy.takeStatus().withContext(what);
    bytes = npy.take();
  } else {
    bytes.assign(reinterpret_cast<const char *>(tensor->bytes.data()), tensor->bytes.size());
  }
  Status status = append ? appendFile(path, bytes) : writeFile(path, bytes);
  return std::move(status).withContext(what);
}

} // namespace tenon::runtime
