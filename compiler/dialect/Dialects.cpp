// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one file that includes every dialect's headers: they are what costs compile time here.
#include "compiler/dialect/Dialects.h"

#include "compiler/dialect/OlderNames.h"
#include "compiler/dialect/OtherYears.h"
#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace tenon::compiler {

namespace {

template <typename... Each> struct DialectList {
  static void insertInto(DialectRegistry &registry) { registry.insert<Each...>(); }
  static std::vector<std::string> names() { return {Each::getDialectNamespace().str()...}; }
};
using Own = DialectList<hal::HalDialect, flow::FlowDialect, util::UtilDialect, check::CheckDialect,
                        linalg_ext::LinalgExtDialect>;
using OfMlir = DialectList<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                           complex::ComplexDialect, cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                           linalg::LinalgDialect, math::MathDialect, ml_program::MLProgramDialect, scf::SCFDialect,
                           tensor::TensorDialect, tosa::TosaDialect>;

} // namespace

void registerDialects(DialectRegistry &registry) {
  Own::insertInto(registry);
  OfMlir::insertInto(registry);
  func::registerInlinerExtension(registry);
  registerOlderNames(registry);
  registerOtherYears(registry);
}

ReadDialects readDialects() {
  return {Own::names(), OfMlir::names()};
}

} // namespace tenon::compiler
