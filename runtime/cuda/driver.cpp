// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the driver is looked for, and what is said when it is not there: every path tried, with the loader's reason.
#include "runtime/cuda/driver.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/cuda/install_layout.h"
#include "support/number.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <type_traits>
#include <unistd.h>

namespace tenon::runtime::cuda {

Result<DeviceSelector> DeviceSelector::parse(std::string_view text) {
  const std::string_view whole = text;
  auto malformed = [&] {
    return makeError(StatusCode::InvalidArgument, "unknown device '", whole,
                     "': expected cuda, cuda:ORDINAL, emulator or emulator:ORDINAL");
  };
  DeviceSelector selector;
  if (text.empty())
    return selector;
  if (text.starts_with("cuda"))
    selector.kind = DriverKind::Cuda, text.remove_prefix(4);
  else if (text.starts_with("emulator"))
    selector.kind = DriverKind::Emulator, text.remove_prefix(8);
  else
    return malformed();
  if (text.empty())
    return selector;
  if (text.starts_with("://"))
    text.remove_prefix(3);
  else if (text.starts_with(":"))
    text.remove_prefix(1);
  else
    return malformed();
  const std::optional<int> ordinal = parseNumber<int>(text);
  if (!ordinal || *ordinal < 0)
    return malformed();
  selector.ordinal = *ordinal;
  return selector;
}

/// The file that holds this function, with its folders and without links. Asking the loader would give the name that a
/// library was loaded by, which may be relative to a folder that is no longer the current one.
static std::string ownFile() {
  const auto own = reinterpret_cast<uintptr_t>(&ownFile);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // 7f0c1000-7f0c2000 r-xp 00001000 fe:00 1234   /usr/lib/libtenon_runtime.so.0
    std::string_view rest = line;
    const std::optional<uintptr_t> begin = takeNumber<uintptr_t>(rest, 16);
    if (!begin || !rest.starts_with('-'))
      continue;
    rest.remove_prefix(1);
    const std::optional<uintptr_t> end = takeNumber<uintptr_t>(rest, 16);
    const size_t path = rest.find('/');
    if (end && own >= *begin && own < *end)
      return path == std::string_view::npos ? std::string() : std::string(rest.substr(path));
  }
  return {};
}

DriverSearch DriverSearch::fromEnvironment() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  DriverSearch search;
  search.driverVariable = variable("TENON_CUDA_DRIVER");
  search.emulatorVariable = variable("TENON_EMULATOR_LIBRARY");
  search.ownFolder = std::filesystem::path(ownFile()).parent_path().string();
  return search;
}

std::vector<std::string> DriverSearch::emulatorLibraries() const {
  constexpr const char *kName = "libtenon_emulator.so";
  if (!emulatorVariable.empty())
    return {emulatorVariable};
  std::vector<std::string> paths;
  const auto add = [&](std::string_view folder) {
    paths.push_back(std::filesystem::path(concat(ownFolder, "/", folder, kName)).lexically_normal().string());
  };
  if (!ownFolder.empty()) {
    add("");                         // a library, installed; a bundle
    add(TENON_LIBRARIES_FROM_TOOLS); // a tool, installed: lib, lib64 or lib/x86_64-linux-gnu
    // In a build tree (build/runtime, build/runtime/tools, build/tests/unit/runtime), and nowhere else.
    for (const std::string up : {"../", "../../", "../../../"})
      if (std::error_code failed; std::filesystem::exists(concat(ownFolder, "/", up, "build.ninja"), failed))
        add(up + "emulator/");
  }
  paths.push_back(kName);
  return paths;
}

Status Driver::resolveSymbols(void *library) {
  std::string missing;
  auto find = [&](const char *name, bool required) {
    void *symbol = dlsym(library, name);
    if (!symbol && required)
      missing += concat(missing.empty() ? "" : ", ", name);
    return symbol;
  };
#define TENON_DRIVER_SYMBOL(name) name = reinterpret_cast<decltype(&::name)>(find(#name, true));
#define TENON_DRIVER_OPTIONAL_SYMBOL(name) name = reinterpret_cast<decltype(&::name)>(find(#name, false));
#include "runtime/cuda/driver_symbols.inc"
#undef TENON_DRIVER_OPTIONAL_SYMBOL
#undef TENON_DRIVER_SYMBOL
  // What only the emulator has is not exported; it gives it to who asks by name.
  using GetProcAddress = CUresult (*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  auto findOwn = [&](const char *name, auto &out) {
    void *own = nullptr;
    if (get && get(name, &own, CUDA_VERSION, 0, nullptr) == CUDA_SUCCESS)
      out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(own);
  };
  findOwn("tenonEmulatorHostPointer", hostPointer);
  findOwn("tenonEmulatorReadOnlyPointer", readOnlyPointer);
  if (readOnlyPointer) { // it is the emulator
    findOwn("tenonEmulatorNameModule", nameModule);
    findOwn("tenonEmulatorInterrupt", interrupt);
    findOwn("tenonEmulatorLastReport", lastReport);
  }
  if (!missing.empty())
    return makeError(StatusCode::Unavailable, "the library lacks ", missing, ": not a CUDA driver, or one too old");
  return okStatus();
}

Status Driver::initialize() {
  TENON_RETURN_IF_ERROR(driverStatus(*this, cuInit(0), "cuInit(0)"));
  process_ = getpid();
  return driverStatus(*this, cuDriverGetVersion(&version_), "cuDriverGetVersion");
}

Result<int> Driver::deviceCount() const {
  int count = 0;
  TENON_RETURN_IF_ERROR(driverStatus(*this, cuDeviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

Result<std::unique_ptr<Driver>> Driver::openFirst(const std::vector<std::string> &paths, std::string_view what) {
  std::string tried;
  for (const std::string &path : paths) {
    // Never closed again: a driver starts threads and registers exit handlers that live in its code.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *said = dlerror();
      std::string_view reason = said ? said : "unknown reason";
      if (const std::string prefix = path + ": "; reason.starts_with(prefix))
        reason.remove_prefix(prefix.size());
      tried += concat("\n  ", path, ": ", reason);
      continue;
    }
    std::unique_ptr<Driver> driver(new Driver());
    driver->path_ = path;
    if (Status status = driver->resolveSymbols(library); !status.ok()) {
      tried += concat("\n  ", path, ": ", status.message());
      continue;
    }
    // It is the driver; what it answers now is the answer, other libraries would not do better.
    if (Status status = driver->initialize(); !status.ok())
      return std::move(status).withContext(concat("the driver '", path, "' does not start"));
    return driver;
  }
  return makeError(StatusCode::Unavailable, what, " cannot be loaded; tried", tried);
}

namespace {

Result<std::unique_ptr<Driver>> openEmulator(const DriverSearch &search) {
  return Driver::openFirst(search.emulatorLibraries(), "the emulator (libtenon_emulator.so)");
}

Result<std::unique_ptr<Driver>> openCuda(const DriverSearch &search) {
  auto driver = Driver::openFirst(search.cudaLibraries, "the CUDA driver (libcuda.so.1)");
  if (!driver.ok())
    return driver;
  TENON_ASSIGN_OR_RETURN(int count, (*driver)->deviceCount());
  if (count == 0)
    return makeError(StatusCode::Unavailable, "the driver '", (*driver)->path(), "' has no device");
  return driver;
}

/// One line of a reason: of a list of paths the first, of anything else the first line.
std::string_view shortReason(std::string_view message) {
  const size_t list = message.find("\n  ");
  if (list != std::string_view::npos)
    message.remove_prefix(list + 3);
  return message.substr(0, message.find('\n'));
}

} // namespace

Result<std::unique_ptr<Driver>> Driver::open(const DeviceSelector &selector, const DriverSearch &search) {
  const std::string &variable = search.driverVariable;
  if (variable == "emulator")
    return openEmulator(search);
  if (!variable.empty() && variable != "cuda")
    return openFirst({variable}, "the driver that TENON_CUDA_DRIVER names");

  switch (selector.kind) {
  case DriverKind::Cuda:
    return openCuda(search);
  case DriverKind::Emulator:
    return openEmulator(search);
  case DriverKind::Any:
    break;
  }
  auto gpu = openCuda(search);
  if (gpu.ok() || variable == "cuda")
    return gpu;
  auto emulator = openEmulator(search);
  if (!emulator.ok())
    return makeError(StatusCode::Unavailable, "no GPU: ", gpu.status().message(),
                     "\nno emulator: ", emulator.status().message());
  (*emulator)->notice_ = concat("no GPU here (", shortReason(gpu.status().message()), "): running on the emulator '",
                                (*emulator)->path(), "'");
  return emulator;
}

} // namespace tenon::runtime::cuda
