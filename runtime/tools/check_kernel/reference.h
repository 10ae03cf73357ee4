// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the outputs of a case should be, from somewhere else:
//
//   export NAME                      another export of the file, called with the same
//   FILE.tnx:NAME                    an export of another file
//   FILE.tenon:FUNCTION(b0, c1)      a function of a program: bindings and scalar constants by number; without a list
//                                    the bindings that are read, in order. Its results are the outputs, in order
//   @a.npy, @b.npy                   files, one per output, for a case of that size
//   generated                        the generated variant of the same export
#pragma once

#include "runtime/tools/check_kernel/case.h"
#include "runtime/tools/check_kernel/session.h"

#include <memory>

namespace tenon::runtime {

class Reference {
public:
  virtual ~Reference() = default;
  /// [outputs: bindings that are not read-only, in order] of the case.
  virtual Result<std::vector<HostTensor>> outputs(const Case &inputs) = 0;
  /// Gives back what is on the device; outputs() opens it again.
  virtual void close() = 0;
};

struct ReferenceContext {
  std::span<const uint8_t> bytes; // of the file that is checked
  std::string path;
  SessionOptions options;
  const abi::Export *declared = nullptr;
};

/// NotFound / InvalidArgument: the text means none of the above, or what it names cannot be called with these
/// bindings and constants.
Result<std::unique_ptr<Reference>> makeReference(std::string_view text, const ReferenceContext &context);

} // namespace tenon::runtime
