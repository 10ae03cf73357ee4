// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One task per source and target. Tasks run side by side; their results are taken in the job's order, so neither the
// output nor the order of findings depends on who was first.
#include "linker/source/compile_sources.h"

#include "linker/object/object_kind.h"
#include "linker/source/compiler_log.h"
#include "linker/source/cuda_compiler.h"
#include "linker/source/header_folder.h"
#include "linker/source/source_cache.h"
#include "support/files/file.h"
#include "support/sha256.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <time.h>

namespace tenon::linker {
namespace {

// What the compilers read from the environment, beside the programs that they find through it.
constexpr const char *kEnvironment[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",  "NVCC_CCBIN",        "CPATH",
                                        "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH", "SOURCE_DATE_EPOCH", "PATH"};

struct Task {
  const ObjectInput *source = nullptr;
  abi::TargetArch target;
  Status failure;        // the compiler did not run
  int exitStatus = 0;    // of the compiler
  CachedSource compiled; // its PTX is empty after a failure
  Status cacheFailure;   // nothing was kept
};

timespec now() {
  timespec time = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &time); // the clock that files are stamped by
  return time;
}

/// Whether a file may have changed after `start`: then nobody knows which contents the compiler saw.
bool changedSince(const std::string &path, timespec start) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0)
    return true;
  return info.st_mtim.tv_sec > start.tv_sec ||
         (info.st_mtim.tv_sec == start.tv_sec && info.st_mtim.tv_nsec >= start.tv_nsec);
}

class SourceCompiler {
public:
  SourceCompiler(const SourceOptions &options, const CudaCompiler &compiler, SourceCache &cache, std::string include)
      : options_(options), compiler_(compiler), cache_(cache), include_(std::move(include)) {}

  void run(Task &task) {
    const std::string key = keyOf(task);
    if (std::optional<CachedSource> found = cache_.find(key)) {
      task.compiled = std::move(*found);
      return;
    }
    const timespec start = now();
    Result<Compilation> result =
        compileCuda(compiler_, task.source->path, task.target, options_.flags, include_, idOf(*task.source));
    if (!result.ok()) {
      task.failure = result.takeStatus();
      return;
    }
    task.exitStatus = result->exitStatus;
    task.compiled = {.ptx = std::move(result->ptx), .log = std::move(result->log), .files = std::move(result->files)};
    // Ours is the same for every source.
    std::erase_if(task.compiled.files, [this](const std::string &file) { return file.starts_with(include_ + "/"); });
    const bool isStable =
        std::ranges::none_of(task.compiled.files, [&](const std::string &file) { return changedSince(file, start); });
    if (task.exitStatus == 0 && isStable)
      task.cacheFailure = cache_.store(key, task.compiled);
  }

private:
  static std::string nameOf(const ObjectInput &source) { return source.path.substr(source.path.find_last_of('/') + 1); }
  /// Eight digits of what the source is, for names of internal things.
  static std::string idOf(const ObjectInput &source) {
    return Sha256().addField(nameOf(source)).addField(source.bytes).hex().substr(0, 8);
  }

  /// Everything that decides about the PTX but the headers. The folders are in it since headers are looked for from
  /// there.
  std::string keyOf(const Task &task) const {
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::current_path(failed);
    Sha256 hash;
    hash.addField(compiler_.path).addField(compiler_.version).addField(kernelHeaderText());
    hash.addField(folder.string()).addField(task.source->path).addField(task.source->bytes);
    hash.addField(task.target.toString());
    for (const std::string &flag : options_.flags)
      hash.addField(flag);
    for (const char *name : kEnvironment) {
      const char *value = std::getenv(name);
      hash.addField(name).addField(value ? value : "");
    }
    return hash.hex();
  }

  const SourceOptions &options_;
  const CudaCompiler &compiler_;
  SourceCache &cache_;
  std::string include_;
};

class JobCompiler {
public:
  JobCompiler(LinkJob &job, Diagnostics &diagnostics) : job_(job), diagnostics_(diagnostics) {}

  void run() {
    if (!checkFlags() || !collectTasks())
      return;
    if (!job_.sources.compiledRoot.empty())
      return takeCompiledBefore();
    Result<CudaCompiler> compiler = findCudaCompiler(job_.sources.compiler);
    if (!compiler.ok()) {
      error(*tasks_.front().source, concat("cannot compile it: ", compiler.status().message()))
          .withFix("install the CUDA toolkit, name its nvcc with --nvcc=PATH, or compile the source to PTX yourself");
      return;
    }
    if (!checkPaths(*compiler))
      return;
    compileAll(*compiler);
    takeResults(*compiler);
  }

private:
  Diagnostic &error(const ObjectInput &source, std::string message) {
    Diagnostic &error = diagnostics_.error({source.path, 0, 0}, "K-23", std::move(message));
    if (source.declaredAt.known())
      error.note(source.declaredAt, "the source is named here");
    return error;
  }

  bool checkFlags() {
    bool allFine = true;
    for (const std::string &flag : job_.sources.flags)
      if (std::string why = refusalOfFlag(flag); !why.empty()) {
        diagnostics_.error({}, "K-23", concat("--cu-flag=", flag, " cannot be passed on: ", why))
            .withFix("leave it out");
        allFine = false;
      }
    return allFine;
  }

  bool checkPaths(const CudaCompiler &compiler) {
    bool allFine = true;
    for (const ObjectInput &object : job_.objects)
      if (std::string why = object.isSource ? refusalOfPath(compiler, object.path) : ""; !why.empty()) {
        error(object, concat("cannot compile it: ", why)).withFix("rename it, or compile the source to PTX yourself");
        allFine = false;
      }
    if (std::string why = refusalOfPath(compiler, job_.sources.cache()); !why.empty()) {
      diagnostics_.error({}, "K-23", concat("cannot compile with '", job_.sources.cache(), "' for a cache: ", why))
          .withFix("name another folder with --cu-cache=DIR or TENON_CACHE_DIR");
      allFine = false;
    }
    return allFine;
  }

  bool collectTasks() {
    bool allFine = true;
    for (const ObjectInput &object : job_.objects) {
      if (!object.isSource)
        continue;
      if (object.target.number) {
        tasks_.push_back(
            {.source = &object, .target = object.target, .failure = {}, .compiled = {}, .cacheFailure = {}});
        continue;
      }
      for (abi::TargetArch target : job_.sources.targets)
        tasks_.push_back({.source = &object, .target = target, .failure = {}, .compiled = {}, .cacheFailure = {}});
      if (job_.sources.targets.empty()) {
        error(object, "the source is given for no target")
            .withFix(concat("name the targets: --target=sm_80,sm_90, or sm_80=", object.path));
        allFine = false;
      }
    }
    return allFine;
  }

  void compileAll(const CudaCompiler &compiler) {
    std::string folder = job_.sources.cache();
    Result<HeaderFolder> headers = HeaderFolder::create(folder);
    if (!headers.ok() && !folder.empty()) {
      remarkUncached(headers.status());
      folder.clear();
      headers = HeaderFolder::create("");
    }
    if (!headers.ok()) {
      error(*tasks_.front().source, concat("cannot compile it: ", headers.status().message()));
      tasks_.clear();
      return;
    }
    SourceCache cache(folder);
    SourceCompiler sources(job_.sources, compiler, cache, headers->path());
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t i = next++; i < tasks_.size(); i = next++)
        sources.run(tasks_[i]);
    };
    const size_t wanted = job_.jobs ? job_.jobs : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min(wanted, tasks_.size()); ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
  }

  /// A link that is repeated elsewhere: the PTX lies beside the source.
  void takeCompiledBefore() {
    for (Task &task : tasks_) {
      Result<std::string> ptx = readFile(job_.sources.compiledRoot + objectPath(task));
      if (ptx.ok())
        task.compiled.ptx = ptx.take();
      else
        error(*task.source, concat("what it was compiled to is missing: ", ptx.status().message()));
    }
    replaceSources();
  }

  void remarkUncached(const Status &why) {
    diagnostics_.remark({}, "K-23", concat("compiled sources are not kept: ", why.message()))
        .withFix("name a folder that can be written with --cu-cache=DIR, or say that it is meant: --cu-cache=none");
  }

  void takeResults(const CudaCompiler &compiler) {
    for (Task &task : tasks_)
      take(task, compiler);
    for (const Task &task : tasks_)
      if (!task.cacheFailure.ok()) {
        remarkUncached(task.cacheFailure);
        break;
      }
    replaceSources();
  }

  /// Sources give way to what they became, each in its place.
  void replaceSources() {
    std::vector<ObjectInput> objects;
    auto task = tasks_.begin();
    for (const ObjectInput &object : job_.objects) {
      if (!object.isSource)
        objects.push_back(object);
      for (; task != tasks_.end() && task->source == &object; ++task)
        if (!task->compiled.ptx.empty())
          objects.push_back(objectOf(*task));
    }
    job_.objects = std::move(objects);
  }

  static std::string objectPath(const Task &task) {
    return concat(task.source->path, ':', task.target.toString(), ".ptx");
  }
  static ObjectInput objectOf(Task &task) {
    ObjectInput object = *task.source;
    object.path = objectPath(task);
    object.bytes = std::move(task.compiled.ptx);
    object.target = task.target;
    object.sourcePath = task.source->path;
    object.isSource = false;
    return object;
  }

  void take(const Task &task, const CudaCompiler &compiler) {
    const ObjectInput &source = *task.source;
    if (!task.failure.ok()) {
      error(source, concat("cannot compile it: ", task.failure.message()));
      return;
    }
    const bool failed = task.exitStatus != 0 || task.compiled.ptx.empty();
    const size_t errorsBefore = diagnostics_.errorCount();
    for (CompilerMessage &message : parseCompilerLog(task.compiled.log))
      report(std::move(message), failed);
    if (failed) {
      Diagnostic &summary = error(source, concat("'", compiler.path, "' ended with status ", task.exitStatus, " for ",
                                                 task.target.toString(), task.exitStatus == 0 ? ", without PTX" : ""));
      // Words that were not understood are better than none.
      if (diagnostics_.errorCount() == errorsBefore + 1 && !wasReported(task))
        summary.note({}, task.compiled.log.empty() ? "it said nothing" : task.compiled.log);
    }
    for (const std::string &file : task.compiled.files)
      if (std::ranges::find(job_.inputFiles, file) == job_.inputFiles.end())
        job_.inputFiles.push_back(file);
  }

  /// Every target's compiler says the same of the same line: once is enough.
  void report(CompilerMessage message, bool failed) {
    if (std::ranges::find(reported_, message) != reported_.end())
      return;
    reported_.push_back(message);
    if (message.severity == Severity::Error)
      diagnostics_.error(message.where, failed ? "K-23" : "", std::move(message.text));
    else
      diagnostics_.warning(message.where, "", std::move(message.text));
  }
  bool wasReported(const Task &task) const {
    return std::ranges::any_of(parseCompilerLog(task.compiled.log), [&](const CompilerMessage &message) {
      return message.severity == Severity::Error && std::ranges::find(reported_, message) != reported_.end();
    });
  }

  LinkJob &job_;
  Diagnostics &diagnostics_;
  std::vector<Task> tasks_;
  std::vector<CompilerMessage> reported_;
};

} // namespace

bool isCudaSource(std::string_view path, std::string_view bytes) {
  return path.ends_with(".cu") || detectObjectKind(bytes) == ObjectKind::CudaSource;
}

void compileSources(LinkJob &job, Diagnostics &diagnostics) {
  if (std::ranges::any_of(job.objects, &ObjectInput::isSource))
    JobCompiler(job, diagnostics).run();
}

} // namespace tenon::linker
