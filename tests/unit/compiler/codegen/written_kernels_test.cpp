// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/written_kernels.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"

namespace tenon::compiler::codegen {
namespace {

class WrittenKernelsTest : public KernelTest {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> write(mlir::ModuleOp kernels, abi::TargetArch target) {
    auto written = writeKernels(kernels, target, {});
    EXPECT_TRUE(mlir::succeeded(written)) << messages_;
    return mlir::succeeded(written) ? std::move(*written) : nullptr;
  }
};

TEST_F(WrittenKernelsTest, ArithmeticStaysUntilItIsLowered) {
  auto written = write(parse(kernelText("f32", "arith.negf")), {80});
  auto has = [&] {
    return written
        ->walk([](mlir::Operation *op) {
          return mlir::isa<mlir::arith::ArithDialect, mlir::scf::SCFDialect>(op->getDialect())
                     ? mlir::WalkResult::interrupt()
                     : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  };
  EXPECT_TRUE(has());
  ASSERT_TRUE(mlir::succeeded(lowerWritten(*written, {}))) << messages_;
  EXPECT_FALSE(has());
}

TEST_F(WrittenKernelsTest, TheSameIsWrittenForTargetsThatAreAlike) {
  mlir::ModuleOp kernels = parse(kernelText("f32", "arith.negf"));
  auto first = write(kernels, {75}), second = write(kernels, {90, abi::ArchSuffix::A});
  EXPECT_TRUE(mlir::OperationEquivalence::isEquivalentTo(*first, *second, mlir::OperationEquivalence::None));
}

} // namespace
} // namespace tenon::compiler::codegen
