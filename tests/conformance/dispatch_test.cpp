// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatches: bindings, constants, entry points, grids, indirect grids; the same as submissions of a queue.
#include "fixture.h"
#include "runtime/memory/transfer.h"

namespace tenon::conformance {

CONFORMANCE_SUITE(Dispatch);
CONFORMANCE_SUITE(IndirectDispatch);
using QueueDispatch = DeviceTest;

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
// The order of a kernel's parameters is its layout's business: a dispatch passes bindings and constants by number.
TEST_P(Dispatch, AnyOrderOfParameters) {
  constexpr uint32_t n = 200;
  auto in = upload(numbers(n)), more = upload(numbers(n, 5)), out = zeros(n);
  OK(run([&](CommandBuffer &commands) {
    return commands.dispatch(executable, kScaleAndOffsetOrdered, {4, 1, 1},
                             {{BufferRef::of(in), BufferRef::of(more), BufferRef::of(out)}, {n, 3, 1000}});
  }));
  const auto found = download<uint32_t>(*out);
  for (uint32_t i = 0; i < n; ++i)
    EXPECT_EQ(found[i], i * 3 + i + 5 + 1000) << i;
}
// What slots are bound to changes from submission to submission: pointers in structs are changed in their places.
TEST_P(Dispatch, AnyOrderOfParametersThroughSlots) {
  auto commands = record(
      [&](CommandBuffer &c) {
        TENON_RETURN_IF_ERROR(
            c.dispatch(executable, kScaleAndOffsetOrdered, {1, 1, 1},
                       {{BufferRef::ofSlot(0), BufferRef::ofSlot(1), BufferRef::ofSlot(2)}, {8, 2, 1}}));
        TENON_RETURN_IF_ERROR(c.barrier());
        return c.dispatch(executable, kScaleAndOffsetOrdered, {1, 1, 1},
                          {{BufferRef::ofSlot(2), BufferRef::ofSlot(0), BufferRef::ofSlot(1)}, {8, 10, 0}});
      },
      {.slotCount = 3});
  auto a = upload(numbers(8)), b = upload(numbers(8, 100)), c = zeros(8), d = upload(numbers(8, 7)), e = zeros(8);
  OK(run(commands, {{a}, {b}, {c}}));
  EXPECT_EQ(download<uint32_t>(*c)[3], 3u * 2 + 103 + 1); // c = 2 a + b + 1
  EXPECT_EQ(download<uint32_t>(*b)[3], 110u * 10 + 3);    // b = 10 c + a
  OK(run(commands, {{d}, {a}, {e}}));
  EXPECT_EQ(download<uint32_t>(*e)[3], 10u * 2 + 3 + 1); // e = 2 d + a + 1
  EXPECT_EQ(download<uint32_t>(*a)[3], 24u * 10 + 10);   // a = 10 e + d
  EXPECT_EQ(download<uint32_t>(*b)[3], 110u * 10 + 3);   // the first ones stay as they are
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
TEST_P(Dispatch, EntryPointsShareAnInput) {
  const std::vector<float> values = floats(kThreads, 1, 1);
  std::vector<uint32_t> bits(kThreads);
  std::memcpy(bits.data(), values.data(), kThreads * 4);
  auto input = upload(values), sum = zeros(kThreads), shifted = zeros(kThreads);
  for (bool bySlots : {false, true}) {
    auto at = [&](uint32_t slot, const std::shared_ptr<Buffer> &buffer) {
      return bySlots ? BufferRef::ofSlot(slot) : BufferRef::of(buffer);
    };
    auto commands = record(
        [&](CommandBuffer &c) {
          TENON_RETURN_IF_ERROR(
              c.dispatch(executable, kAdd, {1, 1, 1}, {{at(0, input), at(0, input), at(1, sum)}, {kThreads}}));
          return c.dispatch(executable, kScaleAndOffset, {1, 1, 1},
                            {{at(0, input), at(2, shifted)}, {kThreads, 1, bySlots ? 6u : 5u}});
        },
        {.slotCount = bySlots ? 3u : 0u});
    OK(run(commands, bySlots ? std::vector<TableEntry>{{input}, {sum}, {shifted}} : std::vector<TableEntry>{}));
    EXPECT_EQ(download<float>(*sum), floats(kThreads, 2, 2));
    EXPECT_EQ(download<uint32_t>(*shifted)[7], bits[7] + (bySlots ? 6 : 5));
  }
}
TEST_P(Dispatch, PartsOfBuffersThroughSlots) {
  auto input = upload(numbers(4, 10)), out = upload(std::vector<uint32_t>(4, 9));
  auto commands = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kScaleAndOffset, {1, 1, 1},
                          {{BufferRef::ofSlot(0, 0, 8), BufferRef::ofSlot(1, 0, 8)}, {2, 3, 10}});
      },
      {.slotCount = 2});
  OK(run(commands, {{input, 4, 8}, {out, 4, 8}}));
  EXPECT_EQ(download<uint32_t>(*out), (std::vector<uint32_t>{9, 43, 46, 9}));
  auto constants = record(
      [&](CommandBuffer &c) {
        return c.dispatch(executable, kStoreConstants, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {11, 22, 33, 44}});
      },
      {.slotCount = 1});
  OK(run(constants, {{out}}));
  EXPECT_EQ(download<uint32_t>(*out), (std::vector<uint32_t>{11, 22, 33, 44}));
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
TEST_P(IndirectDispatch, GridFromAnUpdateOfTheQueue) {
  auto grid = zeros(3), marks = zeros(32);
  const uint32_t counts[] = {4, 1, 1};
  auto timeline = Semaphore::create();
  const SemaphorePoint updated = {timeline, 1}, done = {timeline, 2};
  auto commands = record([&](CommandBuffer &c) {
    return c.dispatchIndirect(executable, kMarkWorkgroups, BufferRef::of(grid), {{BufferRef::of(marks)}, {}});
  });
  const BoundCommandBuffer bound = {commands};
  OK(queue->update({}, {reinterpret_cast<const uint8_t *>(counts), 12}, BufferRef::of(grid), {&updated, 1}));
  OK(queue->submit({&updated, 1}, {&bound, 1}, {&done, 1}));
  OK(timeline->wait(2, kWaitForever));
  std::vector<uint32_t> expected = numbers(4, 1);
  expected.resize(32);
  EXPECT_EQ(download<uint32_t>(*marks), expected);
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
  OK(uploadBytes(*grid, 0, {reinterpret_cast<const uint8_t *>(counts), 12}));
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
TEST_F(QueueDispatch, ConstantsAndBindings) {
  auto input = upload(numbers(4, 1)), out = zeros(4);
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->dispatch({}, executable, kScaleAndOffset, {1, 1, 1},
                     {{BufferRef::of(input), BufferRef::of(out)}, {4, 3, 10}}, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*out), (std::vector<uint32_t>{13, 16, 19, 22}));
}
TEST_F(QueueDispatch, AnyOrderOfParameters) {
  auto input = upload(numbers(4, 1)), more = upload(numbers(4, 100)), out = zeros(4);
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  OK(queue->dispatch({}, executable, kScaleAndOffsetOrdered, {1, 1, 1},
                     {{BufferRef::of(input), BufferRef::of(more), BufferRef::of(out)}, {4, 3, 10}}, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*out), (std::vector<uint32_t>{113, 117, 121, 125}));
}
TEST_F(QueueDispatch, OneThatWaitsHoldsUpNoOther) {
  auto input = upload(numbers(4, 1)), first = zeros(4), second = zeros(4);
  auto gate = Semaphore::create(), held = Semaphore::create(), free = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, late = {held, 1}, soon = {free, 1};
  OK(queue->dispatch({&wait, 1}, executable, kScaleAndOffset, {1, 1, 1},
                     {{BufferRef::of(input), BufferRef::of(first)}, {4, 2, 0}}, {&late, 1}));
  OK(queue->dispatch({}, executable, kScaleAndOffset, {1, 1, 1},
                     {{BufferRef::of(input), BufferRef::of(second)}, {4, 3, 0}}, {&soon, 1}));
  OK(free->wait(1, kWaitForever));
  EXPECT_EQ(*held->query(), 0u);
  EXPECT_EQ(download<uint32_t>(*first), std::vector<uint32_t>(4));
  OK(gate->signal(1));
  OK(held->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*first), (std::vector<uint32_t>{2, 4, 6, 8}));
  EXPECT_EQ(download<uint32_t>(*second), (std::vector<uint32_t>{3, 6, 9, 12}));
}
TEST_F(QueueDispatch, EmptyGridsWaitSignalAndTouchNothing) {
  auto buffer = upload(std::vector<uint32_t>(4, 99));
  auto gate = Semaphore::create(), deferred = Semaphore::create(), done = Semaphore::create();
  const SemaphorePoint wait = {gate, 1}, late = {deferred, 1}, signal = {done, 1};
  OK(queue->dispatch({&wait, 1}, executable, kIota, {0, 0, 0}, {{BufferRef::of(buffer)}, {4}}, {&late, 1}));
  OK(queue->dispatch({}, executable, kIota, {0, 1, 1}, {{BufferRef::of(buffer)}, {4}}, {&signal, 1}));
  OK(done->wait(1, kWaitForever));
  EXPECT_EQ(*deferred->query(), 0u);
  OK(gate->signal(1));
  OK(deferred->wait(1, kWaitForever));
  EXPECT_EQ(download<uint32_t>(*buffer), std::vector<uint32_t>(4, 99));
}

} // namespace tenon::conformance
