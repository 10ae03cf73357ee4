// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C struct rules, nothing else: each member at the next multiple of its alignment, no tail padding. ptxas follows the
// same rule for `.param` variables of a kernel (PTX ISA, "Kernel Function Parameter Attributes"), but counts from the
// start of the constant bank, where parameters begin at 0x160, 0x210 or 0x380 by architecture: all multiples of 16, and
// not of more.
#include "abi/parameter_layout.h"

#include "abi/arch_table.h"
#include "support/align.h"
#include "support/placement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

namespace tenon::abi {

static constexpr uint32_t kPointerBytes = 8;
static constexpr uint32_t kWordBytes = 8;
static constexpr uint32_t kMaxFixedAlignment = 16; // above it, offsets depend on where an image's parameters begin

namespace {

/// Lays out one layout. Every function's failure names the parameter.
class Builder {
public:
  explicit Builder(const Layout &layout) : layout_(layout) {}

  Result<ParameterLayout> run() {
    out_.bindings = static_cast<uint32_t>(layout_.bindings.size());
    out_.constants = static_cast<uint32_t>(layout_.constants.size());
    constexpr size_t kMost = kMaxParameterBytes; // each has a byte at least
    const size_t listed =
        layout_.parameters.empty() ? layout_.bindings.size() + layout_.constants.size() : layout_.parameters.size();
    out_.parameters.reserve(std::min(listed + layout_.hiddenPointers, kMost));
    out_.slots.reserve(std::min(listed + layout_.hiddenPointers, kMost));
    TENON_RETURN_IF_ERROR(layout_.parameters.empty() ? placeInUsualOrder() : placeInDeclaredOrder());
    for (uint32_t i = 0; i < layout_.hiddenPointers; ++i)
      TENON_RETURN_IF_ERROR(placeHidden());
    return std::move(out_);
  }

private:
  Status placeInUsualOrder() {
    for (uint32_t i = 0; i < layout_.bindings.size(); ++i)
      TENON_RETURN_IF_ERROR(placeBinding(i));
    for (uint32_t i = 0; i < layout_.constants.size(); ++i) {
      TENON_RETURN_IF_ERROR(checkConstant(i));
      Slot slot = constantSlot(i);
      slot.firstWord = out_.words;
      out_.words += slot.words;
      TENON_RETURN_IF_ERROR(placeConstant(slot));
    }
    return okStatus();
  }

  /// A parameter behind the others. OutOfRange: past the largest block there is.
  Status place(ParameterKind kind, uint32_t index, uint32_t size, uint32_t alignment) {
    Placement places(out_.bytes);
    const uint64_t offset = places.place(size, alignment), end = places.end();
    if (end > kMaxParameterBytes)
      return makeError(StatusCode::OutOfRange, "[K-5] parameter ", out_.parameters.size(), " ends at byte ", end,
                       ", a kernel takes at most ", kMaxParameterBytes, " bytes of parameters");
    const bool imagePlaces = !out_.isFixed() || alignment > kMaxFixedAlignment;
    out_.parameters.push_back({kind, index, static_cast<uint32_t>(offset), size, alignment, imagePlaces});
    out_.bytes = static_cast<uint32_t>(end);
    return okStatus();
  }
  /// A slot of the last parameter.
  void addSlot(Slot slot, uint32_t offsetInParameter = 0) {
    slot.parameter = static_cast<uint32_t>(out_.parameters.size() - 1);
    slot.offset = out_.parameters.back().offset + offsetInParameter;
    out_.slots.push_back(slot);
  }

  Status placeBinding(uint32_t i) {
    if (const uint32_t alignment = layout_.bindings[i].alignment; alignment != 0 && !std::has_single_bit(alignment))
      return makeError(StatusCode::InvalidArgument, "[K-3] binding ", i, " has alignment ", alignment,
                       ", not a power of two");
    TENON_RETURN_IF_ERROR(place(ParameterKind::Binding, i, kPointerBytes, kPointerBytes));
    addSlot({.kind = ParameterKind::Binding, .index = i, .size = kPointerBytes});
    return okStatus();
  }
  Status placeHidden() {
    TENON_RETURN_IF_ERROR(place(ParameterKind::Hidden, hidden_++, kPointerBytes, kPointerBytes));
    addSlot({.kind = ParameterKind::Hidden, .size = kPointerBytes});
    return okStatus();
  }
  Status placeConstant(const Slot &slot) {
    const Constant &constant = layout_.constants[slot.index];
    TENON_RETURN_IF_ERROR(place(ParameterKind::Constant, slot.index, constant.size, constant.alignment));
    addSlot(slot);
    return okStatus();
  }

  /// K-3 and K-22, wherever the constant stands.
  Status checkConstant(uint32_t i) const {
    const Constant &constant = layout_.constants[i];
    if (constant.size == 0)
      return makeError(StatusCode::InvalidArgument, "[K-3] constant ", i, " has size 0");
    if (!std::has_single_bit(constant.alignment))
      return makeError(StatusCode::InvalidArgument, "[K-3] constant ", i, " has alignment ", constant.alignment,
                       ", not a power of two");
    if (constant.map)
      if (Status status = checkEncoded(constant); !status.ok())
        return makeError(status.code(), "[K-22] constant ", i, ": ", status.message());
    return okStatus();
  }

  /// K-22: the map, and the binding that it is encoded from.
  Status checkEncoded(const Constant &constant) const {
    const TensorMap &map = *constant.map;
    TENON_RETURN_IF_ERROR(checkTensorMap(map, constant.element));
    if (map.binding >= layout_.bindings.size())
      return makeError(StatusCode::InvalidArgument, "the tensor map is of binding ", map.binding, ", the layout has ",
                       layout_.bindings.size());
    if (!map.isOptional && layout_.bindings[map.binding].alignment < map.alignment())
      return makeError(StatusCode::InvalidArgument, "the tensor map is of binding ", map.binding,
                       ", which promises alignment ", layout_.bindings[map.binding].alignment, ": declare alignment ",
                       map.alignment(), " on it");
    return okStatus();
  }

  /// Of a constant that was checked: all but its place and its first word.
  Slot constantSlot(uint32_t i) {
    const Constant &constant = layout_.constants[i];
    Slot slot = {.kind = ParameterKind::Constant, .index = i, .size = constant.size};
    slot.words = ceilDiv(constant.size, kWordBytes);
    if (constant.map) {
      slot.words = static_cast<uint32_t>(constant.map->rank());
      slot.tensorMap = static_cast<uint32_t>(out_.tensorMaps.size());
      out_.tensorMaps.push_back({*constant.map, constant.element});
    }
    return slot;
  }

  // ------------------------------------------------------------------------------------------------ a declared order

  Status placeInDeclaredOrder() {
    std::vector<Slot> constants; // a dispatch passes them in their own order
    for (uint32_t i = 0; i < layout_.constants.size(); ++i) {
      TENON_RETURN_IF_ERROR(checkConstant(i));
      constants.push_back(constantSlot(i));
      constants.back().firstWord = out_.words;
      out_.words += constants.back().words;
    }
    bindingAt_.resize(layout_.bindings.size(), kNowhere);
    constantAt_.resize(layout_.constants.size(), kNowhere);
    for (const DeclaredParameter &declared : layout_.parameters)
      TENON_RETURN_IF_ERROR(placeDeclared(declared, constants));
    return checkAllPlaced();
  }

  Status placeDeclared(const DeclaredParameter &declared, const std::vector<Slot> &constants) {
    const uint32_t number = static_cast<uint32_t>(out_.parameters.size());
    const std::string subject = concat("parameter ", number);
    TENON_RETURN_IF_ERROR(take(declared.kind, declared.index, number, subject));
    switch (declared.kind) {
    case ParameterKind::Binding:
      TENON_RETURN_IF_ERROR(placeBinding(declared.index));
      break;
    case ParameterKind::Hidden:
      TENON_RETURN_IF_ERROR(placeHidden());
      break;
    case ParameterKind::Constant:
      TENON_RETURN_IF_ERROR(placeConstant(constants[declared.index]));
      break;
    case ParameterKind::Struct:
      if (declared.size == 0 || !std::has_single_bit(declared.alignment))
        return wrong(subject, " is ", declared.members.empty() ? "padding" : "a struct", " of size ", declared.size,
                     " and alignment ", declared.alignment, ": a size above 0 and a power of two are wanted");
      TENON_RETURN_IF_ERROR(place(ParameterKind::Struct, structs_++, declared.size, declared.alignment));
      break;
    }
    return declared.members.empty() ? okStatus() : placeMembers(declared, number, constants);
  }

  Status placeMembers(const DeclaredParameter &declared, uint32_t number, const std::vector<Slot> &constants) {
    const bool isConstant = declared.kind == ParameterKind::Constant;
    if (!(isConstant && layout_.constants[declared.index].kind == ConstantKind::Struct) &&
        declared.kind != ParameterKind::Struct)
      return wrong("parameter ", number, " is ", nameOf(declared.kind, declared.index),
                   ": only a struct has members, declare one of its size and alignment");
    const size_t first = out_.slots.size();
    const Parameter parameter = out_.parameters.back();
    for (size_t i = 0; i < declared.members.size(); ++i) {
      const ParameterMember &member = declared.members[i];
      const std::string subject = concat("member ", i, " of parameter ", number, " (", member.toString(), ')');
      if (member.kind == ParameterKind::Struct || (isConstant && member.kind == ParameterKind::Constant))
        return wrong(subject, ": only pointers stand within constant ", declared.index,
                     ", whose other bytes the dispatch passes; declare a struct for constants");
      TENON_RETURN_IF_ERROR(take(member.kind, member.index, number, subject));
      Slot slot = {.kind = member.kind, .size = kPointerBytes};
      uint32_t alignment = kPointerBytes;
      if (member.kind == ParameterKind::Constant) {
        slot = constants[member.index];
        // A packed struct has its scalars anywhere; what the driver writes it wants aligned.
        const Constant &constant = layout_.constants[member.index];
        alignment = constant.kind == ConstantKind::TensorMap ? constant.alignment : 1;
      } else if (member.kind == ParameterKind::Binding) {
        slot.index = member.index;
      }
      if (uint64_t(member.offset) + slot.size > parameter.size)
        return wrong(subject, " ends at byte ", uint64_t(member.offset) + slot.size, ", the parameter has ",
                     parameter.size, " bytes");
      if (member.offset % alignment != 0)
        return wrong(subject, " begins at byte ", member.offset, ", a multiple of ", alignment, " is wanted");
      if (parameter.alignment < alignment)
        return wrong(subject, " needs alignment ", alignment, ", the parameter has alignment ", parameter.alignment);
      addSlot(slot, member.offset);
    }
    return checkOverlaps(declared, number, first);
  }

  /// Slots from `first` on are the members, in their order.
  Status checkOverlaps(const DeclaredParameter &declared, uint32_t number, size_t first) const {
    std::vector<size_t> order(declared.members.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(declared.members[a].offset, a) < std::pair(declared.members[b].offset, b);
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const Slot &before = out_.slots[first + order[i - 1]], &slot = out_.slots[first + order[i]];
      if (before.offset + before.size > slot.offset)
        return wrong("members ", order[i - 1], " (", declared.members[order[i - 1]].toString(), ", ", before.size,
                     " bytes) and ", order[i], " (", declared.members[order[i]].toString(), ") of parameter ", number,
                     " overlap");
    }
    return okStatus();
  }

  /// Notes that parameter `number` has the binding or constant. InvalidArgument: there is none, or it stands elsewhere.
  Status take(ParameterKind kind, uint32_t index, uint32_t number, const std::string &subject) {
    if (kind != ParameterKind::Binding && kind != ParameterKind::Constant)
      return okStatus();
    std::vector<uint32_t> &places = kind == ParameterKind::Binding ? bindingAt_ : constantAt_;
    const char *noun = kind == ParameterKind::Binding ? "binding" : "constant";
    if (index >= places.size())
      return wrong(subject, " is ", noun, ' ', index, ", the layout has ", places.size(), ' ', noun,
                   places.size() == 1 ? "" : "s", ", numbered from 0");
    if (places[index] != kNowhere)
      return wrong(subject, " is ", noun, ' ', index, ", which parameter ", places[index],
                   " has already: each stands once");
    places[index] = number;
    return okStatus();
  }

  Status checkAllPlaced() const {
    for (size_t i = 0; i < constantAt_.size(); ++i)
      if (constantAt_[i] == kNowhere)
        return wrong("'parameters' leaves out constant ", i, ": each binding and each constant stands in it once");
    for (size_t i = 0; i < bindingAt_.size(); ++i)
      if (bindingAt_[i] == kNowhere && !isReachedByMap(i))
        return wrong("'parameters' leaves out binding ", i, ": each binding and each constant stands in it once");
    return okStatus();
  }
  /// A kernel may take the tensor map alone.
  bool isReachedByMap(size_t binding) const {
    return std::any_of(out_.tensorMaps.begin(), out_.tensorMaps.end(),
                       [&](const EncodedTensorMap &encoded) { return encoded.map.binding == binding; });
  }

  static std::string nameOf(ParameterKind kind, uint32_t index) {
    return kind == ParameterKind::Binding    ? concat("binding ", index)
           : kind == ParameterKind::Constant ? concat("constant ", index)
                                             : std::string("a hidden pointer");
  }
  template <typename... Args> static Status wrong(const Args &...args) {
    return makeError(StatusCode::InvalidArgument, "[K-3] ", args...);
  }

  static constexpr uint32_t kNowhere = ~uint32_t(0);
  const Layout &layout_;
  ParameterLayout out_;
  uint32_t hidden_ = 0, structs_ = 0;            // so far
  std::vector<uint32_t> bindingAt_, constantAt_; // parameter, or kNowhere
};

} // namespace

Result<ParameterLayout> computeParameterLayout(const Layout &layout) {
  return Builder(layout).run();
}

/// K-7: as many bindings and words as the layout has, and room for the block.
static Status checkArguments(const ParameterLayout &layout, size_t bindingCount, size_t wordCount, size_t outBytes) {
  if (bindingCount != layout.bindings)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", bindingCount, " bindings given, the layout has ",
                     layout.bindings);
  if (wordCount != layout.words && layout.constants == layout.words)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", wordCount, " constants given, the layout has ",
                     layout.constants);
  if (wordCount != layout.words)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", wordCount, " words of constants given, the layout's ",
                     layout.constants, layout.constants == 1 ? " constant takes " : " constants take ", layout.words);
  if (outBytes < layout.bytes)
    return makeError(StatusCode::OutOfRange, "room for ", outBytes, " bytes of parameters, the layout has ",
                     layout.bytes);
  return okStatus();
}

Status packParameters(const ParameterLayout &layout, const uint64_t *bindings, size_t bindingCount,
                      const uint64_t *constants, size_t constantCount, uint8_t *out, size_t outBytes) {
  static_assert(std::endian::native == std::endian::little, "the low bytes of a register come first");
  TENON_RETURN_IF_ERROR(checkArguments(layout, bindingCount, constantCount, outBytes));
  if (layout.bytes != 0)
    std::memset(out, 0, layout.bytes);
  for (const Slot &slot : layout.slots) {
    switch (slot.kind) {
    case ParameterKind::Binding:
      std::memcpy(out + slot.offset, &bindings[slot.index], sizeof(uint64_t));
      break;
    case ParameterKind::Constant:
      if (slot.tensorMap != Slot::kNoTensorMap)
        break; // its words are extents, from which the runtime encodes it
      std::memcpy(out + slot.offset, &constants[slot.firstWord], slot.size);
      break;
    case ParameterKind::Hidden:
      std::memset(out + slot.offset, 0, sizeof(uint64_t)); // null, also within the bytes of a constant
      break;
    case ParameterKind::Struct: // is no slot
      break;
    }
  }
  return okStatus();
}

} // namespace tenon::abi
