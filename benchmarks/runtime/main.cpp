// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime beside a minimal program on the driver API, both in this process, taking turns (measure.h).
//
//   tenon-runtime-benchmark [--rounds=N] [--output=FOLDER]
//
// Writes runtime.csv and runtime.md to FOLDER. On the emulator everything runs once and no time is reported: a smoke
// test. The kernels' images lie beside the program. Exit status 1: something failed, or a call allocated; goals that
// are not met are in the table, not in the exit status.
#include "direct.h"
#include "measure.h"
#include "programs.h"

#include "program_builder.h"
#include "runtime/commands/graph_command_buffer.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/program.h"
#include "runtime/program/program_file.h"
#include "support/files/file.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

// What the C++ side of this process allocates: all of ours, none of the driver's own.
static std::atomic<uint64_t> allocationCount = 0;
void *operator new(std::size_t bytes) {
  ++allocationCount;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tenon::benchmarks {
namespace {

using namespace runtime;

constexpr uint32_t kElements = 64;
constexpr int kChain = 100;

[[noreturn]] void stop(const Status &status) {
  std::fprintf(stderr, "tenon-runtime-benchmark: %s\n", status.toString().c_str());
  std::exit(1);
}
void check(Status status) {
  if (!status.ok())
    stop(status);
}
template <typename T> T check(Result<T> result) {
  if (!result.ok())
    stop(result.status());
  return result.take();
}

struct Images {
  std::vector<uint8_t> cubin, ptx;

  static Images read() {
    const std::string folder = cuda::DriverSearch::fromEnvironment().ownFolder;
    auto bytes = [&](const char *name) {
      const std::string text = check(readFile(folder + "/" + name));
      return std::vector<uint8_t>(text.begin(), text.end());
    };
    return {bytes("runtime_benchmark_sm_90.cubin"), bytes("runtime_benchmark_sm_75.ptx")};
  }
};

class Benchmark {
public:
  Benchmark() {
    device_ = check(Device::open({}, cuda::DriverSearch::fromEnvironment()));
    isEmulator_ = device_->isEmulator();
    batch_ = isEmulator_ ? 2 : 64;
    replays_ = isEmulator_ ? 1 : 10;
    Images images = Images::read();
    const std::string cubin(images.cubin.begin(), images.cubin.end()), ptx(images.ptx.begin(), images.ptx.end());
    executableBytes_ =
        test::buildExecutable("benchmark", {test::makeExport("step", 3, 1)},
                              {{.name = "cubin", .arch = 90, .image = cubin, .kind = abi::fb::ImageKind::Cubin},
                               {.name = "ptx", .arch = 75, .image = ptx, .isa = 80}});
    executable_ = check(Executable::create(device_, executableBytes_, "benchmark"));
    isCubin_ = check(executable_->load(0))->variantName == "cubin";
    image_ = isCubin_ ? images.cubin : images.ptx;
    image_.push_back(0);
    // Current for good, as it is in a program that uses the driver directly.
    must(device_->driver(), device_->driver().cuCtxPushCurrent_v2(device_->context().handle()), "cuCtxPushCurrent");
    direct_.emplace(*device_, image_);
    programBytes_.emplace(test::buildProgram({addFunction("one", 1), addFunction("ten", 10)}, {executableBytes_}));
    program_ = check(Program::load(device_, programBytes_->span(), "benchmark"));
    for (Set &set : sets_)
      set.make(*device_);
  }

  int run(int rounds, const std::string &folder);

private:
  // The buffers of a call; two of them, so that every call brings new pointers.
  struct Set {
    std::shared_ptr<Buffer> a, b, c;
    std::vector<Value> inputs, results;
    std::optional<Direct::Arguments> arguments;
    void make(Device &device) {
      for (auto *buffer : {&a, &b, &c})
        *buffer = check(allocateBuffer(device, kElements * 4, {}));
      check(device.stream().fill({a->address(), kElements * 4}, 0, 4));
      check(device.stream().fill({b->address(), kElements * 4}, 0, 4));
      check(device.stream().synchronize());
      inputs = {Tensor{abi::ElementType::F32, {kElements}, a}, Tensor{abi::ElementType::F32, {kElements}, b}};
      results = {Tensor{abi::ElementType::F32, {kElements}, c}};
      arguments.emplace(a->address(), b->address(), c->address(), kElements);
    }
  };

  std::shared_ptr<CommandBuffer> record(CommandBufferMode mode, int count, bool hasSlots, bool isChain);
  double timeCalls(uint32_t function);
  Comparison graphReplay();
  Comparison oneDispatchCall();
  Comparison tenDispatchCall();
  Comparison streamDispatch(bool hasSlots);
  Comparison replayWithSlots();
  Comparison executableLoad();
  Comparison programLoad();
  uint64_t countAllocations();
  double timeProgramLoad(const std::string &path);

  std::shared_ptr<Device> device_;
  bool isEmulator_ = false, isCubin_ = false;
  int batch_ = 1, replays_ = 1;
  std::vector<uint8_t> executableBytes_, image_;
  std::optional<test::AlignedBytes> programBytes_;
  std::shared_ptr<Executable> executable_;
  std::optional<Direct> direct_;
  std::unique_ptr<Program> program_;
  Set sets_[2];
};

std::shared_ptr<CommandBuffer> Benchmark::record(CommandBufferMode mode, int count, bool hasSlots, bool isChain) {
  auto commands = check(createCommandBuffer(device_, {.slotCount = hasSlots ? 3u : 0u}, mode));
  check(commands->begin());
  for (int i = 0; i < count; ++i) {
    DispatchArguments arguments = {{BufferRef::of(sets_[0].a), BufferRef::of(sets_[0].b), BufferRef::of(sets_[0].c)},
                                   {kElements}};
    if (hasSlots)
      arguments.bindings = {BufferRef::ofSlot(0), BufferRef::ofSlot(1), BufferRef::ofSlot(2)};
    check(commands->dispatch(executable_, 0, {1, 1, 1}, std::move(arguments)));
    if (isChain)
      check(commands->barrier());
  }
  check(commands->end());
  return commands;
}

Comparison Benchmark::graphReplay() {
  CUgraphExec graph = direct_->chain(kChain, *sets_[0].arguments);
  auto commands = record(CommandBufferMode::Graph, kChain, false, true);
  auto time = [this](auto launch) {
    return nanosecondsPer(replays_ * kChain, [&] {
      for (int i = 0; i < replays_; ++i)
        launch();
      direct_->synchronize();
    });
  };
  return {"graph replay, 100 chained dispatches",
          "ns per kernel",
          "cuGraphLaunch of 100 kernel nodes",
          [this, graph, time] { return time([&] { direct_->launchGraph(graph); }); },
          [this, commands, time] { return time([&] { check(commands->issue(direct_->stream(), {})); }); },
          Comparison::Goal::Ratio,
          1.05};
}

/// Host time of a call, with other buffers each time.
double Benchmark::timeCalls(uint32_t function) {
  const CallOptions options = {.stream = direct_->stream()};
  const double spent = nanosecondsPer(batch_, [&] {
    for (int i = 0; i < batch_; ++i)
      check(program_->callInto(function, sets_[i % 2].inputs, sets_[i % 2].results, options));
  });
  direct_->synchronize();
  return spent;
}

Comparison Benchmark::oneDispatchCall() {
  CUgraphExec graph = direct_->chain(1, *sets_[0].arguments);
  return {"program call, one dispatch, new pointers",
          "ns of host time per call",
          "cuGraphLaunch of one kernel node",
          [this, graph] {
            const double spent = nanosecondsPer(batch_, [&] {
              for (int i = 0; i < batch_; ++i)
                direct_->launchGraph(graph);
            });
            direct_->synchronize();
            return spent;
          },
          [this] { return timeCalls(0); },
          Comparison::Goal::Difference,
          1500};
}

Comparison Benchmark::tenDispatchCall() {
  auto nodes = std::make_shared<std::vector<CUgraphNode>>();
  CUgraphExec graph = direct_->chain(10, *sets_[0].arguments, nodes.get());
  return {"program call, ten dispatches, new pointers", "ns of host time per call",
          "10 cuGraphExecKernelNodeSetParams, cuGraphLaunch",
          [this, graph, nodes] {
            const double spent = nanosecondsPer(batch_, [&] {
              for (int i = 0; i < batch_; ++i) {
                for (CUgraphNode node : *nodes)
                  direct_->setArguments(graph, node, *sets_[i % 2].arguments);
                direct_->launchGraph(graph);
              }
            });
            direct_->synchronize();
            return spent;
          },
          [this] { return timeCalls(1); }};
}

Comparison Benchmark::streamDispatch(bool hasSlots) {
  auto commands = record(CommandBufferMode::Stream, kChain, hasSlots, false);
  return {hasSlots ? "stream dispatch, buffers bound at submission" : "stream dispatch",
          "ns of host time per launch",
          "cuLaunchKernel",
          [this] {
            const double spent = nanosecondsPer(kChain, [&] {
              for (int i = 0; i < kChain; ++i)
                direct_->launch(*sets_[0].arguments);
            });
            direct_->synchronize();
            return spent;
          },
          [this, commands, hasSlots] {
            const TableEntry table[] = {{sets_[0].a}, {sets_[0].b}, {sets_[0].c}};
            const double spent = nanosecondsPer(kChain, [&] {
              check(commands->issue(direct_->stream(), hasSlots ? BindingTable(table) : BindingTable()));
            });
            direct_->synchronize();
            return spent;
          },
          Comparison::Goal::Ratio,
          1.1};
}

Comparison Benchmark::replayWithSlots() {
  auto nodes = std::make_shared<std::vector<CUgraphNode>>();
  CUgraphExec graph = direct_->chain(kChain, *sets_[0].arguments, nodes.get());
  auto commands = record(CommandBufferMode::Graph, kChain, true, true);
  auto turn = std::make_shared<int>(0);
  return {"graph of 100 dispatches, other buffers each time", "ns of host time per kernel",
          "cuGraphExecKernelNodeSetParams each, cuGraphLaunch",
          [this, graph, nodes, turn] {
            const double spent = nanosecondsPer(kChain, [&] {
              for (CUgraphNode node : *nodes)
                direct_->setArguments(graph, node, *sets_[*turn % 2].arguments);
              direct_->launchGraph(graph);
            });
            ++*turn;
            direct_->synchronize();
            return spent;
          },
          [this, commands, turn] {
            const Set &set = sets_[*turn % 2];
            const TableEntry table[] = {{set.a}, {set.b}, {set.c}};
            const double spent =
                nanosecondsPer(kChain, [&] { check(commands->issue(direct_->stream(), BindingTable(table))); });
            ++*turn;
            direct_->synchronize();
            return spent;
          }};
}

Comparison Benchmark::executableLoad() {
  return {isCubin_ ? "executable load, cubin" : "executable load, PTX (this device takes no cubin of sm_90)",
          "ns",
          "cuModuleLoadData and cuModuleGetFunction of the same image",
          [this] { return direct_->timeLoad(); },
          [this] {
            std::shared_ptr<Executable> loaded;
            return nanosecondsPer(1, [&] {
              loaded = check(Executable::create(device_, executableBytes_, "benchmark"));
              (void)check(loaded->load(0));
            });
          },
          Comparison::Goal::Ratio,
          1.5};
}

double Benchmark::timeProgramLoad(const std::string &path) {
  std::unique_ptr<Program> program;
  std::optional<ProgramFile> file;
  return nanosecondsPer(1, [&] {
    file = check(ProgramFile::open(path));
    program = check(Program::load(device_, file->bytes(), path));
  });
}

Comparison Benchmark::programLoad() {
  struct Files {
    std::string small, large;
    ~Files() { unlink(small.c_str()), unlink(large.c_str()); }
  };
  auto files = std::make_shared<Files>();
  files->small = check(makeProgramFile(executableBytes_, 1 << 20));
  files->large = check(makeProgramFile(executableBytes_, 1 << 30));
  return {"program load, 1 GB of constants",
          "ns",
          "Tenon, 1 MB of constants",
          [this, files] { return timeProgramLoad(files->small); },
          [this, files] { return timeProgramLoad(files->large); },
          Comparison::Goal::Ratio,
          1.1};
}

/// Of 10,000 calls whose shapes were seen before.
uint64_t Benchmark::countAllocations() {
  const CallOptions options = {.stream = direct_->stream()};
  const int calls = isEmulator_ ? 10 : 10000;
  uint64_t before = 0;
  for (int i = -2; i < calls; ++i) {
    if (i == 0)
      before = allocationCount;
    check(program_->callInto(static_cast<uint32_t>(i & 1), sets_[0].inputs, sets_[0].results, options));
  }
  const uint64_t counted = allocationCount - before;
  direct_->synchronize();
  return counted;
}

int Benchmark::run(int rounds, const std::string &folder) {
  std::vector<Comparison> comparisons;
  comparisons.push_back(graphReplay());
  comparisons.push_back(oneDispatchCall());
  comparisons.push_back(tenDispatchCall());
  comparisons.push_back(streamDispatch(false));
  comparisons.push_back(streamDispatch(true));
  comparisons.push_back(replayWithSlots());
  comparisons.push_back(executableLoad());
  comparisons.push_back(programLoad());
  runRounds(comparisons, isEmulator_ ? 1 : rounds, isEmulator_ ? 1 : 10);
  const uint64_t allocations = countAllocations();
  if (isEmulator_) {
    std::printf("%s: every comparison ran; the emulator's times mean nothing and are not reported\n",
                device_->description().c_str());
    return 0;
  }
  std::string table =
      concat("Device: ", device_->description(), "; ", rounds, " rounds, medians.\n\n", toMarkdown(comparisons),
             "\n10,000 program calls: ", allocations, " allocations (goal 0)\n");
  std::fputs(table.c_str(), stdout);
  if (!folder.empty()) {
    check(writeFile(folder + "/runtime.md", table));
    check(writeFile(folder + "/runtime.csv",
                    toCsv(comparisons) + concat("\"allocations of 10,000 calls\",count,0,", allocations, ",,,0,",
                                                allocations == 0 ? "yes" : "no", ",1\n")));
  }
  return allocations == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::benchmarks

int main(int argc, char **argv) {
  int rounds = 101;
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--rounds=", 9) == 0) {
      rounds = std::max(1, std::atoi(argv[i] + 9));
    } else if (std::strncmp(argv[i], "--output=", 9) == 0) {
      folder = argv[i] + 9;
    } else {
      std::fprintf(stderr, "usage: tenon-runtime-benchmark [--rounds=N] [--output=FOLDER]\n");
      return 2;
    }
  }
  tenon::benchmarks::Benchmark benchmark;
  return benchmark.run(rounds, folder);
}
