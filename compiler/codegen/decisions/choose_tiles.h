// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who decides about the tile of a contraction: its attribute (`tenon.tile`, dialect/tile_pins.h), a tuning file
// (tuning/tuning_file.h), or the model of its strategy, in this order. A pin that no target of the program can take is
// an error, with what they could take. Where strategies compute a kernel that have no tiles to choose, a pin names one.
// An entry of a file that fits nothing is a remark: such a file is about more programs than one.
#pragma once

#include "compiler/codegen/decisions/targets.h"
#include "compiler/codegen/plan/strategy.h"
#include "compiler/codegen/tuning/tunable_contraction.h"
#include "compiler/codegen/tuning/tuning_file.h"

namespace tenon::compiler::codegen {

class TileChooser {
public:
  /// @param lists last() is asked for
  TileChooser(mlir::MLIRContext *context, llvm::ArrayRef<Target> targets, bool print, bool lists)
      : context_(context), targets_(targets.begin(), targets.end()), print_(print), lists_(lists) {}

  /// Reads a tuning file. Its mistakes are errors; where there is none, at `module`.
  mlir::LogicalResult read(const std::string &path, mlir::Location module);
  /// The plans of a kernel that `strategy` takes, which would have `plans` of its own accord.
  /// @return failure where a pin cannot be taken, which was reported
  mlir::FailureOr<std::vector<Plan>> choose(const KernelFunction &kernel, const GroupShape &shape,
                                            const Strategy &strategy, std::vector<Plan> plans);
  /// Remarks on entries that fitted nothing. @param others targets of the program that are planned by themselves
  void finish(llvm::ArrayRef<hal::ExecutableTargetAttr> others) const;
  /// The kernel of the last call of choose(), without its program; nothing: it is no contraction.
  const std::optional<TunableContraction> &last() const { return last_; }

private:
  struct FileEntry {
    TuningEntry entry;
    bool isMet = false; // by a contraction
  };
  /// A choice for a target, and who made it.
  struct Decision {
    GivenChoice given;
    std::string by;
    mlir::Location place;
  };

  mlir::Location locationOf(const SourceLocation &place) const;
  std::optional<Decision> fromFile(const TunableContraction &contraction, const TunableContraction::OfTarget &of);
  mlir::LogicalResult refusePin(mlir::Operation *op, const TileChoice &pin) const;
  llvm::SmallVector<Decision> decide(mlir::Operation *op, const std::optional<TileChoice> &pin);
  static void dropContrary(llvm::SmallVector<Decision> &decisions);
  void print(mlir::Operation *op, llvm::ArrayRef<Decision> decisions, llvm::ArrayRef<std::string> chosen) const;

  mlir::MLIRContext *context_;
  llvm::SmallVector<Target> targets_;
  bool print_, lists_;
  std::vector<FileEntry> entries_;
  std::optional<TunableContraction> last_;
};

} // namespace tenon::compiler::codegen
