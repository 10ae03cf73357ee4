// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that say the order of their parameters: where everything stands, what is refused, and what is packed, held
// against a packer that knows nothing of layouts.
#include "abi/parameter_layout.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tenon;
using namespace tenon::abi;
using Kind = ParameterKind;

static Constant block(uint32_t size, uint32_t alignment) {
  return {ConstantKind::Struct, ElementType::I32, size, alignment, "", {}};
}

static Layout make(size_t bindings, std::vector<Constant> constants, std::vector<DeclaredParameter> parameters) {
  Layout layout;
  layout.bindings.resize(bindings);
  layout.constants = std::move(constants);
  layout.parameters = std::move(parameters);
  return layout;
}

static std::string slots(const Layout &layout) {
  auto result = computeParameterLayout(layout);
  if (!result.ok())
    return std::string(result.status().message());
  std::string out;
  for (const Slot &slot : result->slots)
    out += concat(slot.kind == Kind::Binding    ? "b"
                  : slot.kind == Kind::Constant ? "c"
                                                : "h",
                  slot.index, '@', slot.offset, '+', slot.size, '/', slot.parameter, ' ');
  return concat(out, "= ", result->parameters.size(), " in ", result->bytes);
}

static const DeclaredParameter b0 = DeclaredParameter::binding(0), b1 = DeclaredParameter::binding(1),
                               c0 = DeclaredParameter::constant(0), c1 = DeclaredParameter::constant(1),
                               hidden = DeclaredParameter::hidden();

TEST(ParameterOrder, PutsParametersWhereTheyAreListed) {
  const Constant i32 = Constant::word(), i8 = Constant::scalar(ElementType::I8);
  EXPECT_EQ(slots(make(2, {i32, i8}, {c0, b0, c1, b1})), "c0@0+4/0 b0@8+8/1 c1@16+1/2 b1@24+8/3 = 4 in 32");
  EXPECT_EQ(slots(make(2, {i32, i8}, {b1, c1, c0, b0})), "b1@0+8/0 c1@8+1/1 c0@12+4/2 b0@16+8/3 = 4 in 24");
  EXPECT_EQ(slots(make(1, {i32}, {hidden, c0, b0})), "h0@0+8/0 c0@8+4/1 b0@16+8/2 = 3 in 24");
  Layout trailing = make(1, {i32}, {c0, b0});
  trailing.hiddenPointers = 2;
  EXPECT_EQ(slots(trailing), "c0@0+4/0 b0@8+8/1 h0@16+8/2 h0@24+8/3 = 4 in 32");
}

// Unused parameters take their room and are no slots.
TEST(ParameterOrder, LeavesPadding) {
  EXPECT_EQ(slots(make(1, {Constant::word()},
                       {DeclaredParameter::structOf(1, 1), c0, b0, DeclaredParameter::structOf(24, 8)})),
            "c0@4+4/1 b0@8+8/2 = 4 in 40");
}

TEST(ParameterOrder, PutsMembersIntoStructs) {
  const Constant i32 = Constant::word(), i64 = Constant::scalar(ElementType::I64);
  const auto params =
      DeclaredParameter::structOf(40, 8, {{Kind::Constant, 1, 8}, {Kind::Binding, 1, 16}, {Kind::Hidden, 0, 32}});
  EXPECT_EQ(slots(make(2, {i32, i64}, {c0, params, b0})), "c0@0+4/0 c1@16+8/1 b1@24+8/1 h0@40+8/1 b0@48+8/2 = 3 in 56");
  // Pointers in the bytes that the dispatch passes lie over them.
  DeclaredParameter filled = c0;
  filled.members = {{Kind::Binding, 1, 8}, {Kind::Binding, 0, 24}};
  EXPECT_EQ(slots(make(2, {block(32, 8)}, {filled})), "c0@0+32/0 b1@8+8/0 b0@24+8/0 = 1 in 32");
  // A packed struct has its scalars anywhere.
  EXPECT_EQ(slots(make(0, {i32, i64},
                       {DeclaredParameter::structOf(13, 1, {{Kind::Constant, 0, 1}, {Kind::Constant, 1, 5}})})),
            "c0@1+4/0 c1@5+8/0 = 1 in 13");
}

TEST(ParameterOrder, CountsWordsInTheOrderOfTheConstants) {
  auto result = computeParameterLayout(make(1, {block(12, 4), Constant::word()}, {c1, b0, c0}));
  ASSERT_TRUE(result.ok()) << result.status().toString();
  EXPECT_EQ(result->words, 3u);
  EXPECT_EQ(result->slots[0].firstWord, 2u);
  EXPECT_EQ(result->slots[2].firstWord, 0u);
  EXPECT_EQ(result->slots[2].words, 2u);
  EXPECT_EQ(result->bindings, 1u);
  EXPECT_EQ(result->constants, 2u);
}

TEST(ParameterOrder, LetsATensorMapStandForItsBinding) {
  Layout layout = make(1, {{ConstantKind::TensorMap, ElementType::F16, 128, 64, "", TensorMap()}, Constant::word()},
                       {c1, DeclaredParameter::structOf(192, 64, {{Kind::Constant, 0, 64}})});
  layout.constants[0].map->box = {64, 64};
  layout.bindings[0].alignment = 16;
  EXPECT_EQ(slots(layout), "c1@0+4/0 c0@128+128/1 = 2 in 256");
  EXPECT_FALSE(computeParameterLayout(layout)->isFixed());
  layout.parameters[1].members[0].offset = 32;
  EXPECT_EQ(slots(layout), "[K-3] member 0 of parameter 1 (constant 0 at 32) begins at byte 32, a multiple of 64 is "
                           "wanted");
  layout.parameters[1] = DeclaredParameter::structOf(128, 16, {{Kind::Constant, 0, 0}});
  EXPECT_EQ(slots(layout), "[K-3] member 0 of parameter 1 (constant 0 at 0) needs alignment 64, the parameter has "
                           "alignment 16");
  layout.constants[0].map.reset();
  layout.parameters[1] = c0;
  EXPECT_EQ(slots(layout), "[K-3] 'parameters' leaves out binding 0: each binding and each constant stands in it once");
}

TEST(ParameterOrder, RefusesWhatIsNotThereOnce) {
  const Constant i32 = Constant::word();
  EXPECT_EQ(slots(make(2, {i32}, {c0, b0})),
            "[K-3] 'parameters' leaves out binding 1: each binding and each constant stands in it once");
  EXPECT_EQ(slots(make(1, {i32, i32}, {b0, c1})),
            "[K-3] 'parameters' leaves out constant 0: each binding and each constant stands in it once");
  EXPECT_EQ(slots(make(1, {i32}, {b0, c0, b0})),
            "[K-3] parameter 2 is binding 0, which parameter 0 has already: each stands once");
  EXPECT_EQ(
      slots(make(1, {i32}, {c0, DeclaredParameter::structOf(16, 8, {{Kind::Constant, 0, 0}, {Kind::Binding, 0, 8}})})),
      "[K-3] member 0 of parameter 1 (constant 0 at 0) is constant 0, which parameter 0 has already: each stands "
      "once");
  EXPECT_EQ(slots(make(1, {i32}, {b0, c0, b1})),
            "[K-3] parameter 2 is binding 1, the layout has 1 binding, numbered from 0");
  EXPECT_EQ(slots(make(2, {}, {b0, b1, c0})),
            "[K-3] parameter 2 is constant 0, the layout has 0 constants, numbered from 0");
}

TEST(ParameterOrder, RefusesStructsThatAreNone) {
  const Constant i32 = Constant::word();
  auto with = [&](uint32_t size, uint32_t alignment, std::vector<ParameterMember> members) {
    return slots(make(1, {i32}, {DeclaredParameter::structOf(size, alignment, std::move(members))}));
  };
  EXPECT_EQ(with(0, 4, {}), "[K-3] parameter 0 is padding of size 0 and alignment 4: a size above 0 and a power of two "
                            "are wanted");
  EXPECT_EQ(with(16, 12, {{Kind::Binding, 0, 0}}),
            "[K-3] parameter 0 is a struct of size 16 and alignment 12: a size above 0 and a power of two are wanted");
  EXPECT_EQ(with(16, 8, {{Kind::Constant, 0, 0}, {Kind::Binding, 0, 12}}),
            "[K-3] member 1 of parameter 0 (binding 0 at 12) ends at byte 20, the parameter has 16 bytes");
  EXPECT_EQ(with(16, 8, {{Kind::Constant, 0, 0xfffffffe}}),
            "[K-3] member 0 of parameter 0 (constant 0 at 4294967294) ends at byte 4294967298, the parameter has 16 "
            "bytes");
  EXPECT_EQ(with(16, 8, {{Kind::Binding, 0, 4}, {Kind::Constant, 0, 12}}),
            "[K-3] member 0 of parameter 0 (binding 0 at 4) begins at byte 4, a multiple of 8 is wanted");
  EXPECT_EQ(with(16, 4, {{Kind::Binding, 0, 0}, {Kind::Constant, 0, 8}}),
            "[K-3] member 0 of parameter 0 (binding 0 at 0) needs alignment 8, the parameter has alignment 4");
  EXPECT_EQ(with(24, 8, {{Kind::Constant, 0, 12}, {Kind::Binding, 0, 8}}),
            "[K-3] members 1 (binding 0 at 8, 8 bytes) and 0 (constant 0 at 12) of parameter 0 overlap");
  DeclaredParameter pointer = b0;
  pointer.members = {{Kind::Constant, 0, 0}};
  EXPECT_EQ(slots(make(1, {i32}, {pointer})),
            "[K-3] parameter 0 is binding 0: only a struct has members, declare one of its size and alignment");
  DeclaredParameter scalar = c0;
  scalar.members = {{Kind::Binding, 0, 0}};
  EXPECT_EQ(slots(make(1, {Constant::scalar(ElementType::I64)}, {scalar})),
            "[K-3] parameter 0 is constant 0: only a struct has members, declare one of its size and alignment");
  DeclaredParameter filled = c0;
  filled.members = {{Kind::Constant, 1, 0}};
  EXPECT_EQ(slots(make(0, {block(16, 8), i32}, {filled})),
            "[K-3] member 0 of parameter 0 (constant 1 at 0): only pointers stand within constant 0, whose other bytes "
            "the dispatch passes; declare a struct for constants");
  EXPECT_EQ(computeParameterLayout(make(0, {}, std::vector(5000, hidden))).status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(slots(make(0, {}, {DeclaredParameter::structOf(32765, 1)})),
            "[K-5] parameter 0 ends at byte 32765, a kernel takes at most 32764 bytes of parameters");
}

TEST(ParameterOrder, NullPointersLieOverPassedBytes) {
  DeclaredParameter filled = c0;
  filled.members = {{Kind::Hidden, 0, 8}};
  auto layout = computeParameterLayout(make(0, {block(24, 8)}, {filled}));
  ASSERT_TRUE(layout.ok());
  const uint64_t words[] = {1, 2, 3};
  uint64_t out[3] = {9, 9, 9};
  ASSERT_TRUE(packParameters(*layout, nullptr, 0, words, 3, reinterpret_cast<uint8_t *>(out), sizeof out).ok());
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[2], 3u);
}

TEST(ParameterOrder, SimplifiesTheUsualOrder) {
  Layout layout = make(2, {Constant::word()}, {b0, b1, c0, hidden, hidden});
  layout.hiddenPointers = 1;
  layout.simplifyOrder();
  EXPECT_TRUE(layout.parameters.empty());
  EXPECT_EQ(layout.hiddenPointers, 3u);
  layout = make(2, {Constant::word()}, {b1, b0, c0, hidden});
  layout.simplifyOrder();
  EXPECT_EQ(layout.parameters, (std::vector{b1, b0, c0}));
  EXPECT_EQ(layout.hiddenPointers, 1u);
  layout = make(1, {}, {b0, DeclaredParameter::structOf(4, 4)});
  layout.simplifyOrder();
  EXPECT_EQ(layout.parameters.size(), 2u);
}

namespace {

/// A random kernel signature, made without layouts: a list of bytes that each argument must appear as.
class Random {
public:
  explicit Random(uint32_t seed) : random_(seed) {}

  void run() {
    const uint32_t bindings = below(5);
    for (uint32_t i = 0; i < bindings; ++i)
      free_.push_back({Kind::Binding, i});
    addresses_.resize(bindings);
    for (uint64_t &address : addresses_)
      address = (uint64_t(random_()) << 32) | random_();
    layout_.bindings.resize(bindings);
    for (uint32_t i = below(6); i > 0; --i)
      addConstant();
    for (uint32_t i = below(3); i > 0; --i)
      free_.push_back({Kind::Hidden, 0});
    std::shuffle(free_.begin(), free_.end(), random_);
    while (!free_.empty())
      addParameter();
    layout_.hiddenPointers = below(3);
    for (uint32_t i = 0; i < layout_.hiddenPointers; ++i)
      put(8, 8, std::vector<uint8_t>(8, 0));
    check();
  }

private:
  struct Thing {
    Kind kind;
    uint32_t index;
  };
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void addConstant() {
    static const ElementType kTypes[] = {ElementType::I1,  ElementType::I16,  ElementType::I32,
                                         ElementType::F64, ElementType::BF16, ElementType::Index};
    tenon::abi::Constant constant =
        below(3) == 0 ? block(1 + below(40), 1u << below(4)) : Constant::scalar(kTypes[below(6)]);
    free_.push_back({Kind::Constant, static_cast<uint32_t>(layout_.constants.size())});
    std::vector<uint8_t> bytes(constant.size);
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(1 + below(255));
    std::vector<uint64_t> words((bytes.size() + 7) / 8, ~uint64_t(0)); // what is beyond the size is not stored
    std::memcpy(words.data(), bytes.data(), bytes.size());
    words_.insert(words_.end(), words.begin(), words.end());
    contents_.push_back(std::move(bytes));
    layout_.constants.push_back(constant);
  }

  std::vector<uint8_t> bytesOf(const Thing &thing) const {
    if (thing.kind == Kind::Constant)
      return contents_[thing.index];
    std::vector<uint8_t> bytes(8, 0);
    if (thing.kind == Kind::Binding)
      std::memcpy(bytes.data(), &addresses_[thing.index], 8);
    return bytes;
  }
  /// The next parameter of the reference: at the next multiple of its alignment, as in a C struct.
  void put(size_t size, size_t alignment, const std::vector<uint8_t> &bytes) {
    expected_.resize((expected_.size() + alignment - 1) / alignment * alignment, 0);
    expected_.insert(expected_.end(), bytes.begin(), bytes.end());
    expected_.resize(expected_.size() + size - bytes.size(), 0);
    ++parameters_;
  }
  Thing take() {
    const Thing thing = free_.back();
    free_.pop_back();
    return thing;
  }

  void addParameter() {
    const uint32_t kind = below(4);
    const Thing thing = take();
    const bool isStruct = thing.kind == Kind::Constant && layout_.constants[thing.index].kind == ConstantKind::Struct;
    if (kind == 0)
      return addStruct(thing);
    if (isStruct && layout_.constants[thing.index].alignment == 8 && layout_.constants[thing.index].size >= 16 &&
        !free_.empty() && free_.back().kind == Kind::Binding)
      return addFilled(thing);
    const std::vector<uint8_t> bytes = bytesOf(thing);
    const uint32_t alignment = thing.kind == Kind::Constant ? layout_.constants[thing.index].alignment : uint32_t(8);
    layout_.parameters.push_back({.kind = thing.kind, .index = thing.index});
    put(bytes.size(), alignment, bytes);
    if (kind == 1) {
      const uint32_t size = 1 + below(20), padding = 1u << below(5);
      layout_.parameters.push_back(DeclaredParameter::structOf(size, padding));
      put(size, padding, {});
    }
  }

  void addStruct(Thing thing) {
    const uint32_t alignment = 8u << below(2);
    std::vector<uint8_t> bytes;
    std::vector<ParameterMember> members;
    for (uint32_t more = 1 + below(4); more > 0; --more) {
      const std::vector<uint8_t> own = bytesOf(thing);
      bytes.resize(bytes.size() + below(9), 0); // a gap
      if (thing.kind != Kind::Constant)
        bytes.resize((bytes.size() + 7) / 8 * 8, 0);
      members.push_back({thing.kind, thing.index, static_cast<uint32_t>(bytes.size())});
      bytes.insert(bytes.end(), own.begin(), own.end());
      if (free_.empty() || more == 1)
        break;
      thing = take();
    }
    std::shuffle(members.begin(), members.end(), random_);
    const uint32_t size = static_cast<uint32_t>(bytes.size()) + below(10);
    layout_.parameters.push_back(DeclaredParameter::structOf(size, alignment, std::move(members)));
    put(size, alignment, bytes);
  }

  void addFilled(const Thing &constant) {
    std::vector<uint8_t> bytes = bytesOf(constant);
    const Thing pointer = take();
    const uint32_t offset = 8 * below(static_cast<uint32_t>(bytes.size() / 8));
    const std::vector<uint8_t> own = bytesOf(pointer);
    std::copy(own.begin(), own.end(), bytes.begin() + offset);
    layout_.parameters.push_back(
        {.kind = Kind::Constant, .index = constant.index, .members = {{pointer.kind, pointer.index, offset}}});
    put(bytes.size(), layout_.constants[constant.index].alignment, bytes);
  }

  void check() {
    Result<ParameterLayout> layout = computeParameterLayout(layout_);
    ASSERT_TRUE(layout.ok()) << layout.status().toString() << "\n" << layout_.toString();
    if (layout_.parameters.empty())
      return; // bindings and constants in the usual order, if any
    EXPECT_EQ(layout->parameters.size(), parameters_) << layout_.toString();
    ASSERT_EQ(layout->bytes, expected_.size()) << layout_.toString();
    std::vector<uint8_t> packed(expected_.size() + 1, 0xcd);
    Status status = packParameters(*layout, addresses_.data(), addresses_.size(), words_.data(), words_.size(),
                                   packed.data(), expected_.size());
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(packed.back(), 0xcd);
    packed.pop_back();
    EXPECT_EQ(packed, expected_) << layout_.toString();
    Layout simple = layout_; // means the same
    simple.simplifyOrder();
    Result<ParameterLayout> again = computeParameterLayout(simple);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->parameters, layout->parameters);
    EXPECT_EQ(again->slots, layout->slots);
  }

  std::mt19937 random_;
  Layout layout_;
  std::vector<Thing> free_;
  std::vector<uint64_t> addresses_, words_;
  std::vector<std::vector<uint8_t>> contents_; // of the constants
  std::vector<uint8_t> expected_;
  size_t parameters_ = 0;
};

} // namespace

TEST(ParameterOrder, PacksRandomSignaturesAsTheReferenceDoes) {
  for (uint32_t seed = 0; seed < 20000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random(seed).run();
  }
}
