// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A record is found by its name, told from chance by its first word, and read with the same schema as a manifest's
// exports. C++ may have mangled both names: a record in namespace ns is `_ZN2ns...__tenon_record_saxpyE`, its kernel
// `_ZN2ns5saxpyE...`, and the namespace leads from the one to the other. What is private to its file (static, or in a
// namespace without a name) has the file's number in it: nvcc puts `_INTERNAL_d8a3927e_4_k_cu_a0b12b05` around it as a
// namespace, and with -rdc=true `__nv_static_25__d8a3927e_4_k_cu_a0b12b05_` in front.
#include "linker/declare/kernel_record.h"

#include "abi/format/manifest_generated.h"
#include "linker/declare/json_table.h"
#include "linker/object/contained_ptx.h"
#include "linker/object/object_kind.h"
#include "support/number.h"
#include "support/text/demangle.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

constexpr std::string_view kNamePrefix = "__tenon_record_";
constexpr std::string_view kMagic = "tenon-kernel ";
constexpr unsigned kFormat = 1;

/// The bytes of an array of integers up to its first zero; empty when it is none.
std::string bytesOf(const ptx::Variable &variable) {
  std::string bytes;
  if (ptx::byteSize(variable.type) != 1 || !variable.isArray)
    return bytes;
  for (const ptx::Variable::Initializer &initializer : variable.initializers) {
    if (initializer.value.kind != ptx::Operand::Kind::Integer || (initializer.value.bits & 0xff) == 0)
      break;
    bytes += char(initializer.value.bits & 0xff);
  }
  return bytes;
}

/// "_Z5saxpyPf" of "__nv_static_25__d8a3927e_4_k_cu_a0b12b05__Z5saxpyPf": behind the number so many bytes, and a `_`.
std::string_view withoutFile(std::string_view name) {
  constexpr std::string_view kPrefix = "__nv_static_";
  std::string_view rest = name;
  if (!rest.starts_with(kPrefix))
    return name;
  rest.remove_prefix(kPrefix.size());
  const size_t length = takeNumber<unsigned>(rest).value_or(0) + 2; // with the `_` on both sides
  return length < rest.size() && rest[length - 1] == '_' ? rest.substr(length) : name;
}

/// As its author wrote it, with `{}` for a namespace without a name, whose usual spelling has brackets and a space.
std::string readable(std::string_view mangled) {
  constexpr std::string_view kNameless = "(anonymous namespace)", kFile = "_INTERNAL_";
  std::string name = demangle(std::string(withoutFile(mangled)));
  for (size_t at = 0; (at = name.find(kNameless, at)) != std::string::npos;)
    name.replace(at, kNameless.size(), "{}");
  if (const size_t end = name.find("::"); name.starts_with(kFile) && end != std::string::npos)
    name.erase(0, end + 2);
  return name;
}

/// "ns::saxpy" of "void ns::saxpy(float const*)".
std::string_view qualifiedName(std::string_view demangled) {
  demangled = demangled.substr(0, demangled.find('('));
  const size_t space = demangled.rfind(' ');
  return space == std::string_view::npos ? demangled : demangled.substr(space + 1);
}

class RecordReader {
public:
  RecordReader(const Object &object, Diagnostics &diagnostics) : object_(object), diagnostics_(diagnostics) {}

  std::vector<KernelRecord> run() {
    for (const ptx::Variable &variable : object_.module.variables)
      if (variable.hasInitializer && variable.name.find(kNamePrefix) != std::string_view::npos)
        read(variable);
    return std::move(records_);
  }

private:
  Diagnostic &error(const ptx::Variable &variable, const std::string &message) {
    return diagnostics_.error(object_.placeOf(variable), "K-20", concat("record '", variable.name, "' ", message));
  }

  void read(const ptx::Variable &variable) {
    const std::string bytes = bytesOf(variable);
    std::string_view text = bytes;
    unsigned format = 0;
    if (text.starts_with(kMagic)) {
      text.remove_prefix(kMagic.size());
      format = takeNumber<unsigned>(text).value_or(0);
    }
    if (format == 0 || !text.starts_with('\n')) {
      error(variable, "does not begin with 'tenon-kernel 1'")
          .withFix("names with '__tenon_record_' are kept for TENON_KERNEL of tenon/kernel.cuh");
      return;
    }
    if (format != kFormat) {
      error(variable, concat("has format ", format, ", this linker reads format ", kFormat))
          .withFix("compile with the tenon/kernel.cuh that came with this tenon-link");
      return;
    }
    text.remove_prefix(1);
    readDeclaration(variable, text);
  }

  void readDeclaration(const ptx::Variable &variable, std::string_view json) {
    if (!reader_)
      reader_.emplace();
    const JsonTable read = reader_->read(json, "DeclaredExport");
    if (read.mistake) { // its place in the record is one that nobody sees
      error(variable, concat("does not read: ", read.mistake->message))
          .withFix("compile with the tenon/kernel.cuh that came with this tenon-link");
      return;
    }
    const auto &table = *flatbuffers::GetRoot<fb::DeclaredExport>(read.buffer.data());
    // Where its source says where it stands, that is its place.
    KernelRecord record{
        declarationFromTable(table, table.declared_at() ? SourceLocation() : object_.placeOf(variable), diagnostics_),
        object_.placeOf(variable)};
    // Placeholders of a header without types (tenon::Any) are no types.
    std::vector<std::string> &signature = record.declaration.signature;
    if (std::any_of(signature.begin(), signature.end(),
                    [](const std::string &type) { return type.find("tenon::") != std::string::npos; }))
      signature.clear();
    abi::Export &declared = record.declaration.exported;
    if (resolveSymbol(variable, declared))
      records_.push_back(std::move(record));
  }

  /// The entry point's real name. Where the object has none, the name stays: another object of the variant may.
  bool resolveSymbol(const ptx::Variable &variable, abi::Export &declared) {
    const std::string own = readable(variable.name);
    std::string wanted = declared.symbol;
    if (size_t end = own.rfind("::"); end != std::string::npos)
      wanted = own.substr(0, end + 2) + wanted;
    if (const ptx::Function *exact = object_.functions.find(declared.symbol); exact && exact->isEntry)
      return true;
    const std::vector<std::string> &found = mangledEntries()[wanted];
    if (found.size() > 1) {
      error(variable, concat("is for kernel '", wanted, "', which may be ", quotedList(found, "or")))
          .withFix("give the kernel a name of its own, or declare it extern \"C\"");
      return false;
    }
    if (!found.empty())
      declared.symbol = found.front();
    return true;
  }

  /// Mangled entry points by the name that their author wrote, namespaces included.
  std::map<std::string, std::vector<std::string>, std::less<>> &mangledEntries() {
    if (!mangled_) {
      mangled_.emplace();
      for (const ptx::Function &function : object_.module.functions)
        if (function.isEntry && withoutFile(function.name).starts_with("_Z"))
          (*mangled_)[std::string(qualifiedName(readable(function.name)))].emplace_back(function.name);
    }
    return *mangled_;
  }

  const Object &object_;
  Diagnostics &diagnostics_;
  std::optional<JsonTableReader> reader_;                                               // once there is a record
  std::optional<std::map<std::string, std::vector<std::string>, std::less<>>> mangled_; // once it is asked for
  std::vector<KernelRecord> records_;
};

std::string accessText(const abi::Binding &binding) {
  return binding.readOnly ? "read-only" : "read and write";
}

std::string constantText(const abi::Constant &constant) {
  switch (constant.kind) {
  case abi::ConstantKind::Word:
    return "a word";
  case abi::ConstantKind::Scalar:
    return std::string(abi::spelling(constant.element));
  case abi::ConstantKind::Struct:
    return concat("a struct of ", constant.size, " bytes, alignment ", constant.alignment);
  case abi::ConstantKind::TensorMap:
    return concat("a tensor map of ", constant.size, " bytes, alignment ", constant.alignment,
                  constant.map ? concat(" (", constant.map->toString(constant.element), ")") : std::string());
  }
}

bool agree(const abi::Constant &a, const abi::Constant &b) {
  if (a.size != b.size || a.alignment != b.alignment)
    return false;
  const bool isWord = a.kind == abi::ConstantKind::Word || b.kind == abi::ConstantKind::Word;
  if (isWord || a.kind != b.kind)
    return isWord; // a word is untyped
  auto plain = [](abi::ElementType type) { return type == abi::ElementType::Index ? abi::ElementType::I64 : type; };
  // A record without a map's description leaves that to the other declaration.
  if (a.kind == abi::ConstantKind::TensorMap)
    return !a.map || !b.map || (*a.map == *b.map && a.element == b.element);
  return a.kind != abi::ConstantKind::Scalar || plain(a.element) == plain(b.element);
}

/// "[constant 0, binding 0]", in the numbers of the declaration.
std::string orderText(const abi::Layout &layout) {
  if (layout.parameters.empty())
    return "bindings, then constants";
  std::string text;
  for (const abi::DeclaredParameter &parameter : layout.parameters)
    text += concat(text.empty() ? "" : ", ", parameter.toString());
  return concat('[', text, ']');
}

class Differences {
public:
  template <typename T> void compare(const char *field, const T &record, const T &declared) {
    if (record != declared)
      add(field, concat(record), concat(declared));
  }
  void add(std::string field, std::string record, std::string declared) {
    found_.push_back({std::move(field), std::move(record), std::move(declared)});
  }
  std::vector<Difference> take() { return std::move(found_); }

private:
  std::vector<Difference> found_;
};

/// The layout with bindings and constants numbered as they stand in the kernel. Numbers are between a declaration and
/// those who dispatch by it; two declarations of a kernel agree on what stands where.
abi::Layout numberedByPlace(const abi::Layout &layout) {
  if (layout.parameters.empty())
    return layout;
  constexpr uint32_t kNone = ~uint32_t(0);
  abi::Layout out;
  out.hiddenPointers = layout.hiddenPointers;
  out.parameters = layout.parameters;
  std::vector<uint32_t> bindings(layout.bindings.size(), kNone);
  auto addBinding = [&](uint32_t i) {
    bindings[i] = uint32_t(out.bindings.size());
    out.bindings.push_back(layout.bindings[i]);
  };
  auto renumber = [&](abi::ParameterKind kind, uint32_t &index) {
    if (kind == abi::ParameterKind::Binding && index < layout.bindings.size()) {
      addBinding(index);
      index = bindings[index];
    } else if (kind == abi::ParameterKind::Constant && index < layout.constants.size()) {
      out.constants.push_back(layout.constants[index]);
      index = uint32_t(out.constants.size() - 1);
    }
  };
  for (abi::DeclaredParameter &parameter : out.parameters) {
    renumber(parameter.kind, parameter.index);
    std::ranges::sort(parameter.members, {}, &abi::ParameterMember::offset);
    for (abi::ParameterMember &member : parameter.members)
      renumber(member.kind, member.index);
  }
  for (uint32_t i = 0; i < bindings.size(); ++i) // those that only a tensor map leads to
    if (bindings[i] == kNone)
      addBinding(i);
  for (abi::Constant &constant : out.constants)
    if (constant.map && constant.map->binding < bindings.size())
      constant.map->binding = bindings[constant.map->binding];
  out.simplifyOrder();
  return out;
}

/// "binding 2"; where the layout lists its parameters, also "parameter 0", "byte 8 of parameter 1".
std::string placeText(const abi::Layout &layout, abi::ParameterKind kind, size_t index) {
  for (size_t k = 0; k < layout.parameters.size(); ++k) {
    const abi::DeclaredParameter &parameter = layout.parameters[k];
    if (parameter.kind == kind && parameter.index == index)
      return concat("parameter ", k);
    for (const abi::ParameterMember &member : parameter.members)
      if (member.kind == kind && member.index == index)
        return concat("byte ", member.offset, " of parameter ", k);
  }
  return concat(kind == abi::ParameterKind::Binding ? "binding " : "constant ", index);
}

void compareLayouts(const abi::Layout &givenRecord, const abi::Layout &givenDeclared, Differences &found) {
  const abi::Layout record = numberedByPlace(givenRecord), declared = numberedByPlace(givenDeclared);
  found.compare("the number of bindings", record.bindings.size(), declared.bindings.size());
  for (size_t i = 0; i < std::min(record.bindings.size(), declared.bindings.size()); ++i) {
    const abi::Binding &a = record.bindings[i], &b = declared.bindings[i];
    const std::string place = placeText(record, abi::ParameterKind::Binding, i);
    if (a.readOnly != b.readOnly)
      found.add(concat("access of ", place), accessText(a), accessText(b));
    if (a.alignment > b.alignment)
      found.add(concat("alignment of ", place), concat(a.alignment), concat(b.alignment));
  }
  found.compare("the number of constants", record.constants.size(), declared.constants.size());
  for (size_t i = 0; i < std::min(record.constants.size(), declared.constants.size()); ++i)
    if (!agree(record.constants[i], declared.constants[i]))
      found.add(placeText(record, abi::ParameterKind::Constant, i), constantText(record.constants[i]),
                constantText(declared.constants[i]));
  if (record.bindings.size() == declared.bindings.size() && record.constants.size() == declared.constants.size() &&
      record.parameters != declared.parameters)
    found.add("the order of the parameters", orderText(givenRecord), orderText(givenDeclared));
  found.compare("hidden_pointers", record.hiddenPointers, declared.hiddenPointers);
}

} // namespace

std::vector<KernelRecord> readRecords(const Object &object, Diagnostics &diagnostics) {
  return RecordReader(object, diagnostics).run();
}

std::vector<Difference> differences(const abi::Export &record, const abi::Export &declared) {
  Differences found;
  compareLayouts(record.layout, declared.layout, found);
  const abi::Launch &a = record.launch, &b = declared.launch;
  found.compare("workgroup_size", extentText(a.workgroupSize), extentText(b.workgroupSize));
  if (a.subgroupSize && b.subgroupSize)
    found.compare("subgroup_size", a.subgroupSize, b.subgroupSize);
  found.compare("dynamic_shared_bytes", a.dynamicSharedBytes, b.dynamicSharedBytes);
  if (a.cluster != b.cluster) {
    auto text = [](const abi::Extent3 &e) { return e[0] == 0 ? std::string("none") : extentText(e); };
    found.add("cluster", text(a.cluster), text(b.cluster));
  }
  found.compare("cooperative", a.cooperative, b.cooperative);
  found.compare("programmatic_dependent_launch", a.programmaticDependentLaunch, b.programmaticDependentLaunch);
  return found.take();
}

/// What --import takes for an object. The PTX of a source has a name of its own, "k.cu:sm_80.ptx", and is no file.
static std::string importArgument(const ObjectInput &object) {
  const std::string suffix = concat(':', object.target.toString(), ".ptx");
  if (!object.path.ends_with(suffix))
    return object.path;
  return concat(object.target.toString(), '=', object.path.substr(0, object.path.size() - suffix.size()));
}

void addExportsFromRecords(LinkJob &job, ManifestExtras &extras, Diagnostics &diagnostics) {
  extras.signatures.resize(job.exports.size());
  std::map<std::string, size_t> known; // exports by name and by symbol
  auto add = [&](const abi::Export &declared, size_t ordinal) {
    known.try_emplace(declared.name, ordinal);
    known.try_emplace(declared.symbol, ordinal);
  };
  for (size_t i = 0; i < job.exports.size(); ++i)
    add(job.exports[i], i);
  // Whatever is wrong with an object is reported when it is linked.
  auto addFrom = [&](const ObjectInput &input) {
    Diagnostics ignored;
    std::unique_ptr<Object> object = parseObject(input, ignored);
    if (!object)
      return;
    for (KernelRecord &record : readRecords(*object, ignored)) {
      abi::Export &declared = record.declaration.exported;
      auto found = known.find(declared.symbol);
      if (found == known.end())
        found = known.find(declared.name);
      if (found != known.end()) {
        if (auto &signature = extras.signatures[found->second]; signature.empty())
          signature = std::move(record.declaration.signature);
        continue;
      }
      add(declared, job.exports.size());
      declared.ordinal = uint32_t(job.exports.size());
      job.exports.push_back(std::move(declared));
      extras.signatures.push_back(std::move(record.declaration.signature));
    }
    // Findings about records are reported once, by the link; without an export there is none.
    if (job.exports.empty() && ignored.hasErrors())
      diagnostics.append(std::move(ignored));
  };
  for (const ObjectInput &input : job.objects) {
    const bool isContainer = isBinaryObject(input.bytes);
    if (!isContainer) {
      if (input.bytes.view().find(kNamePrefix) != std::string::npos && detectObjectKind(input.bytes) == ObjectKind::Ptx)
        addFrom(input); // the text tells at once
      continue;
    }
    for (std::string &text : containedPtx(input.bytes, input.target))
      if (text.find(kNamePrefix) != std::string::npos)
        addFrom({.path = input.path, .bytes = std::move(text), .declaredAt = input.declaredAt});
  }
  if (!job.exports.empty() || job.objects.empty() || diagnostics.hasErrors())
    return;
  for (const ObjectInput &input : job.objects)
    if (const ObjectKind kind = detectObjectKind(input.bytes); kind != ObjectKind::Ptx && !isBinaryObject(input.bytes))
      diagnostics.error({input.path, 0, 0}, "K-1", concat("the object is ", describe(kind)))
          .withFix(std::string(adviceFor(kind)));
  if (diagnostics.hasErrors())
    return;
  const ObjectInput &first = job.objects.front();
  diagnostics
      .error({first.path, 0, 0}, "",
             concat("executable '", job.name, "' declares no exports, and no object holds a record of one"))
      .withFix(concat("put TENON_KERNEL(...) of tenon/kernel.cuh next to the kernels, or draft a manifest",
                      isBinaryObject(first.bytes) ? " from their PTX (nvcc -ptx): tenon-link --import=KERNELS.ptx"
                                                  : concat(": tenon-link --import=", importArgument(first)),
                      " -o kernels.json"));
}

} // namespace tenon::linker
