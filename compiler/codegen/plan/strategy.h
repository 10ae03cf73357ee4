// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A strategy: one way to compute a group. It says whether it takes a group and with which choices (a plan), and it
// writes the kernel for a plan. Which strategy computes a group is decided in ../strategies and nowhere else.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/kernel/bodies/bodies.h"
#include "compiler/codegen/plan/group_measures.h"
#include "compiler/codegen/plan/plan.h"
#include "compiler/codegen/tuning/tile_choice.h"

namespace tenon::compiler::codegen {

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
  /// One that not every plan makes.
  int64_t choiceOr(llvm::StringRef name, int64_t otherwise) const;
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
  /// Why a kernel's choices, each of which it takes, cannot be taken together; empty: they can.
  virtual llvm::StringRef whyNot(const KernelFunction &) const { return {}; }
  virtual void write(Writer &writer) const = 0;
  /// Whether its kernels divide positions by sizes of axes, and so take reciprocals of those that are not known
  /// (../kernel/reciprocal.h).
  virtual bool dividesBySizes() const { return false; }
  /// Whether that of a kernel has code of its own for small tensors (../kernel/bodies/small_tensors.h).
  virtual bool asksForSmall(const KernelFunction &, const GroupShape &) const { return false; }
  /// Threads of a workgroup on the target: those of the plan, or others.
  virtual uint32_t threadsFor(const KernelFunction &kernel, const abi::TargetArch &) const { return kernel.threads; }
  /// Targets of one number get one kernel, so that it is written once for all of them.
  virtual unsigned variantFor(const abi::TargetArch &) const { return 0; }
  /// Whether a target of another number gets this kernel as those of number 0 do, too.
  virtual bool isWrittenForAny(mlir::func::FuncOp, const abi::TargetArch &) const { return false; }
};

/// Writes a kernel, and where its strategy asks for small tensors one by words for these, in front of the other.
void writeBySize(const Strategy &strategy, Writer &writer, llvm::function_ref<void()> write);

} // namespace tenon::compiler::codegen
