// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks every call of every driver function that the runtime makes: the n-th call of each fails, for n from 1 until the
// scenario has no such call. Of each failure must hold:
//   - an error names the function, or nothing was lost and the table below says how the runtime does without;
//   - nothing is left on the device, but what a function that takes back has itself refused to take;
//   - every semaphore is signalled or failed, and no wait lasts;
//   - the step works when it is tried again, and a second scenario in the process has no error.
// Usage: tenon-fault-walk [FUNCTION...]; prints a row for each, exits with 1 where one does not hold.
#include "scenario.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::faults {
namespace {

using namespace tenon::runtime;

struct Walked {
  std::string function; // without version suffix
  const char *without;  // how the runtime does without; null: each failure is an error
  bool takesBack;       // what it refuses to take is lost with the context
};

const char *withoutOf(std::string_view function, bool &takesBack) {
  struct Row {
    std::string_view function;
    const char *without;
    bool takesBack = false;
  };
  constexpr const char *kDestructor = "an object is destroyed: its memory goes with the context or the process";
  constexpr const char *kStream = "the commands are given to the stream instead";
  static constexpr Row kRows[] = {
      {"cuGetErrorName", "messages give the number"},
      {"cuGetErrorString", "messages give the name alone"},
      {"cuDeviceGetUuid", "the identifier is zeros"},
      {"cuDeviceGetAttribute", "memory pools, which older drivers do not know, are not used"},
      {"cuStreamGetId", "streams are told apart by their handles"},
      {"cuThreadExchangeStreamCaptureMode", "the thread stays relaxed, or what is given back during a capture ends it"},
      {"cuGraphExecKernelNodeSetParams", kStream},
      {"cuGraphExecMemcpyNodeSetParams", kStream},
      {"cuGraphExecMemsetNodeSetParams", kStream},
      {"cuCtxPushCurrent", kDestructor, true},
      {"cuCtxPopCurrent", "the context stays current in the calling thread", false},
      {"cuDevicePrimaryCtxRelease", kDestructor, true},
      {"cuMemFree", kDestructor, true},
      {"cuMemFreeAsync", kDestructor, true},
      {"cuMemPoolDestroy", kDestructor, true},
      {"cuMemRelease", kDestructor, true},
      {"cuMemUnmap", kDestructor, true},
      {"cuMemAddressFree", kDestructor, true},
      {"cuMemFreeHost", kDestructor, true},
      {"cuMemHostUnregister", kDestructor, true},
      {"cuStreamDestroy", kDestructor, true},
      {"cuEventDestroy", kDestructor, true},
      {"cuModuleUnload", kDestructor, true},
      {"cuGraphDestroy", kDestructor, true},
      {"cuGraphExecDestroy", kDestructor, true},
  };
  for (const Row &row : kRows)
    if (row.function == function) {
      takesBack = row.takesBack;
      return row.without;
    }
  return nullptr;
}

/// driver_symbols.inc says so of these.
bool isAbsentByDesign(std::string_view function) {
  return function.starts_with("cuLink");
}

std::vector<Walked> everyFunction() {
  std::vector<Walked> out;
  auto add = [&](std::string name) {
    if (size_t version = name.rfind("_v"); version != std::string::npos)
      name.resize(version);
    Walked walked{std::move(name), nullptr, false};
    walked.without = withoutOf(walked.function, walked.takesBack);
    out.push_back(std::move(walked));
  };
#define TENON_DRIVER_SYMBOL(name) add(#name);
#define TENON_DRIVER_OPTIONAL_SYMBOL(name) add(#name);
#include "runtime/cuda/driver_symbols.inc"
#undef TENON_DRIVER_OPTIONAL_SYMBOL
#undef TENON_DRIVER_SYMBOL
  return out;
}

/// The emulator's own functions, and a reference to its context, so that what is left in it can be counted.
struct Emulator {
  std::unique_ptr<cuda::Driver> driver;
  bool (*setFailures)(const char *) = nullptr;
  uint64_t (*failuresMade)() = nullptr;
  bool (*liveObjects)(size_t, const char **, uint64_t *) = nullptr;

  static Result<Emulator> open(const cuda::DriverSearch &search) {
    Emulator out;
    TENON_ASSIGN_OR_RETURN(out.driver, cuda::Driver::openFirst(search.emulatorLibraries(), "the emulator"));
    void *library = dlopen(out.driver->path().c_str(), RTLD_NOW | RTLD_LOCAL);
    using Find = decltype(&cuGetProcAddress_v2);
    auto find = reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"));
    CUcontext context = nullptr;
    if (!find || find("tenonEmulatorSetFailures", reinterpret_cast<void **>(&out.setFailures), 13000, 0, nullptr) ||
        find("tenonEmulatorFailuresMade", reinterpret_cast<void **>(&out.failuresMade), 13000, 0, nullptr) ||
        find("tenonEmulatorLiveObjects", reinterpret_cast<void **>(&out.liveObjects), 13000, 0, nullptr) ||
        out.driver->cuDevicePrimaryCtxRetain(&context, 0))
      return makeError(StatusCode::Unavailable, "'", out.driver->path(), "' is not this tree's emulator");
    return out;
  }
  std::vector<uint64_t> live() const {
    std::vector<uint64_t> counts;
    const char *name;
    for (uint64_t count; liveObjects(counts.size(), &name, &count);)
      counts.push_back(count);
    return counts;
  }
  /// "2 events, ...": what is alive and was not.
  std::string leaked(const std::vector<uint64_t> &before) const {
    std::string out;
    const char *name;
    uint64_t count;
    for (size_t i = 0; liveObjects(i, &name, &count); ++i)
      if (count != before[i])
        out += concat(out.empty() ? "" : ", ", static_cast<int64_t>(count - before[i]), " ", name);
    return out;
  }
  /// Empties the calling thread's stack of contexts. Returns how many there were.
  size_t popAll() const {
    size_t popped = 0;
    for (CUcontext context; driver->cuCtxPopCurrent_v2(&context) == CUDA_SUCCESS;)
      ++popped;
    return popped;
  }
};

struct Counts {
  uint64_t calls = 0, reported = 0, without = 0, kept = 0, wrong = 0;
};

/// What of the n-th call's failure does not hold; empty: all does.
std::string judge(const Walked &walked, const Outcome &outcome, const std::string &leaked, size_t leftCurrent,
                  Counts &counts) {
  if (!outcome.wrong.empty())
    return outcome.wrong;
  if (outcome.errors.size() > 1)
    return concat("one failure, ", outcome.errors.size(), " errors: ", outcome.errors[0], "; ", outcome.errors[1]);
  const bool isReported = !outcome.errors.empty();
  if (isReported && outcome.errors[0].find(walked.function) == std::string::npos)
    return concat("the error does not name it: ", outcome.errors[0]);
  if (!isReported && !walked.without)
    return "no error says so";
  if (!leaked.empty() && (isReported || !walked.takesBack))
    return concat("left behind: ", leaked, isReported ? concat(" after ", outcome.errors[0]) : std::string());
  if (leftCurrent != 0 && walked.function != "cuCtxPopCurrent")
    return concat(leftCurrent, " contexts left current");
  counts.reported += isReported;
  counts.without += !isReported;
  counts.kept += !leaked.empty();
  return {};
}

/// Walks one function, in a process of its own. Findings go to `report`, a line each.
Counts walk(const Walked &walked, const Inputs &inputs, const cuda::DriverSearch &search, FILE *report) {
  Counts counts;
  auto wrong = [&](uint64_t call, const std::string &what) {
    ++counts.wrong;
    std::fprintf(report, "  call %llu of %s: %s\n", static_cast<unsigned long long>(call), walked.function.c_str(),
                 what.c_str());
    std::fflush(report);
  };
  Result<Emulator> opened = Emulator::open(search);
  if (!opened.ok()) {
    wrong(0, opened.status().toString());
    return counts;
  }
  const Emulator &emulator = *opened;
  auto runWithout = [&](uint64_t call) {
    const Outcome outcome = runScenario(inputs, search);
    if (!outcome.wrong.empty() || !outcome.errors.empty())
      wrong(call, concat("a run without a fault: ", outcome.errors.empty() ? outcome.wrong : outcome.errors[0]));
  };
  runWithout(0);
  for (uint64_t call = 1; counts.wrong < 3; ++call) {
    const std::vector<uint64_t> before = emulator.live();
    if (!emulator.setFailures(concat(walked.function, ":", call).c_str())) {
      wrong(call, "the emulator does not export it");
      break;
    }
    const Outcome outcome = runScenario(inputs, search);
    const bool failed = emulator.failuresMade() != 0;
    emulator.setFailures("");
    const size_t leftCurrent = emulator.popAll();
    const std::string leaked = emulator.leaked(before);
    if (!failed) {
      if (!outcome.errors.empty() || !leaked.empty())
        wrong(call, concat("no fault, and yet ", outcome.errors.empty() ? leaked : outcome.errors[0]));
      break;
    }
    ++counts.calls;
    if (std::string what = judge(walked, outcome, leaked, leftCurrent, counts); !what.empty())
      wrong(call, what);
    const std::vector<uint64_t> again = emulator.live();
    runWithout(call);
    if (std::string after = emulator.leaked(again); !after.empty())
      wrong(call, concat("the run after it left behind: ", after));
    std::fprintf(report, "."); // it goes on
    std::fflush(report);
  }
  if (counts.calls == 0 && counts.wrong == 0)
    wrong(0, "the scenario does not call it");
  return counts;
}

/// Runs walk() in a child. What it says is printed; a child that says nothing for long is stopped.
Counts walkInChild(const Walked &walked, const Inputs &inputs, const cuda::DriverSearch &search) {
  constexpr int kSilenceMs = 60'000;
  int ends[2];
  if (pipe(ends) != 0)
    return {.wrong = 1};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    FILE *report = fdopen(ends[1], "w");
    const Counts counts = walk(walked, inputs, search, report);
    std::fprintf(report, "\n=%llu %llu %llu %llu %llu\n", static_cast<unsigned long long>(counts.calls),
                 static_cast<unsigned long long>(counts.reported), static_cast<unsigned long long>(counts.without),
                 static_cast<unsigned long long>(counts.kept), static_cast<unsigned long long>(counts.wrong));
    std::fflush(report);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  bool isSilent = false;
  for (char chunk[4096];;) {
    pollfd ready = {ends[0], POLLIN, 0};
    if (poll(&ready, 1, kSilenceMs) == 0) {
      isSilent = true;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t got = read(ends[0], chunk, sizeof(chunk));
    if (got <= 0)
      break;
    said.append(chunk, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const size_t walkedCalls = static_cast<size_t>(std::count(said.begin(), said.end(), '.'));
  unsigned long long calls, reported, without, kept, wrong;
  const size_t summary = said.rfind("\n=");
  const bool isComplete =
      summary != std::string::npos && std::sscanf(said.c_str() + summary, "\n=%llu %llu %llu %llu %llu", &calls,
                                                  &reported, &without, &kept, &wrong) == 5;
  // Findings are lines that begin with two spaces.
  for (size_t at = said.find("  call "); at != std::string::npos; at = said.find("  call ", at + 1))
    std::printf("%s\n", said.substr(at, said.find('\n', at) - at).c_str());
  if (isComplete)
    return {calls, reported, without, kept, wrong};
  std::printf("  %s: about call %zu the process %s\n", walked.function.c_str(), walkedCalls + 1,
              isSilent ? "hung and was stopped" : concat("ended, status ", status).c_str());
  return {.calls = walkedCalls, .wrong = 1};
}

int run(int argc, char **argv) {
  setenv("TENON_EMULATOR_QUIET", "1", 1);
  setenv("TENON_CUDA_DRIVER", "emulator", 1);
  setenv("TENON_EMULATOR_MEMORY", "256", 1);
  Result<Inputs> inputs = makeInputs();
  if (!inputs.ok()) {
    std::printf("skipped: %s\n", inputs.status().toString().c_str());
    return 77;
  }
  const cuda::DriverSearch search = cuda::DriverSearch::fromEnvironment();
  Counts all;
  size_t functions = 0;
  std::printf("%-34s %6s %9s %8s %5s\n", "function", "calls", "an error", "without", "kept");
  for (const Walked &walked : everyFunction()) {
    if (argc > 1 &&
        std::find_if(argv + 1, argv + argc, [&](const char *name) { return walked.function == name; }) == argv + argc)
      continue;
    // Any other function that the emulator lacks is a finding.
    if (isAbsentByDesign(walked.function)) {
      std::printf("%-34s not walked: the emulator does not export it\n", walked.function.c_str());
      continue;
    }
    if (walked.function.starts_with("cuEventElapsedTime")) {
      std::printf("%-34s not walked: traces and tenon-benchmark alone ask for times\n", walked.function.c_str());
      continue;
    }
    const Counts counts = walkInChild(walked, *inputs, search);
    std::printf("%-34s %6llu %9llu %8llu %5llu  %s\n", walked.function.c_str(),
                static_cast<unsigned long long>(counts.calls), static_cast<unsigned long long>(counts.reported),
                static_cast<unsigned long long>(counts.without), static_cast<unsigned long long>(counts.kept),
                counts.wrong     ? "WRONG"
                : walked.without ? walked.without
                                 : "");
    ++functions;
    all.calls += counts.calls, all.reported += counts.reported, all.without += counts.without;
    all.kept += counts.kept, all.wrong += counts.wrong;
  }
  std::printf("%zu functions, %llu calls made to fail: %llu errors, %llu done without, %llu wrong\n", functions,
              static_cast<unsigned long long>(all.calls), static_cast<unsigned long long>(all.reported),
              static_cast<unsigned long long>(all.without), static_cast<unsigned long long>(all.wrong));
  return all.wrong == 0 && functions != 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::faults

int main(int argc, char **argv) {
  return tenon::faults::run(argc, argv);
}
