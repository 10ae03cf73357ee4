// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls doubled_saxpy of program.mlir: on the GPU where there is one, else on the emulator.
#include <stdio.h>
#include <stdlib.h>
#include <tenon/runtime.h>

#define COUNT 4

static void check(tenon_status_t *status) {
  if (status == NULL)
    return;
  fprintf(stderr, "error: %s\n", tenon_status_message(status));
  exit(1);
}

int main(void) {
  const float inputs[2][COUNT] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  const int64_t shape[1] = {COUNT};
  float sums[COUNT];

  tenon_device_t *device;
  tenon_program_t *program;
  uint32_t function;
  check(tenon_device_open_default(NULL, &device));
  check(tenon_program_open(device, PROGRAM, &program));
  check(tenon_program_find_function(program, "doubled_saxpy", &function));

  tenon_value_t values[2];
  for (int i = 0; i < 2; ++i) {
    tenon_buffer_t *buffer;
    check(tenon_buffer_create(device, inputs[i], sizeof inputs[i], NULL, &buffer));
    values[i] = tenon_value_tensor(buffer, TENON_F32, shape, 1);
  }
  tenon_results_t *results;
  tenon_value_t sum = {.struct_size = sizeof sum};
  check(tenon_program_call(program, function, values, 2, &results));
  check(tenon_results_at(results, 0, &sum)); // the results' own: nothing to release
  check(tenon_buffer_read(sum.buffer, 0, sums, sizeof sums));
  for (int i = 0; i < COUNT; ++i)
    printf("%g%c", sums[i], i + 1 < COUNT ? ' ' : '\n');

  tenon_results_release(results);
  for (int i = 0; i < 2; ++i)
    tenon_buffer_release(values[i].buffer);
  tenon_program_release(program);
  tenon_device_release(device);
  return 0;
}
