// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows the pointers of a kernel through its body and through the device functions that it calls, and tells for every
// parameter what is done with the memory behind it. Rules K-13 and K-14 are decided on the answer.
//
// How: an abstract run. Every register holds Origins (origins.h); most are known from the plan (plan.h), for the rest
// its steps combine them; a sweep over the reachable blocks in their order is repeated while something grows that was
// read before, which in bodies without loops is never. A register with several definitions is one value as long as they
// agree; those that disagree are told apart block by block. A called function is run once per distinct set of argument
// origins. A .local variable is told apart place by place where addresses are constants (spilled pointers, small
// arrays); beyond that thread-private and shared memory are one cell each: what is stored there may be what is loaded.
//
// What counts as proved: nothing that derives from the parameter is an address of a write, and the pointer does not
// leave the kernel's registers and private memory, by a store or by a call of code that is not here. Two bindings of
// one dispatch may still be the same memory, and a buffer may hold pointers of its own: that is the program's business.
#pragma once

#include "linker/access/origins.h"
#include "linker/access/plan.h"

#include <memory>
#include <optional>
#include <vector>

namespace tenon::linker {

struct AccessPlace {
  uint32_t function = 0; // into Module::functions: the kernel, or a function that it calls
  uint32_t instruction = 0;
};

/// A place, or none: there are many of them, and most are none.
class MaybePlace {
public:
  MaybePlace() = default;
  MaybePlace(AccessPlace place) : place_(place) {}
  explicit operator bool() const { return place_.function != kNone; }
  const AccessPlace &operator*() const { return place_; }
  const AccessPlace *operator->() const { return &place_; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  AccessPlace place_ = {kNone, 0};
};

/// What is done with one parameter. A place is that of the first such instruction, in the order of the body.
struct ParameterAccess {
  bool named = false;         // some instruction reads the parameter
  bool addressed = false;     // it is, or may be, the base of an address
  bool lowBitsTested = false; // `and` with a small mask: the kernel looks at its alignment itself
  uint32_t widestBytes = 0;
  MaybePlace written;        // memory behind it surely is the target of this instruction
  MaybePlace maybeWritten;   // an address of a write may derive from it, or from another parameter
  MaybePlace stored;         // the pointer itself is stored to memory
  MaybePlace passed;         // the pointer is passed to code that is not here
  MaybePlace nonCoherent;    // ld.global.nc
  MaybePlace aloneInAddress; // base of an address that derives from no pointer
  MaybePlace widest;         // the widest access, where it is wider than 8 bytes
};

struct KernelTrace {
  std::vector<ParameterAccess> parameters; // [entry parameters]
  MaybePlace writesModule;                 // a variable of the module is, or may be, written here
  bool gaveUp = false;                     // too deep, or no fixpoint in bounds: every access is unknown
  bool writesElsewhere = false;            // memory that no parameter leads to, or nobody knows which
  MaybePlace storedToMap;                  // a write through a tensor map or a surface, which says where to
};

/// The plans of one module's functions. A module may grow under it, and lose its bodies once they are planned.
class Plans {
public:
  /// Plans a function that has its body, for good.
  void add(const ptx::Module &module, const ptx::Function &function, PlanBuilder &builder);
  /// Takes in a plan that was made.
  void keep(Plan plan);
  /// The plan of a function, or null: it has no body, or none was added.
  Plan *find(uint32_t function) { return function < plans_.size() ? plans_[function].get() : nullptr; }
  void drop(uint32_t function);

  /// Names that the module has so far. To be learnt again when it has grown.
  ptx::ModuleNames names;

private:
  std::vector<std::unique_ptr<Plan>> plans_; // by function
};

/// Traces kernels, one after the other; keeps its memory in between.
class KernelTracer {
public:
  KernelTracer();
  ~KernelTracer();
  /// @param entry    the plan of a kernel of the module; those of the functions that it calls are in `plans`
  /// @param pointers [parameters] which of them are declared as pointers; the rest are constants
  KernelTrace run(const ptx::Module &module, Plans &plans, Plan &entry, const std::vector<bool> &pointers);

private:
  class Tracing;
  std::unique_ptr<Tracing> tracing_;
};

/// Traces the kernels of a module that has its bodies. They are prepared once, also when many kernels call them.
class AccessTracer {
public:
  explicit AccessTracer(const ptx::Module &module);

  /// @param entry    a kernel with a body, of the module
  /// @param pointers [parameters] which of them are declared as pointers; the rest are constants
  KernelTrace trace(const ptx::Function &entry, const std::vector<bool> &pointers);

private:
  const ptx::Module &module_;
  Plans plans_;
  PlanBuilder builder_;
  KernelTracer tracer_;
};

} // namespace tenon::linker
