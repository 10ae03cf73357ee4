// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/golden/values.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <map>

namespace tenon::golden {
namespace {

using Values = std::vector<uint64_t>;

// The first ones matter most: triples are made of those.
const Values kWords64 = {
    0, 1,  ~0ull, 31, 32,  0x8000000000000000, 0x7fffffffffffffff, 0x123456789abcdef0, 64,          63,
    2, 33, 65,    7,  255, 0xfffffffffffffffe, 0x80000000,         0xffffffff,         0x100000000, 0xdeadbeefcafebabe};
const Values kWords32 = {0, 1, 0xffffffff, 31,  32,     0x80000000, 0x7fffffff, 0x12345678, 33,         64,
                         2, 7, 63,         255, 0xfffe, 0x10000,    0x80000001, 0xfffffffe, 0xdeadbeef, 0x00ff00ff};
const Values kWords16 = {0, 1,  0xffff, 15, 16,  0x8000, 0x7fff, 0x1234, 2,
                         7, 17, 31,     32, 255, 256,    0x8001, 0xfffe, 0xbeef};
const Values kWords8 = {0, 1, 0xff, 0x80, 0x7f, 0x12, 2, 0x81, 0xfe, 0x55};
const Values kF32 = {0x3f800000, 0x80000000, 0x00800000, 0x3f7fffff, 0x7fc00000, 0x7f800000, 0x00000001,
                     0x40490fdb, 0x7f7fffff, 0x007fffff, 0,          0xbf800000, 0xff800000, 0xffc12345,
                     0x7fa00001, 0x80800000, 0x00800000, 0x80000001, 0x3f000000, 0xc0200000, 0x4b000001,
                     0x4f000000, 0xcf000000, 0x4effffff, 0x5f000000, 0x3effffff, 0x33800000};
const Values kF64 = {0x3ff0000000000000,
                     0x8000000000000000,
                     0x7ff8000000000000,
                     0x7ff0000000000000,
                     1,
                     0x400921fb54442d18,
                     0x7fefffffffffffff,
                     0x000fffffffffffff,
                     0,
                     0xbff0000000000000,
                     0xfff0000000000000,
                     0xfff8000012345678,
                     0x7ff4000000000001,
                     0x8010000000000000,
                     0x0010000000000000,
                     0x3fe0000000000000,
                     0xc004000000000000,
                     0x4330000000000001,
                     0x41e0000000000000,
                     0xc1e0000000200000,
                     0x43e0000000000000,
                     0x47efffffe0000000,
                     0x47efffffefffffff,
                     0x380fffffc0000000,
                     0x36a0000000000000};
const Values kF16 = {0x3c00, 0x8000, 0x7e00, 0x7c00, 0x0001, 0x4248, 0x7bff, 0x03ff, 0,      0xbc00,
                     0xfc00, 0xfe12, 0x7d01, 0x8400, 0x0400, 0x3800, 0xc100, 0x6400, 0x77ff, 0x3bff};
const Values kBf16 = {0x3f80, 0x8000, 0x7fc0, 0x7f80, 0x0001, 0x4049, 0x7f7f, 0x007f, 0,      0xbf80,
                      0xff80, 0xffc1, 0x7fa1, 0x8080, 0x0080, 0x3f00, 0xc020, 0x4b00, 0x4f00, 0x3eff};

unsigned bytesOf(const std::string &type) {
  return type == "pred" ? 1 : resultBytes(type);
}
bool isFloating(const std::string &type) {
  return type[0] == 'f' || type[0] == 'b' || type[0] == 't'
             ? type != "b8" && type != "b16" && type != "b32" && type != "b64"
             : false;
}
bool isPacked(const std::string &type) {
  return type.find('x') != std::string::npos;
}
std::string elementType(const std::string &type) {
  return type.substr(0, type.find('x'));
}

uint64_t encode(const std::string &type, double value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(value);
  uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == "bf16")
    return single >> 16;
  if (type == "tf32")
    return single & ~0x1fffu;
  if (type == "f16")
    return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  return single;
}

const Values &edges(const std::string &type) {
  static const Values predicates = {0, 1};
  if (type == "pred")
    return predicates;
  if (type == "f64")
    return kF64;
  if (type == "f32" || type == "tf32")
    return kF32;
  if (type == "f16")
    return kF16;
  if (type == "bf16")
    return kBf16;
  switch (bytesOf(type)) {
  case 1:
    return kWords8;
  case 2:
    return kWords16;
  case 4:
    return kWords32;
  default:
    return kWords64;
  }
}

uint64_t widthMask(const std::string &type) {
  unsigned bytes = bytesOf(type);
  return bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
}

/// Two (or four) elements of a packed type, the upper ones from further on in the list.
uint64_t edge(const std::string &type, size_t k) {
  if (!isPacked(type)) {
    const Values &list = edges(type);
    return list[k % list.size()];
  }
  std::string element = elementType(type);
  if (element[0] == 'e') // e4m3x2, e5m2x2: any bits
    return (k * 2654435761u >> 7) & widthMask(type);
  const Values &list = edges(element);
  unsigned bits = 8 * bytesOf(element), count = 8 * bytesOf(type) / bits;
  uint64_t value = 0;
  for (unsigned part = 0; part < count; ++part)
    value |= list[(k + 7 * part) % list.size()] << (bits * part);
  return value;
}
size_t edgeCount(const std::string &type) {
  return isPacked(type) ? 20 : edges(type).size();
}

uint64_t number(const std::string &type, const std::string &set, SplitMix64 &random) {
  std::string element = elementType(type);
  if (!isFloating(element))
    return random.next() & widthMask(type);
  unsigned bits = 8 * bytesOf(element), count = 8 * bytesOf(type) / bits;
  uint64_t value = 0;
  for (unsigned part = 0; part < count; ++part) {
    double x = 2 * random.uniform() - 1;
    if (set == "tiny") // about the smallest numbers of the type
      x = std::ldexp(x, (element == "f16" ? -6 : -120) - static_cast<int>(random.next() % 20));
    if (set == "mixed")
      x = std::ldexp(x, static_cast<int>(random.next() % 25) - 12);
    value |= encode(element, x) << (bits * part);
  }
  return value;
}

bool isFinite(const std::string &type, uint64_t value) {
  std::string element = elementType(type);
  uint64_t exponent = encode(element, INFINITY);
  unsigned bits = 8 * bytesOf(element);
  for (unsigned part = 0; part < bytesOf(type) / bytesOf(element); ++part)
    if ((value >> (bits * part) & exponent) == exponent)
      return false;
  return true;
}

} // namespace

std::vector<uint64_t> operandsOf(const Form &form) {
  const std::vector<std::string> &types = form.operands;
  SplitMix64 random(20261121);
  std::vector<uint64_t> tuples;
  auto any = [&](const std::string &type) { return random.next() & (type == "pred" ? 1 : widthMask(type)); };
  if (types.empty())
    return {0};
  if (form.values.rfind("range:", 0) == 0) {
    double low = 0, high = 1;
    sscanf(form.values.c_str(), "range:%lf:%lf", &low, &high);
    size_t count = types.size() == 1 ? 1024 : 512;
    for (size_t k = 0; k < count; ++k)
      for (const std::string &type : types) {
        double x = low + (high - low) * (types.size() == 1 ? (static_cast<double>(k) + 0.5) / static_cast<double>(count)
                                                           : random.uniform());
        std::string element = elementType(type);
        uint64_t value = encode(element, x);
        tuples.push_back(isPacked(type) ? value | encode(element, low + high - x) << 16 : value);
      }
    return tuples;
  }
  if (form.values == "edges" || form.values == "special") { // special: infinities and NaN among them
    for (size_t k = 0; k < 256; ++k)
      for (const std::string &type : types) {
        uint64_t value = 0;
        do
          value = edge(type, random.next() % 64);
        while (form.values == "edges" && !isFinite(type, value));
        // Infinities are rare, so that most results are numbers.
        tuples.push_back(form.values == "special" && random.next() % 8 ? number(type, "small", random) : value);
      }
    return tuples;
  }
  if (form.values == "small" || form.values == "mixed" || form.values == "tiny") {
    for (size_t k = 0; k < 256; ++k)
      for (const std::string &type : types)
        tuples.push_back(number(type, form.values, random));
    return tuples;
  }
  if (types.size() == 1)
    for (size_t i = 0; i < edgeCount(types[0]); ++i)
      tuples.push_back(edge(types[0], i));
  if (types.size() == 2)
    for (size_t i = 0; i < std::min<size_t>(18, edgeCount(types[0])); ++i)
      for (size_t j = 0; j < std::min<size_t>(18, edgeCount(types[1])); ++j) {
        tuples.push_back(edge(types[0], i));
        tuples.push_back(edge(types[1], j));
      }
  if (types.size() == 3)
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 8; ++j)
        for (size_t k = 0; k < 8; ++k) {
          tuples.push_back(edge(types[0], i));
          tuples.push_back(edge(types[1], j));
          tuples.push_back(edge(types[2], k));
        }
  if (types.size() > 3)
    for (size_t k = 0; k < 128; ++k)
      for (const std::string &type : types)
        tuples.push_back(edge(type, random.next() % 64));
  size_t extra = form.values == "dense" ? 1000 : 64;
  for (size_t k = 0; k < extra; ++k)
    for (const std::string &type : types)
      tuples.push_back(any(type));
  return tuples;
}

uint64_t drawValue(const std::string &type, SplitMix64 &random) {
  if (type == "pred")
    return random.next() & 1;
  const std::string element = type[0] == 'e' ? "b16" : elementType(type); // e4m3x2, e5m2x2: any bits
  switch (random.next() % 8) {
  case 0:
  case 1:
  case 2:
    return edge(type, random.next() % 64);
  case 3:
    return random.next() & widthMask(type);
  default:
    break;
  }
  if (isFloating(element)) {
    if (random.next() & 1)
      return number(type, random.next() & 1 ? "small" : "mixed", random);
    return encodeNumber(type,
                        static_cast<double>(static_cast<int>(random.next() % 33) - 16) / (random.next() & 1 ? 1 : 4));
  }
  // Integers: small ones, and masks that begin and end anywhere.
  const unsigned bits = 8 * bytesOf(element), count = 8 * bytesOf(type) / bits;
  uint64_t value = 0;
  for (unsigned part = 0; part < count; ++part) {
    uint64_t one = random.next() % 41 - 8;
    if (random.next() % 3 == 0)
      one = (~0ull >> (64 - 1 - random.next() % bits)) << random.next() % bits;
    value |= (one & widthMask(element)) << (bits * part);
  }
  return value;
}

uint64_t encodeNumber(const std::string &type, double value) {
  const std::string element = elementType(type);
  const unsigned bits = 8 * bytesOf(element), count = 8 * bytesOf(type) / bits;
  uint64_t all = 0;
  for (unsigned part = 0; part < count; ++part)
    all |= encode(element, value) << (bits * part);
  return all;
}

} // namespace tenon::golden
