// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/numbered_kernels.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// What stands for a kernel's name while it is generated. No such name is the beginning of another.
std::string placeholder(size_t number) {
  return "__tenon_kernel_" + std::to_string(number) + "__";
}

/// PTX's identifiers. LLVM spells other names in its own way, so these keep theirs.
bool isPtxIdentifier(StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  return !name.empty() && llvm::all_of(name, isPart) && !llvm::isDigit(name.front());
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string result;
  result.reserve(text.size());
  for (size_t at; (at = text.find(from)) != StringRef::npos; text = text.drop_front(at + from.size()))
    (result += text.take_front(at)) += to;
  return result += text;
}

} // namespace

NumberedKernels::NumberedKernels(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (isPtxIdentifier(function.getName())) {
      names_.push_back(function.getName().str());
      functions_.push_back(function);
      function.setName(placeholder(functions_.size() - 1));
    }
}

NumberedKernels::~NumberedKernels() {
  for (auto [function, name] : llvm::zip_equal(functions_, names_))
    function.setName(name);
}

std::string withNames(std::string text, const std::vector<std::string> &names) {
  for (auto [number, name] : llvm::enumerate(names))
    text = replaceAll(text, placeholder(number), name);
  return text;
}

} // namespace tenon::compiler::codegen
