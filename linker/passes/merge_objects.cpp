// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects that name each other's functions or variables can only run as one image. They are found by their `.extern`
// declarations: two objects belong together when one declares what the other defines, and so on through all of them. So
// do an object whose `.weak` definition gives way and the one whose definition runs instead, as a device linker would
// have it: which of two definitions runs must not depend on whether the objects meet for another reason. An object that
// refers to no other stays an image of its own, as it was given.
#include "linker/passes/passes.h"
#include "linker/symbol/merge_ptx.h"
#include "linker/symbol/word_scanner.h"

#include <algorithm>

namespace tenon::linker {
namespace {

std::string_view textOf(const Object &object, const ptx::SourceRange &range) {
  return object.input->bytes.view().substr(range.begin, range.end - range.begin);
}

/// Whether two definitions are the same words, line numbers left out: templates and inline functions are, which every
/// object has that uses them.
bool isSameCode(std::string_view a, std::string_view b) {
  WordScanner first(a), second(b);
  auto next = [](WordScanner &scanner, std::string_view text) {
    Word word = scanner.next();
    while (word.text == ".loc") { // to the end of its line
      scanner = WordScanner(text, std::min(text.find('\n', word.begin), text.size()));
      word = scanner.next();
    }
    return word.text;
  };
  while (true) {
    const std::string_view left = next(first, a);
    if (left != next(second, b))
      return false;
    if (left.empty())
      return true;
  }
}

/// Groups of a variant's objects, by position; each group in the order given, groups by their first object.
class Groups {
public:
  explicit Groups(const Variant &variant) : variant_(variant), leader_(variant.objects.size()) {
    for (size_t i = 0; i < leader_.size(); ++i)
      leader_[i] = i;
    for (size_t i = 0; i < leader_.size(); ++i)
      joinNeeded(i);
  }

  std::vector<std::vector<const Object *>> take() {
    std::vector<std::vector<const Object *>> groups(leader_.size());
    for (size_t i = 0; i < leader_.size(); ++i)
      groups[find(i)].push_back(variant_.objects[i]);
    std::erase_if(groups, [](const auto &group) { return group.empty(); });
    return groups;
  }

private:
  size_t find(size_t i) const { return leader_[i] == i ? i : find(leader_[i]); }

  void join(size_t i, std::string_view name) {
    const Symbol *symbol = variant_.symbols.find(name);
    if (!symbol)
      return;
    const size_t home =
        size_t(std::find(variant_.objects.begin(), variant_.objects.end(), symbol->object) - variant_.objects.begin());
    const size_t a = find(i), b = find(home);
    leader_[std::max(a, b)] = std::min(a, b);
  }

  void joinNeeded(size_t i) {
    const Object &object = *variant_.objects[i];
    for (const ptx::Function &function : object.module.functions)
      if (function.isDeclaration && object.functions.find(function.name)->isDeclaration &&
          !object.aliases.contains(function.name))
        join(i, function.name);
    for (const ptx::Variable &variable : object.module.variables)
      if (variable.isExtern && object.variables.find(variable.name)->isExtern && !isDynamicShared(variable))
        join(i, variable.name);
    for (const ptx::Function &function : object.module.functions)
      if (function.isWeak && !function.isEntry && !function.isDeclaration)
        joinOverridden(i, function.name, [&](const Symbol &chosen) {
          return chosen.function &&
                 !isSameCode(textOf(object, function.range), textOf(*chosen.object, chosen.function->range));
        });
    for (const ptx::Variable &variable : object.module.variables)
      if (variable.isWeak || variable.isCommon)
        joinOverridden(i, variable.name,
                       [](const Symbol &chosen) { return chosen.variable && !chosen.isWeak() && !chosen.isCommon(); });
  }

  /// Joins the object with that of the definition which runs instead of its own, where that one is another.
  template <typename Differs> void joinOverridden(size_t i, std::string_view name, Differs differs) {
    const Symbol *chosen = variant_.symbols.find(name);
    if (chosen && chosen->object != variant_.objects[i] && differs(*chosen))
      join(i, name);
  }

  const Variant &variant_;
  std::vector<size_t> leader_;
};

std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

const Object *mergeGroup(LinkContext &context, const std::vector<const Object *> &group) {
  std::optional<MergedText> merged = mergePtx(group, context.diagnostics);
  if (!merged)
    return nullptr;
  auto input = std::make_unique<ObjectInput>(*group.front()->input);
  input->path.clear();
  input->cubin.clear();
  for (const Object *object : group) {
    input->path += (input->path.empty() ? "" : "+") + fileName(object->input->path);
    input->priority = std::max(input->priority, object->input->priority);
  }
  input->bytes = std::move(merged->text);
  std::unique_ptr<Object> object = ObjectReader(context.requests).read(*input, context.diagnostics);
  if (!object) {
    context.diagnostics.error({input->path, 0, 0}, "K-10", "the objects do not merge into one module")
        .withFix("put kernel and definition into one translation unit (nvcc without -rdc=true)");
    return nullptr;
  }
  object->lines = std::move(merged->lines);
  context.mergedInputs.push_back(std::move(input));
  context.mergedObjects.push_back(std::move(object));
  return context.mergedObjects.back().get();
}

void mergeVariant(LinkContext &context, Variant &variant) {
  std::vector<const Object *> result;
  for (const std::vector<const Object *> &group : Groups(variant).take()) {
    const Object *object = group.size() == 1 ? group.front() : mergeGroup(context, group);
    if (object)
      result.push_back(object);
    else
      variant.complete = false;
  }
  if (result == variant.objects)
    return;
  variant.objects = std::move(result);
  variant.symbols = SymbolTable();
  for (const Object *object : variant.objects)
    variant.symbols.add(*object, variant.name, context.diagnostics);
}

} // namespace

void mergeObjects(LinkContext &context) {
  for (Variant &variant : context.variants)
    if (!variant.hasDuplicates)
      mergeVariant(context, variant);
}

} // namespace tenon::linker
