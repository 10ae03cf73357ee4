// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/kernel_output.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace tenon::runtime {

CapturedStream::~CapturedStream() {
  if (kept_ >= 0)
    (void)release();
}

Status CapturedStream::capture() {
  if (kept_ >= 0)
    return makeError(StatusCode::FailedPrecondition, "the stream is captured already");
  std::fflush(stream_); // what was printed before is not the kernel's
  // A file, not a pipe: a driver prints up to its whole buffer at once, and nobody would read meanwhile.
  file_ = std::tmpfile();
  const int descriptor = fileno(stream_);
  const int kept = file_ ? dup(descriptor) : -1;
  if (kept < 0 || dup2(fileno(file_), descriptor) < 0) {
    const std::string why = std::strerror(errno);
    if (kept >= 0)
      close(kept);
    if (file_)
      std::fclose(file_);
    file_ = nullptr;
    return makeError(StatusCode::Unavailable, "what kernels print cannot be captured: ", why);
  }
  kept_ = kept;
  return okStatus();
}

std::string CapturedStream::release() {
  if (kept_ < 0)
    return "";
  std::fflush(stream_); // the driver may have written through the same stream
  std::string text;
  char block[4096];
  ssize_t bytes = 0;
  for (off_t at = 0; (bytes = pread(fileno(file_), block, sizeof block, at)) > 0; at += bytes)
    text.append(block, static_cast<size_t>(bytes));
  dup2(kept_, fileno(stream_));
  close(kept_);
  std::fclose(file_);
  kept_ = -1;
  file_ = nullptr;
  return text;
}

std::string prefixLines(std::string_view text, std::string_view name) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += concat('[', name, "] ", text.substr(0, end), '\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

void KernelOutput::before(std::string_view name) {
  name_ = name;
  for (CapturedStream *stream : {&out_, &error_})
    if (Status status = stream->capture(); !status.ok() && status_.ok())
      status_ = std::move(status);
}

void KernelOutput::after() {
  const std::string out = prefixLines(out_.release(), name_), error = prefixLines(error_.release(), name_);
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  std::fwrite(error.data(), 1, error.size(), stderr);
}

} // namespace tenon::runtime
