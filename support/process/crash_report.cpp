// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the signal and the end nothing may ask for memory or a lock: all text is made before, and written as it is.
// Only who called whom is found afterwards, when the rest is in the file: the loader's lock may never be had, and an
// alarm ends the wait for it.
#include "support/process/crash_report.h"

#include "support/status.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

namespace tenon {
namespace {

// SIGBUS is file_bytes.h's: a mapped file was cut short.
constexpr std::array kSignals = {SIGSEGV, SIGILL, SIGFPE, SIGABRT};

constexpr int kMostCalls = 64;
constexpr unsigned kSecondsForCalls = 5;

struct State {
  const char *program = "";
  std::string marker, comment, path; // the marker begins a line that is a comment
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

void writeNumber(int file, uintptr_t number) {
  char digits[2 * sizeof number];
  const char *end = std::to_chars(digits, std::end(digits), number, 16).ptr;
  write(file, "0x");
  write(file, {digits, size_t(end - digits)});
}

/// The calls that led here, the last first, each a place in a file as `addr2line -e FILE` takes it.
void writeCalls(int file) {
  ::alarm(kSecondsForCalls);
  void *calls[kMostCalls];
  const int count = ::backtrace(calls, kMostCalls);
  for (int i = 0; i < count; ++i) {
    Dl_info object = {};
    const bool isKnown = ::dladdr(calls[i], &object) != 0;
    write(file, "\n");
    write(file, state.marker);
    write(file, isKnown ? object.dli_fname : "unknown");
    write(file, " ");
    writeNumber(file, uintptr_t(calls[i]) - (isKnown ? uintptr_t(object.dli_fbase) : 0));
  }
  write(file, "\n");
  ::alarm(0);
}

void writeReproducer() {
  const int file = ::open(state.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  write(file, state.marker);
  write(file, state.comment);
  write(file, "\n");
  write(file, state.input);
  for (std::string_view part : {std::string_view(state.program), std::string_view(": what led to it is in '"),
                                std::string_view(state.path), std::string_view("'; please report it\n")})
    write(STDERR_FILENO, part);
  writeCalls(file);
  ::close(file);
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

CrashReport::CrashReport(const char *program, std::string marker, std::string comment, std::string_view input) {
  const char *folder = std::getenv("TMPDIR");
  void *here = nullptr;
  (void)::backtrace(&here, 1); // loads what it needs
  state.program = program;
  state.marker = std::move(marker);
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
