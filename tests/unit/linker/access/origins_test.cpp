// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of linker/access/README.md, pair by pair: what each function makes of two roles of one pointer.
#include "linker/access/origins.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace tenon::linker {
namespace {

enum Role { None, Plus, Minus, Mixed, Few, Index, Near, Part };
constexpr std::array<Role, 8> kRoles = {None, Plus, Minus, Mixed, Few, Index, Near, Part};
constexpr uint32_t kSlot = 3;
constexpr uint64_t kBit = slotBit(kSlot);
const Secrets kSecrets{.pointers = kBit | slotBit(4) | slotBit(kFurtherSlots)};

Origins of(Role role, uint32_t slot = kSlot) {
  Origins value = Origins::number();
  if (role == None)
    return value;
  const uint64_t bit = slotBit(slot);
  value.none &= ~bit;
  (role == Plus    ? value.plus
   : role == Minus ? value.minus
   : role == Mixed ? value.mixed
   : role == Few   ? value.few
   : role == Index ? value.index
   : role == Near  ? value.near
                   : value.part) = bit;
  return value;
}

/// "n", "+", "-", "m", "f", "i", "o" (near: n and an offset), "p": the roles that a slot may have.
std::string rolesOf(const Origins &value, uint32_t slot = kSlot) {
  const uint64_t bit = slotBit(slot);
  std::string text;
  for (auto [word, letter] : {std::pair(value.none, 'n'),
                              {value.plus, '+'},
                              {value.minus, '-'},
                              {value.mixed, 'm'},
                              {value.few, 'f'},
                              {value.index, 'i'},
                              {value.near, 'o'},
                              {value.part, 'p'}})
    if (word & bit)
      text += letter;
  return text;
}

/// A table of 8 x 8 letters, rows by the first value.
template <typename Function> std::string tableOf(Function function, uint32_t slot = kSlot) {
  std::string text;
  for (Role a : kRoles) {
    for (Role b : kRoles)
      text += rolesOf(function(of(a, slot), of(b, slot)), slot);
    text += '\n';
  }
  return text;
}

TEST(Origins, SumsCancelADifferenceAndKeepOnePointer) {
  EXPECT_EQ(tableOf(sum), "n+-mfoop\n"
                          "+mnmpppp\n"
                          "-nmmpppp\n"
                          "mmmmpppp\n"
                          "fppppppp\n"
                          "oppppppp\n"
                          "oppppppp\n"
                          "pppppppp\n");
}

TEST(Origins, ADifferenceCancelsOnlyWhereTheSlotIsOnePointer) {
  for (uint32_t slot : {kFurtherSlots, kParamMemory, kLocalMemory, kSharedMemory, kModuleMemory, kForeign}) {
    EXPECT_EQ(rolesOf(sum(of(Plus, slot), of(Minus, slot)), slot), "m") << slot;
    EXPECT_EQ(rolesOf(sum(of(Minus, slot), of(Plus, slot)), slot), "m") << slot;
  }
  for (uint32_t slot : {0u, 1u, kTrackedSlots - 1})
    EXPECT_EQ(rolesOf(sum(of(Plus, slot), of(Minus, slot)), slot), "n") << slot;
}

TEST(Origins, MixesKeepTheLowBitsPublic) {
  EXPECT_EQ(tableOf(mix), "nmmmfffp\n"
                          "mmmmpppp\n"
                          "mmmmpppp\n"
                          "mmmmpppp\n"
                          "fppppppp\n"
                          "fppppppp\n"
                          "fppppppp\n"
                          "pppppppp\n");
}

TEST(Origins, BlendsKeepNothing) {
  EXPECT_EQ(tableOf(blend), "npppfffp\n"
                            "pppppppp\n"
                            "pppppppp\n"
                            "pppppppp\n"
                            "fppppppp\n"
                            "fppppppp\n"
                            "fppppppp\n"
                            "pppppppp\n");
}

TEST(Origins, WhatStandsAboveLeavesTheLowBitsPublic) {
  EXPECT_EQ(tableOf(pack), "nmmmfffm\n"
                           "mmmmmmmm\n"
                           "mmmmmmmm\n"
                           "mmmmmmmm\n"
                           "fppppppp\n"
                           "oppppppp\n"
                           "fppppppp\n"
                           "pppppppp\n");
}

TEST(Origins, AChoiceTellsWhatItTells) {
  EXPECT_EQ(tableOf(select), "npppfffp\n"
                             "+ppppppp\n"
                             "-ppppppp\n"
                             "mppppppp\n"
                             "fppppppp\n"
                             "ippppppp\n"
                             "oppppppp\n"
                             "pppppppp\n");
}

TEST(Origins, NegationTurnsTheSign) {
  std::string text;
  for (Role a : kRoles)
    text += rolesOf(of(a).negated());
  EXPECT_EQ(text, "n-+mfoop");
}

template <typename Function> std::string rowOf(Function function, uint32_t slot = kSlot) {
  std::string text;
  for (Role a : kRoles)
    text += rolesOf(function(of(a, slot)), slot) + ' ';
  return text;
}

TEST(Secrets, WhatIsLeftOfAPointer) {
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.narrowed(v); }), "n f f f f f f f ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.indexed(v); }), "n i i i i i i i ");
  EXPECT_EQ(rowOf([](const Origins &v) { return v.scaled(); }), "n m m m f o f p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return v.adjusted(); }), "n + - m f i f p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.truncated(v); }), "n m m m f i f p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.lowByte(v); }), "n n n n f f f f ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.lowIndex(v); }), "n n n n i i i i ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.gathered(v); }), "n p p p p p p p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.cut(v); }), "n p p p p p p p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.told(v); }), "n n p p f f f p ");
}

TEST(Secrets, OfANumberNothingIsFollowedButItsPlaceInASum) {
  const uint32_t number = 9;
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.narrowed(v); }, number), "n n n n n n n n ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.indexed(v); }, number), "n n n n n n n n ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.truncated(v); }, number), "n + - m f i f p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.lowByte(v); }, number), "n n n n n n n n ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.gathered(v); }, number), "n + - m f i o p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.cut(v); }, number), "n + - m f i o p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.told(v); }, number), "n n n n n n n n ");
  EXPECT_FALSE(kSecrets.tells(of(Part, number)));
}

TEST(Secrets, OfWhatWasLoadedAPredicateIsFollowed) {
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.narrowed(v); }, kForeign), "n f f f f f f f ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.indexed(v); }, kForeign), "n f f f f f f f ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.lowByte(v); }, kForeign), "n f f f f f f f ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.cut(v); }, kForeign), "n + - m f i o p ");
  EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.truncated(v); }, kForeign), "n + - m f i f p ");
}

TEST(Secrets, OfPrivateMemoryAnAddressIsCutAndNoMore) {
  for (uint32_t slot : kPrivateBits ? std::array{kParamMemory, kLocalMemory, kSharedMemory} : std::array{0u, 0u, 0u}) {
    EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.cut(v); }, slot), "n p p p p p p p ");
    EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.narrowed(v); }, slot), "n n n n n n n n ");
    EXPECT_EQ(rowOf([](const Origins &v) { return kSecrets.truncated(v); }, slot), "n + - m f i f p ");
  }
}

TEST(Secrets, OnlyACopyOfAnExactPlaceIsOne) {
  const Origins exact = of(Plus, kExactPlace), number = Origins::number(), param = Origins::of(kParamMemory);
  auto role = [](const Origins &value) { return rolesOf(value, kExactPlace); };
  for (const Origins &sumOf : {sum(exact, number), sum(number, exact), sum(exact, of(Plus)), sum(exact, exact)})
    EXPECT_EQ(role(sumOf), "m");
  EXPECT_EQ(role(exact.negated()) + role(exact.negated().negated()), "mm");
  EXPECT_EQ(role(exact.adjusted()) + role(exact.scaled()) + role(mix(exact, number)), "mmm");
  EXPECT_EQ(role(blend(exact, number)) + role(pack(exact, number)) + role(pack(number, exact)), "pmm");
  EXPECT_EQ(role(select(exact, kSecrets.narrowed(of(Plus)))), "+");
  EXPECT_EQ(role(within(exact, param)), "+");
  EXPECT_EQ(role(within(exact, Origins::of(kSharedMemory))) + role(within(exact, Origins::of(kLocalMemory))), "mm");
  EXPECT_EQ(role(kSecrets.truncated(exact)) + role(kSecrets.cut(exact)) + role(kSecrets.gathered(exact)), "mpp");
  EXPECT_EQ(role(kSecrets.narrowed(exact)) + role(kSecrets.indexed(exact)) + role(kSecrets.lowByte(exact)), "nnn");
  EXPECT_EQ(Origins(exact).join(number).surely() & kExact, 0u);
}

TEST(Secrets, AnIndexComesOfOnePointer) {
  const Origins two = sum(of(Part), of(Part, 4)), further = of(Part, kFurtherSlots);
  EXPECT_EQ(rolesOf(kSecrets.indexed(two)) + rolesOf(kSecrets.indexed(two), 4), "ff") << "it tells their distance";
  EXPECT_EQ(rolesOf(kSecrets.lowIndex(sum(of(Plus), of(Part, 4))), 4), "i") << "the low bits of the other are public";
  EXPECT_EQ(rolesOf(kSecrets.indexed(further), kFurtherSlots), "f") << "which stands for several";
  const Origins read = sum(of(Part), of(Plus, kForeign));
  EXPECT_EQ(rolesOf(kSecrets.indexed(read)) + rolesOf(kSecrets.indexed(read), kForeign), "if");
}

TEST(Secrets, TellsWhereAnAddressIsNoPointerAndANumber) {
  std::string text;
  for (Role a : kRoles)
    text += kSecrets.tells(of(a)) ? '1' : '0';
  EXPECT_EQ(text, "00111111");
}

TEST(Origins, WithinIsAnAddressOfThePlace) {
  const Origins shared = Origins::of(kSharedMemory);
  for (Role role : kRoles) {
    const Origins value = within(of(role), shared);
    EXPECT_EQ(rolesOf(value, kSharedMemory), "+");
    EXPECT_EQ(rolesOf(value), rolesOf(of(role == Index ? Near : role)));
    EXPECT_EQ(rolesOf(within(of(role, kSharedMemory), shared), kSharedMemory), "+");
  }
}

TEST(Origins, InvolvedAimedAndSure) {
  const std::string_view involved = "01111111", aimed = "01110001", surely = "01000000";
  for (size_t i = 0; i < kRoles.size(); ++i) {
    EXPECT_EQ((of(kRoles[i]).involved() & kBit) != 0, involved[i] == '1') << i;
    EXPECT_EQ((of(kRoles[i]).aimed() & kBit) != 0, aimed[i] == '1') << i;
    EXPECT_EQ((of(kRoles[i]).surely() & kBit) != 0, surely[i] == '1') << i;
    EXPECT_EQ(of(kRoles[i]).isNumber(), i == 0) << i;
    if (i != 1) {
      EXPECT_EQ(Origins(of(Plus)).join(of(kRoles[i])).surely() & kBit, 0u) << i;
    }
  }
}

TEST(Origins, AJoinMayBeEither) {
  for (Role a : kRoles)
    for (Role b : kRoles) {
      const std::string both = rolesOf(Origins(of(a)).join(of(b)));
      EXPECT_EQ(both.size(), a == b ? 1u : 2u);
      for (char role : rolesOf(of(a)) + rolesOf(of(b)))
        EXPECT_NE(both.find(role), std::string::npos);
    }
  Origins either = Origins::of(0);
  either.join(Origins::of(1));
  EXPECT_EQ(either.involved(), slotBit(0) | slotBit(1));
  EXPECT_EQ(either.surely(), 0u);
}

TEST(Origins, NothingIsKnownOfWhatTheUnknownGoesInto) {
  const Origins p = Origins::of(kSlot), unknown;
  EXPECT_FALSE(unknown.isKnown());
  for (auto function : {sum, mix, blend, pack, select}) {
    EXPECT_FALSE(function(p, unknown).isKnown());
    EXPECT_FALSE(function(unknown, p).isKnown());
  }
  EXPECT_FALSE(within(unknown, p).isKnown());
  EXPECT_EQ(Origins(unknown).join(p), p);
}

/// A function of joins holds what it makes of their parts.
TEST(Origins, FunctionsOfJoinsCoverTheirParts) {
  std::vector<Origins> parts;
  for (Role role : kRoles) {
    parts.push_back(of(role));
    parts.push_back(sum(of(role), of(Plus, 4)));
  }
  for (auto function : {sum, mix, blend, pack, select})
    for (const Origins &a : parts)
      for (const Origins &b : parts)
        for (const Origins &c : parts) {
          Origins joined = a;
          joined.join(b);
          for (bool first : {true, false}) {
            Origins covered = first ? function(joined, c) : function(c, joined);
            const Origins before = covered;
            covered.join(first ? function(a, c) : function(c, a)).join(first ? function(b, c) : function(c, b));
            EXPECT_EQ(covered, before);
          }
        }
}

TEST(Origins, SlotsAndConstants) {
  EXPECT_EQ(slotOf(0), 0u);
  EXPECT_EQ(slotOf(55), 55u);
  EXPECT_EQ(slotOf(56), kFurtherSlots);
  EXPECT_EQ(slotOf(4000), kFurtherSlots);
  EXPECT_EQ(kPublicBits, 255u) << "cudaMalloc aligns to 256 bytes";
  EXPECT_EQ(kFewBits, 12);
  EXPECT_EQ(kParameterBits, (uint64_t(1) << 57) - 1);
  EXPECT_EQ(kSinglePointers, (uint64_t(1) << 56) - 1);
  EXPECT_EQ(Origins::partOf(kBit).part, kBit);
  EXPECT_EQ(Origins::partOf(kBit).none, ~uint64_t(0));
}

} // namespace
} // namespace tenon::linker
