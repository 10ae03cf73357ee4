// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules: PTX text in, kernels and variables out. Every kernel is decoded when the module loads, so that
// what is wrong is refused here, with a log in the form of a JIT compiler's. What ptxas takes and the emulator does not
// refuses the kernel that has it, when somebody asks for that (kernel.h); the info log names it.
#include "emulator/driver/module/module.h"

#include "emulator/decode/decode.h"
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"

#include "ptx/parse/parser.h"
#include "support/files/file.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {
namespace {

constexpr uint32_t kElfMagic = 0x464c457f, kFatbinMagic = 0xba55ed50, kFatbinWrapperMagic = 0x466243b1;

/// Bytes of one initialiser value; relocations resolve to device addresses.
bool initialValue(const Module &module, const ptx::Variable::Initializer &initializer, uint64_t &bits,
                  std::string &error) {
  const ptx::Operand &value = initializer.value;
  if (value.kind != ptx::Operand::Kind::Name) {
    bits = value.bits;
    return true;
  }
  auto global = module.globals.find(value.name);
  uint64_t address =
      global != module.globals.end() ? global->second.address : functionAddress(*module.source, value.name);
  if (!address) {
    error = "an initialiser names '" + std::string(value.name) + "', which is not a variable or function";
    return false;
  }
  bits = address + static_cast<uint64_t>(value.offset);
  if (initializer.mask) {
    bits &= initializer.mask;
    for (uint32_t mask = initializer.mask; !(mask & 1); mask >>= 1)
      bits >>= 1;
  }
  return true;
}

bool initialise(Memory &memory, const Module &module, const ptx::Variable &variable, std::string &error) {
  uint64_t address = module.globals.find(variable.name)->second.address, bytes = variable.bytes();
  uint8_t *to = memory.host(address);
  memset(to, 0, bytes);
  uint32_t size = ptx::byteSize(variable.type);
  for (size_t k = 0; k < variable.initializers.size(); ++k) {
    uint64_t bits = 0;
    if (!initialValue(module, variable.initializers[k], bits, error))
      return false;
    if (variable.type == ptx::ScalarType::F32 && variable.initializers[k].value.kind == ptx::Operand::Kind::Float64) {
      double wide;
      memcpy(&wide, &bits, 8);
      float narrow = static_cast<float>(wide);
      memcpy(&bits, &narrow, 4);
    }
    if ((k + 1) * size > bytes) {
      error = "variable '" + std::string(variable.name) + "' has more initialisers than elements";
      return false;
    }
    memcpy(to + k * size, &bits, std::min(size, 8u));
  }
  return true;
}

/// Addresses for all variables, then their values (which may name each other).
bool createVariables(Module &module, Diagnostics &diagnostics) {
  Memory &memory = *module.context->device->memory;
  const std::string &file = module.source->source->name();
  auto isModuleMemory = [](const ptx::Variable &v) {
    return v.space == ptx::StateSpace::Global || v.space == ptx::StateSpace::Const;
  };
  uint64_t constantBytes = 0;
  for (const ptx::Variable &variable : module.source->variables) {
    if (!isModuleMemory(variable))
      continue;
    SourceLocation where{file, variable.line, variable.column};
    if (variable.isExtern) {
      if (!module.source->findVariable(variable.name) || module.source->findVariable(variable.name)->isExtern)
        diagnostics.error(where, "", "extern variable '" + std::string(variable.name) + "' is defined nowhere");
      continue;
    }
    bool isConstant = variable.space == ptx::StateSpace::Const;
    constantBytes += isConstant ? variable.bytes() : 0;
    uint64_t address =
        memory.allocate(std::max<uint64_t>(1, variable.bytes()),
                        isConstant ? AllocationKind::Constant : AllocationKind::Variable, std::string(variable.name));
    if (!address) {
      diagnostics.error(where, "", "no device memory for variable '" + std::string(variable.name) + "'");
      return false;
    }
    module.globals[std::string(variable.name)] = {address, variable.bytes()};
  }
  if (constantBytes > 65536)
    diagnostics.error({file, 0, 0}, "",
                      "the module's constants take " + std::to_string(constantBytes) + " bytes, a device has 65536");
  for (const ptx::Variable &variable : module.source->variables) {
    std::string error;
    if (isModuleMemory(variable) && !variable.isExtern && !initialise(memory, module, variable, error))
      diagnostics.error({file, variable.line, variable.column}, "", error);
  }
  return !diagnostics.hasErrors();
}

bool decodeKernels(Module &module, Diagnostics &diagnostics) {
  VariableAddress variableAddress = [&](std::string_view name) -> std::optional<uint64_t> {
    auto it = module.globals.find(name);
    return it == module.globals.end() ? std::nullopt : std::optional<uint64_t>(it->second.address);
  };
  const std::string &file = module.source->source->name();
  for (const ptx::Function &function : module.source->functions) {
    if (!function.isEntry || function.isDeclaration)
      continue;
    auto kernel = std::make_unique<Kernel>();
    kernel->module = &module;
    kernel->decoded = decodeKernel(*module.source, function, variableAddress,
                                   static_cast<uint32_t>(module.context->stackLimit), diagnostics, driver().checks);
    const DecodedKernel &decoded = *kernel->decoded;
    SourceLocation where{file, function.line, function.column};
    if (decoded.staticShared > abi::kMaxStaticSharedBytes)
      diagnostics.error(where, "",
                        "'" + decoded.name + "' uses " + std::to_string(decoded.staticShared) +
                            " bytes of static shared memory, the limit is " +
                            std::to_string(abi::kMaxStaticSharedBytes));
    uint32_t limit = abi::maxParameterBytes(module.source->isa, module.source->target.number);
    if (decoded.parameterBytes > limit)
      diagnostics.error(where, "",
                        "the parameters of '" + decoded.name + "' take " + std::to_string(decoded.parameterBytes) +
                            " bytes, the limit is " + std::to_string(limit));
    kernel->maxDynamicShared = (48 << 10) - static_cast<int>(std::min<uint32_t>(decoded.staticShared, 48 << 10));
    module.kernels[decoded.name] = std::move(kernel);
  }
  return !diagnostics.hasErrors();
}

struct JitLog {
  std::string info, error;
};

/// Loads PTX. On failure the log says why.
CUresult loadModule(Context *context, const void *image, JitLog &log, Module **out) {
  Driver &driver = tenon::emulator::driver();
  uint32_t magic;
  const char *text = static_cast<const char *>(image);
  // A text shorter than the magic ends within it; strnlen keeps from reading past its end.
  size_t prefix = strnlen(text, 4);
  if (prefix == 4) {
    memcpy(&magic, image, 4);
    if (magic == kElfMagic || magic == kFatbinMagic || magic == kFatbinWrapperMagic) {
      log.error = "the emulator runs PTX only, this image is a " +
                  std::string(magic == kElfMagic ? "cubin" : "fat binary") + "\n";
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
  }
  ++driver.modulesLoaded;
  std::string name = std::exchange(nextModuleName(), {});
  if (name.empty())
    name = "ptx-module-" + std::to_string(driver.modulesLoaded);
  auto source = std::make_shared<SourceFile>(std::move(name), std::string(text));
  Diagnostics diagnostics;
  auto module = std::make_unique<Module>();
  module->context = context;
  module->source = std::make_unique<ptx::Module>(ptx::parse(source, diagnostics));
  if (diagnostics.hasErrors()) {
    log.error = diagnostics.toString();
    // What is not PTX at all is an invalid image.
    return std::string_view(text).find(".version") == std::string_view::npos ? CUDA_ERROR_INVALID_IMAGE
                                                                             : CUDA_ERROR_INVALID_PTX;
  }
  abi::Verdict verdict =
      abi::runsPtx(module->source->target, module->source->isa, context->device->traits(driver.version));
  if (const abi::ArchInfo *arch = abi::findArch(module->source->target);
      verdict.runs && arch && module->source->isa < arch->minimumIsa)
    verdict = {false, "the target needs .version " + std::to_string(arch->minimumIsa / 10) + "." +
                          std::to_string(arch->minimumIsa % 10) + " or newer"};
  if (!verdict.runs) {
    log.error = source->name() + ": error: .target " + module->source->target.toString() + ", .version " +
                std::to_string(module->source->isa / 10) + "." + std::to_string(module->source->isa % 10) +
                " does not run on '" + context->device->name() + "': " + verdict.reason + "\n";
    return module->source->isa > abi::maxIsaOfDriver(driver.version) ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                                                     : CUDA_ERROR_INVALID_PTX;
  }
  bool created = createVariables(*module, diagnostics) && decodeKernels(*module, diagnostics);
  if (!created || diagnostics.hasErrors()) {
    log.error = diagnostics.toString();
    for (auto &[name, global] : module->globals)
      context->device->memory->free(global.address);
    return CUDA_ERROR_INVALID_PTX;
  }
  for (auto &[name, kernel] : module->kernels) {
    driver.kernels.insert(kernel.get());
    if (!kernel->decoded->refusal.empty())
      log.info += "kernel '" + name + "' cannot run:\n" + kernel->decoded->refusal;
  }
  driver.modules.insert(module.get());
  *out = module.release();
  return CUDA_SUCCESS;
}

} // namespace

std::string &nextModuleName() {
  static thread_local std::string name;
  return name;
}

void unloadModule(Module *module) {
  Driver &driver = tenon::emulator::driver();
  driver.queue.finishAll(module->context); // enqueued work refers to its kernels
  for (auto &[name, kernel] : module->kernels)
    driver.kernels.erase(kernel.get());
  for (auto &[name, global] : module->globals)
    module->context->device->memory->free(global.address);
  driver.modules.erase(module);
  delete module;
}

} // namespace tenon::emulator

namespace {

/// Gives the logs to the buffers that the options name.
void writeLogs(const JitLog &log, unsigned count, CUjit_option *options, void **values) {
  struct Sink {
    CUjit_option buffer, size;
    const std::string &text;
  };
  for (const Sink &sink : {Sink{CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, log.info},
                           Sink{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log.error}}) {
    char *buffer = nullptr;
    void **size = nullptr;
    for (unsigned k = 0; k < count; ++k) {
      if (options[k] == sink.buffer)
        buffer = static_cast<char *>(values[k]);
      if (options[k] == sink.size)
        size = &values[k];
    }
    if (!buffer || !size)
      continue;
    size_t capacity = reinterpret_cast<size_t>(*size) & 0xffffffff;
    if (!capacity)
      continue;
    size_t bytes = std::min(sink.text.size(), capacity - 1);
    memcpy(buffer, sink.text.data(), bytes);
    buffer[bytes] = 0;
    *size = reinterpret_cast<void *>(bytes ? bytes + 1 : 0);
  }
}

} // namespace

namespace tenon::emulator {

CUresult loadWithLogs(Context *context, const void *image, unsigned count, CUjit_option *options, void **values,
                      Module **out) {
  JitLog log;
  CUresult result = loadModule(context, image, log, out);
  if (count && options && values)
    writeLogs(log, count, options, values);
  return result;
}

Module *moduleOf(Driver &driver, const void *handle) {
  Module *module = static_cast<Module *>(const_cast<void *>(handle));
  return driver.modules.count(module) ? module : nullptr;
}

CUresult findKernel(Module &module, const char *name, Kernel **out) {
  auto found = module.kernels.find(name);
  if (found == module.kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  if (CUresult result = askFor(*found->second); result != CUDA_SUCCESS)
    return result;
  *out = found->second.get();
  return CUDA_SUCCESS;
}

} // namespace tenon::emulator

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
  TENON_ENTER_CONTEXT();
  if (!out || !image)
    return CUDA_ERROR_INVALID_VALUE;
  return loadWithLogs(context, image, 0, nullptr, nullptr, reinterpret_cast<Module **>(out));
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options, void **values) {
  TENON_ENTER_CONTEXT();
  if (!out || !image || (count && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  return loadWithLogs(context, image, count, options, values, reinterpret_cast<Module **>(out));
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
  TENON_ENTER_CONTEXT();
  if (!out || !path)
    return CUDA_ERROR_INVALID_VALUE;
  const Result<std::string> image = readFile(path);
  if (!image.ok())
    return CUDA_ERROR_FILE_NOT_FOUND;
  nextModuleName() = path;
  return loadWithLogs(context, image->c_str(), 0, nullptr, nullptr, reinterpret_cast<Module **>(out));
}

CUresult cuModuleUnload(CUmodule handle) {
  TENON_ENTER_CONTEXT();
  TENON_UNSAFE_CALL();
  Module *module = moduleOf(driver, handle);
  if (!module || module->isLibrary)
    return CUDA_ERROR_INVALID_HANDLE;
  unloadModule(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
  TENON_ENTER_CONTEXT();
  if (!out || !name || !*name)
    return CUDA_ERROR_INVALID_VALUE;
  Module *module = moduleOf(driver, handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  return findKernel(*module, name, reinterpret_cast<Kernel **>(out));
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule handle) {
  TENON_ENTER_CONTEXT();
  Module *module = moduleOf(driver, handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(module->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) {
  TENON_ENTER_CONTEXT();
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  Module *module = moduleOf(driver, handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  auto it = module->globals.find(name);
  if (it == module->globals.end())
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = it->second.address;
  if (bytes)
    *bytes = it->second.bytes;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  TENON_ENTER();
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}
