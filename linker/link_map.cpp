// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The writer makes a variant of the file from every object that provides a kernel, in the order of the context; the map
// follows the same order, so that places and numbers meet.
#include "linker/link_map.h"

#include "abi/format/layout_table.h"
#include "abi/occupancy.h"
#include "linker/passes/link_context.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

bool isEntryPoint(const ptx::Function &function) {
  return function.isEntry && !function.isDeclaration;
}

/// The kernels of a variant, for lookup: each object and each entry point is asked for.
class KernelIndex {
public:
  explicit KernelIndex(const Variant &variant) {
    for (const Kernel &kernel : variant.kernels) {
      byObject_[kernel.object].push_back(&kernel);
      entries_.insert(kernel.entry);
      names_.insert(kernel.entry->name);
    }
  }

  /// In the order of the variant.
  const std::vector<const Kernel *> &of(const Object &object) const {
    static const std::vector<const Kernel *> none;
    auto found = byObject_.find(&object);
    return found == byObject_.end() ? none : found->second;
  }
  bool isKernel(const ptx::Function &entry) const { return entries_.contains(&entry); }
  /// Why an entry point is no kernel of the executable.
  std::string whyUnused(const ptx::Function &entry) const {
    return names_.contains(entry.name) ? "another object of the variant provides it" : "no export names it";
  }

private:
  std::unordered_map<const Object *, std::vector<const Kernel *>> byObject_;
  std::unordered_set<const ptx::Function *> entries_;
  std::unordered_set<std::string_view> names_; // of the entries
};

void addUnused(const KernelIndex &kernels, const Object &object, LinkMap &map) {
  if (kernels.of(object).empty())
    map.unused.push_back({object.input->path, object.place(), "", "none of its kernels is an export; it is left out"});
  for (const ptx::Function &function : object.module.functions)
    if (isEntryPoint(function) && !kernels.isKernel(function))
      map.unused.push_back(
          {object.input->path, object.placeOf(function), std::string(function.name), kernels.whyUnused(function)});
}

std::string counted(uint64_t count, std::string_view noun) {
  return concat(count, " ", noun, count == 1 ? "" : "s");
}

/// Rows of cells as lines: each column as wide as its widest cell, numbers to the right.
class Table {
public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text(std::string_view indent) const {
    std::vector<size_t> widths(rows_.front().size());
    for (const std::vector<std::string> &row : rows_)
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    std::string out;
    for (const std::vector<std::string> &row : rows_) {
      std::string line(indent);
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string pad(widths[i] - row[i].size(), ' ');
        const bool isNumber = &row != &rows_.front() && row[i].find_first_not_of("0123456789") == std::string::npos;
        line += isNumber ? pad + row[i] : row[i] + pad;
        line += "  ";
      }
      line.resize(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

void addRows(const abi::ExecutableView &executable, uint32_t v, const fb::Kernel &kernel, const LinkMap::Kernel &place,
             Table &table) {
  const fb::Variant &variant = *executable.raw().variants()->Get(v);
  const fb::KernelFacts &facts = *kernel.facts();
  const bool isAssembled = facts.registers() != 0;
  auto number = [&](uint64_t value) { return isAssembled ? std::to_string(value) : std::string("-"); };
  const std::string occupancy =
      facts.occupancy_limit() == fb::OccupancyLimit::Unknown
          ? "-"
          : concat(facts.blocks_per_sm(), " (", abi::spelling(abi::OccupancyLimit(facts.occupancy_limit())), ")");
  bool isFirst = true;
  for (uint32_t index : *variant.images()) {
    const fb::Image &image = *executable.raw().images()->Get(index);
    const std::string kind = image.kind() == fb::ImageKind::Ptx ? "ptx" : "cubin";
    std::vector<std::string> row = {abi::archFromStruct(*variant.arch()).toString(), variant.name()->str(),
                                    concat(index, " ", kind), std::to_string(image.size()),
                                    std::to_string(image.data()->size())};
    if (isFirst)
      row.insert(row.end(), {number(facts.registers()), number(place.stackBytes), number(facts.spill_bytes()),
                             number(place.spillLoadBytes), std::to_string(facts.static_shared_bytes()), occupancy,
                             std::string(executable.symbolOf(kernel)),
                             place.entry.known() ? place.entry.toString() : place.object});
    isFirst = false;
    table.add(std::move(row));
  }
}

} // namespace

LinkMap mapOf(const LinkContext &context) {
  LinkMap map;
  for (const Variant &variant : context.variants) {
    const KernelIndex index(variant);
    for (const Object *object : variant.objects) {
      std::vector<LinkMap::Kernel> kernels;
      for (const Kernel *kernel : index.of(*object)) {
        LinkMap::Kernel entry{.object = object->input->path, .entry = object->placeOf(*kernel->entry)};
        if (const KernelResources *resources = context.resourcesOf(*kernel)) {
          entry.stackBytes = resources->stackBytes;
          entry.spillLoadBytes = resources->spillLoadBytes;
        }
        kernels.push_back(std::move(entry));
      }
      if (!kernels.empty())
        map.variants.push_back(std::move(kernels));
      addUnused(index, *object, map);
    }
  }
  return map;
}

std::string printLinkMap(const LinkMap &map, const abi::ExecutableView &executable, uint64_t fileBytes) {
  const fb::Executable &raw = executable.raw();
  std::string text =
      concat("map of executable '", executable.name(), "': ", counted(executable.exportCount(), "export"), ", ",
             counted(raw.variants()->size(), "variant"), ", ", counted(raw.images()->size(), "image"), ", ", fileBytes,
             " bytes\n");
  std::vector<uint32_t> next(raw.variants()->size()); // kernels of a variant ascend by export
  for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
    const abi::Export &value = executable.exportAt(ordinal);
    text += concat("\nexport ", ordinal, " '", value.name, "'");
    if (const SourceLocation place = executable.declaredAt(ordinal); place.known())
      text += concat(", declared at ", place.toString());
    if (value.launch.dynamicSharedBytes)
      text += concat(", dynamic shared ", value.launch.dynamicSharedBytes);
    text += "\n";
    Table table({"target", "variant", "image", "bytes", "stored", "registers", "stack", "spill stores", "spill loads",
                 "shared", "workgroups", "entry point", "object"});
    for (uint32_t v = 0; v < raw.variants()->size(); ++v) {
      const auto &kernels = *raw.variants()->Get(v)->kernels();
      const uint32_t i = next[v];
      if (i == kernels.size() || kernels.Get(i)->export_ordinal() != ordinal)
        continue;
      ++next[v];
      addRows(executable, v, *kernels.Get(i),
              v < map.variants.size() && i < map.variants[v].size() ? map.variants[v][i] : LinkMap::Kernel(), table);
    }
    text += table.text("  ");
  }
  text += map.unused.empty() ? "\nnot used: nothing\n" : "\nnot used\n";
  for (const LinkMap::Unused &unused : map.unused)
    text += concat("  ", unused.where.toString(), ": ",
                   unused.name.empty() ? "object" : concat("entry point '", unused.name, "'"), ": ", unused.why, "\n");
  return text;
}

} // namespace tenon::linker
