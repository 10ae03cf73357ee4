// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function per part of a module; each appends to the text that grows.
#include "ptx/printer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace tenon::ptx {
namespace {

std::string_view spelling(StateSpace space) {
  switch (space) {
  case StateSpace::Generic:
    return "";
  case StateSpace::Reg:
    return ".reg";
  case StateSpace::Sreg:
    return ".sreg";
  case StateSpace::Const:
    return ".const";
  case StateSpace::Global:
    return ".global";
  case StateSpace::Local:
    return ".local";
  case StateSpace::Param:
    return ".param";
  case StateSpace::Shared:
    return ".shared";
  case StateSpace::Tex:
    return ".tex";
  }
  return "";
}

template <typename... Parts> void append(std::string &out, const Parts &...parts) {
  (out.append(parts), ...);
}

std::string decimal(uint64_t value) {
  return std::to_string(value);
}

std::string hexadecimal(const char *prefix, uint64_t bits, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%0*" PRIX64, prefix, digits, bits);
  return text;
}

/// ptxas reads `+-8` only, where the ISA has `-8` as well.
std::string offsetText(int64_t offset) {
  return offset == 0 ? "" : "+" + std::to_string(offset);
}

template <typename Items, typename Print>
void appendList(std::string &out, const Items &items, std::string_view separator, Print print) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0)
      out.append(separator);
    print(items[i]);
  }
}

void appendOperand(std::string &out, const Operand &operand) {
  auto elements = [&](std::string_view separator) {
    appendList(out, operand.elements, separator, [&](const Operand &element) { appendOperand(out, element); });
  };
  append(out, operand.negated ? "!" : "", operand.minus ? "-" : "");
  switch (operand.kind) {
  case Operand::Kind::Name:
    append(out, operand.name, offsetText(operand.offset));
    return;
  case Operand::Kind::Integer:
    append(out, std::to_string(static_cast<int64_t>(operand.bits)));
    return;
  case Operand::Kind::Float32:
    append(out, hexadecimal("0f", operand.bits, 8));
    return;
  case Operand::Kind::Float64:
    append(out, hexadecimal("0d", operand.bits, 16));
    return;
  case Operand::Kind::Vector:
    out += '{';
    elements(", ");
    out += '}';
    return;
  case Operand::Kind::List:
    out += '(';
    elements(", ");
    out += ')';
    return;
  case Operand::Kind::Address:
    out += '[';
    for (size_t i = 0; i < operand.elements.size(); ++i) {
      out += i != 0 ? ", " : "";
      appendOperand(out, operand.elements[i]);
      out += i == 0 ? offsetText(operand.offset) : "";
    }
    out += ']';
    return;
  case Operand::Kind::Pair:
    elements("|");
    return;
  case Operand::Kind::Sink:
    out += '_';
    return;
  }
}

void appendInitializer(std::string &out, const Variable::Initializer &initializer) {
  const Operand &value = initializer.value;
  if (initializer.mask != 0)
    append(out, hexadecimal("0x", initializer.mask, 2), "(");
  if (initializer.isGeneric)
    append(out, "generic(", value.name, ")", offsetText(value.offset));
  else
    appendOperand(out, value);
  if (!value.elements.empty()) { // a field of a sampler
    out += " = ";
    appendOperand(out, value.elements[0]);
  }
  out += initializer.mask != 0 ? ")" : "";
}

/// Values [begin, end) in braces; extents[0] groups at this level, each of the other extents' product.
void appendValues(std::string &out, const Variable &variable, const std::vector<uint64_t> &extents, size_t level,
                  size_t begin, size_t end) {
  size_t stride = 1;
  for (size_t i = level + 1; i < extents.size(); ++i)
    stride *= std::max<uint64_t>(1, extents[i]);
  out += '{';
  for (size_t at = begin; at < end; at += stride) {
    out += at != begin ? ", " : "";
    if (level + 1 >= extents.size())
      appendInitializer(out, variable.initializers[at]);
    else
      appendValues(out, variable, extents, level + 1, at, std::min(end, at + stride));
  }
  out += '}';
}

void appendVariable(std::string &out, const Variable &variable) {
  append(out, variable.isExtern ? ".extern " : "", variable.isVisible ? ".visible " : "",
         variable.isWeak ? ".weak " : "", variable.isCommon ? ".common " : "", spelling(variable.space),
         variable.isManaged ? " .attribute(.managed)" : "");
  if (variable.alignment != 0)
    append(out, " .align ", decimal(variable.alignment));
  if (variable.vectorWidth != 1)
    append(out, " .v", decimal(variable.vectorWidth));
  append(out, " .", spelling(variable.type));
  if (variable.hasPtr) {
    append(out, " .ptr", variable.ptrSpace != StateSpace::Generic ? " " : "", spelling(variable.ptrSpace));
    if (variable.ptrAlignment != 0)
      append(out, " .align ", decimal(variable.ptrAlignment));
  }
  append(out, " ", variable.name);
  if (variable.registerCount != 0)
    append(out, "<", decimal(variable.registerCount), ">");
  std::vector<uint64_t> extents;
  for (const std::optional<uint64_t> &extent : variable.dimensions) {
    append(out, "[", extent ? decimal(*extent) : "", "]");
    extents.push_back(extent.value_or(0));
  }
  if (!variable.hasInitializer)
    return;
  out += " = ";
  if (variable.vectorWidth != 1)
    extents.push_back(variable.vectorWidth);
  if (isOpaque(variable.type))
    extents.resize(1);
  if (extents.empty())
    appendInitializer(out, variable.initializers[0]);
  else
    appendValues(out, variable, extents, 0, 0, variable.initializers.size());
}

void appendParameters(std::string &out, const std::vector<Variable> &parameters, std::string_view separator) {
  out += '(';
  appendList(out, parameters, separator, [&](const Variable &parameter) { appendVariable(out, parameter); });
  out += ')';
}

void appendExtents(std::string &out, std::string_view directive,
                   const std::optional<std::array<uint32_t, 3>> &extents) {
  if (extents)
    append(out, "\n", directive, " ", decimal((*extents)[0]), ", ", decimal((*extents)[1]), ", ",
           decimal((*extents)[2]));
}

void appendCount(std::string &out, std::string_view directive, std::optional<uint32_t> count) {
  if (count)
    append(out, "\n", directive, " ", decimal(*count));
}

void appendTable(std::string &out, const LabelTable &table, Statement::Kind kind) {
  append(out, table.name, ": ");
  if (kind == Statement::Kind::CallPrototype) {
    out += ".callprototype ";
    appendParameters(out, table.returns, ", ");
    out += " _ ";
    appendParameters(out, table.parameters, ", ");
    append(out, table.noReturn ? " .noreturn;\n" : ";\n");
    return;
  }
  out += kind == Statement::Kind::BranchTargets ? ".branchtargets " : ".calltargets ";
  appendList(out, table.entries, ", ", [&](std::string_view entry) { append(out, entry); });
  out += ";\n";
}

void appendMark(std::string &out, const SourceMark &mark) {
  append(out, ".loc ", decimal(mark.file), " ", decimal(mark.line), " ", decimal(mark.column));
  if (!mark.functionName.empty())
    append(out, ", function_name ", mark.functionName);
  if (mark.inlinedFile != 0)
    append(out, ", inlined_at ", decimal(mark.inlinedFile), " ", decimal(mark.inlinedLine), " ",
           decimal(mark.inlinedColumn));
  out += '\n';
}

void appendInstruction(std::string &out, const Instruction &instruction) {
  if (!instruction.predicate.empty())
    append(out, instruction.predicateNegated ? "@!" : "@", instruction.predicate, " ");
  append(out, instruction.form(), instruction.operands.empty() ? "" : " ");
  appendList(out, instruction.operands, ", ", [&](const Operand &operand) { appendOperand(out, operand); });
  out += ';';
}

void appendStatement(std::string &out, const Function &function, const Statement &statement) {
  switch (statement.kind) {
  case Statement::Kind::Instruction:
    out += '\t';
    appendInstruction(out, function.instructions[statement.index]);
    out += '\n';
    return;
  case Statement::Kind::Label:
    append(out, statement.name, ":\n");
    return;
  case Statement::Kind::Declaration:
    out += '\t';
    appendVariable(out, function.declarations[statement.index]);
    out += ";\n";
    return;
  case Statement::Kind::BlockBegin:
    out += "\t{\n";
    return;
  case Statement::Kind::BlockEnd:
    out += "\t}\n";
    return;
  case Statement::Kind::Loc:
    out += '\t';
    appendMark(out, function.marks[statement.index]);
    return;
  case Statement::Kind::Pragma:
    append(out, "\t.pragma \"", statement.name, "\";\n");
    return;
  case Statement::Kind::BranchTargets:
  case Statement::Kind::CallTargets:
  case Statement::Kind::CallPrototype:
    appendTable(out, function.tables[statement.index], statement.kind);
    return;
  }
}

void appendFunction(std::string &out, const Function &function) {
  append(out, function.isExtern ? ".extern " : "", function.isVisible ? ".visible " : "",
         function.isWeak ? ".weak " : "", function.isEntry ? ".entry " : ".func ");
  if (!function.returns.empty()) {
    appendParameters(out, function.returns, ", ");
    out += ' ';
  }
  append(out, function.name);
  appendParameters(out, function.parameters, ",\n\t");
  appendExtents(out, ".maxntid", function.maxThreads);
  appendExtents(out, ".reqntid", function.requiredThreads);
  appendCount(out, ".minnctapersm", function.minBlocksPerSm);
  appendCount(out, ".maxnreg", function.maxRegisters);
  append(out, function.explicitCluster ? "\n.explicitcluster" : "");
  appendExtents(out, ".reqnctapercluster", function.requiredCluster);
  appendCount(out, ".maxclusterrank", function.maxClusterRank);
  append(out, function.blocksAreClusters ? "\n.blocksareclusters" : "", function.noReturn ? "\n.noreturn" : "");
  for (std::string_view pragma : function.pragmas)
    append(out, "\n.pragma \"", pragma, "\";");
  if (function.isDeclaration) {
    out += ";\n";
    return;
  }
  out += "\n{\n";
  for (const Statement &statement : function.statements)
    appendStatement(out, function, statement);
  out += "}\n";
}

} // namespace

std::string print(const Operand &operand) {
  std::string out;
  appendOperand(out, operand);
  return out;
}

std::string print(const Instruction &instruction) {
  std::string out;
  appendInstruction(out, instruction);
  return out;
}

std::string print(const Variable &variable) {
  std::string out;
  appendVariable(out, variable);
  return out;
}

/// Functions and variables in the order of the source, since initialisers and bodies need their names declared before.
std::string print(const Module &module) {
  std::string out;
  append(out, ".version ", decimal(module.isa / 10), ".", decimal(module.isa % 10), "\n.target ",
         module.target.toString());
  for (std::string_view option : module.targetOptions)
    append(out, ", ", option);
  out += '\n';
  if (module.addressSize != 0)
    append(out, ".address_size ", decimal(module.addressSize), "\n");
  for (const DebugFile &file : module.files)
    append(out, ".file ", decimal(file.number), " \"", file.path, "\"\n");
  for (std::string_view pragma : module.pragmas)
    append(out, ".pragma \"", pragma, "\";\n");
  size_t nextVariable = 0;
  auto variablesBefore = [&](uint32_t begin) {
    for (; nextVariable < module.variables.size() && module.variables[nextVariable].range.begin <= begin;
         ++nextVariable) {
      appendVariable(out, module.variables[nextVariable]);
      out += ";\n";
    }
  };
  for (const Function &function : module.functions) {
    variablesBefore(function.range.begin);
    appendFunction(out, function);
  }
  variablesBefore(UINT32_MAX);
  for (const Alias &alias : module.aliases)
    append(out, ".alias ", alias.name, ", ", alias.target, ";\n");
  return out;
}

} // namespace tenon::ptx
