// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executables, programs, their calls and results.
#include "tests/fuzz/c_api_caller.h"

#include "runtime/values/dlpack.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::fuzz {

using namespace tenon::test;

namespace {

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

} // namespace

Given<tenon_image_options_t> Caller::imageOptions(std::string &name) {
  tenon_image_options_t out = {};
  out.images = any<tenon_images_t>(3);
  name = in_.flag() ? "v" : in_.text(4);
  out.variant = in_.flag() ? name.c_str() : nullptr;
  Given<tenon_image_options_t> given(out);
  TENON_FUZZ_KEEP(given, tenon_image_options_t, variant);
  return given;
}

void Caller::load() {
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

void Caller::examine() {
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

Caller::Inputs Caller::inputs() {
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

void Caller::call() {
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

void Caller::results() {
  tenon_results_t *one = results_.pick(in_);
  (void)tenon_results_count(one);
  Given<tenon_value_t> value{{}};
  tenon_value_t *out = value.put(in_);
  if (!drop(tenon_results_value(one, in_.below(3), out)) || out->struct_size < offsetof(tenon_value_t, shape))
    return;
  buffers_.take(out->buffer);
}

void Caller::exchange() {
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

} // namespace tenon::fuzz
