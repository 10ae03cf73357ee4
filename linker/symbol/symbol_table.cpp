// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions arrive in the order of the objects, so the first weak definition wins and the result depends on nothing
// else.
#include "linker/symbol/symbol_table.h"

namespace tenon::linker {

static std::string_view kindOf(const Symbol &symbol) {
  if (symbol.variable)
    return "variable";
  return symbol.function->isEntry ? "entry point" : "function";
}

static void reportDuplicate(const Symbol &first, const Symbol &second, std::string_view variantName,
                            Diagnostics &diagnostics) {
  std::string message = concat(kindOf(second), " '", second.name, "' is defined again");
  if (first.object != second.object)
    message += concat(" in variant '", variantName, "'");
  Diagnostic &error = diagnostics.error(second.place(), "K-12", std::move(message));
  const std::string_view kind = kindOf(first);
  error.note(first.place(), concat("first defined here, as ", kind.starts_with('e') ? "an " : "a ", kind));
  error.withFix(first.object == second.object
                    ? "remove one of the definitions"
                    : "remove one, rename one, make one `static`, or give the objects different variant names");
}

void SymbolTable::define(const Symbol &symbol, std::string_view variantName, Diagnostics &diagnostics) {
  const auto position = static_cast<uint32_t>(definitions_.size());
  definitions_.push_back(symbol);
  if (!symbol.isShared()) {
    if (!symbol.isEntry())
      return;
    if (uint32_t &first = privateEntries_[symbol.name]; first == ptx::NameMap::kNone)
      first = position;
    else
      repeated_.push_back(position);
    return;
  }
  uint32_t &known = shared_[symbol.name];
  if (known == ptx::NameMap::kNone) {
    known = position;
    definitions_.back().isChosen = true;
    return;
  }
  Symbol &first = definitions_[known];
  bool bothCommon = first.isCommon() && symbol.isCommon();
  if (symbol.isWeak() || bothCommon)
    return;
  if (first.isWeak() || first.isCommon()) {
    known = position;
    first.isChosen = false;
    definitions_.back().isChosen = true;
    return;
  }
  if (first.object != symbol.object) // within one object: already reported
    reportDuplicate(first, symbol, variantName, diagnostics);
}

void SymbolTable::add(const Object &object, std::string_view variantName, Diagnostics &diagnostics) {
  const size_t first = definitions_.size(); // those of this object stand from here on
  ptx::NameMap inObject;                    // their positions, by name; filled where some name has two
  auto take = [&](const Symbol &symbol) {
    if (object.definesTwice) {
      uint32_t &position = inObject[symbol.name];
      if (position != ptx::NameMap::kNone)
        reportDuplicate(Symbol(definitions_[first + position]), symbol, variantName, diagnostics);
      else
        position = static_cast<uint32_t>(definitions_.size() - first);
    }
    define(symbol, variantName, diagnostics);
  };
  for (const ptx::Function &function : object.module.functions)
    if (!function.isDeclaration)
      take({function.name, &object, &function, nullptr});
  for (const ptx::Variable &variable : object.module.variables)
    if (!variable.isExtern)
      take({variable.name, &object, nullptr, &variable});
}

const Symbol *SymbolTable::find(std::string_view name, size_t &hint) const {
  if (hint < definitions_.size() && definitions_[hint].isChosen && ptx::sameName(definitions_[hint].name, name))
    return &definitions_[hint];
  const uint32_t position = shared_.find(name);
  if (position == ptx::NameMap::kNone)
    return nullptr;
  hint = position;
  return &definitions_[position];
}

const Symbol *SymbolTable::findEntry(std::string_view name, size_t &hint) const {
  const Symbol *shared = find(name, hint);
  if (shared && shared->isEntry())
    return shared;
  const uint32_t position = privateEntries_.find(name);
  if (position == ptx::NameMap::kNone)
    return shared;
  hint = position;
  return &definitions_[position];
}

std::vector<SymbolTable::Repeated> SymbolTable::repeatedEntries() const {
  std::vector<Repeated> all;
  for (uint32_t position : repeated_)
    all.push_back({&definitions_[privateEntries_.find(definitions_[position].name)], &definitions_[position]});
  return all;
}

} // namespace tenon::linker
