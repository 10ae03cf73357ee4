// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX has one name space per module and no order-free declarations. What ptxas 13 accepts decides the edits:
//   - `.extern .func f(..);` beside a definition of f is refused, `.visible .func f(..);` before it is fine, after it
//   is not.
//     So a declaration that is met later takes the definition's linkage, one that was met before is blanked.
//   - variables are defined before they are used: a definition that comes after a use moves to the front.
//   - a `.weak` definition that lost is blanked, or kept as a declaration where the winner comes later.
//   - private names (no linking directive) may collide: they are renamed, throughout their object, which changes
//   nothing
//     since a whole object's tokens change together. A kernel keeps its name where it can.
// Edits keep the line breaks, so a place in the merged text can be told as the place where it was written.
#include "linker/symbol/merge_ptx.h"

#include "linker/symbol/symbol_table.h"
#include "linker/symbol/word_scanner.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace tenon::linker {
namespace {

std::string_view linkageOf(const Symbol &symbol) {
  return symbol.isWeak() ? ".weak" : ".visible";
}

/// One object on its way into the merged module.
struct Part {
  const Object *object = nullptr;
  std::string text;                                // the object's, with blanked ranges
  std::map<size_t, std::string_view> linkages;     // place of a linking directive -> what replaces it
  std::map<std::string_view, std::string> renames; // private name -> new name

  void blank(size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < text.size(); ++i)
      if (text[i] != '\n')
        text[i] = ' ';
  }
};

class Merger {
public:
  Merger(std::span<const Object *const> objects, Diagnostics &diagnostics)
      : objects_(objects), diagnostics_(diagnostics) {}

  std::optional<MergedText> run() {
    const size_t errorsBefore = diagnostics_.errorCount();
    for (const Object *object : objects_) {
      order_.emplace(object, parts_.size());
      std::string_view text = object->input->bytes;
      parts_.push_back({.object = object, .text = std::string(text.substr(0, text.find('\0')))});
      Diagnostics reportedBefore; // resolveSymbols did
      symbols_.add(*object, "", reportedBefore);
      checkSupported(*object);
    }
    for (size_t i = 0; i < parts_.size(); ++i) {
      blankHeaderAndDebug(parts_[i]);
      for (const ptx::Function &function : parts_[i].object->module.functions)
        editFunction(i, function);
      for (const ptx::Variable &variable : parts_[i].object->module.variables)
        editVariable(i, variable);
      chooseRenames(i);
    }
    if (diagnostics_.errorCount() != errorsBefore)
      return std::nullopt;
    return write();
  }

private:
  void checkSupported(const Object &object) {
    if (!object.module.aliases.empty())
      diagnostics_.error(object.placeOf(object.module.aliases.front()), "K-10",
                         concat("the object is merged with others and has .alias '", object.module.aliases.front().name,
                                "', which is not supported"));
    for (std::string_view option : object.module.targetOptions)
      if (option != "debug")
        diagnostics_.error(
            object.module.targetAt, "K-10",
            concat("the object is merged with others and has target option '", option, "', which is not supported"));
  }

  /// Header directives are written once for all; .file, .loc and .section count files per module and are left out.
  static void blankHeaderAndDebug(Part &part) {
    const std::string text = part.text;
    WordScanner scanner(text);
    for (Word word = scanner.next(); !word.text.empty(); word = scanner.next()) {
      size_t end = word.begin;
      if (word.text == ".version" || word.text == ".address_size" || word.text == ".target")
        end = endOfHeaderDirective(text, scanner.position(), word.text == ".target");
      else if (word.text == ".loc" || word.text == ".file")
        end = endOfDebugDirective(text, scanner.position());
      else if (word.text == ".section")
        end = std::min(text.find('}', scanner.position()), text.size() - 1) + 1;
      if (end == word.begin)
        continue;
      part.blank(word.begin, end);
      scanner = WordScanner(text, end);
    }
  }

  /// `.version 8.0` and `.address_size 64` end with their number, `.target sm_80, debug` with its last option.
  static size_t endOfHeaderDirective(std::string_view text, size_t position, bool isList) {
    WordScanner scanner(text, position);
    scanner.next();
    size_t end = scanner.position();
    for (Word word = scanner.next(); !word.text.empty(); word = scanner.next()) {
      const bool isFraction = !isList && word.text[0] == '.' && word.text.size() > 1 && std::isdigit(word.text[1]);
      if (isList && word.text == ",")
        scanner.next();
      else if (!isFraction)
        break;
      end = scanner.position();
    }
    return end;
  }

  /// `.loc 1 2 3, function_name L+4, inlined_at 1 5 6` and `.file 1 "x", 3, 4`: numbers, strings, and what commas add.
  static size_t endOfDebugDirective(std::string_view text, size_t position) {
    WordScanner scanner(text, position);
    size_t end = position;
    for (Word word = scanner.next(); !word.text.empty(); word = scanner.next()) {
      const bool takesNext = word.text == "," || word.text == "+";
      if (takesNext) {
        Word next = scanner.next();
        if (next.text == "function_name")
          scanner.next();
      } else if (!std::isdigit(static_cast<unsigned char>(word.text[0])) && word.text[0] != '"') {
        break;
      }
      end = scanner.position();
    }
    return end;
  }

  /// The definition that all objects see, and whether it comes in an earlier (-1), the same (0) or a later (1) part.
  const Symbol *findDefinition(std::string_view name, size_t part, int &where) const {
    const Symbol *symbol = symbols_.find(name);
    if (!symbol)
      return nullptr;
    const size_t home = order_.at(symbol->object);
    where = home < part ? -1 : home > part;
    return symbol;
  }

  /// A name that the object itself defines without a linking directive stays its own.
  static bool isPrivate(const Object &object, std::string_view name) {
    if (const ptx::Function *function = object.functions.find(name))
      return !function->isDeclaration && !function->isVisible && !function->isWeak;
    const ptx::Variable *variable = object.variables.find(name);
    return variable && !variable->isExtern && !variable->isVisible && !variable->isWeak && !variable->isCommon;
  }

  void editFunction(size_t index, const ptx::Function &function) {
    Part &part = parts_[index];
    int where = 0;
    const Symbol *definition = findDefinition(function.name, index, where);
    if (!definition || definition->function == &function || isPrivate(*part.object, function.name))
      return;
    if (!definition->function || !sameSignature(function, *definition->function)) {
      reportMismatch(function.name, part.object->placeOf(function), *definition);
      return;
    }
    if (where < 0) {
      part.blank(function.range.begin, function.range.end);
    } else if (where > 0) {
      // Declares what comes later. The linking directive, if any, is the first word.
      std::string_view first = WordScanner(part.text, function.range.begin).next().text;
      if (first == ".extern" || first == ".visible" || first == ".weak")
        part.linkages[function.range.begin] = linkageOf(*definition);
      if (!function.isDeclaration)
        cutBody(part, function);
    }
  }

  /// `{ ... }` becomes `;`.
  static void cutBody(Part &part, const ptx::Function &function) {
    WordScanner scanner(part.text, function.range.begin);
    Word word = scanner.next();
    while (!word.text.empty() && word.text != "{")
      word = scanner.next();
    const size_t begin = word.begin;
    part.blank(begin, function.range.end);
    if (begin < part.text.size())
      part.text[begin] = ';';
  }

  static bool sameSignature(const ptx::Function &a, const ptx::Function &b) {
    auto same = [](const std::vector<ptx::Variable> &a, const std::vector<ptx::Variable> &b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ptx::Variable &a, const ptx::Variable &b) {
        return a.bytes() == b.bytes() && a.effectiveAlignment() == b.effectiveAlignment() && a.isArray == b.isArray;
      });
    };
    return a.isEntry == b.isEntry && same(a.returns, b.returns) && same(a.parameters, b.parameters);
  }

  void editVariable(size_t index, const ptx::Variable &variable) {
    Part &part = parts_[index];
    int where = 0;
    const Symbol *definition = findDefinition(variable.name, index, where);
    if (!definition || definition->variable == &variable || where == 0 || isPrivate(*part.object, variable.name))
      return;
    const ptx::Variable *found = definition->variable;
    const bool isOpen = variable.isArray && !variable.dimensions.empty() && !variable.dimensions.front();
    if (!found || found->space != variable.space || (!isOpen && found->bytes() != variable.bytes())) {
      reportMismatch(variable.name, part.object->placeOf(variable), *definition);
      return;
    }
    for (const ptx::Variable &sibling : part.object->module.variables)
      if (sibling.range.begin == variable.range.begin && !findDefinition(sibling.name, index, where)) {
        diagnostics_
            .error(part.object->placeOf(sibling), "K-10",
                   concat("'", sibling.name, "' is declared together with '", variable.name, "' and defined nowhere"))
            .withFix("declare each variable in a statement of its own");
        return;
      }
    findDefinition(variable.name, index, where);
    part.blank(variable.range.begin, variable.range.end);
    if (where > 0)
      moveToFront(*definition);
  }

  void moveToFront(const Symbol &definition) {
    const ptx::Variable &variable = *definition.variable;
    for (const ptx::Variable::Initializer &initializer : variable.initializers)
      if (initializer.value.kind == ptx::Operand::Kind::Name) {
        diagnostics_
            .error(definition.place(), "K-10",
                   concat("variable '", variable.name,
                          "' is used by an object before this one and its initialiser holds "
                          "an address, which is not supported"))
            .withFix("give this object first");
        return;
      }
    front_.emplace(std::pair(order_.at(definition.object), variable.range.begin), &variable);
  }

  void reportMismatch(std::string_view name, SourceLocation where, const Symbol &definition) {
    diagnostics_
        .error(std::move(where), "K-10",
               concat("'", name, "' is declared otherwise than it is defined in another object"))
        .note(definition.place(), "defined here")
        .withFix("include one header for both");
  }

  /// `.reg .b32 r<4>` of a body declares r0 to r3: a private r1 of the module cannot be renamed word by word then.
  static bool isRegisterSomewhere(const Object &object, std::string_view name) {
    return std::any_of(object.registerStems.begin(), object.registerStems.end(), [name](std::string_view stem) {
      return name.size() > stem.size() && name.starts_with(stem) &&
             name.find_first_not_of("0123456789", stem.size()) == std::string_view::npos;
    });
  }

  /// A private entry point is launched by its name, so that the others' private things give way.
  bool isLaunched(size_t index, std::string_view name) const {
    auto isEntry = [name](const Part &part) {
      const ptx::Function *function = part.object->functions.find(name);
      return function && function->isEntry && !function->isDeclaration;
    };
    if (!isEntry(parts_[index]))
      return false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Object &other = *parts_[i].object;
      const bool isNamed = other.functions.contains(name) || other.variables.contains(name);
      if (i != index && isNamed && (!isPrivate(other, name) || (i < index && isEntry(parts_[i]))))
        return false;
    }
    return true;
  }

  void chooseRenames(size_t index) {
    Part &part = parts_[index];
    auto isTaken = [&](std::string_view name) {
      for (const Part &other : parts_)
        if (&other != &part && (other.object->functions.contains(name) || other.object->variables.contains(name)))
          return true;
      return false;
    };
    auto choose = [&](std::string_view name) {
      if (!isPrivate(*part.object, name) || !isTaken(name) || isLaunched(index, name))
        return;
      if (isRegisterSomewhere(*part.object, name)) {
        diagnostics_.error(part.object->place(), "K-10",
                           concat("private name '", name, "' is taken in another object and names a register here"));
        return;
      }
      std::string fresh = concat(name, '$', index);
      while (isTaken(fresh) || part.text.find(fresh) != std::string::npos)
        fresh += '$';
      part.renames[name] = std::move(fresh);
    };
    for (const ptx::Function &function : part.object->module.functions)
      choose(function.name);
    for (const ptx::Variable &variable : part.object->module.variables)
      choose(variable.name);
  }

  static std::string applyEdits(const Part &part) {
    std::string out;
    size_t copied = 0;
    WordScanner scanner(part.text);
    for (Word word = scanner.next(); !word.text.empty(); word = scanner.next()) {
      std::string_view replacement;
      if (auto linkage = part.linkages.find(word.begin); linkage != part.linkages.end())
        replacement = linkage->second;
      else if (auto rename = part.renames.find(word.text); rename != part.renames.end())
        replacement = rename->second;
      else
        continue;
      out.append(part.text, copied, word.begin - copied).append(replacement);
      copied = word.begin + word.text.size();
    }
    return out.append(part.text, copied);
  }

  /// A variable's text on one line, without comments.
  static std::string oneLine(std::string_view text) {
    std::string out;
    WordScanner scanner(text);
    for (Word word = scanner.next(); !word.text.empty(); word = scanner.next())
      out.append(word.text).append(" ");
    return out;
  }

  MergedText write() {
    MergedText merged;
    uint16_t isa = 0;
    for (const Object *object : objects_)
      isa = std::max(isa, object->module.isa);
    auto add = [&merged](std::string_view line, const Object &object, uint32_t number) {
      merged.text.append(line).append("\n");
      merged.lines.push_back({object.input, number});
    };
    const Object &first = *objects_.front();
    add(concat(".version ", isa / 10, '.', isa % 10), first, first.module.versionAt.line);
    add(concat(".target ", first.module.target.toString()), first, first.module.targetAt.line);
    add(".address_size 64", first, first.module.addressSizeAt.line);
    for (auto [key, variable] : front_) {
      const Object &object = *objects_[key.first];
      std::string_view text = std::string_view(object.input->bytes)
                                  .substr(variable->range.begin, variable->range.end - variable->range.begin);
      add(oneLine(text), object, variable->line);
      parts_[key.first].blank(variable->range.begin, variable->range.end);
    }
    for (const Part &part : parts_) {
      std::string text = applyEdits(part);
      std::string_view rest = text;
      for (uint32_t number = 1; !rest.empty(); ++number) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find_first_not_of(" \t\r") != std::string_view::npos)
          add(line, *part.object, number);
      }
    }
    return merged;
  }

  std::span<const Object *const> objects_;
  Diagnostics &diagnostics_;
  std::vector<Part> parts_;
  std::map<const Object *, size_t> order_; // lookup only
  SymbolTable symbols_;
  std::map<std::pair<size_t, uint32_t>, const ptx::Variable *> front_; // by part and place
};

} // namespace

std::optional<MergedText> mergePtx(std::span<const Object *const> objects, Diagnostics &diagnostics) {
  return Merger(objects, diagnostics).run();
}

} // namespace tenon::linker
