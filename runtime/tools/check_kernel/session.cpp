#include "runtime/tools/check_kernel/session.h"

namespace tenon::runtime {

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
  TENON_ASSIGN_OR_RETURN(executable_, Executable::create(device_, bytes_, name_, options_.executable));
  return okStatus();
}

Result<const LoadedExport *> Session::load(uint32_t ordinal) {
  TENON_RETURN_IF_ERROR(ensureOpen());
  return executable_->load(ordinal);
}

void Session::close() {
  executable_.reset(); // it holds the device, whose context goes with its last owner
  device_.reset();
}

} // namespace tenon::runtime
