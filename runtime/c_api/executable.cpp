// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: executables, and which of their images may be taken.
#include "runtime/c_api/support.h"
#include "runtime/executable/direct_launch.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::c_api;

tenon_status_t *tenon_executable_create(tenon_device_t *device, const void *data, size_t bytes, const char *name,
                                        tenon_executable_t **out) {
  return tenon_executable_create_with_options(device, data, bytes, name, nullptr, out);
}
tenon_status_t *tenon_executable_create_with_options(tenon_device_t *device, const void *data, size_t bytes,
                                                     const char *name, const tenon_image_options_t *options,
                                                     tenon_executable_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(data);
  TENON_C_ASSIGN_OR_RETURN(ExecutableOptions read, readImageOptions(options));
  return giveHandle(
      Executable::create(device->value, {static_cast<const uint8_t *>(data), bytes}, name ? name : "executable", read),
      out);
}
tenon_status_t *tenon_executable_open(tenon_device_t *device, const char *path, tenon_executable_t **out) {
  return tenon_executable_open_with_options(device, path, nullptr, out);
}
tenon_status_t *tenon_executable_open_with_options(tenon_device_t *device, const char *path,
                                                   const tenon_image_options_t *options, tenon_executable_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(device);
  TENON_C_REQUIRE(path);
  TENON_C_ASSIGN_OR_RETURN(ExecutableOptions read, readImageOptions(options));
  TENON_C_ASSIGN_OR_RETURN(ProgramFile file, ProgramFile::open(path));
  return giveHandle(Executable::create(device->value, file.bytes(), path, read), out);
}
void tenon_executable_release(tenon_executable_t *executable) {
  delete executable;
}
size_t tenon_executable_export_count(const tenon_executable_t *executable) {
  return executable ? executable->value->view().exportCount() : 0;
}
/// An export's declaration. OutOfRange: there is none of this number.
static Result<const abi::Export *> exportOf(const tenon_executable_t &executable, uint32_t ordinal) {
  const abi::ExecutableView &view = executable.value->view();
  if (ordinal >= view.exportCount())
    return makeError(StatusCode::OutOfRange, "executable '", view.name(), "' has ", view.exportCount(),
                     " exports, there is no export ", ordinal);
  return &view.exportAt(ordinal);
}
tenon_status_t *tenon_executable_export_info(const tenon_executable_t *executable, uint32_t ordinal,
                                             tenon_export_info_t *out) {
  TENON_C_REQUIRE(executable);
  TENON_C_ASSIGN_OR_RETURN(const abi::Export *declared, exportOf(*executable, ordinal));
  tenon_export_info_t value = {};
  value.name = declared->name.c_str();
  value.binding_count = static_cast<uint32_t>(declared->layout.bindings.size());
  value.constant_count = static_cast<uint32_t>(declared->layout.constants.size());
  std::copy(declared->launch.workgroupSize.begin(), declared->launch.workgroupSize.end(), value.workgroup_size);
  value.dynamic_shared_bytes = declared->launch.dynamicSharedBytes;
  TENON_C_ASSIGN_OR_RETURN(abi::ParameterLayout parameters, abi::computeParameterLayout(declared->layout));
  value.constant_word_count = parameters.words;
  value.parameter_count = static_cast<uint32_t>(parameters.parameters.size());
  value.slot_count = static_cast<uint32_t>(parameters.slots.size());
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_executable_slot_info(const tenon_executable_t *executable, uint32_t ordinal, uint32_t slot,
                                           tenon_slot_info_t *out) {
  TENON_C_REQUIRE(executable);
  TENON_C_ASSIGN_OR_RETURN(const abi::Export *declared, exportOf(*executable, ordinal));
  TENON_C_ASSIGN_OR_RETURN(abi::ParameterLayout parameters, abi::computeParameterLayout(declared->layout));
  if (slot >= parameters.slots.size())
    return toC(makeError(StatusCode::OutOfRange, "export '", declared->name, "' has ", parameters.slots.size(),
                         " slots, there is no slot ", slot));
  const abi::Slot &found = parameters.slots[slot];
  tenon_slot_info_t value = {};
  value.name = "";
  switch (found.kind) {
  case abi::ParameterKind::Binding:
    value.kind = TENON_SLOT_BINDING;
    value.name = declared->layout.bindings[found.index].name.c_str();
    value.read_only = declared->layout.bindings[found.index].readOnly;
    value.alignment = declared->layout.bindings[found.index].alignment;
    break;
  case abi::ParameterKind::Constant: {
    const abi::Constant &constant = declared->layout.constants[found.index];
    value.kind = TENON_SLOT_CONSTANT;
    value.name = constant.name.c_str();
    value.constant_kind = static_cast<tenon_constant_kind_t>(constant.kind);
    value.element = static_cast<tenon_element_type_t>(constant.element);
    value.first_word = found.firstWord;
    value.word_count = found.words;
    break;
  }
  case abi::ParameterKind::Hidden:
    value.kind = TENON_SLOT_HIDDEN;
    break;
  case abi::ParameterKind::Struct: // is no slot
    break;
  }
  value.index = found.index;
  value.parameter = found.parameter;
  value.offset = parameters.offsetIn(found);
  value.size = found.size;
  return toC(writeStruct(out, value, "out"));
}
tenon_status_t *tenon_executable_find_export(const tenon_executable_t *executable, const char *name, uint32_t *out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(executable);
  TENON_C_REQUIRE(name);
  TENON_C_ASSIGN_OR_RETURN(*out, executable->value->view().findExport(name));
  return nullptr;
}
tenon_status_t *tenon_executable_find_global(tenon_executable_t *executable, uint32_t ordinal, const char *name,
                                             tenon_buffer_t **out) {
  TENON_C_OUTPUT(out);
  TENON_C_REQUIRE(executable);
  TENON_C_REQUIRE(name);
  return giveHandle(findGlobal(executable->value, ordinal, name), out);
}

namespace {

// CU_STREAM_LEGACY and the like are handles, too: what NULL means is the caller's device's own.
CUstream streamOf(const Executable &executable, void *stream) {
  return stream ? static_cast<CUstream>(stream) : executable.device().stream().handle();
}

} // namespace

tenon_status_t *tenon_executable_launch(tenon_executable_t *executable, const char *name, const uint32_t grid[3],
                                        tenon_buffer_t *const *buffers, size_t buffer_count, const uint64_t *words,
                                        size_t word_count, void *stream) {
  TENON_C_REQUIRE(executable);
  TENON_C_REQUIRE(name);
  TENON_C_REQUIRE(grid);
  TENON_C_RETURN_IF_ERROR(checkArray(buffers, buffer_count, "buffers"));
  TENON_C_RETURN_IF_ERROR(checkArray(words, word_count, "words"));
  Executable &used = *executable->value;
  TENON_C_ASSIGN_OR_RETURN(const uint32_t ordinal, used.view().findExport(name));
  std::vector<const Buffer *> bound;
  std::vector<DeviceRange> ranges;
  for (size_t i = 0; i < buffer_count; ++i) {
    if (!buffers[i])
      return toC(makeError(StatusCode::InvalidArgument, "buffer ", i, " of 'buffers' is NULL"));
    bound.push_back(buffers[i]->value.get());
    ranges.push_back({bound.back()->address(), bound.back()->size()});
  }
  TENON_C_RETURN_IF_ERROR(checkBindings(used, used.exportAt(ordinal), bound));
  return toC(
      launchExport(used, ordinal, {grid[0], grid[1], grid[2]}, ranges, {words, word_count}, streamOf(used, stream)));
}
tenon_status_t *tenon_executable_launch_ranges(tenon_executable_t *executable, uint32_t ordinal, const uint32_t grid[3],
                                               const tenon_memory_range_t *ranges, size_t range_count,
                                               const uint64_t *words, size_t word_count, void *stream) {
  TENON_C_REQUIRE(executable);
  TENON_C_REQUIRE(grid);
  TENON_C_RETURN_IF_ERROR(checkArray(ranges, range_count, "ranges"));
  TENON_C_RETURN_IF_ERROR(checkArray(words, word_count, "words"));
  static_assert(sizeof(DeviceRange) == sizeof(tenon_memory_range_t) && offsetof(DeviceRange, bytes) == 8);
  Executable &used = *executable->value;
  return toC(launchExport(used, ordinal, {grid[0], grid[1], grid[2]},
                          {reinterpret_cast<const DeviceRange *>(ranges), range_count}, {words, word_count},
                          streamOf(used, stream)));
}
tenon_status_t *tenon_executable_explain(tenon_executable_t *executable, tenon_text_fn write, void *user) {
  TENON_C_REQUIRE(executable);
  TENON_C_REQUIRE(write);
  write(user, executable->value->explain().c_str());
  return nullptr;
}
