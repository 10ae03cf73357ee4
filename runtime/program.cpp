// The road of a call, one sentence per step; call.cpp has the steps.
#include "runtime/program.h"

#include "runtime/call.h"
#include "runtime/device.h"

namespace tenon::runtime {

Result<std::vector<Value>> Program::call(uint32_t function, std::span<const Value> inputs, const CallOptions &options) {
  if (function >= view_.functionCount())
    return makeError(StatusCode::OutOfRange, "no function ", function, ": the program has ", view_.functionCount());
  Call call(*this, view_.functionAt(function), inputs, options);

  // What the caller gave is what the function declares: counts, element types, ranks, static extents.
  TENON_RETURN_IF_ERROR(call.checkInputs());

  // Shapes, sizes, grids and scalar arguments, from the inputs' shapes and scalars.
  TENON_RETURN_IF_ERROR(call.computeRegisters());

  // What the compiler could not know: equal dynamic extents and the like. Past here the function is free to run.
  TENON_RETURN_IF_ERROR(call.evaluateChecks());

  // The image of each kernel that this device takes; after the first call they are all there.
  TENON_RETURN_IF_ERROR(call.loadKernels());

  // Memory of this call.
  TENON_RETURN_IF_ERROR(call.bindBuffers());

  // Dispatches, copies and fills, one after another on the device's queue. What was submitted before a failure still
  // runs, so it is waited for in any case.
  Status submitted = call.submitCommands();
  Status finished = call.synchronize();
  TENON_RETURN_IF_ERROR(std::move(submitted));
  TENON_RETURN_IF_ERROR(std::move(finished));

  // Result buffers outlive the call; the rest goes back to the device.
  return call.collectResults();
}

Status Program::checkInputs(uint32_t function, std::span<const Value> inputs) {
  if (function >= view_.functionCount())
    return makeError(StatusCode::OutOfRange, "no function ", function, ": the program has ", view_.functionCount());
  return Call(*this, view_.functionAt(function), inputs, {}).checkInputs();
}

Result<std::unique_ptr<Program>> Program::load(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                               std::string_view name) {
  TENON_ASSIGN_OR_RETURN(abi::ProgramView view, abi::ProgramView::create(bytes, name));
  std::unique_ptr<Program> program(new Program(std::move(device), std::move(view)));
  for (size_t i = 0; i < program->view_.executableCount(); ++i)
    program->executables_.push_back(std::make_unique<Executable>(program->device_, program->view_.executableAt(i)));
  TENON_RETURN_IF_ERROR(program->uploadConstants(bytes).withContext(concat("'", name, "'")));
  return program;
}

Status Program::uploadConstants(std::span<const uint8_t> file) {
  const auto *constants = view_.raw().constants();
  for (uint32_t i = 0; constants && i < constants->size(); ++i) {
    const abi::fb::ConstantData &constant = *constants->Get(i);
    // In the buffer, or behind it in the same file (F-14, verified).
    const std::span<const uint8_t> bytes =
        constant.data() ? std::span<const uint8_t>(constant.data()->data(), constant.data()->size())
                        : file.subspan(constant.file_offset(), constant.size());
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, device_->allocate(bytes.size()));
    TENON_RETURN_IF_ERROR(device_->queue().upload(*buffer, 0, bytes));
    constants_.push_back(std::move(buffer));
  }
  return okStatus();
}

Result<uint32_t> Program::findFunction(std::string_view name) const {
  if (!name.empty())
    return view_.findFunction(name.front() == '@' ? name.substr(1) : name);
  if (view_.functionCount() == 1)
    return 0u;
  std::string names;
  for (size_t i = 0; i < view_.functionCount(); ++i)
    names += concat(i ? ", '" : "'", view_.functionAt(i).name()->string_view(), "'");
  if (names.empty())
    return makeError(StatusCode::NotFound, "the program has no functions");
  return makeError(StatusCode::InvalidArgument, "name one of the program's functions: ", names);
}

std::string Program::explain() {
  std::string out;
  for (auto &executable : executables_)
    out += executable->explain();
  if (executables_.empty())
    out = "the program has no executables\n";
  return out;
}

} // namespace tenon::runtime
