// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing is ptx/'s; here a module becomes an object: its names are indexed once, since every pass asks for them.
#include "linker/object/object.h"

#include "ptx/parse/parser.h"

#include <algorithm>

namespace tenon::linker {

SourceLocation Object::placeOf(uint32_t line, uint32_t column) const {
  if (isMetadataOnly)
    return place(); // the text was made up
  if (line == 0 || line > lines.size())
    return {input->path, line, column};
  const LineOrigin &origin = lines[line - 1];
  return {origin.input->path, origin.line, column};
}

bool isDynamicShared(const ptx::Variable &variable) {
  return variable.isExtern && variable.space == ptx::StateSpace::Shared && !variable.dimensions.empty() &&
         !variable.dimensions.front();
}

std::string_view targetDirective(std::string_view text) {
  constexpr std::string_view kDirective = ".target";
  for (size_t at = text.find(kDirective); at != std::string_view::npos; at = text.find(kDirective, at + 1)) {
    if (at != 0 && text[at - 1] != '\n')
      continue;
    std::string_view word = text.substr(at + kDirective.size());
    word.remove_prefix(std::min(word.find_first_not_of(" \t"), word.size()));
    return word.substr(0, word.find_first_of(" \t\r\n,"));
  }
  return {};
}

void indexNames(Object &object) {
  object.functions.reserve(object.module.functions.size());
  object.variables.reserve(object.module.variables.size());
  for (const ptx::Function &function : object.module.functions) {
    const ptx::Function *&known = object.functions[function.name];
    object.definesTwice |= known && !known->isDeclaration && !function.isDeclaration;
    if (!known || known->isDeclaration)
      known = &function;
  }
  for (const ptx::Variable &variable : object.module.variables) {
    const ptx::Variable *&known = object.variables[variable.name];
    const ptx::Function *sameName = object.functions.find(variable.name);
    object.definesTwice |=
        !variable.isExtern && ((known && !known->isExtern) || (sameName && !sameName->isDeclaration));
    if (!known || known->isExtern)
      known = &variable;
  }
  for (const ptx::Alias &alias : object.module.aliases) {
    const ptx::Alias *&known = object.aliases[alias.name];
    if (!known)
      known = &alias;
  }
}

std::unique_ptr<Object> parseObject(const ObjectInput &input, Diagnostics &diagnostics) {
  Diagnostics found;
  auto object = std::make_unique<Object>();
  object->input = &input;
  object->cubin = input.cubin;
  object->module = ptx::parse(std::make_shared<const SourceFile>(input.path, input.bytes), found);
  const bool parsed = !found.hasErrors();
  diagnostics.append(std::move(found));
  if (!parsed)
    return nullptr;
  indexNames(*object);
  indexBodies(*object);
  return object;
}

void indexBodies(Object &object) {
  const ptx::ModuleNames names(object.module);
  ptx::DefUseFinder uses;
  object.bodies.resize(object.module.functions.size());
  for (const ptx::Function &function : object.module.functions) {
    if (function.isDeclaration)
      continue;
    object.bodies[object.indexOf(function)] = findBodyFacts(object.module, function, uses.run(function, names), names);
    for (const ptx::Variable &variable : function.declarations)
      if (variable.registerCount)
        object.registerStems.push_back(variable.name);
  }
}

const BodyFacts &Object::factsOf(const ptx::Function &function) const {
  static const BodyFacts none;
  const uint32_t index = indexOf(function);
  return index < bodies.size() ? bodies[index] : none;
}

const ptx::Function &Object::bodyOf(uint32_t function) const {
  const ptx::Function &known = module.functions[function];
  if (known.isDeclaration || !known.statements.empty())
    return known;
  if (!readAgain_ || readAgain_->number != function) {
    readAgain_ = std::make_unique<ReadAgain>();
    readAgain_->number = function;
    readAgain_->function = ptx::parseBody(module, known, readAgain_->arena);
  }
  return readAgain_->function;
}

const KernelTrace *Object::traceOf(const ptx::Function &entry, const ParameterSlots &slots) const {
  const uint32_t function = indexOf(entry);
  auto found = std::lower_bound(traces.begin(), traces.end(), function,
                                [](const TracedKernel &kernel, uint32_t wanted) { return kernel.function < wanted; });
  for (; found != traces.end() && found->function == function; ++found)
    if (found->slots == slots)
      return &found->trace;
  return nullptr;
}

} // namespace tenon::linker
