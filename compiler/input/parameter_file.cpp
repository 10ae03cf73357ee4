// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/parameter_file.h"

#include "support/text/json.h"

#include <cstring>
#include <limits>

namespace tenon::compiler::input {
namespace {

constexpr size_t kLengthBytes = 8;

struct Entry {
  Parameter parameter;
  std::vector<uint64_t> offsets;
};

void readEntry(JsonReader &json, Entry &entry) {
  json.object([&](std::string_view name, size_t offset) {
    if (name == "dtype")
      entry.parameter.dtype = json.string();
    else if (name == "shape")
      json.array([&] {
        entry.parameter.shape.push_back(int64_t(json.integer(0, uint64_t(std::numeric_limits<int64_t>::max()))));
      });
    else if (name == "data_offsets")
      json.array([&] { entry.offsets.push_back(json.integer<uint64_t>()); });
    else
      json.fail(offset, concat("unknown field '", name, "'; fields are dtype, shape and data_offsets"));
  });
}

} // namespace

Result<ParameterFile> ParameterFile::open(const std::string &path) {
  ParameterFile result;
  TENON_ASSIGN_OR_RETURN(result.file_, FileBytes::read(path));
  const std::string_view bytes = result.file_;
  auto wrong = [&](auto &&...what) {
    return makeError(StatusCode::InvalidArgument, "'", path, "' is no safetensors file: ", what...);
  };
  uint64_t headBytes = 0;
  if (bytes.size() < kLengthBytes)
    return wrong("it has ", bytes.size(), " bytes");
  std::memcpy(&headBytes, bytes.data(), kLengthBytes);
  if (headBytes > bytes.size() - kLengthBytes)
    return wrong("its header would have ", headBytes, " bytes, the file has ", bytes.size());
  const std::string_view data = bytes.substr(kLengthBytes + headBytes);

  JsonReader json(bytes.substr(kLengthBytes, headBytes));
  json.object([&](std::string_view name, size_t offset) {
    if (name == "__metadata__")
      return (void)json.object([&](std::string_view, size_t) { json.string(); });
    const std::string key(name);
    Entry entry;
    readEntry(json, entry);
    if (entry.offsets.size() != 2 || entry.offsets[0] > entry.offsets[1] || entry.offsets[1] > data.size())
      return json.fail(offset, concat("the bytes of '", key, "' do not lie in the file"));
    entry.parameter.bytes = data.substr(entry.offsets[0], entry.offsets[1] - entry.offsets[0]);
    if (!result.parameters_.try_emplace(key, std::move(entry.parameter)).second)
      json.fail(offset, concat("'", key, "' is there twice"));
  });
  json.finish();
  if (const std::optional<JsonMistake> &mistake = json.mistake())
    return wrong("byte ", kLengthBytes + mistake->offset, ": ", mistake->message);
  return result;
}

const Parameter *ParameterFile::find(const std::string &key) const {
  const auto found = parameters_.find(key);
  return found == parameters_.end() ? nullptr : &found->second;
}

std::vector<std::string> ParameterFile::keys() const {
  std::vector<std::string> keys;
  for (const auto &[key, parameter] : parameters_)
    keys.push_back(key);
  return keys;
}

} // namespace tenon::compiler::input
