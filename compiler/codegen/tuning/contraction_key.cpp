// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/contraction_key.h"

#include "compiler/codegen/contraction/product.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

void printSizes(llvm::raw_ostream &out, ArrayRef<Extent> sizes) {
  llvm::interleave(sizes, out, [&](const Extent &extent) { extent.value ? out << '?' : out << extent.size; }, "x");
}

/// Element, and the loops that index it; all of them in their order are not said.
void printTensor(llvm::raw_ostream &out, const KernelTensor &tensor) {
  out << tensor.element;
  if (!tensor.map || tensor.map.isIdentity())
    return;
  out << '(';
  llvm::interleaveComma(tensor.map.getResults(), out);
  out << ')';
}

void printOperation(llvm::raw_ostream &out, const KernelFunction &kernel, const KernelOp &op) {
  linalg::GenericOp generic = op.op;
  printSizes(out, op.loops);
  out << ' ';
  for (utils::IteratorType type : generic.getIteratorTypesArray())
    out << (type == utils::IteratorType::reduction ? 'r' : 'p');
  out << ": ";
  llvm::ListSeparator comma;
  for (const KernelInput &input : op.inputs) {
    out << comma;
    if (input.isMemory())
      printTensor(out, input.tensor);
    else
      out << '(' << input.bodyArgument.getType() << ')';
  }
  generic.getBody()->walk([&](Operation *inner) {
    if (inner == generic.getBody()->getTerminator())
      return;
    out << comma << inner->getName().stripDialect();
    if (isa<arith::BitcastOp>(inner)) // a byte that is an f8 of one kind or the other
      out << " to " << inner->getResult(0).getType();
    // What a body reads by itself: the image in a border of zeros.
    for (Value operand : inner->getOperands())
      if (auto found = kernel.gathered.find(operand); found != kernel.gathered.end()) {
        out << " of ";
        printSizes(out, found->second.shape);
        out << 'x' << found->second.element;
      }
  });
  out << " -> ";
  llvm::ListSeparator behind;
  for (const KernelOutput &output : op.outputs) {
    out << behind;
    if (output.isStored)
      printTensor(out, output.tensor);
    else
      out << '(' << output.tensor.element << ')';
    if (output.startTensor)
      out << " from memory";
  }
}

} // namespace

std::string contractionKey(const KernelFunction &kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  func::FuncOp function = kernel.function;
  if (function->hasAttr(dispatch::kTf32Attr))
    out << "tf32; ";
  if (function->hasAttr(kNarrowSumsAttr))
    out << "narrow sums; ";
  llvm::interleave(kernel.ops, out, [&](const KernelOp &op) { printOperation(out, kernel, op); }, "; ");
  return text;
}

} // namespace tenon::compiler::codegen
