// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: .tenon files, functions and their calls. */
#ifndef TENON_RUNTIME_PROGRAM_H
#define TENON_RUNTIME_PROGRAM_H

#include "tenon/runtime/executable.h"
#include "tenon/runtime/queue.h"
#include "tenon/runtime/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `data` (a .tenon file's bytes) is copied. */
tenon_status_t *tenon_program_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                     tenon_program_t **out);
/* The file is mapped. "-": standard input. */
tenon_status_t *tenon_program_open(tenon_device_t *device, const char *path, tenon_program_t **out);
/* As above, with options (NULL: none) for every executable of the program; a variant holds for those that have one of
   that name. TENON_NOT_FOUND: none has. Since TENON_1_2. */
tenon_status_t *tenon_program_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                  const char *name, const tenon_image_options_t *options,
                                                  tenon_program_t **out);
tenon_status_t *tenon_program_open_with_options(tenon_device_t *device, const char *path,
                                                const tenon_image_options_t *options, tenon_program_t **out);
void tenon_program_release(tenon_program_t *program);
size_t tenon_program_function_count(const tenon_program_t *program);
/* Valid as long as the program; NULL past the end. */
const char *tenon_program_function_name(const tenon_program_t *program, uint32_t function);
/* "" or NULL: the only function there is. */
tenon_status_t *tenon_program_find_function(const tenon_program_t *program, const char *name, uint32_t *out);

/* What a function takes and gives (since TENON_1_6). All pointers are valid as long as the program. */
typedef struct tenon_function_info {
  size_t struct_size;
  const char *name;
  const char *documentation; /* "" where the program says none */
  size_t input_count, result_count;
  bool runs_on_host;     /* it branches, reads back or keeps state. Queues and captures take it where numbers
                            that the host has decide each branch, and where it neither reads back nor keeps state. */
  bool has_expectations; /* check.*: neither a stream nor a queue takes it */
} tenon_function_info_t;
typedef struct tenon_type_info {
  size_t struct_size;
  const char *name; /* "" where the program says none */
  tenon_element_type_t element;
  bool is_scalar;
  size_t rank;
  const int64_t *shape; /* [rank], -1: known when it is called */
  bool is_unread;       /* an input of which nothing is known, since the function does not look at it: any value does */
  /* An input that the caller gives up (behind TENON_1_6; struct_size says whether it is there): the call may write its
     memory, in which a result may come back. is_updated: it holds a new value for the caller once the call is complete,
     which is what the function is for. */
  bool is_donated, is_updated;
  /* Of a result (behind TENON_1_6; struct_size says whether it is there): one more than the number of the donated input
     whose memory it comes back in; 0: it is not known to come back in any. */
  size_t input_plus_one;
} tenon_type_info_t;
/* TENON_OUT_OF_RANGE: no such function, input or result. */
tenon_status_t *tenon_program_function_info(const tenon_program_t *program, uint32_t function,
                                            tenon_function_info_t *out);
tenon_status_t *tenon_program_input_info(const tenon_program_t *program, uint32_t function, size_t input,
                                         tenon_type_info_t *out);
tenon_status_t *tenon_program_result_info(const tenon_program_t *program, uint32_t function, size_t result,
                                          tenon_type_info_t *out);
/* Which image each kernel runs from, and why: what `tenon-run --explain` prints. Since TENON_1_6. */
tenon_status_t *tenon_program_explain(tenon_program_t *program, tenon_text_fn write, void *user);

/* Runs a function to its end. Inputs are read, and written only where they are donated (tenon_type_info_t): the memory
   of one is then the call's, and no other input may lie in it. TENON_INVALID_ARGUMENT: one does, or one that is updated
   cannot be written. TENON_FAILED_PRECONDITION: what the function expects of
   its values (check.*) does not hold, with the elements that differ; such a function takes neither a stream nor a
   queue. */
tenon_status_t *tenon_program_call(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                   size_t input_count, tenon_results_t **out);
/* `type`: element, rank and shape of result `index`. Calls nothing of the program. */
typedef uint64_t (*tenon_result_memory_fn)(void *user, size_t index, const tenon_value_t *type, uint64_t bytes);
typedef struct tenon_call_options {
  size_t struct_size;
  bool synchronous; /* wait after every command: a fault names the very command; slower */
  bool no_graph;    /* never a CUDA graph */
  bool on_stream;   /* `stream` is a CUstream of the caller, in the device's primary context (NULL: the legacy default
                       stream). The call returns when its work is given to it; a stream that is being captured takes
                       the commands into the caller's graph. Inputs and results live until the work is complete. */
  void *stream;
  /* Since TENON_1_6; NULL: memory of the device's. Asked for each result that needs memory of its own, also where
     `*results` has some: the address of `bytes` bytes of the device's memory, which stay the caller's and live until
     the work is complete, or 0: the call fails as TENON_RESOURCE_EXHAUSTED. A function
     that runs on the host asks for every result that is a tensor. */
  tenon_result_memory_fn result_memory;
  void *result_user;
  /* Since TENON_1_6. Asks for memory of a result that is an input, or the same memory as another result, too, and
     copies it there; an input's own address leaves it where it is. */
  bool copies_results;
  /* Behind TENON_1_6. Donated inputs stay as they are: the call works on copies of them. Those that are updated are
     written all the same, which is what the function is for. */
  bool keeps_inputs;
} tenon_call_options_t;
/* As tenon_program_call, with options (NULL: none), again and again with the same results: where `*results` is not
   NULL, its memory is written, which must be large enough. A call whose shapes and scalars were seen before then
   allocates nothing. On failure `*results` is the handle that it was, and what it holds is no call's result.
   Since TENON_1_1. */
tenon_status_t *tenon_program_call_again(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                         size_t input_count, const tenon_call_options_t *options,
                                         tenon_results_t **results);
/* A call as a submission of a queue: it begins when the waits are reached, and the signals say when it is complete or
   what went wrong. `submission` has no commands. `*results` as above, set when this returns. The program must outlive
   the call. Since TENON_1_1. */
tenon_status_t *tenon_program_submit(tenon_program_t *program, tenon_queue_t *queue,
                                     const tenon_submission_t *submission, uint32_t function,
                                     const tenon_value_t *inputs, size_t input_count, tenon_results_t **results);
void tenon_results_release(tenon_results_t *results);
size_t tenon_results_count(const tenon_results_t *results);
/* All of `*out` is the results' and valid as long as they are, until they are called into again
   (tenon_buffer_retain keeps its memory longer). Since TENON_1_6. */
tenon_status_t *tenon_results_at(tenon_results_t *results, size_t index, tenon_value_t *out);
/* The older form: `out->buffer` is a new reference (tenon_buffer_release); `out->shape` is valid as long as the
 * results. */
tenon_status_t *tenon_results_value(const tenon_results_t *results, size_t index, tenon_value_t *out);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_PROGRAM_H */
