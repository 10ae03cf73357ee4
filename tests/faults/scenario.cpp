#include "scenario.h"

#include "runtime/argument_packer.h"
#include "runtime/block_pool.h"
#include "runtime/driver_pool.h"
#include "runtime/event.h"
#include "runtime/program.h"

#include <bit>
#include <dlfcn.h>

namespace tenon::faults {

using namespace tenon::conformance;
using abi::fb::BufferSource;
using abi::fb::RegisterOp;
using abi::fb::RegisterOpcode;

namespace {

constexpr uint64_t kBytes = kThreads * 4;
constexpr FileTransferOptions kRing = {.chunkBytes = 4096, .chunkCount = 2};
constexpr uint64_t kFileBytes = 3 * kRing.chunkBytes + 5;
constexpr uint64_t kPatience = 20'000'000'000; // ns: a wait that takes longer is a deadlock

/// f(a, b) = (a + 9) + b, where 9 is a constant of the program; with copies and a fill: every kind of command.
test::FunctionSpec function() {
  test::FunctionSpec out{.name = "f"};
  out.inputs = {{abi::ElementType::F32, {kThreads}}, {abi::ElementType::F32, {kThreads}}};
  out.registers = {RegisterOp(RegisterOpcode::Const, 0, 0, 0, kBytes), // 0: bytes
                   RegisterOp(RegisterOpcode::Const, 0, 0, 0, 1),      // 1: workgroups
                   RegisterOp(RegisterOpcode::Const, 0, 0, 0, kThreads), RegisterOp(RegisterOpcode::Const, 0, 0, 0, 0)};
  out.buffers = {{BufferSource::Input, 0},        {BufferSource::Input, 1},        {BufferSource::Constant, 0},
                 {BufferSource::Transient, 0, 0}, {BufferSource::Transient, 0, 0}, {BufferSource::Transient, 0, 0}};
  auto add = [](uint32_t a, uint32_t b, uint32_t c) {
    return test::CommandSpec{.ordinal = kAdd,
                             .grid = {1, 1, 1},
                             .ranges = {test::wholeBuffer(a), test::wholeBuffer(b), test::wholeBuffer(c)},
                             .constants = {2}};
  };
  out.commands = {
      {.kind = test::CommandSpec::Fill, .ranges = {test::wholeBuffer(5)}, .constants = {3}},
      {.kind = test::CommandSpec::Copy, .ranges = {test::wholeBuffer(2), test::wholeBuffer(3)}},
      add(0, 3, 4),
      {.kind = test::CommandSpec::Copy, .ranges = {test::wholeBuffer(1), test::wholeBuffer(3)}},
      add(4, 3, 5),
  };
  out.results = {{.type = {abi::ElementType::F32, {kThreads}}, .buffer = 5, .shape = {2}}};
  return out;
}

Status check(bool holds, std::string_view what) {
  return holds ? okStatus() : makeError(StatusCode::DataLoss, "wrong: ", what);
}

class Scenario {
public:
  Scenario(const Inputs &inputs, const cuda::DriverSearch &search) : inputs_(inputs), search_(search) {}
  ~Scenario() { close(); }
  Outcome run() {
    open();
    if (device_) {
      memory();
      transfers();
      for (CommandBufferMode mode : {CommandBufferMode::Stream, CommandBufferMode::Graph})
        commandBuffers(mode);
      launches();
      submissions();
      program();
    }
    close();
    return std::move(outcome_);
  }

private:
  /// Runs `body`, and again where it failed; false: it failed twice.
  template <typename Body> bool step(const char *name, const Body &body) {
    if (!outcome_.wrong.empty())
      return false;
    for (int attempt = 0; attempt < 2; ++attempt) {
      Status status = body();
      if (status.ok())
        return true;
      if (status.code() == StatusCode::DataLoss || status.code() == StatusCode::DeadlineExceeded || attempt == 1)
        outcome_.wrong = concat(name, attempt ? ", tried again: " : ": ", status.toString());
      outcome_.errors.push_back(concat(name, ": ", status.toString()));
      if (!outcome_.wrong.empty())
        return false;
    }
    return false;
  }

  /// Waits for the two signals of a submission: both are reached, or both failed for one reason.
  static Status await(std::span<const SemaphorePoint> signals) {
    Status first = signals[0].semaphore->wait(signals[0].value, kPatience);
    for (const SemaphorePoint &point : signals.subspan(1)) {
      Status other = point.semaphore->wait(point.value, kPatience);
      if (other.toString() != first.toString())
        return makeError(StatusCode::DataLoss, "half-signalled: '", first.toString(), "' and '", other.toString(), "'");
    }
    return first;
  }
  template <typename Submit> static Status submitAndWait(const Submit &submit) {
    const SemaphorePoint signals[] = {{Semaphore::create(), 1}, {Semaphore::create(), 7}};
    Status submitted = submit(SemaphorePoints(signals));
    if (!submitted.ok()) { // nothing of it may come later
      for (const SemaphorePoint &point : signals)
        TENON_RETURN_IF_ERROR(check(point.semaphore->state(1) == Semaphore::State::Pending, "a refused submission "
                                                                                            "signalled"));
      return submitted;
    }
    return await(signals);
  }
  Result<std::shared_ptr<Buffer>> buffer(const std::vector<uint32_t> &values, const BufferOptions &options = {}) {
    TENON_ASSIGN_OR_RETURN(auto made, allocateBuffer(*device_, values.size() * 4, options));
    TENON_RETURN_IF_ERROR(device_->queue().upload(*made, 0, bytesOf(values)));
    return made;
  }
  static std::span<const uint8_t> bytesOf(const std::vector<uint32_t> &values) {
    return {reinterpret_cast<const uint8_t *>(values.data()), values.size() * 4};
  }
  Status expect(const Buffer &of, const std::vector<uint32_t> &wanted) {
    std::vector<uint32_t> values(wanted.size());
    TENON_RETURN_IF_ERROR(
        device_->queue().download(of, 0, {reinterpret_cast<uint8_t *>(values.data()), values.size() * 4}));
    return check(values == wanted, "contents of a buffer");
  }
  Status called(CUresult result, const char *call) { return cuda::driverStatus(device_->driver(), result, call); }

  void open() {
    step("query a device", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto driver, cuda::Driver::open({}, search_));
      TENON_ASSIGN_OR_RETURN(DeviceInfo info, queryDeviceInfo(*driver, 0));
      return check(info.isEmulator && info.memoryBytes != 0, "the device's description");
    });
    step("open", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(device_, Device::open({}, search_));
      return okStatus();
    });
    step("queues", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(queue_, SubmissionQueue::create(device_, kRing)); // files go around it
      TENON_ASSIGN_OR_RETURN(other_, SubmissionQueue::create(device_));
      return okStatus();
    });
    step("executables", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(executable_, Executable::create(device_, inputs_.executable, "faults"));
      TENON_ASSIGN_OR_RETURN(launches_, Executable::create(device_, inputs_.launches, "launches"));
      return okStatus();
    });
    // Not made anew by a second try: an export that failed to load must load later.
    step("load", [&]() -> Status { return executable_->load(kAdd).status().clone(); });
    step("global",
         [&]() -> Status { return findGlobal(executable_, kCountWorkgroups, "conformance_table").status().clone(); });
  }

  void memory() {
    step("allocate", [&]() -> Status {
      for (const BufferOptions &options : {BufferOptions{}, BufferOptions{.memory = MemoryType::HostVisible}}) {
        TENON_ASSIGN_OR_RETURN(auto made, allocateBuffer(*device_, kBytes, options));
        TENON_RETURN_IF_ERROR(check(made->size() == kBytes, "a buffer's size"));
      }
      TENON_ASSIGN_OR_RETURN(auto pooled, device_->allocate(kBytes));
      TENON_ASSIGN_OR_RETURN(auto info, queryMemory(*device_));
      return check(info.totalBytes != 0 && pooled->size() == kBytes, "device memory");
    });
    step("import", [&]() -> Status {
      // Kept: the driver may have refused to let go of the page of an earlier run.
      static std::vector<void *> pages;
      pages.push_back(std::aligned_alloc(4096, 4096));
      void *host = pages.back();
      TENON_ASSIGN_OR_RETURN(auto imported, importHostMemory(*device_, host, 4096, {}, nullptr));
      // The driver's refusal, in its own words where it gives them.
      Status again = importHostMemory(*device_, host, 4096, {}, nullptr).status().clone();
      const std::string text = again.toString();
      if (text.find("ALREADY_REGISTERED") != std::string::npos || text.find("CUDA error 712") != std::string::npos)
        return okStatus();
      return again.ok() ? check(false, "host memory was registered twice") : std::move(again);
    });
  }

  void transfers() {
    step("transfers", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto a, buffer(std::vector<uint32_t>(kThreads, 1)));
      TENON_ASSIGN_OR_RETURN(auto b, buffer(std::vector<uint32_t>(kThreads, 2)));
      TENON_RETURN_IF_ERROR(device_->queue().copy({a->address(), kBytes}, {b->address(), kBytes}));
      TENON_RETURN_IF_ERROR(expect(*b, std::vector<uint32_t>(kThreads, 1)));
      for (uint32_t patternBytes : {1u, 2u, 4u})
        TENON_RETURN_IF_ERROR(device_->queue().fill({a->address(), kBytes}, 0, patternBytes));
      return expect(*a, std::vector<uint32_t>(kThreads, 0));
    });
  }

  /// x: slot 0; y: slot 1. Fills of each size, an update, copies, dispatches, an indirect one, barriers, an event.
  Status record(CommandBuffer &c, const std::shared_ptr<Buffer> &own) {
    TENON_RETURN_IF_ERROR(c.begin());
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::ofSlot(0, 0, kBytes), 3, 4));
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 0, 32), 0, 1));
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 32, 32), 0, 2));
    for (uint64_t i = 0; i < 8; ++i) // so many before two commands are joined by a node
      TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 64 + 4 * i, 4), 5, 4));
    auto event = Event::create();
    TENON_RETURN_IF_ERROR(c.signalEvent(event));
    TENON_RETURN_IF_ERROR(c.waitEvents({&event, 1}));
    TENON_RETURN_IF_ERROR(c.dispatch(executable_, kScale, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads, 2}}));
    TENON_RETURN_IF_ERROR(c.dispatch(executable_, kIota, {1, 1, 1}, {{BufferRef::of(own)}, {4}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(c.copy(BufferRef::ofSlot(0, 0, kBytes), BufferRef::ofSlot(1, 0, kBytes)));
    const std::vector<uint32_t> grid = {1, 1, 1};
    TENON_RETURN_IF_ERROR(c.update(bytesOf(grid), BufferRef::of(own, 0, 12)));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(
        c.dispatchIndirect(executable_, kScale, BufferRef::of(own, 0, 12), {{BufferRef::ofSlot(1)}, {kThreads, 5}}));
    return c.end();
  }
  void commandBuffers(CommandBufferMode mode) {
    std::shared_ptr<CommandBuffer> commands;
    step("record", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto own, allocateBuffer(*device_, kBytes, {}));
      TENON_ASSIGN_OR_RETURN(commands, createCommandBuffer(device_, {.slotCount = 2}, mode));
      return record(*commands, own);
    });
    // The same command buffer, with other buffers each time.
    for (int i = 0; i < 3; ++i)
      step(mode == CommandBufferMode::Stream ? "submit a stream's" : "submit a graph's", [&]() -> Status {
        TENON_ASSIGN_OR_RETURN(auto x, buffer(std::vector<uint32_t>(kThreads, 1)));
        TENON_ASSIGN_OR_RETURN(auto y, buffer(std::vector<uint32_t>(kThreads, 1)));
        const std::vector<TableEntry> table = {{x}, {y}};
        TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
          const BoundCommandBuffer bound = {commands, table};
          return queue_->submit({}, {&bound, 1}, signals);
        }));
        TENON_RETURN_IF_ERROR(expect(*x, std::vector<uint32_t>(kThreads, 6)));
        return expect(*y, std::vector<uint32_t>(kThreads, 30));
      });
  }

  /// Launches with attributes, on a stream and as nodes; shared memory above the default; a tensor map.
  void launches() {
    for (CommandBufferMode mode : {CommandBufferMode::Stream, CommandBufferMode::Graph})
      step("launches", [&]() -> Status {
        TENON_ASSIGN_OR_RETURN(auto x, buffer(numbers()));
        TENON_ASSIGN_OR_RETURN(auto commands, createCommandBuffer(device_, {}, mode));
        TENON_RETURN_IF_ERROR(commands->begin());
        TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kReverseShared, {1, 1, 1}, {{BufferRef::of(x)}, {}}));
        TENON_RETURN_IF_ERROR(commands->barrier());
        TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kIota, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads}}));
        TENON_RETURN_IF_ERROR(commands->barrier());
        TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kScale, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads, 1}}));
        TENON_RETURN_IF_ERROR(commands->end());
        TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
          const BoundCommandBuffer bound = {commands};
          return queue_->submit({}, {&bound, 1}, signals);
        }));
        return expect(*x, numbers());
      });
    step("tensor map", [&]() -> Status {
      abi::EncodedTensorMap declared;
      declared.element = abi::ElementType::F32;
      declared.map.box = {8, 8};
      declared.map.elementStrides = {1, 1};
      TENON_ASSIGN_OR_RETURN(auto x, buffer(numbers()));
      const std::vector<uint64_t> extents = {8, 8};
      CUtensorMap map;
      cuda::ContextScope scope = device_->enter();
      TENON_RETURN_IF_ERROR(scope.status());
      return encodeTensorMap(device_->driver().cuTensorMapEncodeTiled, declared, {x->address(), x->size()}, extents,
                             map);
    });
  }
  static std::vector<uint32_t> numbers() {
    std::vector<uint32_t> out(kThreads);
    for (uint32_t i = 0; i < kThreads; ++i)
      out[i] = i;
    return out;
  }

  void submissions() {
    // The second waits for the first, which waits for the host.
    step("between queues", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto x, buffer(std::vector<uint32_t>(kThreads, 0)));
      auto gate = Semaphore::create(), between = Semaphore::create();
      const SemaphorePoint opened = {gate, 1}, middle = {between, 1};
      TENON_RETURN_IF_ERROR(queue_->fill({&opened, 1}, BufferRef::of(x), 4, 4, {&middle, 1}));
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
        Status submitted = other_->dispatch({&middle, 1}, executable_, kScale, {1, 1, 1},
                                            {{BufferRef::of(x)}, {kThreads, 3}}, signals);
        if (Status opening = gate->signal(1); submitted.ok())
          submitted = std::move(opening);
        // Also where the second was refused, the first ends.
        if (Status ended = between->wait(1, kPatience); ended.code() == StatusCode::DeadlineExceeded)
          return ended;
        return submitted;
      }));
      return expect(*x, std::vector<uint32_t>(kThreads, 12));
    });
    // A stream waits for what is given to the device and not known to be complete: here it never is of itself.
    step("wait on the device", [&]() -> Status {
      GpuEventPool events(device_);
      TENON_ASSIGN_OR_RETURN(auto event, events.acquire());
      auto between = Semaphore::create();
      between->addDeviceSignal(1, event);
      const SemaphorePoint middle = {between, 1};
      // On a queue whose worker holds up nobody: what is not issued at once would find the value reached.
      TENON_ASSIGN_OR_RETURN(auto fresh, SubmissionQueue::create(device_));
      return submitAndWait([&](SemaphorePoints signals) {
        Status submitted = fresh->submit({&middle, 1}, {}, signals);
        between->advance(1);
        return submitted;
      });
    });
    step("stream-ordered memory", [&]() -> Status {
      std::shared_ptr<Buffer> memory;
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
        TENON_ASSIGN_OR_RETURN(memory, queue_->allocate({}, kBytes, {}, signals));
        return okStatus();
      }));
      return submitAndWait([&](SemaphorePoints signals) { return queue_->deallocate({}, memory, signals); });
    });
    step("pools", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(
          auto blocks, BlockPool::create(device_, {.blockBytes = kBytes, .blocksPerSlab = 1, .limitBytes = kBytes}));
      std::vector<std::shared_ptr<Pool>> pools = {blocks};
      if (device_->hasMemoryPools()) {
        TENON_ASSIGN_OR_RETURN(auto driverPool, DriverPool::create(device_, {.releaseThreshold = 1 << 20}));
        pools.push_back(driverPool);
      }
      for (const auto &pool : pools) {
        std::shared_ptr<Buffer> memory;
        TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
          TENON_ASSIGN_OR_RETURN(memory, queue_->allocateFrom({}, pool, kBytes, {}, signals));
          return okStatus();
        }));
        TENON_RETURN_IF_ERROR(
            submitAndWait([&](SemaphorePoints signals) { return queue_->deallocate({}, std::move(memory), signals); }));
        // Of a block the other stream waits for the first one's event.
        TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) -> Status {
          TENON_ASSIGN_OR_RETURN(memory, other_->allocateFrom({}, pool, kBytes, {.wait = true}, signals));
          return okStatus();
        }));
        memory.reset();
        TENON_RETURN_IF_ERROR(check(pool->statistics().live == 0, "a pool's count"));
        TENON_RETURN_IF_ERROR(pool->trim());
      }
      return okStatus();
    });
    step("host call", [&]() -> Status {
      return submitAndWait(
          [&](SemaphorePoints signals) { return queue_->hostCall({}, [] { return okStatus(); }, signals); });
    });
    step("files", [&]() -> Status {
      std::vector<uint8_t> from(kFileBytes, 3), to(kFileBytes);
      TENON_ASSIGN_OR_RETURN(auto source, File::importMemory(from.data(), kFileBytes, kAccessRead, "source"));
      TENON_ASSIGN_OR_RETURN(auto target, File::importMemory(to.data(), kFileBytes, kAccessWrite, "target"));
      TENON_ASSIGN_OR_RETURN(auto x, allocateBuffer(*device_, kFileBytes, {}));
      TENON_RETURN_IF_ERROR(submitAndWait(
          [&](SemaphorePoints signals) { return queue_->readFile({}, source, 0, BufferRef::of(x), signals); }));
      TENON_RETURN_IF_ERROR(submitAndWait(
          [&](SemaphorePoints signals) { return queue_->writeFile({}, BufferRef::of(x), target, 0, signals); }));
      return check(to == from, "contents of a file");
    });
    step("idle", [&]() -> Status { return queue_->waitIdle(kPatience); });
  }

  Value tensor(std::shared_ptr<Buffer> of) { return Tensor{abi::ElementType::F32, {int64_t(kThreads)}, std::move(of)}; }
  /// Two inputs of the program.
  Result<std::vector<Value>> arguments() {
    const float values[] = {1, 2};
    std::vector<Value> out;
    for (float value : values) {
      TENON_ASSIGN_OR_RETURN(auto of, buffer(std::vector<uint32_t>(kThreads, std::bit_cast<uint32_t>(value))));
      out.push_back(tensor(std::move(of)));
    }
    return out;
  }
  Status expectSum(const std::vector<Value> &results) {
    return expect(*std::get<Tensor>(results[0]).buffer,
                  std::vector<uint32_t>(kThreads, std::bit_cast<uint32_t>(1.f + 9.f + 2.f)));
  }
  void program() {
    step("program", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(program_, Program::load(device_, programBytes_.span(), "faults"));
      return okStatus();
    });
    for (int i = 0; i < 3; ++i)
      for (CallOptions options : {CallOptions{}, CallOptions{.graph = false}, CallOptions{.synchronous = true}})
        step("call", [&]() -> Status {
          TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
          TENON_ASSIGN_OR_RETURN(auto results, program_->call(0, inputs, options));
          return expectSum(results);
        });
    for (int i = 0; i < 2; ++i)
      step("submit a call", [&]() -> Status {
        TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
        std::vector<Value> results;
        TENON_RETURN_IF_ERROR(submitAndWait(
            [&](SemaphorePoints signals) { return program_->submit(*queue_, {}, 0, inputs, results, signals); }));
        return expectSum(results);
      });
    step("call in a capture", [&]() -> Status { return capture(); });
  }

  /// A call that becomes part of a graph of the caller's, which is launched then.
  Status capture() {
    void *library = dlopen(device_->driver().path().c_str(), RTLD_NOW | RTLD_LOCAL);
    auto begin = reinterpret_cast<decltype(&::cuStreamBeginCapture_v2)>(dlsym(library, "cuStreamBeginCapture_v2"));
    auto end = reinterpret_cast<decltype(&::cuStreamEndCapture)>(dlsym(library, "cuStreamEndCapture"));
    const cuda::Driver &driver = device_->driver();
    TENON_ASSIGN_OR_RETURN(auto inputs, arguments());
    TENON_ASSIGN_OR_RETURN(auto result, allocateBuffer(*device_, kBytes, {}));
    std::vector<Value> results = {tensor(result)};
    cuda::ContextScope scope = device_->enter();
    TENON_RETURN_IF_ERROR(scope.status());
    CUstream handle = nullptr;
    TENON_RETURN_IF_ERROR(called(driver.cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
    cuda::Stream stream(driver, handle);
    TENON_RETURN_IF_ERROR(called(begin(handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture_v2"));
    Status status = program_->callInto(0, inputs, results, {.stream = handle});
    CUgraph graph = nullptr;
    Status ended = called(end(handle, &graph), "cuStreamEndCapture");
    if (status.ok())
      status = std::move(ended);
    CUgraphExec exec = nullptr;
    if (status.ok())
      status = called(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
    if (status.ok())
      status = called(driver.cuGraphLaunch(exec, handle), "cuGraphLaunch");
    if (Status finished = called(driver.cuStreamSynchronize(handle), "cuStreamSynchronize"); status.ok())
      status = std::move(finished);
    if (exec)
      (void)driver.cuGraphExecDestroy(exec);
    if (graph)
      (void)driver.cuGraphDestroy(graph);
    TENON_RETURN_IF_ERROR(std::move(status));
    return expectSum(results);
  }

  void close() {
    program_.reset();
    queue_.reset();
    other_.reset();
    executable_.reset();
    launches_.reset();
    device_.reset();
  }

  const Inputs &inputs_;
  const cuda::DriverSearch &search_;
  const test::AlignedBytes programBytes_{inputs_.program};
  Outcome outcome_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<SubmissionQueue> queue_, other_;
  std::shared_ptr<Executable> executable_, launches_;
  std::unique_ptr<Program> program_;
};

} // namespace

Result<Inputs> makeInputs() {
  Inputs out;
  std::vector<abi::Export> exports = kernelExports();
  TENON_ASSIGN_OR_RETURN(out.executable, linkKernels(exports, {90}));
  exports[kReverseShared].launch.dynamicSharedBytes = 64 << 10;
  exports[kIota].launch.cluster = {1, 1, 1};
  exports[kScale].launch.cooperative = true;
  TENON_ASSIGN_OR_RETURN(out.launches, linkKernels(exports, {90}));
  const std::vector<float> constant(kThreads, 9);
  const auto *bytes = reinterpret_cast<const uint8_t *>(constant.data());
  const test::AlignedBytes program =
      test::buildProgram({function()}, {out.executable}, {{bytes, bytes + constant.size() * sizeof(float)}});
  out.program.assign(program.span().begin(), program.span().end());
  return out;
}

Outcome runScenario(const Inputs &inputs, const cuda::DriverSearch &search) {
  return Scenario(inputs, search).run();
}

} // namespace tenon::faults
