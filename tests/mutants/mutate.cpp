// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/mutants/mutate.h"

#include "ptx/parse/parser.h"
#include "support/diagnostics.h"

#include <map>

namespace tenon::mutants {
namespace {

std::string edited(std::string_view text, size_t begin, size_t end, std::string_view with) {
  return std::string(text.substr(0, begin)) + std::string(with) + std::string(text.substr(end));
}

/// Equal names are numbered, in the order of the text.
class Names {
public:
  std::string number(const std::string &name) { return name + " " + std::to_string(++seen_[name]); }

private:
  std::map<std::string, size_t> seen_;
};

} // namespace

std::vector<Mutant> mutantsOf(std::string_view ptx, std::string_view kernel, const std::vector<size_t> &readOnly,
                              size_t elementBytes) {
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(std::make_shared<SourceFile>("kernel.ptx", std::string(ptx)), diagnostics);
  std::vector<Mutant> mutants;
  const ptx::Function *function = module.findFunction(kernel);
  if (diagnostics.hasErrors() || !function)
    return mutants;
  std::string_view text = module.source->text();
  Names names;
  uint32_t line = 0;
  for (const ptx::Statement &statement : function->statements) {
    if (statement.kind == ptx::Statement::Kind::Loc) {
      line = function->marks[statement.index].line;
      continue;
    }
    if (statement.kind != ptx::Statement::Kind::Instruction)
      continue;
    const ptx::Instruction &i = function->instructions[statement.index];
    bool isBarrier = (i.opcode == "bar" || i.opcode == "barrier") && i.hasModifier("sync");
    bool isWait = i.opcode == "cp" && (i.hasModifier("wait_group") || i.hasModifier("wait_all"));
    bool isProxyFence = i.opcode == "fence" && i.hasModifier("proxy") && i.hasModifier("async");
    if (isBarrier || isWait || isProxyFence) {
      std::string form = isProxyFence                ? "fence.proxy.async"
                         : !isWait                   ? (i.hasModifier("warp") ? "bar.warp.sync" : "bar.sync")
                         : i.hasModifier("wait_all") ? "cp.async.wait_all"
                         : i.hasModifier("bulk")     ? "cp.async.bulk.wait_group"
                                                     : "cp.async.wait_group";
      mutants.push_back({names.number("no " + form), line, edited(text, i.range.begin, i.range.end, "")});
    }
    if (isBarrier && !i.hasModifier("warp")) {
      // `if (...) __syncthreads();`, for half of each warp and for half of the block.
      const std::string_view barrier = text.substr(i.range.begin, i.range.end - i.range.begin);
      const std::string thread = "{ .reg .b32 %mutant<4>; .reg .pred %around<1>;\nmov.u32 %mutant0, %tid.x;\n"
                                 "mov.u32 %mutant1, %tid.y;\nmov.u32 %mutant2, %ntid.x;\n"
                                 "mad.lo.u32 %mutant0, %mutant1, %mutant2, %mutant0;\nmov.u32 %mutant3, %ntid.y;\n";
      for (auto [who, choose] :
           {std::pair("half of each warp", "and.b32 %mutant0, %mutant0, 16;\nsetp.ne.u32 %around0, %mutant0, 0;\n"),
            std::pair("half of the block",
                      "mul.lo.u32 %mutant2, %mutant2, %mutant3;\nmul.lo.u32 %mutant0, %mutant0, 2;\n"
                      "setp.ge.u32 %around0, %mutant0, %mutant2;\n")})
        mutants.push_back(
            {names.number(std::string("around a barrier, ") + who), line,
             edited(text, i.range.begin, i.range.end,
                    thread + choose + "@%around0 bra AROUND;\n" + std::string(barrier) + "\nAROUND: }\n")});
    }
    if (i.opcode == "mbarrier" && (i.hasModifier("try_wait") || i.hasModifier("test_wait")))
      mutants.push_back(
          {names.number("no mbarrier wait"), line,
           edited(text, i.range.begin, i.range.end, "setp.eq.s32 " + std::string(i.operands[0].name) + ", 0, 0;")});
  }
  auto shrink = [&](const ptx::Variable &variable) {
    std::string_view declared = text.substr(variable.range.begin, variable.range.end - variable.range.begin);
    size_t open = declared.find('['), close = declared.find(']');
    if (variable.space != ptx::StateSpace::Shared || variable.isExtern || variable.dimensions.size() != 1 ||
        open == std::string_view::npos || variable.bytes() <= 8)
      return;
    size_t unit = ptx::byteSize(variable.type),
           count = variable.bytes() / unit - std::max<size_t>(1, elementBytes / unit);
    std::string_view name = variable.name; // the last part of a mangled local name says enough
    mutants.push_back(
        {"shared array " + std::string(name) + " one element shorter", 0,
         edited(text, variable.range.begin + open + 1, variable.range.begin + close, std::to_string(count))});
  };
  std::string_view body = text.substr(function->range.begin, function->range.end - function->range.begin);
  for (const ptx::Variable &variable : module.variables)
    if (body.find(variable.name) != std::string_view::npos)
      shrink(variable);
  for (const ptx::Variable &variable : function->declarations)
    shrink(variable);
  size_t brace = function->range.begin + body.find('{') + 1;
  for (size_t index : readOnly)
    mutants.push_back({"a store through parameter " + std::to_string(index), 0,
                       edited(text, brace, brace,
                              "{ .reg .b64 %mutant<2>; .reg .b16 %mutated<1>;\nld.param.u64 %mutant0, [" +
                                  std::string(function->parameters[index].name) +
                                  "];\ncvta.to.global.u64 %mutant1, %mutant0;\nld.global.u8 %mutated0, [%mutant1];\n"
                                  "st.global.u8 [%mutant1], %mutated0; }\n")});
  return mutants;
}

} // namespace tenon::mutants
