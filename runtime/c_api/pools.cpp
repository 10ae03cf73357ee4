// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: pools, and the memory that queues allocate and return.
#include "runtime/c_api/support.h"
#include "runtime/memory/block_pool.h"
#include "runtime/memory/driver_pool.h"
#include "runtime/memory/range_pool.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

tenon_status_t *tenon_pool_create(tenon_device_t *device, const tenon_pool_options_t *options, tenon_pool_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_ASSIGN_OR_RETURN(tenon_pool_options_t given, readStruct(options, "options"));
  const std::string name = given.name ? given.name : "pool";
  const std::shared_ptr<Device> &on = device->value;
  switch (const uint32_t kind = numberOf(given.kind)) {
  case TENON_POOL_DRIVER:
    return giveHandle(DriverPool::create(on, {name, given.limit_bytes, given.release_threshold}), out);
  case TENON_POOL_BLOCKS:
    return giveHandle(
        BlockPool::create(on, {name, given.block_bytes,
                               given.blocks_per_slab ? given.blocks_per_slab : BlockPoolOptions().blocksPerSlab,
                               given.limit_bytes}),
        out);
  case TENON_POOL_RANGES:
    return giveHandle(RangePool::create(on, {name, given.slab_bytes ? given.slab_bytes : RangePoolOptions().slabBytes,
                                             given.alignment ? given.alignment : kBufferAlignment, given.limit_bytes}),
                      out);
  default:
    return toC(makeError(StatusCode::InvalidArgument, "unknown kind of pool ", kind));
  }
}
void tenon_pool_release(tenon_pool_t *pool) {
  delete pool;
}
tenon_status_t *tenon_pool_statistics(const tenon_pool_t *pool, tenon_pool_statistics_t *out) {
  TENON_C_REQUIRE(pool);
  const PoolStatistics now = pool->value->statistics();
  const tenon_pool_statistics_t value = {sizeof(value),   now.bytesLive,     now.bytesPeak,  now.live,
                                         now.allocations, now.bytesReserved, now.bytesLimit, now.bytesFree,
                                         now.largestFree, now.waiting};
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_pool_trim(tenon_pool_t *pool) {
  TENON_C_REQUIRE(pool);
  return toC(pool->value->trim());
}
tenon_status_t *tenon_queue_allocate(tenon_queue_t *queue, const tenon_submission_t *submission,
                                     const tenon_allocation_t *allocation, tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(queue);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readPointsOnly(submission, "an allocation"));
  TENON_C_ASSIGN_OR_RETURN(tenon_allocation_t given, readStruct(allocation, "allocation"));
  TENON_C_ASSIGN_OR_RETURN(BufferOptions options, readOptions(given.options));
  const uint64_t alignment = given.alignment ? given.alignment : kBufferAlignment;
  if (given.pool)
    return giveHandle(queue->value->allocateFrom(read.waits, given.pool->value, given.bytes,
                                                 {options, alignment, isSet(given.wait_for_memory)}, read.signals),
                      out);
  if (alignment > kBufferAlignment || isSet(given.wait_for_memory))
    return toC(makeError(StatusCode::InvalidArgument, "an allocation without a pool: the driver aligns to ",
                         kBufferAlignment, " bytes and waits for no memory"));
  return giveHandle(queue->value->allocate(read.waits, given.bytes, options, read.signals), out);
}
tenon_status_t *tenon_queue_deallocate(tenon_queue_t *queue, const tenon_submission_t *submission,
                                       tenon_buffer_t *buffer) {
  TENON_C_REQUIRE(queue);
  TENON_C_REQUIRE(buffer);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readPointsOnly(submission, "a deallocation"));
  return toC(queue->value->deallocate(read.waits, buffer->value, read.signals));
}
