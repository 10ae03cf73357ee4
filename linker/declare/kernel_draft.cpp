// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/kernel_draft.h"

#include "abi/arch_table.h"
#include "linker/declare/pointer_search.h"
#include "linker/declare/shared_extent.h"
#include "linker/symbol/reachability.h"

#include <algorithm>
#include <string_view>

namespace tenon::linker {
namespace {

constexpr abi::Extent3 kGuessedThreads[] = {{128, 1, 1}, {16, 8, 1}, {8, 4, 4}}; // by dimensions
constexpr uint32_t kGuessedSharedBytes = 1024;

/// What special registers say of a launch.
struct LaunchUse {
  int dimensions = 1;      // of the workgroup, by %tid and %ntid
  bool isGridWide = false; // the memory of a cooperative launch, in %envreg1 and %envreg2

  void look(const ptx::Operand &operand) {
    const std::string_view name = operand.name;
    if (name.starts_with("%tid.") || name.starts_with("%ntid."))
      dimensions = std::max(dimensions, name.back() == 'z' ? 3 : name.back() == 'y' ? 2 : 1);
    isGridWide |= ptx::isGridWorkspace(name);
    for (const ptx::Operand &element : operand.elements)
      look(element);
  }
};

/// "[16, 8]", as a manifest has it.
std::string sizeText(const abi::Extent3 &size) {
  if (size[2] != 1)
    return concat('[', size[0], ", ", size[1], ", ", size[2], ']');
  return size[1] != 1 ? concat('[', size[0], ", ", size[1], ']') : concat('[', size[0], ']');
}

class Drafter {
public:
  Drafter(const Object &object, const ptx::Function &entry, ModuleTracer &tracer, Diagnostics &diagnostics)
      : object_(object), entry_(entry), diagnostics_(diagnostics), found_(findPointers(entry, tracer)),
        reachable_(computeReachability(object, entry)) {}

  std::optional<Diagnostic> refusal() const {
    if (entry_.blocksAreClusters)
      return Diagnostic{.where = object_.placeOf(entry_),
                        .rule = "K-8",
                        .message = concat("'", entry_.name, "' has .blocksareclusters, which is not supported"),
                        .fix = "leave __block_size__ off the kernel"};
    for (size_t i = 0; i < entry_.parameters.size(); ++i)
      if (const uint64_t bytes = entry_.parameters[i].bytes(); bytes > abi::kMaxParameterBytes)
        return Diagnostic{.where = object_.placeOf(entry_.parameters[i]),
                          .rule = "K-5",
                          .message = concat("parameter ", i, " of '", entry_.name, "' has ", bytes,
                                            " bytes, a kernel takes at most ", abi::kMaxParameterBytes,
                                            " bytes of parameters"),
                          .fix = "pass the data through a buffer"};
    for (const ptx::Function *function : reachable_.functions)
      if (const uint32_t use = object_.factsOf(*function).handleUse; use != BodyFacts::kNone) {
        const ptx::Instruction &instruction = function->instructions[use];
        const bool isSurface = instruction.opcode.starts_with("su");
        return Diagnostic{.where = object_.placeOf(instruction),
                          .rule = "K-19",
                          .message = concat("'", entry_.name, "' uses a ", isSurface ? "surface" : "texture", " ('",
                                            instruction.form(), "'), a dispatch passes buffers and scalars"),
                          .fix = isSurface ? "read and write the data through a pointer"
                                           : "read the data through a pointer: a read-only binding is cached as "
                                             "textures are"};
      }
    return std::nullopt;
  }

  KernelDraft run() {
    declared().name = declared().symbol = entry_.name;
    const size_t end = entry_.parameters.size() - countHidden();
    for (size_t i = 0; i < end; ++i)
      addParameter(i);
    addHidden(entry_.parameters.size() - end);
    declared().layout.simplifyOrder();
    readLaunch();
    return std::move(draft_);
  }

private:
  abi::Export &declared() { return draft_.declaration.exported; }
  abi::Layout &layout() { return declared().layout; }
  const SlotAccess &access(size_t i) const { return found_.access(i); }

  void unsure(SourceLocation where, const std::string &what) {
    draft_.notes.push_back(concat("unsure: ", what));
    diagnostics_.warning(std::move(where), "", concat("draft of '", entry_.name, "': ", what));
  }

  bool isUnusedPointer(size_t i) const { return entry_.parameters[i].hasPtr && !access(i).named; }

  /// Triton appends two pointers to scratch memory, which most kernels do not use. Behind a constant they are surely
  /// none of the author's; behind pointers they are told by how Triton writes them.
  size_t countHidden() const {
    size_t end = entry_.parameters.size();
    while (end > 0 && isUnusedPointer(end - 1))
      --end;
    const size_t count = entry_.parameters.size() - end;
    if (end == 0 || !isPointerParameter(end - 1))
      return count;
    const bool isTriton = entry_.requiredThreads && count >= 2 && isScratch(entry_.parameters.end()[-1]) &&
                          isScratch(entry_.parameters.end()[-2]);
    return isTriton ? 2 : 0;
  }
  static bool isScratch(const ptx::Variable &parameter) {
    return parameter.ptrSpace == ptx::StateSpace::Global && parameter.ptrAlignment == 1;
  }
  bool isPointerParameter(size_t i) const { return found_.isPointer(i) || found_.structOf(i); }

  /// In front of a pointer, among 8-byte parameters alone, where most kernels have their pointers.
  bool standsAmongPointers(size_t i) const {
    for (size_t front = 0; front < entry_.parameters.size() && isPointerWide(entry_.parameters[front]); ++front)
      if (front > i && found_.isPointer(front))
        return true;
      else if (front < i && !found_.isPointer(front) && access(front).named)
        return false;
    return false;
  }

  void addHidden(size_t count) {
    layout().hiddenPointers = uint32_t(count);
    if (count)
      unsure(object_.placeOf(entry_.parameters.back()),
             concat("the last ", count, count == 1 ? " parameter is a pointer" : " parameters are pointers",
                    " that it does not use: drafted as hidden_pointers, passed as null"));
  }

  void addParameter(size_t i) {
    const ptx::Variable &parameter = entry_.parameters[i];
    const SourceLocation where = object_.placeOf(parameter);
    if (isAggregate(parameter))
      return addAggregate(i, where);
    const bool isGuessed = isPointerWide(parameter) && !access(i).named && !parameter.hasPtr && standsAmongPointers(i);
    if (!found_.isPointer(i) && !isGuessed)
      return addScalar(i, where);
    layout().parameters.push_back(abi::DeclaredParameter::binding(addBinding(i, where)));
    if (!access(i).named)
      unsure(where, concat("parameter ", i, " is not used: drafted as a binding",
                           parameter.hasPtr ? "" : "; it may be an i64"));
  }

  /// @return its number
  uint32_t addBinding(size_t slot, const SourceLocation &where) {
    const SlotAccess &access = found_.access(slot);
    const ParameterSlot &place = found_.slots[slot];
    const bool isWhole = !isAggregate(entry_.parameters[place.parameter]);
    const bool unknown = found_.trace.gaveUp || access.maybeWritten || access.stored || access.passed || access.steers;
    abi::Binding binding;
    binding.readOnly = access.addressed && !access.written && !unknown;
    const uint32_t alignment = std::max(isWhole ? entry_.parameters[place.parameter].ptrAlignment : 0,
                                        access.lowBitsTested ? 0 : access.widestBytes);
    if (alignment > 8)
      binding.alignment = alignment;
    layout().bindings.push_back(binding);
    if (access.named && unknown && !access.written)
      unsure(where,
             concat("it cannot be told whether ", isWhole ? "" : concat("the pointer at byte ", place.offset, " of "),
                    "parameter ", place.parameter, " is written: drafted as a binding that is"));
    return uint32_t(layout().bindings.size() - 1);
  }

  void addConstant(const abi::Constant &constant, std::vector<abi::ParameterMember> members = {}) {
    layout().parameters.push_back(abi::DeclaredParameter::constant(uint32_t(layout().constants.size())));
    layout().parameters.back().members = std::move(members);
    layout().constants.push_back(constant);
  }

  void addScalar(size_t i, const SourceLocation &where) {
    const ptx::Variable &parameter = entry_.parameters[i];
    const uint64_t bytes = parameter.bytes();
    addConstant(abi::Constant::scalar(elementOf(i)));
    if (bytes == 2 && parameter.type != ptx::ScalarType::U16 && parameter.type != ptx::ScalarType::S16)
      unsure(where, concat("parameter ", i, " has 2 bytes of no type: drafted as f16; it may be bf16 or i16"));
    else if (bytes == 8 && access(i).jointBase)
      unsure(where, concat("parameter ", i, " makes an address together with another one: drafted as i64"));
    else if (bytes == 8 && !access(i).named)
      unsure(where, concat("parameter ", i, " is not used: drafted as i64; it may be a pointer"));
  }

  void addAggregate(size_t i, const SourceLocation &where) {
    const ptx::Variable &parameter = entry_.parameters[i];
    abi::Constant constant;
    constant.size = uint32_t(parameter.bytes());
    constant.alignment = parameter.effectiveAlignment();
    constant.kind = abi::ConstantKind::Struct;
    if (found_.isTable[i])
      unsure(where,
             concat("parameter ", i,
                    " is read at places that the kernel computes: what may be a pointer there is drafted as one; "
                    "strike out the members that are none"));
    if (const PointerSearch::Struct *holder = found_.structOf(i)) {
      std::vector<abi::ParameterMember> members;
      for (size_t slot : holder->pointers)
        members.push_back({.kind = abi::ParameterKind::Binding,
                           .index = addBinding(slot, where),
                           .offset = uint32_t(found_.slots[slot].offset)});
      if (members.size() * 8 < constant.size)
        return addConstant(constant, std::move(members));
      layout().parameters.push_back(
          abi::DeclaredParameter::structOf(constant.size, constant.alignment, std::move(members)));
      return;
    }
    if (constant.size == 128 && (constant.alignment == 64 || constant.alignment == 128)) {
      constant.kind = abi::ConstantKind::TensorMap;
      unsure(where, concat("parameter ", i,
                           " has the size and alignment of a tensor map: drafted as one; it may be a "
                           "struct"));
    }
    addConstant(constant);
  }

  abi::ElementType elementOf(size_t i) const {
    const bool isFloat = access(i).loadedAsFloat;
    switch (entry_.parameters[i].bytes()) {
    case 1:
      return abi::ElementType::I8;
    case 2:
      return entry_.parameters[i].type == ptx::ScalarType::U16 || entry_.parameters[i].type == ptx::ScalarType::S16
                 ? abi::ElementType::I16
                 : abi::ElementType::F16;
    case 4:
      return isFloat || entry_.parameters[i].type == ptx::ScalarType::F32 ? abi::ElementType::F32
                                                                          : abi::ElementType::I32;
    }
    return isFloat || entry_.parameters[i].type == ptx::ScalarType::F64 ? abi::ElementType::F64 : abi::ElementType::I64;
  }

  LaunchUse launchUse() const {
    LaunchUse use;
    for (const ptx::Function *function : reachable_.functions)
      for (const ptx::Instruction &instruction : function->instructions)
        for (const ptx::Operand &operand : instruction.operands)
          use.look(operand);
    return use;
  }

  void readLaunch() {
    abi::Launch &launch = declared().launch;
    const SourceLocation where = object_.placeOf(entry_);
    const LaunchUse use = launchUse();
    if (entry_.requiredThreads) {
      launch.workgroupSize = *entry_.requiredThreads;
    } else if (entry_.maxThreads) {
      launch.workgroupSize = *entry_.maxThreads;
      const bool isFlat = launch.workgroupSize[1] * launch.workgroupSize[2] == 1;
      unsure(where, concat("it takes up to ", extentText(launch.workgroupSize),
                           " threads (.maxntid): drafted as its workgroup_size",
                           isFlat && use.dimensions > 1
                               ? concat("; it reads %tid.", use.dimensions == 2 ? 'y' : 'z', ", so it may be ",
                                        use.dimensions == 2 ? "two" : "three", "-dimensional")
                               : ""));
    } else {
      launch.workgroupSize = kGuessedThreads[use.dimensions - 1];
      unsure(where, concat("its workgroup_size is not in the object: drafted as ", sizeText(launch.workgroupSize),
                           use.dimensions == 1   ? ""
                           : use.dimensions == 2 ? ", since it reads %tid.y"
                                                 : ", since it reads %tid.z"));
    }
    if (entry_.requiredCluster && (*entry_.requiredCluster)[0])
      launch.cluster = *entry_.requiredCluster;
    if (use.isGridWide) {
      launch.cooperative = true;
      unsure(where, "it reads %envreg1 or %envreg2, as a grid that waits for all of its blocks does: drafted as "
                    "cooperative");
    }
    readShared(where);
  }

  void readShared(const SourceLocation &where) {
    if (!reachable_.dynamicShared)
      return;
    abi::Launch &launch = declared().launch;
    const std::optional<uint32_t> extent = sharedExtent(object_.module, entry_, launch.workgroupSize);
    launch.dynamicSharedBytes = extent && *extent ? *extent : kGuessedSharedBytes;
    if (!extent || !*extent)
      unsure(where, concat("it uses dynamic shared memory, the object does not tell how much: drafted as ",
                           kGuessedSharedBytes, " bytes"));
    else if (!entry_.requiredThreads)
      unsure(where, concat("with this workgroup_size its addresses stay within ", *extent,
                           " bytes of dynamic shared memory: drafted so"));
  }

  const Object &object_;
  const ptx::Function &entry_;
  Diagnostics &diagnostics_;
  const PointerSearch found_;
  const Reachability reachable_;
  KernelDraft draft_;
};

} // namespace

std::optional<KernelDraft> draftKernel(const Object &object, const ptx::Function &entry, ModuleTracer &tracer,
                                       Diagnostics &diagnostics, Diagnostic &reason) {
  Drafter drafter(object, entry, tracer, diagnostics);
  if (std::optional<Diagnostic> refusal = drafter.refusal()) {
    reason = std::move(*refusal);
    return std::nullopt;
  }
  return drafter.run();
}

} // namespace tenon::linker
