// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded module: its kernels, decoded, and its variables, with addresses in device memory. A library is a module too.
#pragma once

#include "emulator/driver/module/kernel.h"

#include "ptx/module.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tenon::emulator {

struct Context;
struct Driver;

struct Module {
  Context *context = nullptr;
  bool isLibrary = false;
  std::unique_ptr<ptx::Module> source;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  struct Global {
    uint64_t address, bytes;
  };
  std::map<std::string, Global, std::less<>> globals;
};

/// What the module that this thread loads next is called in reports: its file; empty: a number.
std::string &nextModuleName();

/// Finishes the context's work, which refers to the kernels, and frees the module.
void unloadModule(Module *module);

/// Loads a module into the context, and gives the logs to the buffers that the options name.
CUresult loadWithLogs(Context *context, const void *image, unsigned count, CUjit_option *options, void **values,
                      Module **out);

/// The module or library that a handle is; null: none, or no longer.
Module *moduleOf(Driver &driver, const void *handle);

/// Writes the kernel of that name. An error where there is none, or one that the emulator cannot run (askFor).
CUresult findKernel(Module &module, const char *name, Kernel **out);

} // namespace tenon::emulator
