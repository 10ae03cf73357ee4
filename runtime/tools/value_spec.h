// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `--input=`, `--expected_output=` and `--output=` say: text, or files.
//
//   8xf32=2 1 ...   text (runtime/tools/tensor_text.h)
//   @f.npy          the first array of a file          +f.npy   the next one of the same file
//   *f.npy          all of them, an input each         4xf32=@f.bin   raw elements
//   -               (--output) print                   @f.npy, +f.npy, @f.bin   write, append, raw;   empty: drop
//   (ignored)       (--expected_output) anything
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/tools/tensor_text.h"
#include "runtime/values/value.h"
#include "support/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// A value, or nothing for "(ignored)".
using OptionalValue = std::optional<HostValue>;

/// Reads specs one after another; remembers how far each .npy file was read.
class ValueReader {
public:
  explicit ValueReader(Fill fill = Fill::All) : fill_(fill) {}

  /// @param specs one per `--input=`
  /// @param types [n] the declared types: a scalar is read as its type says; may be shorter than specs
  /// @param what  "input", for messages
  /// @return the values, more than specs where a '*' is among them. Errors name the spec and its position.
  Result<std::vector<OptionalValue>> readAll(const std::vector<std::string> &specs,
                                             const std::vector<const abi::fb::ValueType *> &types,
                                             std::string_view what);

private:
  struct File {
    std::string bytes;
    size_t offset = 0;
  };
  Status readSpec(std::string_view spec, const abi::fb::ValueType *type, std::vector<OptionalValue> &out);
  Status readArrays(char mode, const std::string &path, std::vector<OptionalValue> &out);

  Fill fill_;
  std::map<std::string, File> files_;
};

/// Writes one result as its `--output=` spec says; what is to be printed is appended to `text`.
/// Errors name the spec; a scalar cannot be written to a file.
Status writeResult(std::string_view spec, size_t index, const HostValue &value, size_t maxElements, std::string &text);

/// "result[0]: hal.buffer_view\n8xf32=..." or "result[0]: i32=7", newline-terminated.
std::string describeResult(size_t index, const HostValue &value, size_t maxElements);

} // namespace tenon::runtime
