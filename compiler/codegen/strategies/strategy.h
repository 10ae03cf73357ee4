// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A strategy: one way to compute a group. It says whether it takes a group and with which choices (a plan), and it
// writes the kernel for a plan. Which strategy computes a group is decided here and nowhere else; the plan stands on
// the kernel function as `tenon.strategy`, so that the two halves meet in the text of the module.
//
// A new strategy is a file pair, and one line in the table of strategies.cpp.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/kernel/bodies.h"
#include "compiler/codegen/tuning/tile_choice.h"

namespace tenon::compiler::codegen {

/// Blocks of a launch: the product of the sizes of some axes, each piece divided by what one block takes of it.
struct GridFactor {
  llvm::SmallVector<Extent> extents; // multiplied
  int64_t perBlock = 1;              // rounded up
};

/// When a kernel is the one of several that runs: a length that is known only then is above `above` and at most `most`.
struct Guard {
  llvm::SmallVector<Extent> length; // multiplied
  int64_t above = 0;
  std::optional<int64_t> most;
  bool orEmpty = false; // also where the length is 0
};

struct Plan {
  llvm::StringRef strategy;
  uint32_t threads = 256;
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> choices; // what else the strategy decided
  llvm::SmallVector<GridFactor> grid;                             // the number of blocks is their product
  std::optional<Guard> guard = {}, also = {};                     // both hold where it runs; none: always
  uint32_t dynamicSharedBytes = 0;                                // for the targets whose kernels use it
  llvm::SmallVector<mlir::Type> tensorMaps = {};                  // that kernels for sm_90a take: !hal.tensor_map

  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
  /// One of the choices.
  int64_t choice(llvm::StringRef name) const;
};

/// A kernel that is being written.
struct Writer {
  const KernelFunction &kernel;
  const GroupShape &shape;
  KernelBuilder &k;
  GroupSpace &space;
  Bodies &bodies;
  const abi::TargetArch &target;
  const KernelArguments &arguments;

  /// A choice of the plan.
  int64_t choice(llvm::StringRef name) const;
};

class Strategy {
public:
  virtual ~Strategy() = default;
  virtual llvm::StringRef name() const = 0;
  /// Nothing where it cannot compute the group.
  virtual std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const = 0;
  /// Where it is known only when the program runs how long rows are: several kernels, whose guards leave out no length
  /// and of which one runs. Else that of plan().
  virtual std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const {
    std::optional<Plan> only = plan(kernel, shape);
    return only ? std::vector<Plan>{*only} : std::vector<Plan>();
  }
  /// What a user or a tuner may choose for a contraction on the target: nothing where it does not take the kernel, or
  /// leaves nothing to choose.
  virtual std::vector<TileChoice> choices(const KernelFunction &, const GroupShape &, const abi::TargetArch &) const {
    return {};
  }
  /// Those of plans() with what is given for some targets, each one of choices() there. On the others the kernel does
  /// what it would do anyway, as far as one launch for all of them allows it.
  virtual std::vector<Plan> plansWith(const KernelFunction &kernel, const GroupShape &shape,
                                      llvm::ArrayRef<GivenChoice>) const {
    return plans(kernel, shape);
  }
  /// What a kernel of the plan does on the target, as one of choices() says it.
  virtual std::optional<TileChoice> choiceOf(const KernelFunction &, const GroupShape &, const Plan &,
                                             const abi::TargetArch &) const {
    return std::nullopt;
  }
  /// Whether it can write a kernel with this choice; `threads` is one, too.
  virtual bool takes(llvm::StringRef /*choice*/, int64_t /*value*/) const { return true; }
  virtual void write(Writer &writer) const = 0;
  /// Threads of a workgroup on the target: those of the plan, or others.
  virtual uint32_t threadsFor(const KernelFunction &kernel, const abi::TargetArch &) const { return kernel.threads; }
  /// Targets of one number get one kernel, so that it is written once for all of them.
  virtual unsigned variantFor(const abi::TargetArch &) const { return 0; }
};

/// All of them; the first that takes a group computes it.
llvm::ArrayRef<const Strategy *> strategies();
const Strategy *strategyNamed(llvm::StringRef name);

/// How many tensors in memory have an element for each of the group's.
uint32_t fullInputs(const KernelFunction &kernel, const GroupShape &shape);
/// Rough number of instructions for one element.
uint32_t workOf(const KernelFunction &kernel);
/// Whether the group reduces, and threads may combine their parts of each reduction.
bool hasCombiners(const KernelFunction &kernel, const GroupShape &shape);
/// Whether some operation reads elements again once a reduction of them is known.
bool readsAgain(const KernelFunction &kernel, const GroupShape &shape);
/// Whether a result has an element for each of the group's.
bool storesElements(const KernelFunction &kernel, const GroupShape &shape);
llvm::SmallVector<Extent> extentsOf(llvm::ArrayRef<SpaceAxis> axes);

} // namespace tenon::compiler::codegen
