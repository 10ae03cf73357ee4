// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows the pointers of a kernel through its body and through the device functions that it calls, and tells for every
// parameter what is done with the memory behind it. Rules K-13 and K-14 are decided on the answer.
//
// How: an abstract run. Every register holds Origins (origins.h); most are known from the plan (plan.h), for the rest
// its steps combine them; a sweep over the reachable blocks in their order is repeated while something grows that was
// read before, which in bodies without loops is never. A register with several definitions is one value as long as they
// agree; those that disagree are told apart block by block. A called function is run once per distinct set of argument
// origins. A .local variable, or a .shared one of the kernel, is told apart place by place where addresses are
// constants (spilled pointers, structs); beyond that thread-private and shared memory are one each: what is stored
// there may be what is loaded.
//
// What counts as proved: origins.h and ../README.md. Two bindings of one dispatch may still be the same memory, and a
// buffer may hold pointers of its own: that is the program's business.
//
// A kernel that calls nothing is one function, and is recorded while it is swept; its last sweep, in which no value
// changes that was read before, is the one that counts. Where there are calls, all functions are run until nothing
// changes, and then swept once more to record.
#pragma once

#include "linker/access/origin_algebra.h"
#include "linker/access/plan/plan_table.h"
#include "linker/access/trace/findings.h"
#include "linker/access/trace/instance.h"
#include "linker/access/trace/kernel_trace.h"
#include "linker/access/trace/private_memory.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace tenon::linker {

/// Traces kernels, one after the other; keeps its memory in between.
class KernelTracer {
public:
  /// @param entry  the plan of a kernel of the module; those of the functions that it calls are in `plans`
  /// @param slots  of its parameters, with which it was planned
  KernelTrace run(const ptx::Module &module, PlanTable &plans, Plan &entry, const ParameterSlots &slots);

private:
  // kernel_tracer.cpp: sweeps until nothing changes
  KernelTrace take();
  void reset();
  bool sweepAlone();
  bool converge();
  bool splitDisagreeing();
  Instance &newInstance(Plan &plan);
  Instance &instanceFor(uint32_t function, Plan &plan, std::vector<Cell> arguments);
  void runInstance(Instance &instance, uint32_t depth);
  void sweepOnce(Instance &instance, uint32_t depth);
  void record(Instance &instance, uint32_t depth);

  // trace_step.cpp: one step
  void execute(Instance &instance, const Step &step, uint32_t depth);
  void define(Instance &instance, const Step &step, const Origins &value);
  void steer(const Origins &value, AccessPlace place);

  // trace_memory.cpp: what touches memory
  const Cell &cellOf(const Instance &instance, uint32_t cell) const;
  bool isTaken(const Instance &instance, uint32_t cell) const;
  void storeTaken(uint32_t cell, int64_t offset, uint32_t bytes, const Origins &value);
  std::vector<VariablePlace> placesBehind(const Origins &address, const Step &step) const;
  Origins loadBehind(const Origins &address, const Step &step);
  bool storeBehind(const Origins &address, const Origins &stored, const Step &step);
  Origins keptIn(uint32_t bytes, const Origins &stored) const;
  Origins loadCell(Instance &instance, const Step &step);
  void storeCell(Instance &instance, const Step &step, const Origins &value);
  void takeCell(Instance &instance, const Step &step);
  void store(const Origins &address, const Origins &value, const Step &step, AccessPlace place);
  void storeToMap(const Origins &map, const Origins &value, const Step &step, AccessPlace place);
  void copyToGlobal(const Origins &to, const Origins &from, const Step &step, AccessPlace place);
  void copyToShared(const Origins &from, const Origins &how, const Step &step, AccessPlace place);
  void remember(uint32_t slot, uint32_t bytes, const Origins &value);
  void scatter(uint32_t slot, uint32_t bytes, const Origins &value);
  void note(bool isNew, uint32_t slot);
  const MemoryContents &contents(uint32_t slot);
  Origins behind(const Origins &address, ptx::StateSpace space, uint32_t bytes);
  void noteNamed(const Instance &instance, uint32_t cell);
  void noteRead(const Origins &address, const Step &step, AccessPlace place);
  void escape(const Origins &value, MaybePlace SlotAccess::*how, AccessPlace place);
  void unknownOperation(const Origins &value, AccessPlace place);

  // trace_call.cpp: calls
  Plan *planOf(uint32_t function);
  Cell passedValue(const Instance &instance, const Passed &passed) const;
  void receive(Instance &instance, const Passed &result, const Cell &value, const Step &step);
  void call(Instance &instance, const CallSite &site, const Step &step, uint32_t depth);
  void callUnknown(Instance &instance, const CallSite &site, const Step &step, AccessPlace place);

  const ptx::Module *module_ = nullptr;
  PlanTable *plans_ = nullptr;
  Plan *entry_ = nullptr;
  const ParameterSlots *slots_ = nullptr;
  Findings findings_;
  std::unordered_map<uint32_t, std::vector<Instance *>> instances_; // of called functions; for lookup only
  std::vector<std::unique_ptr<Instance>> order_, spare_;
  Instance *root_ = nullptr;
  PrivateMemory memory_;
  std::vector<Cell> taken_; // by cell of the kernel: its variables, where functions get addresses of places in them
  OriginAlgebra algebra_;
  uint64_t slotsRead_ = 0; // private memory that was read in this sweep, as bits
  uint32_t round_ = 0;
  bool alone_ = false;        // the kernel calls nothing
  bool changed_ = false;      // something that other functions saw before
  bool sweepChanged_ = false; // something within the function at hand
  bool refining_ = false, recording_ = false;
  bool gaveUp_ = false; // too deep, too many sweeps, or registers that nothing sets
};

} // namespace tenon::linker
