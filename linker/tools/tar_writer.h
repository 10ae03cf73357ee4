// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tar archive (POSIX ustar, with GNU's form for long names): same files, same bytes; times are 0, owners nobody's.
#pragma once

#include <string>
#include <string_view>

namespace tenon::linker {

class TarWriter {
public:
  /// Adds a file; `path` is relative and made of any characters.
  void add(std::string_view path, std::string_view contents, bool isProgram = false);
  /// The archive; call once, at the end.
  std::string take();

private:
  void header(std::string_view path, size_t bytes, char type, bool isProgram);
  void pad();

  std::string out_;
};

} // namespace tenon::linker
