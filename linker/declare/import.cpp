// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters are sorted into bindings and constants by what is done with them: a 64-bit parameter that memory is
// reached from is a binding, read-only where nothing is written through it. Bindings come first (K-3), so a parameter
// that shows nothing, but stands before one that is surely a pointer, is a binding as well.
#include "linker/declare/import.h"

#include "linker/access/trace/module_tracer.h"
#include "linker/declare/declaration.h"
#include "linker/declare/kernel_record.h"
#include "linker/object/object_kind.h"
#include "linker/symbol/demangle.h"
#include "linker/symbol/reachability.h"
#include "support/json.h"
#include "support/nearest_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace tenon::linker {
namespace {

constexpr uint32_t kGuessedThreads = 128;
constexpr uint32_t kGuessedSharedBytes = 1024;

bool isPointerWide(const ptx::Variable &parameter) {
  return parameter.bytes() == 8 && !parameter.isArray && parameter.type != ptx::ScalarType::F64;
}

/// One kernel's declaration, and what about it is a guess.
class KernelDraft {
public:
  KernelDraft(const Object &object, const ptx::Function &entry, ModuleTracer &tracer, Diagnostics &diagnostics)
      : object_(object), entry_(entry), diagnostics_(diagnostics) {
    // What addresses are made of does not depend on which parameters count as pointers; what is done behind them does.
    std::vector<bool> pointers(entry.parameters.size());
    trace_ = tracer.trace(entry, pointers);
    for (size_t i = 0; i < pointers.size(); ++i)
      pointers[i] = isSurelyPointer(i);
    trace_ = tracer.trace(entry, pointers);
  }

  /// Nothing; or why there is no declaration.
  std::optional<Diagnostic> run() {
    declared().name = declared().symbol = entry_.name;
    const size_t bindings = countBindings();
    size_t end = entry_.parameters.size();
    while (end > bindings && isUnusedPointer(end - 1))
      --end;
    for (size_t i = bindings; i < end; ++i)
      if (isSurelyPointer(i))
        return Diagnostic{.where = object_.placeOf(entry_.parameters[i]),
                          .rule = "K-3",
                          .message = concat("parameter ", i, " of '", entry_.name, "' is a pointer behind parameter ",
                                            bindings, ", which is a constant: no layout describes the kernel"),
                          .fix = "let the kernel take its pointers first, then its scalars"};
    if (entry_.blocksAreClusters)
      return Diagnostic{.where = object_.placeOf(entry_),
                        .rule = "K-8",
                        .message = concat("'", entry_.name, "' has .blocksareclusters, which is not supported"),
                        .fix = "leave __block_size__ off the kernel"};
    for (size_t i = 0; i < bindings; ++i)
      addBinding(i);
    for (size_t i = bindings; i < end; ++i)
      addConstant(i);
    addHidden(entry_.parameters.size() - end);
    readLaunch();
    return std::nullopt;
  }

  Declaration declaration;
  std::vector<std::string> notes;

private:
  abi::Export &declared() { return declaration.exported; }

  void unsure(SourceLocation where, const std::string &what) {
    notes.push_back(concat("unsure: ", what));
    diagnostics_.warning(std::move(where), "", concat("draft of '", entry_.name, "': ", what));
  }

  bool isSurelyPointer(size_t i) const {
    return isPointerWide(entry_.parameters[i]) && (entry_.parameters[i].hasPtr || trace_.parameters[i].soleBase);
  }

  /// Up to the last sure pointer among the pointer-wide parameters at the front.
  size_t countBindings() {
    size_t front = 0, bindings = 0;
    while (front < entry_.parameters.size() && isPointerWide(entry_.parameters[front]))
      if (isSurelyPointer(front++))
        bindings = front;
    // Where two parameters make one address, the first of them is the pointer.
    if (bindings == 0 && front > 0 && trace_.parameters[0].jointBase)
      bindings = 1;
    return bindings;
  }

  /// Triton appends such, behind constants.
  bool isUnusedPointer(size_t i) const { return entry_.parameters[i].hasPtr && !trace_.parameters[i].named; }

  void addHidden(size_t count) {
    declared().layout.hiddenPointers = uint32_t(count);
    if (count)
      unsure(object_.placeOf(entry_.parameters.back()),
             concat("the last ", count, count == 1 ? " parameter is a pointer" : " parameters are pointers",
                    " that it does not use: drafted as hidden_pointers, passed as null"));
  }

  void addBinding(size_t i) {
    const ptx::Variable &parameter = entry_.parameters[i];
    const ParameterAccess &access = trace_.parameters[i];
    const bool unknown = trace_.gaveUp || access.maybeWritten || access.stored || access.passed;
    abi::Binding binding;
    binding.readOnly = access.addressed && !access.written && !unknown;
    const uint32_t alignment = std::max(parameter.ptrAlignment, access.lowBitsTested ? 0 : access.widestBytes);
    if (alignment > 8)
      binding.alignment = alignment;
    declared().layout.bindings.push_back(binding);
    const SourceLocation where = object_.placeOf(parameter);
    if (!access.named)
      unsure(where, concat("parameter ", i, " is not used: drafted as a binding",
                           parameter.hasPtr ? "" : "; it may be an i64"));
    else if (!isSurelyPointer(i))
      unsure(where,
             concat("parameter ", i,
                    access.jointBase ? " makes an address together with another one" : " is not used as an address",
                    ": drafted as a binding, since a pointer follows it"));
    else if (unknown && !access.written)
      unsure(where, concat("it cannot be told whether parameter ", i, " is written: drafted as a binding that is"));
  }

  void addConstant(size_t i) {
    const ptx::Variable &parameter = entry_.parameters[i];
    const SourceLocation where = object_.placeOf(parameter);
    const uint64_t bytes = parameter.bytes();
    if (parameter.isArray && bytes != 2) { // 2 bytes: how C++ passes __half
      addAggregate(i, where);
      return;
    }
    declared().layout.constants.push_back(abi::Constant::scalar(elementOf(i)));
    if (bytes == 2 && parameter.type != ptx::ScalarType::U16 && parameter.type != ptx::ScalarType::S16)
      unsure(where, concat("parameter ", i, " has 2 bytes of no type: drafted as f16; it may be bf16 or i16"));
    else if (bytes == 8 && trace_.parameters[i].jointBase)
      unsure(where, concat("parameter ", i, " makes an address together with another one: drafted as i64"));
    else if (bytes == 8 && !trace_.parameters[i].named)
      unsure(where, concat("parameter ", i, " is not used: drafted as i64; it may be a pointer"));
  }

  void addAggregate(size_t i, const SourceLocation &where) {
    const ptx::Variable &parameter = entry_.parameters[i];
    abi::Constant constant;
    constant.size = uint32_t(parameter.bytes());
    constant.alignment = parameter.effectiveAlignment();
    constant.kind = abi::ConstantKind::Struct;
    if (constant.size == 128 && (constant.alignment == 64 || constant.alignment == 128)) {
      constant.kind = abi::ConstantKind::TensorMap;
      unsure(where, concat("parameter ", i,
                           " has the size and alignment of a tensor map: drafted as one; it may be a "
                           "struct"));
    }
    declared().layout.constants.push_back(constant);
  }

  abi::ElementType elementOf(size_t i) const {
    const bool isFloat = trace_.parameters[i].loadedAsFloat;
    switch (entry_.parameters[i].bytes()) {
    case 1:
      return abi::ElementType::I8;
    case 2:
      return entry_.parameters[i].type == ptx::ScalarType::U16 || entry_.parameters[i].type == ptx::ScalarType::S16
                 ? abi::ElementType::I16
                 : abi::ElementType::F16;
    case 4:
      return isFloat || entry_.parameters[i].type == ptx::ScalarType::F32 ? abi::ElementType::F32
                                                                          : abi::ElementType::I32;
    }
    return isFloat || entry_.parameters[i].type == ptx::ScalarType::F64 ? abi::ElementType::F64 : abi::ElementType::I64;
  }

  void readLaunch() {
    abi::Launch &launch = declared().launch;
    const SourceLocation where = object_.placeOf(entry_);
    if (entry_.requiredThreads) {
      launch.workgroupSize = *entry_.requiredThreads;
    } else if (entry_.maxThreads) {
      launch.workgroupSize = *entry_.maxThreads;
      unsure(where, concat("it takes up to ", extentText(launch.workgroupSize),
                           " threads (.maxntid): drafted as its workgroup_size"));
    } else {
      launch.workgroupSize = {kGuessedThreads, 1, 1};
      unsure(where, concat("its workgroup_size is not in the object: drafted as [", kGuessedThreads, ']'));
    }
    if (entry_.requiredCluster && (*entry_.requiredCluster)[0])
      launch.cluster = *entry_.requiredCluster;
    if (computeReachability(object_, entry_).dynamicShared) {
      launch.dynamicSharedBytes = kGuessedSharedBytes;
      unsure(where, concat("it uses dynamic shared memory, the object does not tell how much: drafted as ",
                           kGuessedSharedBytes, " bytes"));
    }
  }

  const Object &object_;
  const ptx::Function &entry_;
  Diagnostics &diagnostics_;
  KernelTrace trace_;
};

class ManifestDraft {
public:
  ManifestDraft(const LinkJob &job, const ImportOptions &options, Diagnostics &diagnostics)
      : job_(job), options_(options), diagnostics_(diagnostics) {}

  std::string run() {
    for (const ObjectInput &input : job_.objects)
      readObject(input);
    reportRefused();
    reportMissing();
    if (diagnostics_.hasErrors())
      return {};
    if (kernels_.empty()) {
      diagnostics_.error({job_.objects.empty() ? "" : job_.objects.front().path, 0, 0}, "K-2",
                         "there is no visible kernel to declare");
      return {};
    }
    nameExports();
    return text();
  }

private:
  struct DraftedKernel {
    Declaration declaration;
    std::vector<std::string> notes;
  };

  void readObject(const ObjectInput &input) {
    if (ObjectKind kind = detectObjectKind(input.bytes); kind != ObjectKind::Ptx) {
      diagnostics_.error({input.path, 0, 0}, "K-1", concat("the object is ", describe(kind)))
          .withFix(std::string(adviceFor(kind)));
      return;
    }
    std::unique_ptr<Object> object = parseObject(input, diagnostics_);
    if (!object)
      return;
    ModuleTracer tracer(object->module);
    std::map<std::string, Declaration> records; // by symbol
    for (KernelRecord &record : readRecords(*object, diagnostics_))
      records.emplace(record.declaration.exported.symbol, std::move(record.declaration));
    for (const ptx::Function &function : object->module.functions) {
      if (!function.isEntry || function.isDeclaration || !(function.isVisible || function.isWeak))
        continue;
      const std::string symbol(function.name);
      if (!isWanted(symbol) || !seen_.insert(symbol).second)
        continue;
      if (auto record = records.find(symbol); record != records.end())
        kernels_.push_back({record->second, {"as its record in the object says"}});
      else
        draftKernel(*object, function, tracer);
    }
  }

  void draftKernel(const Object &object, const ptx::Function &entry, ModuleTracer &tracer) {
    KernelDraft draft(object, entry, tracer, diagnostics_);
    if (std::optional<Diagnostic> reason = draft.run()) {
      refused_.push_back(std::move(*reason));
      return;
    }
    kernels_.push_back({std::move(draft.declaration), std::move(draft.notes)});
  }

  /// A kernel that cannot be declared is an error where it was asked for, or where nothing else is left.
  void reportRefused() {
    const bool isError = !options_.kernels.empty() || kernels_.empty();
    for (Diagnostic &reason : refused_)
      (isError ? diagnostics_.error(reason.where, reason.rule, reason.message)
               : diagnostics_.warning(reason.where, reason.rule, reason.message + "; it is left out"))
          .withFix(reason.fix);
  }

  bool isWanted(const std::string &symbol) {
    found_.push_back(symbol);
    const std::string name = shortName(symbol);
    if (name != symbol)
      found_.push_back(name);
    return options_.kernels.empty() || std::any_of(options_.kernels.begin(), options_.kernels.end(),
                                                   [&](const std::string &k) { return k == symbol || k == name; });
  }

  void reportMissing() {
    for (const std::string &wanted : options_.kernels) {
      if (std::find(found_.begin(), found_.end(), wanted) != found_.end())
        continue;
      Diagnostic &error = diagnostics_.error({job_.objects.front().path, 0, 0}, "K-2",
                                             concat("there is no visible kernel '", wanted, "'"));
      if (std::vector<std::string> near = nearestNames(wanted, found_); !near.empty())
        error.withFix(concat("did you mean ", quotedList(near, "or"), "?"));
    }
  }

  static std::string shortName(const std::string &symbol) {
    const std::string demangled = symbol.starts_with("_Z") ? demangle(symbol) : std::string();
    return demangled.empty() ? symbol : std::string(baseName(demangled));
  }

  /// A mangled symbol is exported under its C++ name where that is one kernel's only.
  void nameExports() {
    std::map<std::string, int> count;
    for (const DraftedKernel &kernel : kernels_)
      ++count[shortName(kernel.declaration.exported.symbol)];
    for (DraftedKernel &kernel : kernels_) {
      abi::Export &declared = kernel.declaration.exported;
      if (declared.name == declared.symbol && count[shortName(declared.symbol)] == 1)
        declared.name = shortName(declared.symbol);
    }
  }

  std::string pathText(const std::string &path) const {
    if (options_.folder.empty() || path.starts_with('/'))
      return path;
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path relative = fs::absolute(path, failed)
                                  .lexically_normal()
                                  .lexically_relative(fs::absolute(options_.folder, failed).lexically_normal());
    return relative.generic_string();
  }

  std::string text() const {
    JsonWriter json(JsonWriter::Style::Inline);
    json.beginObject();
    json.breakLine(2);
    json.member("name", job_.name);
    json.breakLine(2);
    json.key("exports");
    json.beginArray();
    for (const DraftedKernel &kernel : kernels_) {
      json.breakLine(0); // notes come first
      json.raw(declarationToJson(kernel.declaration, 4, kernel.notes));
    }
    json.breakLine(2);
    json.endArray();
    json.breakLine(2);
    json.key("objects");
    json.beginArray();
    for (const ObjectInput &object : job_.objects) {
      json.breakLine(4);
      json.beginObject();
      json.member("path", pathText(object.sourcePath.empty() ? object.path : object.sourcePath));
      json.member("target", object.target.toString());
      json.endObject();
    }
    json.breakLine(2);
    json.endArray();
    json.breakLine(0);
    json.endObject();
    return concat(
        "// Drafted by tenon-link --import: what the objects show. Lines with 'unsure' rest on a guess: check "
        "them.\n",
        json.take(), '\n');
  }

  const LinkJob &job_;
  const ImportOptions &options_;
  Diagnostics &diagnostics_;
  std::vector<DraftedKernel> kernels_;
  std::set<std::string> seen_;      // symbols of kernels_ and refused_
  std::vector<Diagnostic> refused_; // why there is no draft, kernel by kernel
  std::vector<std::string> found_;
};

} // namespace

std::string draftManifest(const LinkJob &job, const ImportOptions &options, Diagnostics &diagnostics) {
  return ManifestDraft(job, options, diagnostics).run();
}

} // namespace tenon::linker
