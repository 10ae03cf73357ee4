// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records of kernels for tests: what TENON_KERNEL puts into an object.
#pragma once

#include "linker/declare/kernel_record.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker::testing {

/// `.global .b8 NAME[n] = {...};` of the bytes of `text` and a zero.
inline std::string bytesVariable(std::string_view name, std::string_view text) {
  std::string out = concat(".visible .global .align 1 .b8 ", name, "[", text.size() + 1, "] = {");
  for (char c : text)
    out += concat(int(static_cast<unsigned char>(c)), ", ");
  return out + "0};\n";
}

/// The record of `kernel`: `json` without its first members.
inline std::string recordOf(std::string_view kernel, std::string_view json) {
  return bytesVariable(concat("__tenon_record_", kernel),
                       concat("tenon-kernel 1\n{\"name\":\"", kernel, "\",\"symbol\":\"", kernel, "\",", json, "}"));
}

/// Of a kernel "pw" with a read-only binding.
inline constexpr std::string_view kRecordOfPw =
    R"("launch":{"workgroup_size":[64,1,1]},"layout":{"bindings":[{"read_only":true,"name":"x"}],)"
    R"("constants":[{"kind":"Scalar","element":"I32"}]},"signature":["const float *","int"],"declared_at":"k.cu:7")";

inline ObjectInput objectOf(std::string body, std::string_view target = "sm_80", std::string path = "a.ptx") {
  return {.path = std::move(path),
          .bytes = ptxModule(body, target),
          .target = *abi::parseTargetArch(target),
          .variantName = {},
          .declaredAt = {},
          .provides = {}};
}

} // namespace tenon::linker::testing
