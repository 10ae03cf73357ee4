// Dispatches: bindings, constants, entry points, grids, indirect grids, pipelines, reuse.
#include "fixture.h"

namespace tenon::conformance {

CONFORMANCE_SUITE(Dispatch);
CONFORMANCE_SUITE(IndirectDispatch);
CONFORMANCE_SUITE(Pipeline);
CONFORMANCE_SUITE(Reuse);
using QueueDispatch = DeviceTest;

std::vector<float> floats(size_t n, float from, float step) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = from + step * static_cast<float>(i);
  return out;
}

TEST_P(Dispatch, Plain) {
  constexpr uint32_t n = 1000; // no multiple of a workgroup
  auto a = upload(floats(n, 0, 1)), b = upload(floats(n, 1, 2)), c = zeros(n);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kAdd, {(n + kThreads - 1) / kThreads, 1, 1},
                             {{BufferRef::of(a), BufferRef::of(b), BufferRef::of(c)}, {n}});
  }));
  EXPECT_EQ(download<float>(*c), floats(n, 1, 3));
}
TEST_P(Dispatch, BindingsAtOffsets) {
  auto a = upload(floats(256, 0, 1)), c = zeros(256);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kAdd, {1, 1, 1},
                             {{BufferRef::of(a, 64 * 4), BufferRef::of(a, 128 * 4), BufferRef::of(c, 4, 256)}, {64}});
  }));
  auto out = download<float>(*c);
  EXPECT_EQ(out[0], 0.f);
  EXPECT_EQ(out[1], 64.f + 128.f);
  EXPECT_EQ(out[64], 127.f + 191.f);
  EXPECT_EQ(out[65], 0.f);
}
TEST_P(Dispatch, Constants) {
  auto out = zeros(4);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kStoreConstants, {1, 1, 1}, {{BufferRef::of(out)}, {1, 0xffffffff, 3, 4}});
  }));
  EXPECT_EQ(download<uint32_t>(*out), (std::vector<uint32_t>{1, 0xffffffff, 3, 4}));
}
TEST_P(Dispatch, TypedConstants) {
  auto out = zeros(8);
  const float value = -2.0f;
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kStoreTyped, {1, 1, 1},
                             {{BufferRef::of(out)}, {uint64_t(-5) & 0xff, uint64_t(1) << 40, bits, 0x8000}});
  }));
  EXPECT_EQ(download<int64_t>(*out), (std::vector<int64_t>{-5, int64_t(1) << 40, -2, -32768}));
}
TEST_P(Dispatch, StructsByValue) {
  auto out = zeros(25);
  auto two = [](uint64_t low, uint64_t high) { return low | high << 32; };
  std::vector<uint64_t> words = {1, two(2, 3), 4}; // the last word of a struct is filled up
  for (uint64_t i = 0; i < 8; ++i)
    words.push_back(two(5 + 2 * i, 6 + 2 * i));
  words.insert(words.end(), {two(21, 22), two(23, 24), 25});
  OK(run([&](CommandBuffer &commands) {
    TENON_RETURN_IF_ERROR(commands.dispatch(executable, kStoreStructs, {1, 1, 1}, {{BufferRef::of(out)}, words}));
    return commands.barrier();
  }));
  EXPECT_EQ(download<uint32_t>(*out), numbers(25, 1));
}
TEST_P(Dispatch, SeveralEntryPoints) {
  auto buffer = zeros(kThreads);
  OK(run([&](CommandBuffer &commands) {
    TENON_RETURN_IF_ERROR(commands.dispatch(executable, kIota, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads}}));
    TENON_RETURN_IF_ERROR(commands.barrier());
    return commands.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, 2}});
  }));
  EXPECT_EQ(download<uint32_t>(*buffer)[63], 126u);
}
TEST_P(Dispatch, ManyWorkgroups) {
  auto counter = zeros(1);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kCountWorkgroups, {4096, 1, 1}, {{BufferRef::of(counter)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 4096u);
}
TEST_P(Dispatch, GridsOfThreeDimensions) {
  auto marks = zeros(5 * 4 * 3);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kMarkWorkgroups, {5, 4, 3}, {{BufferRef::of(marks)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*marks), numbers(60, 1));
}
TEST_P(Dispatch, EmptyGridsDoNothing) {
  auto counter = zeros(1);
  OK(run([&](CommandBuffer &commands) {
    TENON_RETURN_IF_ERROR(commands.dispatch(executable, kCountWorkgroups, {0, 1, 1}, {{BufferRef::of(counter)}, {}}));
    return commands.dispatch(executable, kCountWorkgroups, {1, 1, 0}, {{BufferRef::of(counter)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 0u);
}
TEST_P(Dispatch, DynamicSharedMemory) {
  auto buffer = upload(numbers(kThreads));
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kReverseShared, {1, 1, 1}, {{BufferRef::of(buffer)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*buffer)[0], kThreads - 1);
}
TEST_P(Dispatch, WrongArgumentCountsAreRefused) {
  auto buffer = zeros(4);
  auto commands = create();
  OK(commands->begin());
  const BufferRef ref = BufferRef::of(buffer);
  FAILS(commands->dispatch(executable, kScale, {1, 1, 1}, {{}, {1, 2}}), InvalidArgument, "[K-7] 0 bindings");
  FAILS(commands->dispatch(executable, kScale, {1, 1, 1}, {{ref}, {1}}), InvalidArgument, "1 constants");
  FAILS(commands->dispatch(executable, kScale, {1, 1, 1}, {{ref, ref}, {1, 2}}), InvalidArgument, "2 bindings");
  FAILS(commands->dispatch(executable, kStoreStructs, {1, 1, 1}, {{ref}, {1, 2, 3, 4, 5}}), InvalidArgument,
        "5 words of constants");
  FAILS(commands->dispatch(executable, 99, {1, 1, 1}, {}), OutOfRange, "there is no export 99");
}
TEST_P(Dispatch, ReadOnlyBuffersAreNotWritten) {
  auto readOnly = allocate(4096, {.access = kAccessRead});
  auto buffer = zeros(64);
  auto commands = create();
  OK(commands->begin());
  FAILS(commands->dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(readOnly)}, {64, 2}}), FailedPrecondition,
        "binding 0 is written, the buffer is read only");
  OK(commands->dispatch(executable, kAdd, {1, 1, 1},
                        {{BufferRef::of(readOnly), BufferRef::of(readOnly), BufferRef::of(buffer)}, {64}}));
}
TEST_P(Dispatch, GridsAboveTheLimitAreRefused) {
  auto commands = create();
  OK(commands->begin());
  FAILS(commands->dispatch(executable, kCountWorkgroups, {1, 65536, 1}, {{BufferRef::of(zeros(1))}, {}}), OutOfRange,
        "65536 along y");
  FAILS(commands->dispatch(executable, kCountWorkgroups, {1u << 31, 1, 1}, {{BufferRef::of(zeros(1))}, {}}), OutOfRange,
        "along x");
}

TEST_P(IndirectDispatch, GridFromAnUpdate) {
  auto grid = zeros(4), counter = zeros(1);
  const uint32_t counts[] = {3, 2, 2};
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.update({reinterpret_cast<const uint8_t *>(counts), 12}, BufferRef::of(grid, 4, 12)));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid, 4, 12), {{BufferRef::of(counter)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 12u);
}
TEST_P(IndirectDispatch, GridFromAFill) {
  auto grid = zeros(3), counter = zeros(1);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(grid), 2, 4));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid), {{BufferRef::of(counter)}, {}});
  }));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 8u);
}
TEST_P(IndirectDispatch, GridFromADispatch) {
  auto grid = zeros(3), counter = zeros(1);
  auto commands = record([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.dispatch(executable, kWriteGrid, {1, 1, 1}, {{BufferRef::of(grid)}, {7, 1, 1}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid), {{BufferRef::of(counter)}, {}});
  });
  OK(run(commands));
  OK(run(commands));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 14u);
}
TEST_P(IndirectDispatch, EmptyAndTooLargeGrids) {
  auto grid = zeros(3), counter = zeros(1);
  auto commands = record([&](CommandBuffer &c) {
    return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::of(grid), {{BufferRef::of(counter)}, {}});
  });
  OK(run(commands));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 0u);
  const uint32_t counts[] = {1, 1, 70000};
  OK(device->queue().upload(*grid, 0, {reinterpret_cast<const uint8_t *>(counts), 12}));
  FAILS(run(commands), OutOfRange, "70000 along z");
}
TEST_P(IndirectDispatch, GridFromASlot) {
  auto counter = zeros(1);
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatchIndirect(executable, kCountWorkgroups, BufferRef::ofSlot(0), {{BufferRef::of(counter)}, {}});
      },
      {.slotCount = 1});
  OK(run(commands, {{upload(std::vector<uint32_t>{2, 1, 1})}}));
  OK(run(commands, {{upload(std::vector<uint32_t>{0, 0, 3, 1, 1}), 8, 12}}));
  EXPECT_EQ(download<uint32_t>(*counter)[0], 5u);
}

TEST_P(Pipeline, ChainedDispatches) {
  auto buffer = upload(std::vector<uint32_t>(kThreads, 1));
  OK(run([&](CommandBuffer &c) {
    for (uint32_t factor : {2u, 3u, 5u, 7u}) {
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, factor}}));
      TENON_RETURN_IF_ERROR(c.barrier());
    }
    return okStatus();
  }));
  EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(kThreads, 210));
}
TEST_P(Pipeline, FillThenDispatchThenCopy) {
  auto buffer = zeros(kThreads), out = zeros(kThreads);
  OK(run([&](CommandBuffer &c) {
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(buffer), 6, 4));
    TENON_RETURN_IF_ERROR(c.barrier());
    TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, 7}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    return c.copy(BufferRef::of(buffer), BufferRef::of(out));
  }));
  EXPECT_EQ(download<uint32_t>(*out), std::vector<uint32_t>(kThreads, 42));
}
TEST_P(Pipeline, IndependentDispatchesShareABarrier) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 8; ++i)
    buffers.push_back(zeros(kThreads));
  OK(run([&](CommandBuffer &c) {
    for (auto &buffer : buffers)
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kIota, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads}}));
    TENON_RETURN_IF_ERROR(c.barrier());
    for (auto &buffer : buffers)
      TENON_RETURN_IF_ERROR(c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads, 3}}));
    return okStatus();
  }));
  for (auto &buffer : buffers)
    EXPECT_EQ(download<uint32_t>(*buffer)[63], 189u);
}

TEST_P(Reuse, OtherBuffersEachTime) {
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kScale, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads, 2}});
      },
      {.slotCount = 1});
  for (uint32_t i = 1; i <= 3; ++i) {
    auto buffer = upload(std::vector<uint32_t>(kThreads, i));
    OK(run(commands, {{buffer}}));
    EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(kThreads, 2 * i));
  }
}
TEST_P(Reuse, MixedDirectAndSlotBindings) {
  auto fixed = upload(floats(kThreads, 100, 0));
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kAdd, {1, 1, 1},
                          {{BufferRef::of(fixed), BufferRef::ofSlot(0, 4), BufferRef::ofSlot(1)}, {kThreads - 1}});
      },
      {.slotCount = 2});
  auto input = upload(floats(kThreads, 0, 1)), out = zeros(kThreads);
  OK(run(commands, {{input}, {out}}));
  EXPECT_EQ(download<float>(*out)[0], 101.f);
  EXPECT_EQ(download<float>(*out)[62], 163.f);
}
TEST_P(Reuse, LargeGrid) {
  constexpr uint32_t n = 1 << 16;
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kIota, {n / kThreads, 1, 1}, {{BufferRef::ofSlot(0)}, {n}});
      },
      {.slotCount = 1});
  for (int i = 0; i < 2; ++i) {
    auto out = zeros(n);
    OK(run(commands, {{out}}));
    EXPECT_EQ(download<uint32_t>(*out), numbers(n));
  }
}
TEST_P(Reuse, AllocateExecuteDeallocate) {
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(c.dispatch(executable, kIota, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads}}));
        TENON_RETURN_IF_ERROR(c.barrier());
        return c.copy(BufferRef::ofSlot(0), BufferRef::ofSlot(1));
      },
      {.slotCount = 2});
  auto out = zeros(kThreads);
  auto timeline = Semaphore::create();
  for (uint64_t i = 0; i < 8; ++i) {
    const SemaphorePoint points[] = {
        {timeline, 3 * i}, {timeline, 3 * i + 1}, {timeline, 3 * i + 2}, {timeline, 3 * i + 3}};
    auto memory = queue->allocate({&points[0], 1}, kThreads * 4, {}, {&points[1], 1});
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    const std::vector<TableEntry> table = {{*memory}, {out}};
    const BoundCommandBuffer bound = {commands, table};
    OK(queue->submit({&points[1], 1}, {&bound, 1}, {&points[2], 1}));
    OK(queue->deallocate({&points[2], 1}, memory.take(), {&points[3], 1}));
  }
  OK(timeline->wait(24, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*out), numbers(kThreads));
}

TEST_F(QueueDispatch, WaitsAndSignals) {
  auto buffer = zeros(kThreads);
  auto gate = Semaphore::create(), done = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, signal = {done, 1};
  OK(queue->dispatch({&wait, 1}, executable, kIota, {1, 1, 1}, {{BufferRef::of(buffer)}, {kThreads}}, {&signal, 1}));
  FAILS(done->wait(1, 1000000), DeadlineExceeded, "waited for 1");
  OK(gate->signal(1));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), numbers(kThreads));
}
TEST_F(QueueDispatch, EmptyGridStillSignals) {
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->dispatch({}, executable, kIota, {0, 1, 1}, {{BufferRef::of(zeros(1))}, {1}}, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
}

} // namespace tenon::conformance
