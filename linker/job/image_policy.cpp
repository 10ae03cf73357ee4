// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values of --images.
#include "linker/job/image_policy.h"

namespace tenon::linker {

Result<ImagePolicy> parseImagePolicy(std::string_view text) {
  if (text.empty() || text == "cubin+ptx")
    return ImagePolicy::CubinAndPtx;
  if (text == "ptx")
    return ImagePolicy::Ptx;
  if (text == "cubin")
    return ImagePolicy::Cubin;
  return makeError(StatusCode::InvalidArgument, "--images is 'cubin+ptx', 'ptx' or 'cubin', not '", text, "'");
}

} // namespace tenon::linker
