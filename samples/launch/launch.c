// One launch of an own kernel from C: y = 2 * x + y. Build and run: README.md.
#include <stdio.h>
#include <tenon/runtime.h>

int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
  tenon_device_t *device = NULL;
  tenon_executable_t *kernels = NULL;
  tenon_buffer_t *memory[2] = {NULL, NULL};

  tenon_status_t *status = tenon_device_open_default(NULL, &device);
  if (!status)
    status = tenon_executable_open(device, "kernels.tnx", &kernels);
  if (!status)
    status = tenon_buffer_create(device, x, sizeof(x), NULL, &memory[0]);
  if (!status)
    status = tenon_buffer_create(device, y, sizeof(y), NULL, &memory[1]);
  if (!status)
    status = tenon_executable_launch(kernels, "saxpy", (const uint32_t[]){1, 1, 1}, memory, 2,
                                     (const uint64_t[]){tenon_word_f32(2), 4}, 2, NULL);
  if (!status)
    status = tenon_buffer_read(memory[1], 0, y, sizeof(y));
  if (status)
    fprintf(stderr, "%s\n", tenon_status_message(status));
  else
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);

  const int exit_status = status != NULL;
  tenon_status_release(status);
  tenon_buffer_release(memory[0]);
  tenon_buffer_release(memory[1]);
  tenon_executable_release(kernels);
  tenon_device_release(device);
  return exit_status;
}
