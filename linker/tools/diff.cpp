// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both sides become lists of named things with properties in words; the rest is comparing lists. Variants are matched
// by name, target and origin, and where several are alike, by their order.
#include "linker/tools/diff.h"

#include "abi/format/layout_table.h"
#include "linker/tools/dump/dump.h"
#include "support/sha256.h"

#include <algorithm>
#include <map>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

struct Property {
  std::string name, value;
};
struct Thing {
  std::string name; // "export 'k'"
  std::vector<Property> properties;
};

template <typename Values> std::string listText(const Values *values) {
  std::string text;
  if (values)
    for (auto value : *values)
      text += (text.empty() ? "" : " ") + std::to_string(uint64_t(value));
  return text.empty() ? "none" : text;
}

void compare(const std::vector<Thing> &before, const std::vector<Thing> &after, std::string &out) {
  auto find = [](const std::vector<Thing> &things, const std::string &name) {
    return std::ranges::find(things, name, &Thing::name);
  };
  for (const Thing &old : before) {
    auto now = find(after, old.name);
    if (now == after.end()) {
      out += concat("- ", old.name, "\n");
      continue;
    }
    for (const Property &property : old.properties) {
      auto same = std::ranges::find(now->properties, property.name, &Property::name);
      const std::string value = same == now->properties.end() ? "none" : same->value;
      if (value != property.value)
        out += concat("! ", old.name, ": ", property.name, ": ", property.value, " -> ", value, "\n");
    }
    for (const Property &property : now->properties)
      if (std::ranges::find(old.properties, property.name, &Property::name) == old.properties.end())
        out += concat("! ", old.name, ": ", property.name, ": none -> ", property.value, "\n");
  }
  for (const Thing &now : after)
    if (find(before, now.name) == before.end())
      out += concat("+ ", now.name, "\n");
}

std::vector<Property> launchProperties(const abi::Launch &launch) {
  return {{"workgroup size", listText(&launch.workgroupSize)},
          {"subgroup size", std::to_string(launch.subgroupSize)},
          {"dynamic shared bytes", std::to_string(launch.dynamicSharedBytes)},
          {"cluster", listText(&launch.cluster)},
          {"cooperative", launch.cooperative ? "yes" : "no"},
          {"programmatic dependent launch", launch.programmaticDependentLaunch ? "yes" : "no"}};
}

/// Names and alignments of slots, which a layout's own text leaves out.
std::string slotsText(const abi::Layout &layout) {
  std::string text;
  for (const abi::Binding &binding : layout.bindings)
    text += concat(text.empty() ? "" : ", ", binding.name.empty() ? "_" : binding.name, binding.readOnly ? " read" : "",
                   binding.kind == abi::BindingKind::UniformBuffer ? " uniform" : "",
                   binding.indirect ? " indirect" : "", binding.alignment ? concat(" align ", binding.alignment) : "");
  for (const abi::Constant &constant : layout.constants)
    text += concat(text.empty() ? "" : ", ", constant.name.empty() ? "_" : constant.name, " ", constant.size, "/",
                   constant.alignment);
  return text;
}

std::vector<Property> kernelProperties(const abi::ExecutableView &executable, const fb::Variant &variant,
                                       const fb::Kernel &kernel) {
  const fb::KernelFacts &facts = *kernel.facts();
  std::vector<Property> properties = {{"entry point", std::string(executable.symbolOf(kernel))},
                                      {"parameter bytes", std::to_string(facts.parameter_bytes())},
                                      {"registers", std::to_string(facts.registers())},
                                      {"spilled bytes", std::to_string(facts.spill_bytes())},
                                      {"local bytes", std::to_string(facts.local_bytes())},
                                      {"workgroups per multiprocessor", std::to_string(facts.blocks_per_sm())},
                                      {"static shared bytes", std::to_string(facts.static_shared_bytes())},
                                      {"uses dynamic shared", facts.uses_dynamic_shared() ? "yes" : "no"},
                                      {"any number of workgroups", facts.any_grid() ? "yes" : "no"},
                                      {"reqntid", listText(facts.required_threads())},
                                      {"maxntid", listText(facts.max_threads())},
                                      {"cluster", listText(facts.required_cluster())},
                                      {"access", listText(facts.access())},
                                      {"priority", std::to_string(variant.priority())}};
  for (uint32_t index : *variant.images()) {
    const fb::Image &image = *executable.raw().images()->Get(index);
    const std::string kind = image.kind() == fb::ImageKind::Ptx ? "PTX" : "cubin";
    std::string hash = "?";
    if (Result<std::vector<uint8_t>> bytes = executable.imageBytes(index); bytes.ok())
      hash = sha256({reinterpret_cast<const char *>(bytes->data()), bytes->size()}).substr(0, 12);
    properties.push_back({kind + " bytes", std::to_string(image.size())});
    properties.push_back({kind + " contents", hash});
    if (image.isa())
      properties.push_back({kind + " ISA", concat(image.isa() / 10, '.', image.isa() % 10)});
  }
  return properties;
}

std::vector<Thing> thingsOf(const abi::ExecutableView &executable) {
  std::vector<Thing> things;
  for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
    const abi::Export &value = executable.exportAt(ordinal);
    std::vector<Property> properties = launchProperties(value.launch);
    properties.insert(properties.begin(), {{"ordinal", std::to_string(value.ordinal)},
                                           {"layout", value.layout.toString()},
                                           {"slots", slotsText(value.layout)},
                                           {"hidden pointers", std::to_string(value.layout.hiddenPointers)}});
    things.push_back({concat("export '", value.name, "'"), std::move(properties)});
  }
  std::map<std::string, int> count;
  for (const fb::Variant *variant : *executable.raw().variants())
    for (const fb::Kernel *kernel : *variant->kernels()) {
      std::string name = concat("export '", executable.exportAt(kernel->export_ordinal()).name, "' variant '",
                                variant->name()->str(), "' for ", abi::archFromStruct(*variant->arch()).toString(),
                                variant->origin() == fb::Origin::Generated ? " (generated)" : "");
      if (int number = ++count[name]; number > 1)
        name += concat(" #", number);
      things.push_back({std::move(name), kernelProperties(executable, *variant, *kernel)});
    }
  return things;
}

/// Of the view's edition. @param where is in front of their names
void addFunctions(const abi::ProgramView &program, const std::string &where, std::vector<Thing> &things) {
  for (size_t i = 0; i < program.functionCount(); ++i) {
    FunctionText text = functionText(program, program.functionAt(i));
    things.push_back({concat(where, "function '", program.functionAt(i).name()->str(), "'"),
                      {{"signature", text.signature}, {"body", sha256(text.body).substr(0, 12)}}});
  }
  if (const fb::Function *initializer = program.initializer())
    things.push_back(
        {where + "initializer", {{"body", sha256(functionText(program, *initializer).body).substr(0, 12)}}});
}

std::vector<Thing> functionsOf(const abi::ProgramView &program) {
  std::vector<Thing> things;
  addFunctions(program, "", things);
  for (uint32_t i = 0; i < program.editionCount(); ++i)
    addFunctions(program.withEdition(i), concat("edition for ", program.withEdition(i).editionTargets(), ": "), things);
  for (uint32_t i = 0; program.raw().globals() && i < program.raw().globals()->size(); ++i) {
    const fb::Global &global = *program.raw().globals()->Get(i);
    things.push_back({concat("global '", global.name()->str(), "'"), {{"value", globalText(global)}}});
  }
  const auto *constants = program.raw().constants();
  things.push_back({"program", {{"constants", std::to_string(constants ? constants->size() : 0)}}});
  return things;
}

} // namespace

std::string diffExecutables(const abi::ExecutableView &before, const abi::ExecutableView &after) {
  std::string out;
  compare(thingsOf(before), thingsOf(after), out);
  return out;
}

std::string diffPrograms(const abi::ProgramView &before, const abi::ProgramView &after) {
  std::string out;
  compare(functionsOf(before), functionsOf(after), out);
  auto find = [](const abi::ProgramView &program, std::string_view name) -> const abi::ExecutableView * {
    for (size_t i = 0; i < program.executableCount(); ++i)
      if (program.executableAt(i).name() == name)
        return &program.executableAt(i);
    return nullptr;
  };
  for (size_t i = 0; i < before.executableCount(); ++i) {
    const abi::ExecutableView &old = before.executableAt(i);
    const abi::ExecutableView *now = find(after, old.name());
    if (!now) {
      out += concat("- executable '", old.name(), "'\n");
      continue;
    }
    if (std::string text = diffExecutables(old, *now); !text.empty())
      out += concat("executable '", old.name(), "'\n", text);
  }
  for (size_t i = 0; i < after.executableCount(); ++i)
    if (!find(before, after.executableAt(i).name()))
      out += concat("+ executable '", after.executableAt(i).name(), "'\n");
  return out;
}

} // namespace tenon::linker
