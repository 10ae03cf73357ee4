// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: programs, calls, results.
#include "runtime/c_api/support.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/call_results.h"
#include "runtime/program/donated_inputs.h"
#include "runtime/program/plan/call_inputs.h"
#include "runtime/program/plan/function_data.h"
#include "support/memory.h"

#include <optional>

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

namespace {

/// What reflection hands out: lists that live as long as the program.
struct FunctionTypes {
  struct Type {
    const abi::fb::ValueType *declared;
    std::vector<int64_t> shape;
  };
  std::vector<Type> inputs, results;

  explicit FunctionTypes(const abi::fb::Function &function) {
    for (uint32_t i = 0; function.inputs() && i < function.inputs()->size(); ++i)
      add(inputs, function.inputs()->Get(i));
    for (uint32_t i = 0; function.results() && i < function.results()->size(); ++i)
      add(results, function.results()->Get(i)->type());
  }
  static void add(std::vector<Type> &types, const abi::fb::ValueType *declared) {
    types.push_back({declared, {}});
    if (declared->shape())
      types.back().shape.assign(declared->shape()->begin(), declared->shape()->end());
  }
};

} // namespace

struct tenon_program {
  struct alignas(64) Block {
    unsigned char bytes[64];
  };
  // The bytes of the program outlive it: copied, or a file.
  std::vector<Block> copied;
  std::optional<ProgramFile> file;
  std::unique_ptr<Program> value;
  std::vector<FunctionTypes> types; // [functions]
};

namespace {

tenon_status_t *load(tenon_device_t *device, std::unique_ptr<tenon_program> program, std::span<const uint8_t> bytes,
                     std::string_view name, const tenon_image_options_t *options, tenon_program_t **out) {
  TENON_C_ASSIGN_OR_RETURN(ExecutableOptions images, readImageOptions(options));
  TENON_C_ASSIGN_OR_RETURN(program->value, Program::load(device->value, bytes, name, images));
  for (size_t i = 0; i < program->value->view().functionCount(); ++i)
    program->types.emplace_back(program->value->function(static_cast<uint32_t>(i)));
  *out = program.release();
  return nullptr;
}

Status checkFunction(const tenon_program &program, uint32_t function) {
  if (function >= program.types.size())
    return makeError(StatusCode::OutOfRange, "the program has ", program.types.size(),
                     " functions, there is no function ", function);
  return okStatus();
}

/// One more than the donated input whose memory a result comes back in; 0: it is not known.
size_t inputOf(const abi::fb::Function &function, size_t result) {
  if (hasBlocks(function) || !function.results() || result >= function.results()->size())
    return 0;
  const abi::fb::ResultValue &value = *function.results()->Get(static_cast<uint32_t>(result));
  if (value.type()->kind() != abi::fb::ValueKind::Tensor)
    return 0;
  const abi::fb::Buffer &buffer = *function.buffers()->Get(value.buffer());
  return buffer.source() == abi::fb::BufferSource::Input && isDonated(function, buffer.index()) ? buffer.index() + 1
                                                                                                : 0;
}

/// One of a function's inputs ("input") or results.
tenon_status_t *writeType(const std::vector<FunctionTypes::Type> &types, size_t index, const char *what,
                          const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *names,
                          tenon_type_info_t *out, const tenon_type_info_t &memory) {
  if (index >= types.size())
    return toC(makeError(StatusCode::OutOfRange, "the function has ", types.size(), " ", what, "s, there is no ", what,
                         " ", index));
  const FunctionTypes::Type &type = types[index];
  tenon_type_info_t value = memory;
  value.name = names ? names->Get(static_cast<uint32_t>(index))->c_str() : "";
  value.element = static_cast<tenon_element_type_t>(type.declared->element());
  value.is_scalar = type.declared->kind() == abi::fb::ValueKind::Scalar;
  value.is_unread = type.declared->kind() == abi::fb::ValueKind::Unread;
  value.rank = type.shape.size();
  value.shape = type.shape.data();
  return toC(writeStruct(out, value, "out"));
}

/// An array of the caller's structs, into values whose memory is used again.
Status readValues(const tenon_value_t *given, size_t count, Device &device, std::vector<Value> &out) {
  if (count != 0 && !given)
    return nullArgument("inputs");
  out.resize(count);
  const auto *next = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = 0; i < count; ++i) {
    const auto *one = reinterpret_cast<const tenon_value_t *>(next);
    TENON_ASSIGN_OR_RETURN(tenon_value_t value, readStruct(one, "inputs"));
    TENON_RETURN_IF_ERROR(readValue(value, &device, out[i]));
    next += one->struct_size;
  }
  return okStatus();
}

/// Results in memory that the caller hands out.
class CallersMemory : public ResultMemory {
public:
  CallersMemory(Device &device, const tenon_call_options_t &options) : device_(device), options_(options) {}

  Result<std::shared_ptr<const Buffer>> allocate(size_t index, const Tensor &type, uint64_t bytes) override {
    const tenon_value_t described = tenon_value_tensor(nullptr, static_cast<tenon_element_type_t>(type.element),
                                                       type.shape.data(), type.shape.size());
    const uint64_t address = options_.result_memory(options_.result_user, index, &described, bytes);
    if (address == 0 && bytes != 0)
      return makeError(StatusCode::ResourceExhausted, "the caller gave no memory for result ", index, ", ",
                       tensorTypeSpelling(type.shape, type.element), " of ", bytes, " bytes");
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, importDeviceMemory(device_, address, bytes, {}, nullptr));
    return std::shared_ptr<const Buffer>(std::move(buffer));
  }

  bool isForAll() const override { return isSet(options_.copies_results); }

private:
  Device &device_;
  const tenon_call_options_t &options_;
};

/// Calls with the results that the caller has, or with new ones, which he then has.
/// The count of inputs is held against the function before one is read.
template <typename Call>
tenon_status_t *callWithResults(const tenon_program &program, uint32_t function, const tenon_value_t *inputs,
                                size_t count, tenon_results_t **results, Call call) {
  TENON_C_RETURN_IF_ERROR(checkFunction(program, function));
  if (Status counted = checkInputCount(program.value->function(function), count); !counted.ok())
    return toC(std::move(counted));
  std::unique_ptr<tenon_results> made;
  if (!*results)
    made = std::make_unique<tenon_results>();
  tenon_results &used = made ? *made : **results;
  Status status = readValues(inputs, count, program.value->device(), used.inputs);
  if (status.ok())
    status = call(used.inputs, used.values);
  for (Value &input : used.inputs) // what the call needs it has; only the lists are kept
    if (auto *tensor = std::get_if<Tensor>(&input))
      tensor->buffer = nullptr;
  if (status.ok() && made)
    *results = made.release();
  return toC(withReport(program.value->device(), std::move(status)));
}

} // namespace

tenon_status_t *tenon_program_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                     tenon_program_t **out) {
  return tenon_program_create_with_options(device, data, bytes, name, nullptr, out);
}
tenon_status_t *tenon_program_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                  const char *name, const tenon_image_options_t *options,
                                                  tenon_program_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(data);
  auto program = std::make_unique<tenon_program>();
  if (Status room = resizeChecked(program->copied, bytes / sizeof(tenon_program::Block) + 1, "the program's copy");
      !room.ok())
    return toC(std::move(room));
  std::memcpy(program->copied.data(), data, bytes);
  const std::span<const uint8_t> copy = {program->copied.front().bytes, bytes};
  return load(device, std::move(program), copy, name ? name : "program", options, out);
}
tenon_status_t *tenon_program_open(tenon_device_t *device, const char *path, tenon_program_t **out) {
  return tenon_program_open_with_options(device, path, nullptr, out);
}
tenon_status_t *tenon_program_open_with_options(tenon_device_t *device, const char *path,
                                                const tenon_image_options_t *options, tenon_program_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(path);
  auto program = std::make_unique<tenon_program>();
  TENON_C_ASSIGN_OR_RETURN(program->file, ProgramFile::open(path));
  const std::span<const uint8_t> bytes = program->file->bytes();
  return load(device, std::move(program), bytes, path, options, out);
}
void tenon_program_release(tenon_program_t *program) {
  delete program;
}
size_t tenon_program_function_count(const tenon_program_t *program) {
  return program ? program->value->view().functionCount() : 0;
}
const char *tenon_program_function_name(const tenon_program_t *program, uint32_t function) {
  if (function >= tenon_program_function_count(program))
    return nullptr;
  return program->value->function(function).name()->c_str();
}
tenon_status_t *tenon_program_find_function(const tenon_program_t *program, const char *name, uint32_t *out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(program);
  TENON_C_ASSIGN_OR_RETURN(*out, program->value->findFunction(name ? name : ""));
  return nullptr;
}
tenon_status_t *tenon_program_function_info(const tenon_program_t *program, uint32_t function,
                                            tenon_function_info_t *out) {
  TENON_C_REQUIRE(program);
  TENON_C_RETURN_IF_ERROR(checkFunction(*program, function));
  const abi::fb::Function &declared = program->value->function(function);
  tenon_function_info_t value = {};
  value.name = declared.name()->c_str();
  value.documentation = declared.documentation() ? declared.documentation()->c_str() : "";
  value.input_count = program->types[function].inputs.size();
  value.result_count = program->types[function].results.size();
  value.runs_on_host = hasBlocks(declared);
  value.has_expectations = declared.expectations() && declared.expectations()->size() != 0;
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_program_input_info(const tenon_program_t *program, uint32_t function, size_t input,
                                         tenon_type_info_t *out) {
  TENON_C_REQUIRE(program);
  TENON_C_RETURN_IF_ERROR(checkFunction(*program, function));
  const abi::fb::Function &declared = program->value->function(function);
  tenon_type_info_t memory = {};
  memory.is_donated = isDonated(declared, static_cast<uint32_t>(input));
  memory.is_updated = isUpdated(declared, static_cast<uint32_t>(input));
  return writeType(program->types[function].inputs, input, "input", declared.input_names(), out, memory);
}
tenon_status_t *tenon_program_result_info(const tenon_program_t *program, uint32_t function, size_t result,
                                          tenon_type_info_t *out) {
  TENON_C_REQUIRE(program);
  TENON_C_RETURN_IF_ERROR(checkFunction(*program, function));
  const abi::fb::Function &declared = program->value->function(function);
  tenon_type_info_t memory = {};
  memory.input_plus_one = inputOf(declared, result);
  return writeType(program->types[function].results, result, "result", declared.result_names(), out, memory);
}
tenon_status_t *tenon_program_explain(tenon_program_t *program, tenon_text_fn write, void *user) {
  TENON_C_REQUIRE(program);
  TENON_C_REQUIRE(write);
  write(user, program->value->explain().c_str());
  return nullptr;
}
tenon_status_t *tenon_program_call(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                   size_t input_count, tenon_results_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(program);
  return callWithResults(*program, function, inputs, input_count, out,
                         [&](std::span<const Value> read, std::vector<Value> &results) {
                           return program->value->callInto(function, read, results);
                         });
}
tenon_status_t *tenon_program_call_again(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                         size_t input_count, const tenon_call_options_t *options,
                                         tenon_results_t **results) {
  TENON_C_REQUIRE(program);
  TENON_C_REQUIRE(results);
  CallOptions read;
  tenon_call_options_t given = {};
  CallersMemory memory(program->value->device(), given);
  if (options) {
    TENON_C_ASSIGN_OR_RETURN(given, readStruct(options, "options"));
    if (given.result_memory)
      read.resultMemory = &memory;
    read.synchronous = isSet(given.synchronous);
    read.keepsInputs = isSet(given.keeps_inputs);
    read.graph = !isSet(given.no_graph);
    if (isSet(given.on_stream))
      read.stream = static_cast<CUstream>(given.stream);
    else if (given.stream)
      return toC(makeError(StatusCode::InvalidArgument, "'options' has a stream, and on_stream is not set"));
  }
  return callWithResults(*program, function, inputs, input_count, results,
                         [&](std::span<const Value> values, std::vector<Value> &out) {
                           return program->value->callInto(function, values, out, read);
                         });
}
tenon_status_t *tenon_program_submit(tenon_program_t *program, tenon_queue_t *queue,
                                     const tenon_submission_t *submission, uint32_t function,
                                     const tenon_value_t *inputs, size_t input_count, tenon_results_t **results) {
  TENON_C_REQUIRE(program);
  TENON_C_REQUIRE(queue);
  TENON_C_REQUIRE(results);
  TENON_C_ASSIGN_OR_RETURN(tenon_submission_t given, readStruct(submission, "submission"));
  if (given.commands)
    return toC(makeError(StatusCode::InvalidArgument, "a call takes no commands"));
  TENON_C_ASSIGN_OR_RETURN(std::vector<SemaphorePoint> waits, readPoints(given.waits, given.wait_count, "waits"));
  TENON_C_ASSIGN_OR_RETURN(std::vector<SemaphorePoint> signals,
                           readPoints(given.signals, given.signal_count, "signals"));
  return callWithResults(*program, function, inputs, input_count, results,
                         [&](std::span<const Value> values, std::vector<Value> &out) {
                           return program->value->submit(*queue->value, waits, function, values, out, signals);
                         });
}
void tenon_results_release(tenon_results_t *results) {
  delete results;
}
size_t tenon_results_count(const tenon_results_t *results) {
  return results ? results->values.size() : 0;
}

namespace {

/// A result without its buffer. OutOfRange: there is none of this number.
Status describeResult(const tenon_results &results, size_t index, tenon_value_t &value) {
  if (index >= results.values.size())
    return makeError(StatusCode::OutOfRange, "there are ", results.values.size(), " results, no result ", index);
  const Value &result = results.values[index];
  if (const auto *scalar = std::get_if<Scalar>(&result)) {
    value.element = static_cast<tenon_element_type_t>(scalar->element);
    value.scalar_bits = scalar->bits;
    return okStatus();
  }
  const Tensor &tensor = *std::get_if<Tensor>(&result);
  value.element = static_cast<tenon_element_type_t>(tensor.element);
  value.shape = tensor.shape.data();
  value.rank = tensor.shape.size();
  return okStatus();
}

/// Its memory, null for a scalar. A result belongs to the caller, who may write it.
std::shared_ptr<Buffer> bufferOf(const Value &result) {
  const auto *tensor = std::get_if<Tensor>(&result);
  return tensor ? std::const_pointer_cast<Buffer>(tensor->buffer) : nullptr;
}

} // namespace

tenon_status_t *tenon_results_at(tenon_results_t *results, size_t index, tenon_value_t *out) {
  TENON_C_REQUIRE(results);
  TENON_C_REQUIRE(out);
  tenon_value_t value = {};
  TENON_C_RETURN_IF_ERROR(describeResult(*results, index, value));
  results->buffers.resize(results->values.size());
  if ((results->buffers[index].value = bufferOf(results->values[index])))
    value.buffer = &results->buffers[index];
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_results_value(const tenon_results_t *results, size_t index, tenon_value_t *out) {
  TENON_C_REQUIRE(results);
  TENON_C_REQUIRE(out);
  tenon_value_t value = {};
  TENON_C_RETURN_IF_ERROR(describeResult(*results, index, value));
  std::unique_ptr<tenon_buffer> buffer;
  if (std::shared_ptr<Buffer> memory = bufferOf(results->values[index]))
    buffer = std::make_unique<tenon_buffer>(tenon_buffer{std::move(memory)});
  value.buffer = buffer.get();
  Status written = writeStruct(out, value, "out");
  if (written.ok() && out->struct_size >= offsetof(tenon_value_t, shape)) // else nobody has the handle
    buffer.release();
  return toC(std::move(written));
}
