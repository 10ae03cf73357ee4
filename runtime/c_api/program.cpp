// The C API: programs, calls, results.
#include "runtime/c_api/support.h"

#include <optional>

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

struct tenon_program {
  struct alignas(64) Block {
    unsigned char bytes[64];
  };
  // The bytes of the program outlive it: copied, or a file.
  std::vector<Block> copied;
  std::optional<ProgramFile> file;
  std::unique_ptr<Program> value;
};
struct tenon_results {
  std::vector<Value> values;
};

namespace {

tenon_status_t *load(tenon_device_t *device, std::unique_ptr<tenon_program> program, std::span<const uint8_t> bytes,
                     std::string_view name, tenon_program_t **out) {
  TENON_C_ASSIGN_OR_RETURN(program->value, Program::load(device->value, bytes, name));
  *out = program.release();
  return nullptr;
}

Result<Value> readValue(const tenon_value_t &value) {
  if (value.element < TENON_I1 || value.element > TENON_INDEX)
    return makeError(StatusCode::InvalidArgument, "unknown element type ", static_cast<int>(value.element));
  const auto element = static_cast<abi::ElementType>(value.element);
  if (!value.buffer)
    return Value(Scalar{element, value.scalar_bits});
  if (value.rank != 0 && !value.shape)
    return makeError(StatusCode::InvalidArgument, "a tensor of rank ", value.rank, " has no shape");
  Tensor tensor;
  tensor.element = element;
  if (value.rank != 0)
    tensor.shape.assign(value.shape, value.shape + value.rank);
  tensor.buffer = value.buffer->value;
  return Value(std::move(tensor));
}

} // namespace

tenon_status_t *tenon_program_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                     tenon_program_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(data);
  auto program = std::make_unique<tenon_program>();
  program->copied.resize(bytes / sizeof(tenon_program::Block) + 1);
  std::memcpy(program->copied.data(), data, bytes);
  const std::span<const uint8_t> copy = {program->copied.front().bytes, bytes};
  return load(device, std::move(program), copy, name ? name : "program", out);
}
tenon_status_t *tenon_program_open(tenon_device_t *device, const char *path, tenon_program_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(path);
  auto program = std::make_unique<tenon_program>();
  TENON_C_ASSIGN_OR_RETURN(program->file, ProgramFile::open(path));
  const std::span<const uint8_t> bytes = program->file->bytes();
  return load(device, std::move(program), bytes, path, out);
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
tenon_status_t *tenon_program_call(tenon_program_t *program, uint32_t function, const tenon_value_t *inputs,
                                   size_t input_count, tenon_results_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(program);
  if (input_count != 0)
    TENON_C_REQUIRE(inputs);
  std::vector<Value> values;
  const auto *next = reinterpret_cast<const unsigned char *>(inputs);
  for (size_t i = 0; i < input_count; ++i) {
    const auto *given = reinterpret_cast<const tenon_value_t *>(next);
    TENON_C_ASSIGN_OR_RETURN(tenon_value_t value, readStruct(given, "inputs"));
    TENON_C_ASSIGN_OR_RETURN(Value read, readValue(value));
    values.push_back(std::move(read));
    next += given->struct_size; // an array of the caller's structs
  }
  auto results = program->value->call(function, values);
  if (!results.ok())
    return toC(results.takeStatus());
  *out = new tenon_results{results.take()};
  return nullptr;
}
void tenon_results_release(tenon_results_t *results) {
  delete results;
}
size_t tenon_results_count(const tenon_results_t *results) {
  return results ? results->values.size() : 0;
}
tenon_status_t *tenon_results_value(const tenon_results_t *results, size_t index, tenon_value_t *out) {
  TENON_C_REQUIRE(results);
  TENON_C_REQUIRE(out);
  if (index >= results->values.size())
    return toC(makeError(StatusCode::OutOfRange, "there are ", results->values.size(), " results, no result ", index));
  tenon_value_t value = {};
  const Value &result = results->values[index];
  if (const auto *scalar = std::get_if<Scalar>(&result)) {
    value.element = static_cast<tenon_element_type_t>(scalar->element);
    value.scalar_bits = scalar->bits;
    return toC(writeStruct(out, value, "out"));
  }
  const Tensor &tensor = std::get<Tensor>(result);
  value.element = static_cast<tenon_element_type_t>(tensor.element);
  value.shape = tensor.shape.data();
  value.rank = tensor.shape.size();
  // A result belongs to the caller, who may write it.
  auto buffer = std::make_unique<tenon_buffer>(tenon_buffer{std::const_pointer_cast<Buffer>(tensor.buffer)});
  value.buffer = buffer.get();
  Status written = writeStruct(out, value, "out");
  if (written.ok())
    buffer.release();
  return toC(std::move(written));
}
