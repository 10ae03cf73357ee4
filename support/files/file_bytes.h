// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that are only read: those of a file, or some that were made. A large file that nobody has touched for a while
// is mapped, not copied: its pages are the system's own, and a copy takes a tenth of the time that proving PTX takes.
//
// Mapped bytes are somebody else's to change, and what was proved about a file must hold for what is written of it. So
// a mapping knows what the file was like (device, inode, size, times), and `unchanged()` tells whether it still is; a
// file that changed a moment ago, within the grain of a file system's clock, is copied. One that is cut short under the
// reader raises SIGBUS at the next access: `reportLostBytes` makes an error of that.
#pragma once

#include "support/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace tenon {

/// Copies share the bytes, which stay where they are.
class FileBytes {
public:
  FileBytes() = default;
  FileBytes(std::string bytes);
  FileBytes(const char *text) : FileBytes(std::string(text)) {}

  /// A whole file ("-": standard input), mapped where that pays. Errors are those of readFile().
  static Result<FileBytes> read(const std::string &path);

  /// Followed by a NUL.
  std::string_view view() const { return view_; }
  operator std::string_view() const { return view_; }
  const char *data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  bool operator==(std::string_view other) const { return view_ == other; }

  bool isMapped() const { return isMapped_; }
  /// FailedPrecondition where the file was written, replaced or removed since it was mapped, with its path.
  Status unchanged() const;

private:
  struct Mapping;

  std::shared_ptr<const void> keeper_; // a string, or a Mapping where isMapped_
  std::string_view view_ = "";
  bool isMapped_ = false;
};

/// Ends the process with status 1 and "PROGRAM: error: 'PATH' was cut short while it was read" when a mapped file is.
/// For tools, once; `program` must live on. Any other SIGBUS is left to the system.
void reportLostBytes(const char *program);

} // namespace tenon
