// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Part of tenon/runtime.h: .tnx files, kernels and nothing else. */
#ifndef TENON_RUNTIME_EXECUTABLE_H
#define TENON_RUNTIME_EXECUTABLE_H

#include "tenon/runtime/buffer.h"
#include "tenon/runtime/value.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `data` (a .tnx file's bytes) is copied. TENON_DATA_LOSS: it does not verify; `name` is for messages. */
tenon_status_t *tenon_executable_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                        tenon_executable_t **out);
/* Which images may be taken at all. What is ruled out is in the table of the error where nothing runs. */
typedef enum tenon_images {
  TENON_IMAGES_DEFAULT = 0, /* what the environment's TENON_IMAGES says (any, cubin, ptx), else any */
  TENON_IMAGES_ANY = 1,
  TENON_IMAGES_CUBIN = 2, /* finished code only: nothing is compiled by the driver */
  TENON_IMAGES_PTX = 3    /* PTX only, as a device newer than the file would */
} tenon_images_t;
typedef struct tenon_image_options {
  size_t struct_size;
  tenon_images_t images;
  const char *variant; /* NULL: the best one; else this one only */
} tenon_image_options_t;
/* As tenon_executable_create, with options (NULL: none). Since TENON_1_2. */
tenon_status_t *tenon_executable_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                     const char *name, const tenon_image_options_t *options,
                                                     tenon_executable_t **out);
/* As tenon_executable_create_with_options, of a file. Since TENON_1_6. */
tenon_status_t *tenon_executable_open(tenon_device_t *device, const char *path, tenon_executable_t **out);
tenon_status_t *tenon_executable_open_with_options(tenon_device_t *device, const char *path,
                                                   const tenon_image_options_t *options, tenon_executable_t **out);
void tenon_executable_release(tenon_executable_t *executable);
size_t tenon_executable_export_count(const tenon_executable_t *executable);

typedef struct tenon_export_info {
  size_t struct_size;
  const char *name; /* valid as long as the executable */
  uint32_t binding_count, constant_count;
  uint32_t workgroup_size[3];
  uint32_t dynamic_shared_bytes;
  uint32_t constant_word_count; /* 64-bit words that a dispatch passes: tenon_dispatch_t */
  uint32_t parameter_count;     /* of the kernel */
  uint32_t slot_count;          /* pointers and constants in them: tenon_executable_slot_info */
} tenon_export_info_t;
tenon_status_t *tenon_executable_export_info(const tenon_executable_t *executable, uint32_t ordinal,
                                             tenon_export_info_t *out);

/* Where a pointer or a constant stands in the kernel's parameters. A dispatch need not know: it passes bindings and
   constants by number, and they are put in their places (abi/kernel_abi.md, K-3). */
typedef enum tenon_slot_kind {
  TENON_SLOT_BINDING = 0,
  TENON_SLOT_CONSTANT = 1,
  TENON_SLOT_HIDDEN = 2 /* a pointer that is passed as null */
} tenon_slot_kind_t;
/* Since TENON_1_6. */
typedef enum tenon_constant_kind {
  TENON_CONSTANT_WORD = 0, /* 32 untyped bits */
  TENON_CONSTANT_SCALAR = 1,
  TENON_CONSTANT_STRUCT = 2,
  TENON_CONSTANT_TENSOR_MAP = 3
} tenon_constant_kind_t;
typedef struct tenon_slot_info {
  size_t struct_size;
  tenon_slot_kind_t kind;
  uint32_t index;     /* of the binding or constant */
  uint32_t parameter; /* of the kernel, from 0 */
  uint32_t offset;    /* bytes from the start of that parameter: above 0 only in a struct passed by value */
  uint32_t size;      /* bytes */
  const char *name;   /* as declared, else empty; valid as long as the executable */
  /* Since TENON_1_6. */
  bool read_only;                      /* a binding that the kernel does not write */
  uint32_t alignment;                  /* of a binding's address; 0: of its element */
  tenon_constant_kind_t constant_kind; /* of a constant, as what follows */
  tenon_element_type_t element;        /* of a scalar */
  uint32_t first_word, word_count;     /* among the words of a dispatch; a described tensor map: its rank */
} tenon_slot_info_t;
/* In the order of the parameters. TENON_OUT_OF_RANGE: no such export or slot. Since TENON_1_5. */
tenon_status_t *tenon_executable_slot_info(const tenon_executable_t *executable, uint32_t ordinal, uint32_t slot,
                                           tenon_slot_info_t *out);
/* TENON_NOT_FOUND lists the exports there are. */
tenon_status_t *tenon_executable_find_export(const tenon_executable_t *executable, const char *name, uint32_t *out);

/* A global variable of the image that export `ordinal` runs from, by the name that the image gives it (C++ names are
   mangled): memory that keeps the executable. TENON_NOT_FOUND. Since TENON_1_3. */
tenon_status_t *tenon_executable_find_global(tenon_executable_t *executable, uint32_t ordinal, const char *name,
                                             tenon_buffer_t **out);

/* ---- Launches without a command buffer (since TENON_1_6) ---- */

/* A scalar as the word that a launch passes. */
static inline uint64_t tenon_word_i32(int32_t value) {
  return (uint64_t)(int64_t)value;
}
static inline uint64_t tenon_word_f32(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
static inline uint64_t tenon_word_f64(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/* Launches the export `name` and returns. `grid`: workgroups along x, y, z; a zero launches nothing. `buffers`: the
   bindings in their order, `words`: the constants, as in tenon_dispatch_t. Counts, devices, usage, access and alignment
   are checked before anything is launched. `stream`: a CUstream of the caller in the device's primary context, on which
   the buffers must live until the work is complete, or one that is being captured; NULL: the device's own stream, with
   which tenon_buffer_read, tenon_buffer_write, tenon_device_wait and calls of programs are ordered. (The legacy default
   stream is CU_STREAM_LEGACY.) */
tenon_status_t *tenon_executable_launch(tenon_executable_t *executable, const char *name, const uint32_t grid[3],
                                        tenon_buffer_t *const *buffers, size_t buffer_count, const uint64_t *words,
                                        size_t word_count, void *stream);
/* Memory that has no buffer: an address of the device and how many bytes from there on are the caller's. */
typedef struct tenon_memory_range {
  uint64_t address, bytes;
} tenon_memory_range_t;
/* The same for callers who launch often: an ordinal for the name, ranges for the buffers, nothing is allocated. The
   caller vouches for the ranges; counts and alignment are checked. */
tenon_status_t *tenon_executable_launch_ranges(tenon_executable_t *executable, uint32_t ordinal, const uint32_t grid[3],
                                               const tenon_memory_range_t *ranges, size_t range_count,
                                               const uint64_t *words, size_t word_count, void *stream);
/* For each export every image, chosen or refused and why: what `tenon-run --explain` prints. Loads the exports. */
tenon_status_t *tenon_executable_explain(tenon_executable_t *executable, tenon_text_fn write, void *user);

#ifdef __cplusplus
}
#endif
#endif /* TENON_RUNTIME_EXECUTABLE_H */
