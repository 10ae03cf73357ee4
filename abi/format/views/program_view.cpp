// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a program that verified: its functions as they are in the file, its executables wrapped once.
#include "abi/format/views/program_view.h"

#include "abi/format/layout_table.h"
#include "abi/format/verify/verify.h"

#include <algorithm>

namespace tenon::abi {

static void addLaunched(const fb::Function &function, ProgramView::LaunchedExports &exports) {
  if (function.commands())
    for (const fb::Command *command : *function.commands())
      if (const fb::Dispatch *dispatch = command->body_as_Dispatch())
        exports.insert({dispatch->executable(), dispatch->export_ordinal()});
  if (function.blocks())
    for (const fb::Function *block : *function.blocks())
      addLaunched(*block, exports);
}

Result<ProgramView> ProgramView::create(std::span<const uint8_t> bytes, std::string_view name) {
  TENON_RETURN_IF_ERROR(verifyProgram(bytes, name));
  ProgramView view;
  view.root_ = fb::GetProgram(bytes.data());
  if (view.root_->executables())
    for (const fb::NestedExecutable *nested : *view.root_->executables())
      view.executables_.push_back(ExecutableView::wrapVerified(nested->data()->data()));
  return view;
}

size_t ProgramView::functionCount() const {
  return root_->functions() ? root_->functions()->size() : 0;
}

const fb::Function &ProgramView::functionAt(size_t index) const {
  const auto &functions = edition_ ? *editionAt(*edition_).functions() : *root_->functions();
  return *functions.Get(static_cast<flatbuffers::uoffset_t>(index));
}

const fb::Function *ProgramView::initializer() const {
  return edition_ ? editionAt(*edition_).initializer() : root_->initializer();
}

ProgramView ProgramView::withEdition(std::optional<uint32_t> index) const {
  ProgramView view = *this;
  view.setEdition(index);
  return view;
}

std::string ProgramView::editionTargets() const {
  std::string text;
  if (edition_)
    for (const fb::Arch *arch : *editionAt(*edition_).targets())
      text += concat(text.empty() ? "" : ", ", archFromStruct(*arch).toString());
  return text;
}

bool ProgramView::isEditionFor(size_t index, const DeviceTraits &device) const {
  DeviceTraits any = device; // whether by PTX or a cubin is for the images to say
  any.canJit = true;
  const auto &targets = *editionAt(index).targets();
  return std::any_of(targets.begin(), targets.end(),
                     [&](const fb::Arch *arch) { return runsPtx(archFromStruct(*arch), /*isa=*/0, any).runs; });
}

ProgramView::LaunchedExports ProgramView::launchedExports() const {
  LaunchedExports exports;
  for (size_t i = 0; i < functionCount(); ++i)
    addLaunched(functionAt(i), exports);
  if (const fb::Function *own = initializer())
    addLaunched(*own, exports);
  return exports;
}

std::set<uint32_t> ProgramView::executablesOfOthers() const {
  std::set<uint32_t> others;
  for (size_t i = 0; editionCount() != 0 && i <= editionCount(); ++i)
    for (const auto &[executable, ordinal] :
         withEdition(i == 0 ? std::nullopt : std::optional(uint32_t(i - 1))).launchedExports())
      others.insert(executable);
  for (const auto &[executable, ordinal] : launchedExports())
    others.erase(executable);
  return others;
}

size_t ProgramView::editionCount() const {
  return root_->editions() ? root_->editions()->size() : 0;
}

const fb::Edition &ProgramView::editionAt(size_t index) const {
  return *root_->editions()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

Result<uint32_t> ProgramView::findFunction(std::string_view name) const {
  std::string known;
  for (uint32_t i = 0; i < functionCount(); ++i) {
    std::string_view candidate = functionAt(i).name()->string_view();
    if (candidate == name)
      return i;
    known += concat(known.empty() ? "" : ", ", '\'', candidate, '\'');
  }
  return makeError(StatusCode::NotFound, "no function '", name, "' in the program, which has ",
                   known.empty() ? "none" : known);
}

} // namespace tenon::abi
