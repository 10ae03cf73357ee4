// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX becomes machine code here and not on the user's device: a cubin loads in microseconds where the driver's own
// compiler takes tens of milliseconds. What was proved about the PTX is held against the cubin once more, since the
// driver launches by the cubin's own account of its parameters.
//
// ptxas gets each object's text line for line, so its findings keep their places. The one change: a `.file` directive
// without time and size gets both, or ptxas would read those of the source file, if it is still there, into the cubin.
#include "linker/assembler/assembly_cache.h"
#include "linker/object/cubin.h"
#include "linker/passes/passes.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

namespace tenon::linker {
namespace {

struct Task {
  const Variant *variant = nullptr;
  const Object *object = nullptr;
  std::optional<Result<Assembly>> result;
};

/// Objects that provide a kernel, in the order in which the writer stores them.
std::vector<Task> collectTasks(const LinkContext &context) {
  std::vector<Task> tasks;
  std::set<const Object *> providers; // membership only
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      providers.insert(kernel.object);
  for (const Variant &variant : context.variants)
    for (const Object *object : variant.objects)
      if (providers.contains(object))
        tasks.push_back({.variant = &variant, .object = object, .result = std::nullopt});
  return tasks;
}

std::string textFor(const Object &object) {
  const std::string_view text = object.text();
  const std::string_view parsed = object.module.source->text();
  std::string out;
  size_t copied = 0;
  for (const ptx::DebugFile &file : object.module.files) {
    const size_t quote = size_t(file.path.data() - parsed.data()) + file.path.size();
    if (quote >= text.size() || text[quote] != '"')
      continue;
    const size_t next = text.find_first_not_of(" \t", quote + 1);
    if (next != std::string_view::npos && text[next] == ',')
      continue;
    out.append(text, copied, quote + 1 - copied).append(", 1, 1"); // 0 means "not given"
    copied = quote + 1;
  }
  return out.append(text, copied);
}

/// Each task by some thread; results lie with their tasks, so neither their number nor their order shows.
void runTasks(std::vector<Task> &tasks, const AssemblyCache &ptxas, uint32_t jobs) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++)
      tasks[i].result.emplace(ptxas.assemble(tasks[i].variant->arch, textFor(*tasks[i].object)));
  };
  const size_t wanted = jobs ? jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(wanted, tasks.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// The line that a message names; else the kernel or function it quotes; else the object.
SourceLocation placeOf(const AssemblerMessage &message, const Object &object) {
  if (message.line)
    return object.placeOf(message.line, 0);
  const size_t open = message.text.find('\'');
  const size_t close = open == std::string::npos ? open : message.text.find('\'', open + 1);
  if (close != std::string::npos)
    if (const ptx::Function *found =
            object.functions.find(std::string_view(message.text).substr(open + 1, close - open - 1)))
      return object.placeOf(*found);
  return object.place();
}

/// One object's cubin against what the passes before know of it.
class Check {
public:
  Check(LinkContext &context, const Task &task, const Cubin &cubin, const std::vector<KernelResources> &resources)
      : context_(context), task_(task), cubin_(cubin), resources_(resources) {}

  void run() {
    const uint16_t wanted = task_.variant->arch.number;
    if (cubin_.archNumber != wanted)
      context_.diagnostics.error(task_.object->place(), "K-17",
                                 concat("the cubin is for sm_", cubin_.archNumber, ", wanted sm_", wanted));
    for (const Kernel &kernel : task_.variant->kernels)
      if (kernel.object == task_.object)
        checkKernel(kernel);
  }

private:
  Diagnostic &report(const Kernel &kernel, std::string message) {
    Diagnostic &error = context_.diagnostics.error(kernel.object->placeOf(*kernel.entry), "K-17", std::move(message));
    return noteDeclared(error, context_.exportOf(kernel))
        .withFix("another version of ptxas (--ptxas), or --images=ptx");
  }

  void checkKernel(const Kernel &kernel) {
    const CubinKernel *found = cubin_.findKernel(kernel.entry->name);
    if (!found || !found->isEntry) {
      report(kernel, concat("the cubin has ", found ? "code for '" : "no kernel '", kernel.entry->name,
                            found ? "' that is marked as no entry point" : "'"));
      return;
    }
    if (const auto &layout = context_.parameterLayouts[kernel.exportOrdinal])
      checkParameters(kernel, *found, *layout);
    for (const KernelResources &resources : resources_)
      if (resources.name == kernel.entry->name)
        checkShared(kernel, resources);
  }

  void checkParameters(const Kernel &kernel, const CubinKernel &found, const abi::ParameterLayout &wanted) {
    if (found.parameterBytes && wanted.isFixed() && *found.parameterBytes != wanted.bytes)
      report(kernel, concat("'", found.name, "' takes ", *found.parameterBytes,
                            " bytes of parameters by the cubin's own account, the layout has ", wanted.bytes));
    if (!found.parameters.empty() && found.parameters.size() != wanted.parameters.size()) {
      report(kernel, concat("'", found.name, "' takes ", found.parameters.size(),
                            " parameters by the cubin's own account, the layout has ", wanted.parameters.size()));
      return;
    }
    for (size_t i = 0; i < found.parameters.size(); ++i) {
      const CubinParameter &parameter = found.parameters[i];
      const abi::Parameter &slot = wanted.parameters[i];
      const bool isElsewhere = !slot.imagePlaces && parameter.offset != slot.offset;
      auto place = [&](uint32_t offset) { return slot.imagePlaces ? std::string() : concat(" at byte ", offset); };
      if (parameter.known && (isElsewhere || parameter.size != slot.size))
        report(kernel,
               concat("parameter ", i, " of '", found.name, "' has ", parameter.size, " bytes", place(parameter.offset),
                      " by the cubin's own account, the layout has ", slot.size, " bytes", place(slot.offset)));
    }
  }

  void checkShared(const Kernel &kernel, const KernelResources &resources) {
    const uint64_t counted = kernel.reachable.staticSharedBytes();
    if (resources.sharedBytes != counted)
      context_.diagnostics.warning(kernel.object->placeOf(*kernel.entry), "K-17",
                                   concat("'", kernel.entry->name, "' takes ", resources.sharedBytes,
                                          " bytes of static shared memory by the cubin's count, ", counted,
                                          " by the linker's; the former is stored"));
  }

  LinkContext &context_;
  const Task &task_;
  const Cubin &cubin_;
  const std::vector<KernelResources> &resources_;
};

class Assembler {
public:
  explicit Assembler(LinkContext &context) : context_(context) {}

  void run() {
    std::vector<Task> tasks = collectTasks(context_);
    // A cubin that was given is not made again.
    std::erase_if(tasks, [this](const Task &task) {
      if (task.object->cubin.empty())
        return false;
      if (task.object->isMetadataOnly || context_.job.imagePolicy != ImagePolicy::Ptx)
        takeGiven(task);
      return true;
    });
    if (tasks.empty() || context_.job.imagePolicy == ImagePolicy::Ptx)
      return;
    Result<std::string> ptxas = findPtxas(context_.job.ptxasPath);
    if (!ptxas.ok())
      return reportNoAssembler(ptxas.status());
    const AssemblyCache cache(context_.job.sources.cache(), *ptxas);
    runTasks(tasks, cache, context_.job.jobs);
    for (Task &task : tasks)
      take(task);
  }

private:
  bool mustAssemble() const { return context_.job.imagePolicy == ImagePolicy::Cubin; }

  void reportNoAssembler(const Status &status) {
    if (mustAssemble() || !context_.job.ptxasPath.empty())
      context_.diagnostics.error({}, "K-16", concat("cannot assemble: ", status.message()))
          .withFix("install the CUDA toolkit, name its ptxas with --ptxas=PATH, or take --images=ptx");
    else
      context_.diagnostics.remark({}, "K-16", concat("images stay PTX: ", status.message()))
          .withFix("name a ptxas with --ptxas=PATH, or say that it is meant: --images=ptx");
  }

  /// A target or a version that this ptxas does not know: no fault of the object's.
  void stayPtx(const Task &task, std::string reason) {
    if (mustAssemble())
      context_.diagnostics.error(task.object->place(), "K-16", concat("there is no cubin: ", reason))
          .withFix("use a ptxas that knows it (--ptxas=PATH), or --images=cubin+ptx");
    else
      context_.diagnostics.remark(task.object->place(), "K-16", concat("the image stays PTX: ", reason));
  }

  void take(Task &task) {
    if (!task.result->ok()) {
      context_.diagnostics.error(task.object->place(), "K-16",
                                 concat("cannot assemble: ", task.result->status().message()));
      return;
    }
    Assembly assembly = task.result->take();
    switch (assembly.outcome) {
    case Assembly::Outcome::UnknownTarget:
      return stayPtx(task, concat("ptxas has no target ", task.variant->arch.toString()));
    case Assembly::Outcome::NewerIsa:
      return stayPtx(task, concat("ptxas says: ", assembly.messages.back().text));
    case Assembly::Outcome::Refused:
    case Assembly::Outcome::Assembled:
      break;
    }
    for (const AssemblerMessage &message : assembly.messages)
      report(message, *task.object);
    if (assembly.outcome == Assembly::Outcome::Assembled)
      store(task, std::move(assembly));
  }

  void takeGiven(const Task &task) {
    Assembly assembly{.outcome = Assembly::Outcome::Assembled, .cubin = std::string(task.object->cubin)};
    if (Result<Cubin> cubin = readCubin(task.object->cubin); cubin.ok())
      for (const CubinKernel &kernel : cubin->kernels)
        assembly.kernels.push_back({.name = std::string(kernel.name),
                                    .registers = kernel.registers,
                                    .stackBytes = kernel.stackBytes,
                                    .sharedBytes = kernel.staticSharedBytes});
    store(task, std::move(assembly));
  }

  void report(const AssemblerMessage &message, const Object &object) {
    // Kernels that are written once for all targets ask for as many threads as the largest multiprocessor has.
    if (object.input->origin == abi::Origin::Generated && message.text.ends_with(".minnctapersm will be ignored"))
      return;
    const std::string text = concat("ptxas says: ", message.text);
    if (message.severity == Severity::Error)
      context_.diagnostics.error(placeOf(message, object), "K-16", text);
    else
      context_.diagnostics.warning(placeOf(message, object), "K-16", text);
  }

  void store(const Task &task, Assembly assembly) {
    Result<Cubin> cubin = readCubin(assembly.cubin);
    if (!cubin.ok()) {
      context_.diagnostics.error(task.object->place(), "K-17",
                                 concat("the image is no cubin: ", cubin.status().message()));
      return;
    }
    Check(context_, task, *cubin, assembly.kernels).run();
    context_.assembled[task.object] = {.cubin = std::move(assembly.cubin), .kernels = std::move(assembly.kernels)};
  }

  LinkContext &context_;
};

} // namespace

void assembleImages(LinkContext &context) {
  Assembler(context).run();
}

} // namespace tenon::linker
