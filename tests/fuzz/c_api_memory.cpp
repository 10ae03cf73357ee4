// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory: buffers and what is read and written through them, pools, memory of queues, files.
#include "tests/fuzz/c_api_caller.h"

#include <fcntl.h>
#include <unistd.h>

namespace tenon::fuzz {

Given<tenon_buffer_options_t> Caller::bufferOptions() {
  tenon_buffer_options_t out = {};
  out.memory = any<tenon_memory_t>(1);
  out.usage = in_.byte() < 200 ? 0 : static_cast<uint32_t>(in_.number());
  out.access = in_.byte() < 200 ? 0 : static_cast<uint32_t>(in_.number());
  return Given<tenon_buffer_options_t>(out);
}

tenon_buffer_ref_t Caller::ref() {
  tenon_buffer_ref_t out = {buffers_.pick(in_), static_cast<uint32_t>(in_.below(6)), in_.number(), in_.number()};
  if (in_.flag())
    out.offset = 0, out.length = TENON_WHOLE_BUFFER;
  return out;
}

void Caller::allocate() {
  Given<tenon_buffer_options_t> options = bufferOptions();
  tenon_buffer_t *out = nullptr;
  const uint64_t bytes = in_.number();
  tenon_device_t *on = device();
  give(buffers_,
       in_.byte() < 200 ? tenon_buffer_allocate(on, bytes, options.put(in_), &out)
                        : tenon_buffer_allocate_shareable(on, bytes, options.put(in_), &out),
       out);
  if (in_.byte() == 0)
    drop(tenon_device_set_memory_limit(device(), in_.number()));
}

void Caller::import() {
  static unsigned char host[4096];
  Given<tenon_buffer_options_t> options = bufferOptions();
  tenon_buffer_t *out = nullptr;
  // What is said to be there is there, or ends behind the last address.
  const uint64_t bytes = in_.flag() ? in_.below(256) * 16 : UINT64_MAX - in_.byte();
  const auto released = in_.flag() ? [](void *) {} : static_cast<tenon_release_fn>(nullptr);
  void *memory = in_.byte() < 240 ? host : nullptr;
  switch (in_.below(3)) {
  case 0:
    give(buffers_,
         tenon_buffer_import_device(device(), reinterpret_cast<uint64_t>(memory), bytes, options.put(in_), released,
                                    nullptr, &out),
         out);
    return;
  case 1:
    give(buffers_, tenon_buffer_import_host(device(), memory, bytes, options.put(in_), released, nullptr, &out), out);
    return;
  default:
    give(buffers_,
         tenon_buffer_import_descriptor(device(), static_cast<int>(in_.number()) | INT32_MIN, bytes, options.put(in_),
                                        &out),
         out);
  }
}

void Caller::access() {
  tenon_buffer_t *buffer = buffers_.pick(in_);
  unsigned char data[4096] = {};
  const uint64_t offset = in_.number();
  (void)tenon_buffer_size(buffer);
  (void)tenon_buffer_address(buffer);
  void *mapped = nullptr;
  int descriptor = -1;
  switch (in_.below(4)) {
  case 0:
    drop(tenon_buffer_map(buffer, offset, in_.number(), static_cast<uint32_t>(in_.number()), &mapped));
    return;
  case 1:
    drop(tenon_buffer_write(buffer, offset, in_.byte() < 240 ? data : nullptr, in_.below(256) * 16));
    return;
  case 2:
    drop(tenon_buffer_read(buffer, offset, in_.byte() < 240 ? data : nullptr, in_.below(256) * 16));
    return;
  default:
    if (drop(tenon_buffer_export_descriptor(buffer, &descriptor)))
      ::close(descriptor);
  }
}

void Caller::pool() {
  tenon_pool_t *one = pools_.pick(in_), *made = nullptr;
  Given<tenon_pool_statistics_t> statistics{{}};
  switch (in_.below(4)) {
  case 0:
    drop(tenon_pool_statistics(one, statistics.put(in_)));
    return;
  case 1:
    drop(tenon_pool_trim(one));
    return;
  default: {
    tenon_pool_options_t wanted = {};
    wanted.kind = any<tenon_pool_kind_t>(2);
    wanted.name = in_.flag() ? "name" : nullptr;
    uint64_t *const numbers[] = {&wanted.limit_bytes,     &wanted.release_threshold, &wanted.block_bytes,
                                 &wanted.blocks_per_slab, &wanted.slab_bytes,        &wanted.alignment};
    for (uint64_t *number : numbers)
      *number = in_.flag() ? 0 : in_.number();
    if (wanted.blocks_per_slab > 4096 && wanted.blocks_per_slab <= 1 << 20)
      wanted.blocks_per_slab = 4096; // each is an entry, which is only slow
    Given<tenon_pool_options_t> options(wanted);
    TENON_FUZZ_KEEP(options, tenon_pool_options_t, name);
    TENON_FUZZ_KEEP(options, tenon_pool_options_t, blocks_per_slab);
    give(pools_, tenon_pool_create(device(), options.put(in_), &made), made);
  }
  }
}

void Caller::late() {
  Submission room;
  Given<tenon_submission_t> between = submission(room, in_.byte() >= 250);
  if (in_.flag()) {
    drop(tenon_queue_deallocate(queues_.pick(in_), between.put(in_), buffers_.pick(in_)));
    return;
  }
  Given<tenon_buffer_options_t> options = bufferOptions();
  tenon_allocation_t wanted = {};
  wanted.bytes = in_.number();
  wanted.options = in_.flag() ? options.put(in_) : nullptr;
  wanted.pool = in_.flag() ? pools_.pick(in_) : nullptr;
  wanted.alignment = in_.flag() ? 0 : in_.number();
  wanted.wait_for_memory = in_.flag();
  Given<tenon_allocation_t> allocation(wanted);
  TENON_FUZZ_KEEP(allocation, tenon_allocation_t, options);
  TENON_FUZZ_KEEP(allocation, tenon_allocation_t, pool);
  tenon_buffer_t *out = nullptr;
  tenon_queue_t *queue = queues_.pick(in_);
  tenon_submission_t *given = between.put(in_);
  give(buffers_, tenon_queue_allocate(queue, given, allocation.put(in_), &out), out);
}

void Caller::file() {
  static unsigned char memory[4096];
  tenon_file_t *out = nullptr;
  const auto access = static_cast<uint32_t>(in_.byte() < 200 ? in_.below(4) : in_.number());
  const char *name = in_.flag() ? "file" : nullptr;
  if (in_.flag()) {
    const uint64_t bytes = in_.flag() ? in_.below(256) * 16 : UINT64_MAX - in_.byte();
    give(files_, tenon_file_import_memory(memory, bytes, access, name, nullptr, nullptr, &out), out);
  } else {
    const char *const paths[] = {"/dev/null", "/proc/self/exe", "/"};
    const int descriptor = in_.flag() ? ::open(paths[in_.below(3)], O_RDONLY | O_CLOEXEC) : -1;
    give(files_, tenon_file_import_descriptor(descriptor, access, name, &out), out);
    if (descriptor >= 0)
      ::close(descriptor);
  }
  (void)tenon_file_size(out);
}

void Caller::transfer() {
  Submission room;
  Given<tenon_submission_t> between = submission(room, false);
  const tenon_buffer_ref_t range = ref();
  tenon_queue_t *queue = queues_.pick(in_);
  tenon_file_t *file = files_.pick(in_);
  drop(in_.flag() ? tenon_queue_read_file(queue, between.put(in_), file, in_.number(), &range)
                  : tenon_queue_write_file(queue, between.put(in_), &range, file, in_.number()));
}

} // namespace tenon::fuzz
