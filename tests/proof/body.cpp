// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/body.h"

namespace tenon::proof {

std::string Body::text() const {
  static constexpr const char *kTypes[] = {"b64 %rd", "b32 %r", "b16 %rs", "pred %p", "f32 %f", "f64 %fd", "b128 %rq"};
  std::string text = "{\n";
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i])
      text += concat(".reg .", kTypes[i], "<", counts_[i], ">;\n");
  for (const std::string &declaration : declarations_)
    text += declaration + "\n";
  for (const std::string &line : lines_)
    text += line + "\n";
  return text + "}\n";
}

} // namespace tenon::proof
