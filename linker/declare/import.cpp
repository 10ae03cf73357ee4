// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/import.h"

#include "linker/access/trace/module_tracer.h"
#include "linker/declare/kernel_draft.h"
#include "linker/declare/kernel_record.h"
#include "linker/object/object_kind.h"
#include "support/text/demangle.h"
#include "support/text/json.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

namespace tenon::linker {
namespace {

class ManifestDraft {
public:
  ManifestDraft(const LinkJob &job, const ImportOptions &options, Diagnostics &diagnostics)
      : job_(job), options_(options), diagnostics_(diagnostics) {}

  std::string run() {
    for (const ObjectInput &input : job_.objects)
      readObject(input);
    leaveOutWhatATargetLacks();
    reportRefused();
    reportMissing();
    if (diagnostics_.hasErrors())
      return {};
    if (kernels_.empty()) {
      diagnostics_
          .error({job_.objects.empty() ? "" : job_.objects.front().path, 0, 0}, "K-2", "there is no kernel to declare")
          .withFix("give the object in which the kernel (.entry) has its body");
      return {};
    }
    nameExports();
    return text();
  }

private:
  void readObject(const ObjectInput &input) {
    if (ObjectKind kind = detectObjectKind(input.bytes); kind != ObjectKind::Ptx) {
      const bool holdsPtx = isBinaryObject(input.bytes); // a link takes it apart, a draft does not
      diagnostics_
          .error({input.path, 0, 0}, "K-1",
                 concat("the object is ", describe(kind), holdsPtx ? ", a draft is made of PTX" : ""))
          .withFix(holdsPtx
                       ? "give the PTX that it was made of (nvcc -ptx), or that is in it (cuobjdump -xptx all FILE); "
                         "the manifest may name this object then"
                       : std::string(adviceFor(kind)));
      return;
    }
    std::unique_ptr<Object> object = parseObject(input, diagnostics_);
    if (!object)
      return;
    if (object->module.addressSize != 64) { // as a link says it
      diagnostics_
          .error(object->module.addressSizeAt.known() ? object->module.addressSizeAt : object->place(), "K-1",
                 concat("found ",
                        object->module.addressSize ? concat(".address_size ", object->module.addressSize)
                                                   : "no .address_size (32)",
                        ", wanted .address_size 64"))
          .withFix("compile for 64-bit addresses (nvcc -m64)");
      return;
    }
    ModuleTracer tracer(object->module);
    std::map<std::string, Declaration> records; // by symbol
    for (KernelRecord &record : readRecords(*object, diagnostics_))
      records.emplace(record.declaration.exported.symbol, std::move(record.declaration));
    for (const ptx::Function &function : object->module.functions) {
      if (!function.isEntry || function.isDeclaration)
        continue;
      const std::string symbol(function.name);
      if (!isWanted(symbol))
        continue;
      Presence &presence = presence_.try_emplace(symbol, object->placeOf(function)).first->second;
      presence.targets.insert(input.target.toString());
      if (!seen_.insert(symbol).second)
        continue;
      if (auto record = records.find(symbol); record != records.end())
        kernels_.push_back({record->second, {"as its record in the object says"}});
      else
        addDraft(*object, function, tracer);
    }
  }

  void addDraft(const Object &object, const ptx::Function &entry, ModuleTracer &tracer) {
    Diagnostic reason;
    if (std::optional<KernelDraft> draft = draftKernel(object, entry, tracer, diagnostics_, reason))
      kernels_.push_back(std::move(*draft));
    else
      refused_.push_back(std::move(reason));
  }

  /// An export is in every variant, so a kernel that the objects of some target do not have is none. Libraries have
  /// such ones: CUB's are named after the target.
  void leaveOutWhatATargetLacks() {
    std::set<std::string> targets;
    for (const ObjectInput &input : job_.objects)
      targets.insert(input.target.toString());
    std::erase_if(kernels_, [&](const KernelDraft &kernel) {
      const std::string &symbol = kernel.declaration.exported.symbol;
      const Presence &presence = presence_.at(symbol);
      if (presence.targets == targets)
        return false;
      std::vector<std::string> lacking;
      std::ranges::set_difference(targets, presence.targets, std::back_inserter(lacking));
      Diagnostic reason;
      reason.where = presence.where;
      reason.rule = "K-2";
      reason.message = concat("'", symbol, "' is in no object for ", quotedList(lacking));
      refused_.push_back(std::move(reason.withFix("draft the targets that have it by themselves")));
      return true;
    });
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
    if (std::ranges::find(seenNames_, name) == seenNames_.end())
      seenNames_.push_back(name);
    return options_.kernels.empty() || std::any_of(options_.kernels.begin(), options_.kernels.end(),
                                                   [&](const std::string &k) { return k == symbol || k == name; });
  }

  void reportMissing() {
    constexpr size_t kMost = 8;
    for (const std::string &wanted : options_.kernels) {
      if (std::find(found_.begin(), found_.end(), wanted) != found_.end())
        continue;
      Diagnostic &error =
          diagnostics_.error({job_.objects.front().path, 0, 0}, "K-2", concat("there is no kernel '", wanted, "'"));
      if (std::vector<std::string> near = nearestNames(wanted, found_); !near.empty())
        error.withFix(concat("did you mean ", quotedList(near, "or"), "?"));
      else if (!seenNames_.empty())
        error.withFix(concat(
            "kernels there: ", quotedList(std::span(seenNames_).first(std::min(seenNames_.size(), kMost)), "and"),
            seenNames_.size() > kMost ? concat(" and ", seenNames_.size() - kMost, " more") : ""));
    }
  }

  static std::string shortName(const std::string &symbol) {
    const std::string demangled = symbol.starts_with("_Z") ? demangle(symbol) : std::string();
    return demangled.empty() ? symbol : std::string(baseName(demangled));
  }

  /// A mangled symbol is exported under its C++ name where that is one kernel's only.
  void nameExports() {
    std::map<std::string, int> count;
    for (const KernelDraft &kernel : kernels_)
      ++count[shortName(kernel.declaration.exported.symbol)];
    for (KernelDraft &kernel : kernels_) {
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
    for (const KernelDraft &kernel : kernels_) {
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

  /// Where a kernel was seen first, and for which targets it is there.
  struct Presence {
    explicit Presence(SourceLocation place) : where(std::move(place)) {}
    SourceLocation where;
    std::set<std::string> targets;
  };

  const LinkJob &job_;
  const ImportOptions &options_;
  Diagnostics &diagnostics_;
  std::vector<KernelDraft> kernels_;
  std::set<std::string> seen_;               // symbols of kernels_ and refused_
  std::map<std::string, Presence> presence_; // by symbol, of these
  std::vector<Diagnostic> refused_;          // why there is no draft, kernel by kernel
  std::vector<std::string> found_;           // names that a kernel may be asked for by
  std::vector<std::string> seenNames_;       // one of them for each, for people
};

} // namespace

std::string draftManifest(const LinkJob &job, const ImportOptions &options, Diagnostics &diagnostics) {
  return ManifestDraft(job, options, diagnostics).run();
}

} // namespace tenon::linker
