// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a file to a program: its executables, which images become modules of when they are first called, and its
// constants, which are uploaded when a call first needs them.
#include "runtime/program/program.h"

#include "runtime/memory/allocator.h"
#include "runtime/memory/transfer.h"

#include <algorithm>

namespace tenon::runtime {

bool hasVariant(const abi::ExecutableView &view, std::string_view name) {
  const auto *variants = view.raw().variants();
  return variants && std::any_of(variants->begin(), variants->end(), [&](const abi::fb::Variant *variant) {
           return variant->name()->string_view() == name;
         });
}

Result<std::unique_ptr<Program>> Program::load(std::shared_ptr<Device> device, std::span<const uint8_t> bytes,
                                               std::string_view name, const ExecutableOptions &images) {
  TENON_ASSIGN_OR_RETURN(abi::ProgramView view, abi::ProgramView::create(bytes, name));
  std::unique_ptr<Program> program(new Program(std::move(device), std::move(view)));
  bool isFound = images.variant.empty();
  for (size_t i = 0; i < program->view_.executableCount(); ++i) {
    const abi::ExecutableView &executable = program->view_.executableAt(i);
    ExecutableOptions options = images;
    if (hasVariant(executable, images.variant))
      isFound = true;
    else
      options.variant.clear(); // hand-written and generated kernels have variants of their own names
    program->executables_.push_back(std::make_unique<Executable>(program->device_, executable, std::move(options)));
  }
  if (!isFound)
    return makeError(StatusCode::NotFound, "no executable of '", name, "' has a variant '", images.variant, "'");
  program->chooseEdition(images.variant);
  if (!images.variant.empty()) { // what other editions alone launch is not run here
    const std::set<uint32_t> others = program->view_.executablesOfOthers();
    bool isHere = false;
    for (uint32_t i = 0; i < program->view_.executableCount(); ++i)
      isHere |= !others.contains(i) && hasVariant(program->view_.executableAt(i), images.variant);
    if (!isHere)
      return makeError(StatusCode::FailedPrecondition, "variant '", images.variant, "' of '", name,
                       "' is of an edition that does not run on ", program->device_->description());
  }
  program->readFunctions();
  program->findConstants(bytes);
  return program;
}

/// Where the constants lie in the file; their bytes are not touched until a call needs them.
void Program::findConstants(std::span<const uint8_t> file) {
  const auto *constants = view_.raw().constants();
  for (uint32_t i = 0; constants && i < constants->size(); ++i) {
    const abi::fb::ConstantData &constant = *constants->Get(i);
    // In the buffer, or behind it in the same file (F-14, verified).
    const std::span<const uint8_t> data =
        constant.data() ? std::span<const uint8_t>(constant.data()->data(), constant.data()->size())
                        : file.subspan(constant.file_offset(), constant.size());
    constantBytes_.push_back({data, constant.size()});
  }
  constants_.resize(constantBytes_.size());
}

Status Program::uploadConstants(const CallPlan &plan) {
  for (const CallPlan::Buffer &buffer : plan.buffers)
    if (buffer.place == CallPlan::Place::Constant)
      TENON_RETURN_IF_ERROR(uploadConstant(buffer.index));
  return okStatus();
}

Status Program::uploadConstant(uint32_t index) {
  if (constants_[index])
    return okStatus();
  const ConstantBytes &constant = constantBytes_[index];
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> memory, allocateOnStream(*device_, constant.size));
  TENON_RETURN_IF_ERROR(uploadRepeated(*memory, constant.bytes));
  constants_[index] = std::move(memory);
  return okStatus();
}

} // namespace tenon::runtime
