// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/session.h"

#include "runtime/tools/interrupt.h"

#include <cuda.h>
#include <dlfcn.h>

namespace tenon::runtime {

static constexpr size_t kReportBytes = 4096;

Result<std::unique_ptr<Session>> Session::open(std::span<const uint8_t> bytes, std::string name,
                                               const SessionOptions &options) {
  std::unique_ptr<Session> session(new Session(bytes, std::move(name), options));
  TENON_RETURN_IF_ERROR(session->ensureOpen());
  return session;
}

Status Session::ensureOpen() {
  if (executable_)
    return okStatus();
  TENON_ASSIGN_OR_RETURN(device_, Device::open(options_.device, cuda::DriverSearch::fromEnvironment()));
  reportOnInterrupt(*device_);
  TENON_ASSIGN_OR_RETURN(executable_, Executable::create(device_, bytes_, name_, options_.executable));
  return okStatus();
}

Result<const LoadedExport *> Session::load(uint32_t ordinal) {
  TENON_RETURN_IF_ERROR(ensureOpen());
  return executable_->load(ordinal);
}

std::string Session::faultReport() const {
  if (!device_ || !device_->isEmulator())
    return {};
  // The library is loaded already: this is another name for it.
  void *library = dlopen(device_->driver().path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    return {};
  std::string text(kReportBytes, '\0');
  void *function = nullptr;
  CUdriverProcAddressQueryResult found;
  if (auto find = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(library, "cuGetProcAddress_v2"));
      find && find("tenonEmulatorLastReport", &function, CUDA_VERSION, 0, &found) == CUDA_SUCCESS && function)
    reinterpret_cast<size_t (*)(char *, size_t)>(function)(text.data(), text.size());
  dlclose(library);
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

void Session::close() {
  executable_.reset(); // it holds the device, whose context goes with its last owner
  device_.reset();
}

} // namespace tenon::runtime
