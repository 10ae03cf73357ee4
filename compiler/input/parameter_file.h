// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in a file of the safetensors format: 8 bytes with the length of a JSON object, the object, the tensors'
// bytes.
//
//   {"weights": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "__metadata__": {"format": "pt"}}
//
// Offsets count from the end of the object; bytes are little-endian and row-major. Source: the format's description in
// the README of the safetensors project.
#pragma once

#include "support/files/file_bytes.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler::input {

struct Parameter {
  std::string dtype; // "F32", "BF16", "I64", "BOOL", ...
  std::vector<int64_t> shape;
  std::string_view bytes; // in the file
};

class ParameterFile {
public:
  /// Maps the file; its tensors are not touched. InvalidArgument: what is wrong with it, with the path.
  static Result<ParameterFile> open(const std::string &path);

  /// Null: there is none.
  const Parameter *find(const std::string &key) const;
  std::vector<std::string> keys() const;
  /// Keeps the bytes alive.
  const FileBytes &file() const { return file_; }

private:
  FileBytes file_;
  std::map<std::string, Parameter> parameters_;
};

} // namespace tenon::compiler::input
