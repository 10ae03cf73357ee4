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

/// A body by its name, and the words for it.
struct BodyCase {
  std::string_view name, text, words;
};

template <size_t N> void expectBodies(const BodyCase (&cases)[N], std::string_view before = "") {
  for (const BodyCase &row : cases)
    EXPECT_EQ(body(row.text, before), row.words) << row.name;
}

/// All that a trace says, a line for each of the slots a, b and n, and one for the kernel where there is something to
/// say: "a: named addressed sole written@4". Numbers behind @ are instructions, in functions of other numbers than the
/// kernel's with it: "written@0:2".
inline std::vector<std::string> details(const KernelTrace &trace, uint32_t kernel = 0) {
  auto at = [&](std::string_view what, const MaybePlace &place) {
    return !place                      ? std::string()
           : place->function == kernel ? concat(" ", what, "@", place->instruction)
                                       : concat(" ", what, "@", place->function, ":", place->instruction);
  };
  auto flag = [](std::string_view what, bool is) { return is ? concat(" ", what) : std::string(); };
  std::vector<std::string> lines;
  for (size_t i = 0; i < trace.slots.size(); ++i) {
    const SlotAccess &slot = trace.slots[i];
    lines.push_back(concat(i < 4 ? std::string(1, "abnm"[i]) : concat("slot", i), ":", flag("named", slot.named),
                           flag("addressed", slot.addressed), flag("low-bits", slot.lowBitsTested),
                           flag("float", slot.loadedAsFloat), flag("sole", slot.soleBase),
                           flag("joint", slot.jointBase), at("written", slot.written), at("maybe", slot.maybeWritten),
                           at("stored", slot.stored), at("passed", slot.passed), at("steers", slot.steers),
                           at("nc", slot.nonCoherent), at("alone", slot.aloneInAddress),
                           at(concat("widest=", slot.widestBytes), slot.widest)));
  }
  const std::string whole = concat(flag("gave-up", trace.gaveUp), flag("elsewhere", trace.writesElsewhere),
                                   at("module", trace.writesModule), at("map", trace.storedToMap));
  if (!whole.empty())
    lines.push_back(concat("kernel:", whole));
  return lines;
}

/// Of a kernel `k(.u64 a, .u64 b, .u32 n)` in which %rd1 is a, %rd2 is b and %r1 is n, after three instructions.
inline std::vector<std::string> detailsOf(std::string_view body, std::string_view before = "") {
  constexpr std::string_view kStart = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
                                      ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<30>;\n"
                                      ".reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<4>;\n"
                                      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];\n";
  Diagnostics diagnostics;
  const ptx::Module module = ptx::parse(
      std::make_shared<SourceFile>("a.ptx", ptxModule(concat(before, kStart, body, "\nret;\n}\n"), "sm_90", "8.6")),
      diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  return details(ModuleTracer(module).trace(module.functions.back(), std::vector<bool>{true, true, false}),
                 static_cast<uint32_t>(module.functions.size() - 1));
}

} // namespace tenon::linker::testing
