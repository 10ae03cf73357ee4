// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the signal and the end nothing may ask for memory or a lock: all text is made before, and written as it is.
#include "support/process/crash_report.h"

#include "support/status.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tenon {
namespace {

// SIGBUS is file_bytes.h's: a mapped file was cut short.
constexpr std::array kSignals = {SIGSEGV, SIGILL, SIGFPE, SIGABRT};

struct State {
  const char *program = "";
  std::string comment, path;
  std::string_view input;
  std::array<struct sigaction, kSignals.size()> before = {};
};
State state;
std::atomic<bool> isReported = false;
std::array<char, 128> phase = {}; // ends in 0; a torn name harms nobody

void write(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(size_t(written));
  }
}

void writeReproducer() {
  const int file = ::open(state.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  write(file, state.comment);
  write(file, state.input);
  ::close(file);
  for (std::string_view part : {std::string_view(state.program), std::string_view(": what led to it is in '"),
                                std::string_view(state.path), std::string_view("'; please report it\n")})
    write(STDERR_FILENO, part);
}

void onSignal(int signal) {
  for (size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &state.before[i], nullptr);
  if (!isReported.exchange(true)) {
    const char digits[] = {char('0' + signal / 10 % 10), char('0' + signal % 10), 0};
    for (std::string_view part :
         {std::string_view(state.program), std::string_view(": crashed in phase '"), std::string_view(phase.data()),
          std::string_view("' (signal "), std::string_view(digits + (signal < 10)),
          std::string_view("), which is a bug in "), std::string_view(state.program), std::string_view("\n")})
      write(STDERR_FILENO, part);
    writeReproducer();
  }
  ::raise(signal); // delivered once this returns
}

} // namespace

CrashReport::CrashReport(const char *program, std::string comment, std::string_view input) {
  const char *folder = std::getenv("TMPDIR");
  state.program = program;
  state.comment = std::move(comment);
  state.path = concat(folder && *folder ? folder : "/tmp", "/", program, "-crash-", ::getpid(), ".txt");
  state.input = input;
  isReported = false;
  setPhase("start");
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &action, &state.before[i]);
}

CrashReport::~CrashReport() {
  for (size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &state.before[i], nullptr);
  state = State();
}

void CrashReport::setPhase(std::string_view name) {
  name = name.substr(0, phase.size() - 1);
  std::copy(name.begin(), name.end(), phase.begin());
  phase[name.size()] = 0;
}

} // namespace tenon
