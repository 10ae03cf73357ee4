// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two modules say the same, places in their texts aside.
#pragma once

#include "ptx/module.h"

#include <algorithm>

namespace tenon::ptx::test {

inline bool equal(const Operand &a, const Operand &b);
inline bool equal(const Instruction &a, const Instruction &b);
inline bool equal(const Variable::Initializer &a, const Variable::Initializer &b);
inline bool equal(const Variable &a, const Variable &b);
inline bool equal(const LabelTable &a, const LabelTable &b);
inline bool equal(const Function &a, const Function &b);
inline bool equal(const SourceMark &a, const SourceMark &b);
inline bool equal(const Statement &a, const Statement &b);
inline bool equal(const DebugFile &a, const DebugFile &b);
inline bool equal(const Alias &a, const Alias &b);

template <typename T> bool equal(const std::vector<T> &a, const std::vector<T> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T &x, const T &y) { return equal(x, y); });
}

template <typename T> bool equal(const List<T> &a, const List<T> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T &x, const T &y) { return equal(x, y); });
}

inline bool equal(const Operand &a, const Operand &b) {
  return a.kind == b.kind && a.negated == b.negated && a.minus == b.minus && a.name == b.name && a.bits == b.bits &&
         a.offset == b.offset && equal(a.elements, b.elements);
}

inline bool equal(const Instruction &a, const Instruction &b) {
  return a.predicate == b.predicate && a.predicateNegated == b.predicateNegated && a.opcode == b.opcode &&
         a.modifiers == b.modifiers && equal(a.operands, b.operands);
}

inline bool equal(const Variable::Initializer &a, const Variable::Initializer &b) {
  return equal(a.value, b.value) && a.isGeneric == b.isGeneric && a.mask == b.mask;
}

inline bool equal(const Variable &a, const Variable &b) {
  return a.space == b.space && a.type == b.type && a.vectorWidth == b.vectorWidth && a.alignment == b.alignment &&
         a.name == b.name && a.registerCount == b.registerCount && a.isArray == b.isArray &&
         a.dimensions == b.dimensions && a.hasPtr == b.hasPtr && a.ptrSpace == b.ptrSpace &&
         a.ptrAlignment == b.ptrAlignment && a.isExtern == b.isExtern && a.isVisible == b.isVisible &&
         a.isWeak == b.isWeak && a.isCommon == b.isCommon && a.isManaged == b.isManaged &&
         a.hasInitializer == b.hasInitializer && equal(a.initializers, b.initializers);
}

inline bool equal(const SourceMark &a, const SourceMark &b) {
  return a.file == b.file && a.line == b.line && a.column == b.column && a.functionName == b.functionName &&
         a.inlinedFile == b.inlinedFile && a.inlinedLine == b.inlinedLine && a.inlinedColumn == b.inlinedColumn;
}

inline bool equal(const Statement &a, const Statement &b) {
  return a.kind == b.kind && a.index == b.index && a.name == b.name;
}

inline bool equal(const LabelTable &a, const LabelTable &b) {
  return a.name == b.name && a.entries == b.entries && equal(a.returns, b.returns) &&
         equal(a.parameters, b.parameters) && a.noReturn == b.noReturn;
}

inline bool equal(const Function &a, const Function &b) {
  return a.name == b.name && a.isEntry == b.isEntry && a.isVisible == b.isVisible && a.isExtern == b.isExtern &&
         a.isWeak == b.isWeak && a.isDeclaration == b.isDeclaration && a.noReturn == b.noReturn &&
         equal(a.returns, b.returns) && equal(a.parameters, b.parameters) && a.requiredThreads == b.requiredThreads &&
         a.maxThreads == b.maxThreads && a.minBlocksPerSm == b.minBlocksPerSm && a.maxRegisters == b.maxRegisters &&
         a.requiredCluster == b.requiredCluster && a.maxClusterRank == b.maxClusterRank &&
         a.explicitCluster == b.explicitCluster && a.blocksAreClusters == b.blocksAreClusters &&
         a.pragmas == b.pragmas && equal(a.statements, b.statements) && equal(a.instructions, b.instructions) &&
         equal(a.declarations, b.declarations) && equal(a.marks, b.marks) && equal(a.tables, b.tables);
}

inline bool equal(const DebugFile &a, const DebugFile &b) {
  return a.number == b.number && a.path == b.path;
}
inline bool equal(const Alias &a, const Alias &b) {
  return a.name == b.name && a.target == b.target;
}

inline bool equal(const Module &a, const Module &b) {
  return a.isa == b.isa && a.target == b.target && a.targetOptions == b.targetOptions &&
         a.addressSize == b.addressSize && equal(a.functions, b.functions) && equal(a.variables, b.variables) &&
         equal(a.files, b.files) && equal(a.aliases, b.aliases) && a.pragmas == b.pragmas;
}

} // namespace tenon::ptx::test
