// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API, called by a stream of bytes: it decides on the sequence of calls, the handles, the fields and sizes of
// every struct. Handles are live or NULL, as the header promises an error for; arrays have the elements that their
// count says, or a count that is none. The driver is the unit tests' fake one, so that what is found is the library's.
//
// A call that fails leaves its outputs NULL, and every status, handle and byte of device memory is given back at the
// end.
#include "fuzz.h"

#include "c_api_stream.h"
#include "runtime/cuda/driver.h"
#include "runtime/values/dlpack.h"
#include "tests/unit/runtime/fake_driver.h"
#include "tests/unit/runtime/program_builder.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <tenon/runtime.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using fuzz::Given;
using fuzz::Stream;

namespace {

[[noreturn]] void broken(const char *what) {
  std::fprintf(stderr, "c_api fuzz: %s\n", what);
  std::abort();
}

/// The fake driver's state; TENON_CUDA_DRIVER names it from now on.
FakeDriver &fakeDriver() {
  static FakeDriver *const state = [] {
    const std::string own = runtime::cuda::DriverSearch::fromEnvironment().ownFolder;
    const std::string path = own + "/../unit/runtime/libtenon_fake_driver.so";
    setenv("TENON_CUDA_DRIVER", path.c_str(), 1);
    setenv("TENON_CACHE_DIR", "none", 1);
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      broken(dlerror());
    return reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "tenonFakeDriver"))();
  }();
  return *state;
}

const std::vector<uint8_t> &executableBytes() {
  static const std::vector<uint8_t> bytes =
      buildExecutable("exe", {makeExport("add", 2, 1), makeExport("sub", 1, 0)}, {{.name = "v", .image = "ptx"}});
  return bytes;
}

/// identity(tensor<?xf32>, i32), and launch(tensor<?xf32>), which launches and copies.
const AlignedBytes &programBytes() {
  static const AlignedBytes bytes = [] {
    using abi::fb::RegisterOpcode;
    FunctionSpec identity = {.name = "identity"};
    identity.inputs = {{abi::ElementType::F32, {-1}}, {abi::ElementType::I32, {}, true}};
    identity.registers = {{RegisterOpcode::Dim, 0, 0, 0, 0}, {RegisterOpcode::Arg, 1, 0, 0, 0}};
    identity.buffers = {{abi::fb::BufferSource::Input, 0}};
    identity.results = {{{abi::ElementType::F32, {-1}}, 0, {0}}, {{abi::ElementType::I32, {}, true}, 0, {}, 1}};
    FunctionSpec launch = {.name = "launch"};
    launch.inputs = {{abi::ElementType::F32, {-1}}};
    launch.registers = {{RegisterOpcode::Dim, 0, 0, 0, 0},
                        {RegisterOpcode::Const, 0, 0, 0, 4},
                        {RegisterOpcode::Mul, 0, 1, 0, 0},
                        {RegisterOpcode::Const, 0, 0, 0, 1}};
    launch.buffers = {{abi::fb::BufferSource::Input, 0}, {abi::fb::BufferSource::Transient, 0, 2}};
    CommandSpec add = {.kind = CommandSpec::Dispatch, .grid = {3, 3, 3}, .ranges = {wholeBuffer(0), wholeBuffer(1)}};
    add.constants = {0};
    launch.commands = {add};
    launch.results = {{{abi::ElementType::F32, {-1}}, 1, {0}}};
    return buildProgram({identity, launch}, {executableBytes()});
  }();
  return bytes;
}

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
  explicit Caller(Stream &in) : in_(in) {
    expectOk(tenon_driver_open(nullptr, &driver_));
    expectOk(tenon_device_open(driver_, 0, &device_));
    tenon_queue_t *queue = nullptr;
    expectOk(tenon_queue_create(device_, &queue));
    queues_.take(queue);
  }
  ~Caller() {
    queues_.releaseAll(); // waits for work, which uses the rest
    results_.releaseAll(), programs_.releaseAll(), executables_.releaseAll(), commands_.releaseAll();
    events_.releaseAll(), buffers_.releaseAll(), pools_.releaseAll(), files_.releaseAll(), semaphores_.releaseAll();
    tenon_device_release(device_);
    tenon_driver_release(driver_);
  }

  void run() {
    using Step = void (Caller::*)();
    constexpr Step kSteps[] = {
        &Caller::query,   &Caller::allocate,  &Caller::import,  &Caller::access,   &Caller::load,   &Caller::examine,
        &Caller::wait,    &Caller::semaphore, &Caller::begin,   &Caller::record,   &Caller::record, &Caller::submit,
        &Caller::pool,    &Caller::late,      &Caller::file,    &Caller::transfer, &Caller::call,   &Caller::call,
        &Caller::results, &Caller::exchange,  &Caller::profile, &Caller::release,  &Caller::status, &Caller::release};
    for (int steps = 0; !in_.atEnd() && steps < 200; ++steps)
      (this->*kSteps[in_.below(std::size(kSteps))])();
  }

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
  tenon_device_t *device() { return in_.byte() >= 250 ? nullptr : device_; }
  template <typename Enum> Enum any(uint32_t common) {
    uint32_t number = in_.byte() >= 230 ? static_cast<uint32_t>(in_.number()) : in_.byte() % (common + 1);
    Enum out;
    std::memcpy(&out, &number, sizeof(out));
    return out;
  }
  uint64_t timeout() { return in_.below(2) * 1000; }

  Given<tenon_buffer_options_t> bufferOptions() {
    tenon_buffer_options_t out = {};
    out.memory = any<tenon_memory_t>(1);
    out.usage = in_.byte() < 200 ? 0 : static_cast<uint32_t>(in_.number());
    out.access = in_.byte() < 200 ? 0 : static_cast<uint32_t>(in_.number());
    return Given<tenon_buffer_options_t>(out);
  }
  tenon_buffer_ref_t ref() {
    tenon_buffer_ref_t out = {buffers_.pick(in_), static_cast<uint32_t>(in_.below(6)), in_.number(), in_.number()};
    if (in_.flag())
      out.offset = 0, out.length = TENON_WHOLE_BUFFER;
    return out;
  }

  void query() {
    size_t count = 0;
    Given<tenon_device_info_t> info{{}};
    Given<tenon_statistics_t> statistics{{}};
    uint64_t free = 0, total = 0;
    switch (in_.below(7)) {
    case 0:
      drop(tenon_driver_device_count(in_.flag() ? driver_ : nullptr, in_.flag() ? &count : nullptr));
      return;
    case 1:
      drop(tenon_driver_device_info(driver_, in_.number(), info.put(in_)));
      return;
    case 2:
      drop(tenon_device_info(device(), info.put(in_)));
      return;
    case 3:
      drop(tenon_device_statistics(device(), statistics.put(in_)));
      return;
    case 4:
      drop(tenon_device_memory(device(), &free, in_.flag() ? &total : nullptr));
      return;
    case 5: {
      tenon_device_t *opened = nullptr;
      const std::string uuid = in_.flag() ? "GPU-a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0" : in_.text(40);
      drop(in_.flag() ? tenon_device_open_uuid(driver_, uuid.c_str(), &opened)
                      : tenon_device_open(driver_, in_.number(), &opened));
      tenon_device_release(opened);
      return;
    }
    default: {
      tenon_driver_t *opened = nullptr;
      drop(tenon_driver_open(in_.text(12).c_str(), &opened));
      (void)tenon_driver_notice(opened);
      tenon_driver_release(opened);
    }
    }
  }

  void allocate() {
    Given<tenon_buffer_options_t> options = bufferOptions();
    tenon_buffer_t *out = nullptr;
    const uint64_t bytes = in_.number();
    tenon_device_t *on = device();
    give(buffers_,
         in_.byte() < 200 ? tenon_buffer_allocate(on, bytes, options.put(in_), &out)
                          : tenon_buffer_allocate_shareable(on, bytes, options.put(in_), &out),
         out);
    if (in_.byte() == 0)
      drop(tenon_device_set_memory_limit(device(), in_.number()));
  }

  void import() {
    static unsigned char host[4096];
    Given<tenon_buffer_options_t> options = bufferOptions();
    tenon_buffer_t *out = nullptr;
    // What is said to be there is there, or ends behind the last address.
    const uint64_t bytes = in_.flag() ? in_.below(256) * 16 : UINT64_MAX - in_.byte();
    const auto released = in_.flag() ? [](void *) {} : static_cast<tenon_release_fn>(nullptr);
    void *memory = in_.byte() < 240 ? host : nullptr;
    switch (in_.below(3)) {
    case 0:
      give(buffers_,
           tenon_buffer_import_device(device(), reinterpret_cast<uint64_t>(memory), bytes, options.put(in_), released,
                                      nullptr, &out),
           out);
      return;
    case 1:
      give(buffers_, tenon_buffer_import_host(device(), memory, bytes, options.put(in_), released, nullptr, &out), out);
      return;
    default:
      give(buffers_,
           tenon_buffer_import_descriptor(device(), static_cast<int>(in_.number()) | INT32_MIN, bytes, options.put(in_),
                                          &out),
           out);
    }
  }

  void access() {
    tenon_buffer_t *buffer = buffers_.pick(in_);
    unsigned char data[4096] = {};
    const uint64_t offset = in_.number();
    (void)tenon_buffer_size(buffer);
    (void)tenon_buffer_address(buffer);
    void *mapped = nullptr;
    int descriptor = -1;
    switch (in_.below(4)) {
    case 0:
      drop(tenon_buffer_map(buffer, offset, in_.number(), static_cast<uint32_t>(in_.number()), &mapped));
      return;
    case 1:
      drop(tenon_buffer_write(buffer, offset, in_.byte() < 240 ? data : nullptr, in_.below(256) * 16));
      return;
    case 2:
      drop(tenon_buffer_read(buffer, offset, in_.byte() < 240 ? data : nullptr, in_.below(256) * 16));
      return;
    default:
      if (drop(tenon_buffer_export_descriptor(buffer, &descriptor)))
        ::close(descriptor);
    }
  }

  Given<tenon_image_options_t> imageOptions(std::string &name) {
    tenon_image_options_t out = {};
    out.images = any<tenon_images_t>(3);
    name = in_.flag() ? "v" : in_.text(4);
    out.variant = in_.flag() ? name.c_str() : nullptr;
    Given<tenon_image_options_t> given(out);
    TENON_FUZZ_KEEP(given, tenon_image_options_t, variant);
    return given;
  }

  void load() {
    std::string name;
    Given<tenon_image_options_t> options = imageOptions(name);
    tenon_executable_t *executable = nullptr;
    tenon_program_t *program = nullptr;
    const bool isProgram = in_.flag();
    const std::span<const uint8_t> bytes = isProgram ? programBytes().span() : std::span(executableBytes());
    const size_t size = in_.byte() < 220 ? bytes.size() : in_.flag() ? in_.below(bytes.size()) : SIZE_MAX - in_.byte();
    const void *data = in_.byte() < 250 ? bytes.data() : nullptr;
    const char *as = in_.flag() ? "file" : nullptr;
    if (!isProgram)
      give(executables_,
           in_.flag() ? tenon_executable_create(device(), data, size, as, &executable)
                      : tenon_executable_create_with_options(device(), data, size, as, options.put(in_), &executable),
           executable);
    else if (in_.byte() < 250)
      give(programs_,
           in_.flag() ? tenon_program_create(device(), data, size, as, &program)
                      : tenon_program_create_with_options(device(), data, size, as, options.put(in_), &program),
           program);
    else
      give(programs_,
           in_.flag() ? tenon_program_open(device(), "/dev/zero", &program)
                      : tenon_program_open_with_options(device(), "/", options.put(in_), &program),
           program);
  }

  void examine() {
    tenon_executable_t *executable = executables_.pick(in_);
    tenon_program_t *program = programs_.pick(in_);
    const auto ordinal = static_cast<uint32_t>(in_.number());
    Given<tenon_export_info_t> info{{}};
    uint32_t index = 0;
    tenon_buffer_t *global = nullptr;
    const std::string name = in_.flag() ? "add" : in_.text(8);
    const char *given = in_.byte() < 240 ? name.c_str() : nullptr;
    switch (in_.below(5)) {
    case 0:
      (void)tenon_executable_export_count(executable);
      drop(tenon_executable_export_info(executable, ordinal, info.put(in_)));
      return;
    case 1:
      drop(tenon_executable_find_export(executable, given, in_.byte() < 240 ? &index : nullptr));
      return;
    case 2:
      give(buffers_, tenon_executable_find_global(executable, ordinal, given, &global), global);
      return;
    case 3:
      (void)tenon_program_function_count(program);
      (void)tenon_program_function_name(program, ordinal);
      return;
    default:
      drop(tenon_program_find_function(program, given, &index));
    }
  }

  std::vector<tenon_semaphore_point_t> points() {
    std::vector<tenon_semaphore_point_t> out(in_.below(4));
    for (tenon_semaphore_point_t &point : out)
      point = {semaphores_.pick(in_), in_.number()};
    return out;
  }

  void wait() {
    const std::vector<tenon_semaphore_point_t> given = points();
    const size_t count = in_.count(given.size());
    drop(in_.flag() ? tenon_semaphores_wait_all(given.data(), count, timeout())
                    : tenon_semaphores_wait_any(given.data(), count, timeout()));
    if (in_.byte() < 32)
      drop(tenon_queue_wait_idle(queues_.pick(in_), timeout()));
  }

  void semaphore() {
    tenon_semaphore_t *one = semaphores_.pick(in_), *made = nullptr;
    uint64_t value = 0;
    switch (in_.below(6)) {
    case 0:
    case 1:
      give(semaphores_, tenon_semaphore_create(in_.number(), &made), made);
      return;
    case 2:
      drop(tenon_semaphore_query(one, &value));
      return;
    case 3:
      drop(tenon_semaphore_signal(one, in_.number()));
      return;
    case 4:
      tenon_semaphore_fail(one, tenon_status_create(static_cast<tenon_status_code_t>(1 + in_.below(TENON_INTERNAL - 1)),
                                                    "as the input wants it"));
      return;
    default:
      drop(in_.flag()
               ? tenon_semaphore_export_timepoint(one, in_.number(), any<tenon_timepoint_kind_t>(2), &value)
               : tenon_semaphore_import_timepoint(one, in_.number(), any<tenon_timepoint_kind_t>(2), in_.number()));
    }
  }

  void begin() {
    tenon_command_buffer_options_t wanted = {};
    wanted.one_shot = in_.flag();
    wanted.slot_count = static_cast<uint32_t>(in_.byte() < 240 ? in_.below(8) : in_.number());
    wanted.mode = any<tenon_commands_mode_t>(2);
    Given<tenon_command_buffer_options_t> options(wanted);
    tenon_command_buffer_t *commands = nullptr;
    give(commands_, tenon_command_buffer_create(device(), options.put(in_), &commands), commands);
    tenon_event_t *event = nullptr;
    if (in_.flag())
      give(events_, tenon_event_create(in_.byte() < 240 ? &event : nullptr), event);
    tenon_queue_t *queue = nullptr;
    if (in_.byte() < 16 && queues_.live.size() < 3)
      give(queues_, tenon_queue_create(device(), &queue), queue);
  }

  void record() {
    tenon_command_buffer_t *commands = commands_.pick(in_);
    const tenon_buffer_ref_t one = ref(), two = ref();
    const tenon_buffer_ref_t *first = in_.byte() < 245 ? &one : nullptr;
    unsigned char data[256] = {};
    switch (in_.below(9)) {
    case 0:
      drop(tenon_command_buffer_end(commands));
      return;
    case 1:
      drop(tenon_command_buffer_fill(commands, first, static_cast<uint32_t>(in_.number()),
                                     static_cast<uint32_t>(in_.flag() ? in_.below(5) : in_.number())));
      return;
    case 2: {
      const bool isThere = in_.byte() < 240;
      drop(tenon_command_buffer_update(commands, isThere ? data : nullptr, isThere ? in_.byte() : in_.number(), first));
      return;
    }
    case 3:
      drop(tenon_command_buffer_copy(commands, first, &two));
      return;
    case 4:
      drop(tenon_command_buffer_barrier(commands));
      return;
    case 5:
      drop(tenon_command_buffer_signal_event(commands, events_.pick(in_)));
      return;
    case 6:
      drop(in_.flag() ? tenon_command_buffer_wait_event(commands, events_.pick(in_))
                      : tenon_command_buffer_reset_event(commands, events_.pick(in_)));
      return;
    default:
      dispatch(commands);
    }
  }

  void dispatch(tenon_command_buffer_t *commands) {
    std::vector<tenon_buffer_ref_t> bindings(in_.below(4));
    for (tenon_buffer_ref_t &binding : bindings)
      binding = ref();
    std::vector<uint64_t> constants(in_.below(4));
    for (uint64_t &constant : constants)
      constant = in_.number();
    const tenon_buffer_ref_t counts = ref();
    tenon_dispatch_t wanted = {};
    wanted.executable = executables_.pick(in_);
    wanted.ordinal = static_cast<uint32_t>(in_.below(4));
    for (uint32_t &extent : wanted.grid)
      extent = static_cast<uint32_t>(in_.number());
    wanted.grid_buffer = in_.byte() < 32 ? &counts : nullptr;
    wanted.bindings = bindings.data(), wanted.binding_count = in_.count(bindings.size());
    wanted.constants = constants.data(), wanted.constant_count = in_.count(constants.size());
    Given<tenon_dispatch_t> given(wanted);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, executable);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, grid_buffer);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, bindings);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, binding_count);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, constants);
    TENON_FUZZ_KEEP(given, tenon_dispatch_t, constant_count);
    drop(tenon_command_buffer_dispatch(commands, given.put(in_)));
  }

  /// A submission, and the arrays that it names.
  struct Submission {
    std::vector<tenon_semaphore_point_t> waits, signals;
    std::vector<tenon_buffer_ref_t> bindings;
    tenon_submission_t wanted = {};
  };
  Given<tenon_submission_t> submission(Submission &out, bool hasCommands) {
    out.waits = points(), out.signals = points();
    out.bindings.resize(hasCommands ? in_.below(8) : 0);
    for (tenon_buffer_ref_t &binding : out.bindings)
      binding = ref();
    tenon_submission_t &wanted = out.wanted;
    wanted.waits = out.waits.data(), wanted.wait_count = in_.flag() ? 0 : in_.count(out.waits.size());
    wanted.signals = out.signals.data(), wanted.signal_count = in_.count(out.signals.size());
    wanted.bindings = out.bindings.data(), wanted.binding_count = in_.count(out.bindings.size());
    if (hasCommands)
      wanted.commands = commands_.pick(in_);
    Given<tenon_submission_t> given(wanted);
    given.keep(0, sizeof(wanted)); // all of it points, or counts
    return given;
  }

  void submit() {
    Submission room;
    if (in_.byte() < 200) {
      Given<tenon_submission_t> given = submission(room, true);
      drop(tenon_queue_submit(queues_.pick(in_), given.put(in_)));
      return;
    }
    Given<tenon_submission_t> given = submission(room, in_.byte() >= 250);
    const tenon_host_fn works = [](void *) -> tenon_status_t * { return nullptr; };
    const tenon_host_fn fails = [](void *) { return tenon_status_create(TENON_DATA_LOSS, "as the input wants it"); };
    const uint8_t choice = in_.byte();
    drop(tenon_queue_host_call(queues_.pick(in_), given.put(in_),
                               choice >= 250   ? nullptr
                               : choice >= 128 ? fails
                                               : works,
                               nullptr));
  }

  void pool() {
    tenon_pool_t *one = pools_.pick(in_), *made = nullptr;
    Given<tenon_pool_statistics_t> statistics{{}};
    switch (in_.below(4)) {
    case 0:
      drop(tenon_pool_statistics(one, statistics.put(in_)));
      return;
    case 1:
      drop(tenon_pool_trim(one));
      return;
    default: {
      tenon_pool_options_t wanted = {};
      wanted.kind = any<tenon_pool_kind_t>(2);
      wanted.name = in_.flag() ? "name" : nullptr;
      uint64_t *const numbers[] = {&wanted.limit_bytes,     &wanted.release_threshold, &wanted.block_bytes,
                                   &wanted.blocks_per_slab, &wanted.slab_bytes,        &wanted.alignment};
      for (uint64_t *number : numbers)
        *number = in_.flag() ? 0 : in_.number();
      if (wanted.blocks_per_slab > 4096 && wanted.blocks_per_slab <= 1 << 20)
        wanted.blocks_per_slab = 4096; // each is an entry, which is only slow
      Given<tenon_pool_options_t> options(wanted);
      TENON_FUZZ_KEEP(options, tenon_pool_options_t, name);
      TENON_FUZZ_KEEP(options, tenon_pool_options_t, blocks_per_slab);
      give(pools_, tenon_pool_create(device(), options.put(in_), &made), made);
    }
    }
  }

  /// Memory of queues.
  void late() {
    Submission room;
    Given<tenon_submission_t> between = submission(room, in_.byte() >= 250);
    if (in_.flag()) {
      drop(tenon_queue_deallocate(queues_.pick(in_), between.put(in_), buffers_.pick(in_)));
      return;
    }
    Given<tenon_buffer_options_t> options = bufferOptions();
    tenon_allocation_t wanted = {};
    wanted.bytes = in_.number();
    wanted.options = in_.flag() ? options.put(in_) : nullptr;
    wanted.pool = in_.flag() ? pools_.pick(in_) : nullptr;
    wanted.alignment = in_.flag() ? 0 : in_.number();
    wanted.wait_for_memory = in_.flag();
    Given<tenon_allocation_t> allocation(wanted);
    TENON_FUZZ_KEEP(allocation, tenon_allocation_t, options);
    TENON_FUZZ_KEEP(allocation, tenon_allocation_t, pool);
    tenon_buffer_t *out = nullptr;
    tenon_queue_t *queue = queues_.pick(in_);
    tenon_submission_t *given = between.put(in_);
    give(buffers_, tenon_queue_allocate(queue, given, allocation.put(in_), &out), out);
  }

  void file() {
    static unsigned char memory[4096];
    tenon_file_t *out = nullptr;
    const auto access = static_cast<uint32_t>(in_.byte() < 200 ? in_.below(4) : in_.number());
    const char *name = in_.flag() ? "file" : nullptr;
    if (in_.flag()) {
      const uint64_t bytes = in_.flag() ? in_.below(256) * 16 : UINT64_MAX - in_.byte();
      give(files_, tenon_file_import_memory(memory, bytes, access, name, nullptr, nullptr, &out), out);
    } else {
      const char *const paths[] = {"/dev/null", "/proc/self/exe", "/"};
      const int descriptor = in_.flag() ? ::open(paths[in_.below(3)], O_RDONLY | O_CLOEXEC) : -1;
      give(files_, tenon_file_import_descriptor(descriptor, access, name, &out), out);
      if (descriptor >= 0)
        ::close(descriptor);
    }
    (void)tenon_file_size(out);
  }

  void transfer() {
    Submission room;
    Given<tenon_submission_t> between = submission(room, false);
    const tenon_buffer_ref_t range = ref();
    tenon_queue_t *queue = queues_.pick(in_);
    tenon_file_t *file = files_.pick(in_);
    drop(in_.flag() ? tenon_queue_read_file(queue, between.put(in_), file, in_.number(), &range)
                    : tenon_queue_write_file(queue, between.put(in_), &range, file, in_.number()));
  }

  /// Values with their shapes; what is behind `count` values is not there.
  struct Inputs {
    std::vector<std::vector<int64_t>> shapes;
    std::vector<tenon_value_t> values;
  };
  Inputs inputs() {
    Inputs out;
    out.shapes.resize(2);
    for (std::vector<int64_t> &shape : out.shapes) {
      shape.resize(in_.byte() < 200 ? 1 : in_.below(70));
      for (int64_t &extent : shape)
        extent = in_.flag() ? static_cast<int64_t>(in_.below(32)) : static_cast<int64_t>(in_.number());
      tenon_value_t value = {.struct_size = sizeof(value)};
      value.element = in_.byte() < 128 ? TENON_F32 : any<tenon_element_type_t>(TENON_INDEX);
      value.buffer = in_.byte() < 200 ? buffers_.pick(in_) : nullptr;
      value.shape = in_.byte() < 250 ? shape.data() : nullptr;
      value.rank = in_.count(shape.size());
      value.scalar_bits = static_cast<int64_t>(in_.number());
      out.values.push_back(value);
    }
    if (in_.byte() < 128)
      out.values[1] = {.struct_size = sizeof(tenon_value_t), .element = TENON_I32};
    if (in_.byte() >= 245)
      out.values[0].struct_size = SIZE_MAX - in_.byte();
    return out;
  }

  void call() {
    tenon_program_t *program = programs_.pick(in_);
    const Inputs given = inputs();
    const size_t count = in_.count(given.values.size());
    const auto function = static_cast<uint32_t>(in_.byte() < 230 ? in_.below(2) : in_.number());
    const tenon_value_t *values = in_.byte() < 250 ? given.values.data() : nullptr;
    tenon_results_t *out = nullptr;
    if (in_.flag() && !results_.live.empty() && results_.live.front())
      out = results_.live.front();
    tenon_results_t *const before = out;
    tenon_status_t *status = nullptr;
    switch (in_.below(3)) {
    case 0:
      out = nullptr;
      give(results_, tenon_program_call(program, function, values, count, &out), out);
      return;
    case 1: {
      tenon_call_options_t wanted = {};
      wanted.synchronous = in_.flag(), wanted.no_graph = in_.flag(), wanted.on_stream = in_.byte() < 16;
      Given<tenon_call_options_t> options(wanted);
      TENON_FUZZ_KEEP(options, tenon_call_options_t, stream);
      status = tenon_program_call_again(program, function, values, count, options.put(in_), &out);
      break;
    }
    default: {
      Submission room;
      Given<tenon_submission_t> between = submission(room, in_.byte() >= 250);
      // The program must outlive the call, so it is waited for before anything is released.
      status = tenon_program_submit(program, queues_.pick(in_), between.put(in_), function, values, count, &out);
    }
    }
    const bool isOk = drop(status);
    if (before ? out != before : isOk != (out != nullptr))
      broken("results that do not fit the status");
    if (!before)
      results_.take(out);
  }

  void results() {
    tenon_results_t *one = results_.pick(in_);
    (void)tenon_results_count(one);
    Given<tenon_value_t> value{{}};
    tenon_value_t *out = value.put(in_);
    if (!drop(tenon_results_value(one, in_.below(3), out)) || out->struct_size < offsetof(tenon_value_t, shape))
      return;
    buffers_.take(out->buffer);
  }

  void exchange() {
    const Inputs given = inputs();
    Given<tenon_value_t> value(given.values[0]);
    value.keep(0, sizeof(tenon_value_t));
    DLManagedTensorVersioned *managed = nullptr;
    if (!drop(tenon_dlpack_export(value.put(in_), &managed)))
      return;
    tenon_results_t *imported = nullptr;
    tenon_status_t *status = tenon_dlpack_import(device(), managed, &imported);
    if (status) {
      auto *own = reinterpret_cast<runtime::dlpack::ManagedVersioned *>(managed);
      own->deleter(own);
    }
    give(results_, status, imported);
  }

  void profile() {
    if (in_.flag()) {
      drop(tenon_device_profile_end(device()));
      return;
    }
    if (in_.byte() < 32) {
      drop(tenon_device_trace_write(device(), "/dev/null"));
      return;
    }
    const char *names[] = {"add", "sub", nullptr};
    tenon_profile_options_t wanted = {};
    wanted.no_host = in_.flag(), wanted.no_device = in_.flag();
    wanted.kinds = static_cast<uint32_t>(in_.number());
    wanted.exports = names, wanted.export_count = in_.count(3);
    Given<tenon_profile_options_t> options(wanted);
    TENON_FUZZ_KEEP(options, tenon_profile_options_t, exports);
    TENON_FUZZ_KEEP(options, tenon_profile_options_t, export_count);
    const tenon_profile_fn sink = [](void *, const tenon_profile_event_t *event) { (void)event->name[0]; };
    drop(tenon_device_profile_begin(device(), options.put(in_), in_.byte() < 250 ? sink : nullptr, nullptr));
  }

  void release() {
    switch (in_.below(9)) {
    case 0:
      return buffers_.releaseOne(in_);
    case 1:
      return executables_.releaseOne(in_);
    case 2:
      return commands_.releaseOne(in_);
    case 3:
      return events_.releaseOne(in_);
    case 4:
      return pools_.releaseOne(in_);
    case 5:
      return files_.releaseOne(in_);
    case 6:
      return semaphores_.releaseOne(in_);
    case 7:
      return results_.releaseOne(in_);
    default: // with its calls: they use the programs
      queues_.releaseAll();
      programs_.releaseOne(in_);
      tenon_queue_t *queue = nullptr;
      expectOk(tenon_queue_create(device_, &queue));
      queues_.take(queue);
    }
  }

  void status() {
    const auto code = any<tenon_status_code_t>(TENON_INTERNAL);
    (void)tenon_status_code_name(code);
    const std::string message = in_.text(8);
    tenon_status_t *made = tenon_status_create(code, in_.flag() ? message.c_str() : nullptr);
    (void)tenon_status_message(made);
    tenon_status_free(made);
  }

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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FakeDriver &fake = fakeDriver();
  fake = FakeDriver();
  fake.memoryBytes = 16 << 20;
  fake.parameters["add"] = {{0, 8}, {8, 8}, {16, 4}};
  fake.parameters["sub"] = {{0, 8}};
  Stream in(data, size);
  {
    Caller caller(in);
    caller.run();
  }
  const std::pair<const char *, int> left[] = {{"allocations", fake.liveAllocations},
                                               {"modules", fake.liveModules},
                                               {"streams", fake.liveStreams},
                                               {"events", fake.liveEvents},
                                               {"registrations", fake.liveRegistrations},
                                               {"graphs", fake.liveGraphs},
                                               {"pools", fake.livePools},
                                               {"mappings", fake.liveMappings},
                                               {"contexts", fake.retained},
                                               {"contexts entered", fake.contextDepth}};
  for (const auto &[what, count] : left)
    if (count != 0) {
      std::fprintf(stderr, "%d %s: ", count, what);
      broken("not given back to the device");
    }
  return 0;
}
