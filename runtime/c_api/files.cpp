// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: files, and what queues do with them.
#include "runtime/c_api/support.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

tenon_status_t *tenon_file_import_descriptor(int descriptor, uint32_t access, const char *name, tenon_file_t **out) {
  TENON_C_OUTPUT(out);
  return giveHandle(File::importDescriptor(descriptor, access, name ? name : "file"), out);
}
tenon_status_t *tenon_file_import_memory(void *memory, uint64_t bytes, uint32_t access, const char *name,
                                         tenon_release_fn released, void *user, tenon_file_t **out) {
  TENON_C_OUTPUT(out);
  return giveHandle(File::importMemory(memory, bytes, access, name ? name : "memory", releaseOf(released, user)), out);
}
void tenon_file_release(tenon_file_t *file) {
  delete file;
}
uint64_t tenon_file_size(const tenon_file_t *file) {
  return file ? file->value->size() : 0;
}
tenon_status_t *tenon_queue_read_file(tenon_queue_t *queue, const tenon_submission_t *submission, tenon_file_t *file,
                                      uint64_t file_offset, const tenon_buffer_ref_t *target) {
  TENON_C_REQUIRE(queue);
  TENON_C_REQUIRE(file);
  TENON_C_REQUIRE(target);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readPointsOnly(submission, "a read of a file"));
  return toC(queue->value->readFile(read.waits, file->value, file_offset, readRef(*target), read.signals));
}
tenon_status_t *tenon_queue_write_file(tenon_queue_t *queue, const tenon_submission_t *submission,
                                       const tenon_buffer_ref_t *source, tenon_file_t *file, uint64_t file_offset) {
  TENON_C_REQUIRE(queue);
  TENON_C_REQUIRE(source);
  TENON_C_REQUIRE(file);
  TENON_C_ASSIGN_OR_RETURN(ReadSubmission read, readPointsOnly(submission, "a write of a file"));
  return toC(queue->value->writeFile(read.waits, readRef(*source), file->value, file_offset, read.signals));
}
