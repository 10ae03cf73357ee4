// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that the objects of one variant share. PTX linkage (PTX ISA, "Linking Directives"): `.visible` is defined
// once and seen by every object, `.weak` may be defined in several and gives way to `.visible`, `.common` variables may
// repeat, no directive means private to its object, `.extern` asks for a definition elsewhere. An entry point that is
// private to its object is none the less a kernel: the driver finds it by name, in PTX and in a cubin.
#pragma once

#include "linker/object/object.h"
#include "ptx/words/name_map.h"
#include "support/diagnostics.h"

#include <string_view>
#include <vector>

namespace tenon::linker {

struct Symbol {
  std::string_view name;
  const Object *object = nullptr;
  const ptx::Function *function = nullptr; // exactly one of the two is set
  const ptx::Variable *variable = nullptr;

  bool isChosen = false; // among those that share the name: the one that every object sees

  bool isVisible() const { return function ? function->isVisible : variable->isVisible; }
  bool isWeak() const { return function ? function->isWeak : variable->isWeak; }
  bool isEntry() const { return function && function->isEntry; }
  bool isCommon() const { return variable && variable->isCommon; }
  /// Seen by other objects.
  bool isShared() const { return isVisible() || isWeak() || isCommon(); }
  SourceLocation place() const { return function ? object->placeOf(*function) : object->placeOf(*variable); }
};

class SymbolTable {
public:
  /// Makes room for so many definitions.
  void reserve(size_t count) {
    definitions_.reserve(count);
    shared_.reserve(count);
  }
  /// Takes the definitions of an object. A second strong definition of a shared name, and any second definition within
  /// one object, is K-12, reported with both places.
  void add(const Object &object, std::string_view variantName, Diagnostics &diagnostics);

  /// The definition that every object of the variant sees under this name, or null. Holds until the next add(). `hint`:
  /// a position among the definitions where it may be; where it is not, the right one is put there.
  const Symbol *find(std::string_view name, size_t &hint) const;
  const Symbol *find(std::string_view name) const {
    size_t none = SIZE_MAX;
    return find(name, none);
  }
  /// The definition that a launch by this name gets: an entry point that every object sees, else the first that is
  /// private to its object, else what find() returns. `hint` as above.
  const Symbol *findEntry(std::string_view name, size_t &hint) const;
  /// Private entry points after the first of their name, with it, in the order of the objects.
  struct Repeated {
    const Symbol *first = nullptr, *again = nullptr;
  };
  std::vector<Repeated> repeatedEntries() const;
  /// Every definition, private ones too, in the order of the objects.
  const std::vector<Symbol> &definitions() const { return definitions_; }

private:
  void define(const Symbol &symbol, std::string_view variantName, Diagnostics &diagnostics);

  std::vector<Symbol> definitions_;
  ptx::NameMap shared_;         // those that every object sees, by name: their positions
  ptx::NameMap privateEntries_; // the first of a name
  std::vector<uint32_t> repeated_;
};

} // namespace tenon::linker
