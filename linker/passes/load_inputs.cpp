// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects are parsed as given. The header of a PTX file is three directives (PTX ISA, "PTX Module Directives"):
// `.version` says which instructions may appear, `.target` for which architecture, `.address_size` how wide pointers
// are. ptxas and the driver trust them, so a claim that differs from them is an error here and not a wrong image on
// some device.
#include "abi/arch_spelling.h"
#include "linker/object/cubin_object.h"
#include "linker/object/object_kind.h"
#include "linker/passes/passes.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace tenon::linker {
namespace {

std::string isaText(uint16_t isa) {
  return concat(isa / 10, '.', isa % 10);
}

SourceLocation headerPlace(const Object &object, const SourceLocation &directive) {
  return directive.known() ? directive : object.place();
}

Diagnostic &noteClaim(Diagnostic &diagnostic, const ObjectInput &input) {
  if (input.declaredAt.known())
    diagnostic.note(input.declaredAt, concat("the object is given for ", input.target.toString(), " here"));
  return diagnostic;
}

std::string targetFix(const ObjectInput &input, abi::TargetArch found) {
  std::string flag = concat("compile it with -arch=compute_", input.target.toString().substr(3), ", or give it for ",
                            found.toString());
  if (found.number == input.target.number && found.suffix != abi::ArchSuffix::None)
    flag += concat(" (", found.toString(), " runs ",
                   found.suffix == abi::ArchSuffix::A ? "on that architecture alone" : "within its family", ", ",
                   input.target.toString(), " promises other devices)");
  return flag;
}

void checkHeader(const Object &object, Diagnostics &diagnostics) {
  const ObjectInput &input = *object.input;
  const ptx::Module &module = object.module;
  if (module.addressSize != 64) {
    std::string found = module.addressSize ? concat(".address_size ", module.addressSize) : "no .address_size (32)";
    diagnostics
        .error(headerPlace(object, module.addressSizeAt), "K-1", concat("found ", found, ", wanted .address_size 64"))
        .withFix("compile for 64-bit addresses (nvcc -m64)");
  }
  if (!abi::findArch(input.target)) {
    diagnostics
        .error(input.declaredAt.known() ? input.declaredAt : object.place(), "K-6",
               concat("target '", input.target.toString(), "' of object '", input.path, "' is not known"))
        .withFix(abi::archAdvice(input.target.toString()));
    return;
  }
  if (module.target != input.target) {
    noteClaim(diagnostics.error(
                  headerPlace(object, module.targetAt), "K-6",
                  concat("found .target ", module.target.toString(), ", wanted .target ", input.target.toString())),
              input)
        .withFix(targetFix(input, module.target));
    return; // the minimum of a wrong target says nothing
  }
  const uint16_t minimum = abi::findArch(input.target)->minimumIsa;
  if (module.isa < minimum)
    diagnostics
        .error(headerPlace(object, module.versionAt), "K-6",
               concat("found .version ", isaText(module.isa), ", wanted at least ", isaText(minimum), " for .target ",
                      input.target.toString()))
        .withFix("the object is malformed: compile it again with a toolkit that knows the target");
}

std::unique_ptr<Object> loadObject(const ObjectInput &input, ObjectReader &reader, Diagnostics &diagnostics) {
  ObjectKind kind = detectObjectKind(input.bytes);
  if (kind == ObjectKind::Cubin)
    return makeCubinObject(input, diagnostics);
  if (kind != ObjectKind::Ptx) {
    Diagnostic &error = diagnostics.error({input.path, 0, 0}, "K-1", concat("the object is ", describe(kind)));
    noteClaim(error, input).withFix(std::string(adviceFor(kind)));
    return nullptr;
  }
  std::unique_ptr<Object> object = reader.read(input, diagnostics);
  if (object)
    checkHeader(*object, diagnostics);
  return object;
}

void reportMetadataOnly(const Object &object, LinkContext &context) {
  const std::string text = "there is no PTX beside the cubin: its kernels are proved from metadata only, which shows "
                           "neither what they write nor dynamic shared memory";
  const std::string suffix = object.input->target.toString().substr(std::string_view("sm_").size());
  (context.job.strict ? context.diagnostics.error(object.place(), "K-18", text)
                      : context.diagnostics.remark(object.place(), "K-18", text))
      .withFix(concat("give the PTX as well: nvcc -fatbin -gencode arch=compute_", suffix, ",code=[sm_", suffix,
                      ",compute_", suffix, ']'));
}

/// Each object by some thread; results and findings lie with their objects, so neither the number of threads nor their
/// order shows.
class Loader {
public:
  explicit Loader(LinkContext &context) : context_(context) {
    context.objects.resize(context.inputs.size());
    findings_.resize(context.inputs.size());
  }

  void run() {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < threadCount(); ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (Diagnostics &found : findings_)
      context_.diagnostics.append(std::move(found));
  }

private:
  /// As many as the job takes, but a thread must have something to do.
  size_t threadCount() const {
    constexpr size_t kBytesEach = 1 << 20;
    size_t bytes = 0;
    for (const ObjectInput *input : context_.inputs)
      bytes += input->bytes.size();
    const size_t wanted = context_.job.jobs ? context_.job.jobs : std::max(1u, std::thread::hardware_concurrency());
    return std::min({wanted, context_.inputs.size(), bytes / kBytesEach + 1});
  }

  void work() {
    ObjectReader reader(context_.requests);
    for (size_t i = next_++; i < context_.inputs.size(); i = next_++)
      context_.objects[i] = loadObject(*context_.inputs[i], reader, findings_[i]);
  }

  LinkContext &context_;
  std::vector<Diagnostics> findings_; // by object
  std::atomic<size_t> next_ = 0;
};

} // namespace

void loadInputs(LinkContext &context) {
  Loader(context).run();
  for (const std::unique_ptr<Object> &object : context.objects)
    if (object && object->isMetadataOnly)
      reportMetadataOnly(*object, context);
}

void checkUnchanged(LinkContext &context) {
  for (const ObjectInput &input : context.job.objects)
    if (Status status = input.bytes.unchanged(); !status.ok())
      context.diagnostics.error({input.path, 0, 0}, "", std::string(status.message()))
          .withFix("link again when whatever writes it has finished");
}

void formVariants(LinkContext &context) {
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const ObjectInput &input = *context.inputs[i];
    const std::string name = input.variantName.empty() ? input.target.toString() : input.variantName;
    auto variant = std::find_if(context.variants.begin(), context.variants.end(), [&](const Variant &variant) {
      return variant.name == name && variant.arch == input.target && variant.origin == input.origin;
    });
    if (variant == context.variants.end())
      variant = context.variants.insert(variant, {.name = name, .arch = input.target, .origin = input.origin});
    variant->inputs.push_back(&input);
    if (context.objects[i])
      variant->objects.push_back(context.objects[i].get());
    else
      variant->complete = false;
  }
}

/// Objects may each have a kernel of one private name; which of them an export means, nothing tells.
static void reportAmbiguousEntries(LinkContext &context, const Variant &variant) {
  for (const auto &[first, again] : variant.symbols.repeatedEntries()) {
    if (first->object == again->object) // already reported
      continue;
    if (const Symbol *shared = variant.symbols.find(again->name); shared && shared->isEntry())
      continue;
    for (const abi::Export &declared : context.job.exports) {
      if ((declared.symbol.empty() ? declared.name : declared.symbol) != again->name)
        continue;
      Diagnostic &error =
          context.diagnostics.error(again->place(), "K-12",
                                    concat("export '", declared.name, "' may mean this entry point '", again->name,
                                           "' or another, each private to its object in variant '", variant.name, "'"));
      error.note(first->place(), "the other one");
      noteDeclared(error, declared)
          .withFix("rename one, make one visible, or give the objects different variant names");
    }
  }
}

void resolveSymbols(LinkContext &context) {
  for (Variant &variant : context.variants) {
    const size_t errorsBefore = context.diagnostics.errorCount();
    size_t definitions = 0;
    for (const Object *object : variant.objects)
      definitions += object->module.functions.size() + object->module.variables.size();
    variant.symbols.reserve(definitions);
    for (const Object *object : variant.objects)
      variant.symbols.add(*object, variant.name, context.diagnostics);
    reportAmbiguousEntries(context, variant);
    variant.hasDuplicates = context.diagnostics.errorCount() != errorsBefore;
  }
}

} // namespace tenon::linker
