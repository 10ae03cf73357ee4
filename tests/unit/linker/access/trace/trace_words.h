// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the trace says of a kernel's parameters, in words.
#pragma once

#include "linker/access/trace/module_tracer.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker::testing {

/// What is done with each parameter of the last function of a module, a word each: "read", "written", "maybe"
/// (written), "stored", "passed", "steers" (the path depends on its bits), "number" (named, never an address),
/// "unused", "constant" (a parameter that is no pointer).
inline std::string trace(std::string_view text, KernelTrace *out = nullptr) {
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(std::make_shared<SourceFile>("a.ptx", ptxModule(text, "sm_90", "8.6")), diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  const ptx::Function &kernel = module.functions.back();
  std::vector<bool> pointers;
  for (const ptx::Variable &parameter : kernel.parameters)
    pointers.push_back(parameter.type == ptx::ScalarType::U64);
  KernelTrace trace = ModuleTracer(module).trace(kernel, pointers);
  std::string words;
  for (size_t i = 0; i < pointers.size(); ++i) {
    const SlotAccess &access = trace.slots[i];
    words += words.empty() ? "" : " ";
    words += !pointers[i]          ? "constant"
             : access.written      ? "written"
             : trace.gaveUp        ? "gave-up"
             : access.maybeWritten ? "maybe"
             : access.stored       ? "stored"
             : access.passed       ? "passed"
             : access.steers       ? "steers"
             : access.addressed    ? "read"
             : access.named        ? "number"
                                   : "unused";
  }
  if (out)
    *out = std::move(trace);
  return words;
}

inline constexpr std::string_view kHead = ".visible .entry k(.param .u64 p, .param .u64 q, .param .s64 n) {\n"
                                          ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;\n"
                                          "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.s64 %rd3, [n];\n";

/// The words for `p q` after a body in which %rd1 is p, %rd2 is q and %rd3 the constant n.
inline std::string body(std::string_view text, std::string_view before = "") {
  std::string words = trace(std::string(before).append(kHead).append(text).append("\nret;\n}\n"));
  return words.substr(0, words.rfind(' '));
}

} // namespace tenon::linker::testing
