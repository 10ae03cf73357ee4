// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the C API by a stream of bytes, with the handles that it holds. A file for each noun: c_api_memory.cpp,
// c_api_commands.cpp, c_api_programs.cpp, and c_api_caller.cpp for the rest.
#pragma once

#include "tests/fuzz/c_api_stream.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <tenon/runtime.h>
#include <vector>

namespace tenon::fuzz {

/// Ends the run: what was called has broken a promise.
[[noreturn]] void broken(const char *what);

/// Handles of one kind.
template <typename T> struct Handles {
  std::vector<T *> live;
  void (*release)(T *);

  T *pick(Stream &in) const {
    const uint8_t choice = in.byte();
    return live.empty() || choice >= 248 ? nullptr : live[choice % live.size()];
  }
  void take(T *handle) {
    if (handle)
      live.push_back(handle);
  }
  void releaseOne(Stream &in) {
    if (live.empty())
      return release(nullptr);
    const size_t at = in.below(live.size());
    release(live[at]);
    live.erase(live.begin() + static_cast<ptrdiff_t>(at));
  }
  void releaseAll() {
    for (T *handle : live)
      release(handle);
    live.clear();
  }
};

class Caller {
public:
  explicit Caller(Stream &in);
  ~Caller();

  void run();

private:
  static void expectOk(tenon_status_t *status) {
    if (status)
      broken(tenon_status_message(status));
  }
  /// True: it succeeded.
  static bool drop(tenon_status_t *status) {
    const bool isOk = !status;
    if (!isOk && (tenon_status_code(status) == TENON_OK || *tenon_status_message(status) == '\0'))
      broken("a failure without a code or a message");
    if (tenon_status_code(status) == TENON_INTERNAL) // "a bug in Tenon"; the input's own statuses have other codes
      broken(tenon_status_message(status));
    tenon_status_free(status);
    return isOk;
  }
  template <typename T> static void give(Handles<T> &handles, tenon_status_t *status, T *out) {
    if (drop(status) != (out != nullptr))
      broken("an output that does not fit the status");
    handles.take(out);
  }
  template <typename Enum> Enum any(uint32_t common) {
    const uint32_t number = in_.byte() >= 230 ? static_cast<uint32_t>(in_.number()) : in_.byte() % (common + 1);
    return static_cast<Enum>(number);
  }
  tenon_device_t *device() { return in_.byte() >= 250 ? nullptr : device_; }
  uint64_t timeout() { return in_.below(2) * 1000; }

  // c_api_memory.cpp
  Given<tenon_buffer_options_t> bufferOptions();
  tenon_buffer_ref_t ref();
  void allocate();
  void import();
  void access();
  void pool();
  /// Memory of queues.
  void late();
  void file();
  void transfer();

  // c_api_commands.cpp
  std::vector<tenon_semaphore_point_t> points();
  void wait();
  void semaphore();
  void begin();
  void record();
  void dispatch(tenon_command_buffer_t *commands);
  /// A submission, and the arrays that it names.
  struct Submission {
    std::vector<tenon_semaphore_point_t> waits, signals;
    std::vector<tenon_buffer_ref_t> bindings;
    tenon_submission_t wanted = {};
  };
  Given<tenon_submission_t> submission(Submission &out, bool hasCommands);
  void submit();

  // c_api_programs.cpp
  Given<tenon_image_options_t> imageOptions(std::string &name);
  void load();
  void examine();
  /// Values with their shapes; what is behind `count` values is not there.
  struct Inputs {
    std::vector<std::vector<int64_t>> shapes;
    std::vector<tenon_value_t> values;
  };
  Inputs inputs();
  void call();
  void results();
  void exchange();

  // c_api_caller.cpp
  void query();
  void profile();
  void release();
  void status();

  Stream &in_;
  tenon_driver_t *driver_ = nullptr;
  tenon_device_t *device_ = nullptr;
  Handles<tenon_buffer_t> buffers_ = {{}, tenon_buffer_release};
  Handles<tenon_executable_t> executables_ = {{}, tenon_executable_release};
  Handles<tenon_program_t> programs_ = {{}, tenon_program_release};
  Handles<tenon_results_t> results_ = {{}, tenon_results_release};
  Handles<tenon_semaphore_t> semaphores_ = {{}, tenon_semaphore_release};
  Handles<tenon_event_t> events_ = {{}, tenon_event_release};
  Handles<tenon_queue_t> queues_ = {{}, tenon_queue_release};
  Handles<tenon_command_buffer_t> commands_ = {{}, tenon_command_buffer_release};
  Handles<tenon_file_t> files_ = {{}, tenon_file_release};
  Handles<tenon_pool_t> pools_ = {{}, tenon_pool_release};
};

} // namespace tenon::fuzz
