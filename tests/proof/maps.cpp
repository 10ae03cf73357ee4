// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/maps.h"

namespace tenon::proof {

std::string mapParameters(const MapShape &maps) {
  if (maps.isStruct)
    return concat(".param .align 64 .b8 k_maps[", maps.structBytes(), "]");
  std::string text;
  for (uint32_t i = 0; i < maps.count; ++i)
    text += concat(i ? ", " : "", ".param .align 64 .b8 k_map_", i, "[128]");
  return text;
}

namespace {

class MapStore {
public:
  MapStore(Body &body, const MapShape &maps, std::string &names) : b_(body), maps_(maps), names_(names) {}

  void go() {
    const uint32_t victim = b_.random.below(maps_.count);
    const uint32_t other = b_.random.below(maps_.count);
    std::string address = made(victim, other);
    if (isUniform_ && b_.random.chance(35))
      address = laundered(address, false);
    store(address);
  }

private:
  void name(std::string_view text) { names_ += concat(names_.empty() ? "" : " ", text); }

  /// The address of map i, as compilers take it.
  std::string addressOf(uint32_t i) {
    std::string place = b_.r64(), moved = b_.r64(), generic = b_.r64();
    b_.line("mov.b64 ", place, ", ", maps_.isStruct ? "k_maps" : concat("k_map_", i), ";");
    const uint32_t offset = maps_.isStruct ? MapShape::offset(i) : 0;
    if (b_.random.chance(50)) {
      b_.line("add.s64 ", moved, ", ", place, ", ", offset, ";");
      b_.line("cvta.param.u64 ", generic, ", ", moved, ";");
      return generic;
    }
    b_.line("cvta.param.u64 ", generic, ", ", place, ";");
    b_.line("add.s64 ", moved, ", ", generic, ", ", offset, ";");
    return moved;
  }

  /// The same value. What it takes is counted with maps. Fields take 48 bits, and a distance may be negative.
  std::string laundered(const std::string &value, bool mayBeNegative) {
    static const uint32_t kWays = maskOf(Class::Arithmetic) | maskOf(Class::Memory) | maskOf(Class::Calls) |
                                  maskOf(Class::Predicates) | maskOf(Class::Atomics);
    const Ways ways(kWays);
    uint32_t classes = 0;
    if (!mayBeNegative && b_.random.chance(25))
      return launderFields(b_, ways, value, 0, classes, names_);
    const ValueWay &way = ways.value(b_.random);
    name(way.name);
    return way.go(b_, value);
  }

  /// How far map `to` is behind map `from`.
  std::string distance(uint32_t from, uint32_t to) {
    std::string d = b_.r64();
    if (maps_.isStruct && b_.random.chance(60))
      b_.line("mov.u64 ", d, ", ", int64_t(MapShape::offset(to)) - int64_t(MapShape::offset(from)), ";");
    else
      b_.line("sub.s64 ", d, ", ", addressOf(to), ", ", addressOf(from), ";");
    return d;
  }

  /// A predicate that the text does not tell. Where threads differ in it, so do their addresses, and ways lead through
  /// memory that they share.
  std::string some() {
    std::string p = b_.pred(), n = b_.r32();
    isUniform_ = b_.random.chance(60);
    b_.line("mov.u32 ", n, ", ", isUniform_ ? "%nctaid.y" : b_.random.one({"%tid.x", "%laneid"}), ";");
    b_.line("setp.", b_.random.one({"lt", "gt", "eq"}), ".u32 ", p, ", ", n, ", ", b_.random.below(32), ";");
    return p;
  }

  std::string made(uint32_t victim, uint32_t other) {
    std::string d = b_.r64();
    switch (b_.random.below(12)) {
    case 0:
      name("map-plain");
      return addressOf(victim);
    case 1: {
      name("map-moved");
      const std::string from = addressOf(other), by = distance(other, victim);
      b_.line(b_.random.one({"add.s64 ", "add.u64 "}), d, ", ", from, ", ", by, ";");
      return d;
    }
    case 2: {
      name("map-laundered-distance");
      const std::string from = addressOf(other), by = laundered(distance(other, victim), true);
      b_.line("add.s64 ", d, ", ", from, ", ", by, ";");
      return d;
    }
    case 3: {
      name("map-selp");
      const std::string a = addressOf(victim), c = addressOf(other);
      b_.line("selp.b64 ", d, ", ", a, ", ", c, ", ", some(), ";");
      return d;
    }
    case 4: {
      name("map-branch");
      const std::string a = addressOf(victim), c = addressOf(other), p = some(), over = b_.label();
      b_.line("mov.b64 ", d, ", ", a, ";");
      b_.line("@", p, " bra ", over, ";");
      b_.line("mov.b64 ", d, ", ", c, ";");
      b_.line(over, ":");
      return d;
    }
    case 5: {
      name("map-predicated");
      const std::string a = addressOf(victim), c = addressOf(other), p = some();
      b_.line("mov.b64 ", d, ", ", a, ";");
      b_.line("@", p, " mov.b64 ", d, ", ", c, ";");
      return d;
    }
    case 6: { // from the first one on
      name("map-steps");
      const std::string from = addressOf(0), by = distance(0, maps_.count > 1 ? 1 : 0);
      std::string i = b_.r32(), again = b_.label(), over = b_.label(), p = b_.pred();
      b_.line("mov.b64 ", d, ", ", from, ";");
      b_.line("mov.u32 ", i, ", 0;");
      b_.line(again, ":");
      b_.line("setp.ge.u32 ", p, ", ", i, ", ", victim, ";");
      b_.line("@", p, " bra ", over, ";");
      b_.line("add.s64 ", d, ", ", d, ", ", by, ";");
      b_.line("add.u32 ", i, ", ", i, ", 1;");
      b_.line("bra ", again, ";");
      b_.line(over, ":");
      return d;
    }
    case 7: {
      name("map-index");
      const std::string from = addressOf(other), by = distance(other, victim);
      std::string n = b_.r32(), w = b_.r64();
      b_.line("mov.u32 ", n, ", %nctaid.y;"); // 1
      b_.line("cvt.u64.u32 ", w, ", ", n, ";");
      b_.line("mad.lo.s64 ", d, ", ", w, ", ", by, ", ", from, ";");
      return d;
    }
    case 8: {
      name("map-xor");
      const std::string a = addressOf(victim), c = addressOf(other);
      std::string x = b_.r64();
      b_.line("xor.b64 ", x, ", ", a, ", ", c, ";");
      b_.line("xor.b64 ", d, ", ", x, ", ", c, ";");
      return d;
    }
    case 9:
      return fromTable(victim, other);
    case 10:
      return copied(victim);
    default: { // -(~x) is x + 1
      name("map-signs");
      const std::string from = addressOf(other), by = distance(other, victim);
      std::string n = b_.r64(), s = b_.r64();
      b_.line("not.b64 ", n, ", ", from, ";");
      b_.line("sub.s64 ", s, ", ", n, ", ", by, ";");
      b_.line("not.b64 ", d, ", ", s, ";");
      return d;
    }
    }
  }

  /// Addresses side by side in private memory, and one of them comes back.
  std::string fromTable(uint32_t victim, uint32_t other) {
    const char *space = b_.random.one({"local", "shared"});
    name(concat("map-table-", space));
    std::string table = b_.variable(space, 32), at = b_.r64(), i = b_.r32(), w = b_.r64(), d = b_.r64();
    const std::string a = addressOf(victim), c = addressOf(other);
    b_.line("st.", space, ".u64 [", table, "], ", c, ";");
    b_.line("st.", space, ".u64 [", table, "+8], ", a, ";");
    b_.line("mov.u64 ", at, ", ", table, ";");
    if (b_.random.chance(60)) {
      b_.line("mov.u32 ", i, ", %nctaid.y;"); // 1
      b_.line("mul.wide.u32 ", w, ", ", i, ", 8;");
      b_.line("add.s64 ", at, ", ", at, ", ", w, ";");
      b_.line("ld.", space, ".u64 ", d, ", [", at, "];");
    } else {
      b_.line("ld.", space, ".u64 ", d, ", [", table, "+8];");
    }
    return d;
  }

  /// The map itself, elsewhere.
  std::string copied(uint32_t victim) {
    name("map-copied");
    const std::string variable = b_.module.name("map"), from = addressOf(victim);
    b_.module.text += concat(".global .align 128 .b8 ", variable, "[128];\n");
    std::string to = b_.r64();
    b_.line("mov.u64 ", to, ", ", variable, ";");
    for (uint32_t at = 0; at < MapShape::kBytes; at += 8) {
      std::string v = b_.r64();
      b_.line("ld.u64 ", v, ", [", from, "+", at, "];");
      b_.line("st.global.u64 [", to, "+", at, "], ", v, ";");
    }
    b_.line("fence.proxy.tensormap::generic.release.gpu;");
    b_.line("fence.proxy.tensormap::generic.acquire.gpu [", to, "], 128;");
    return to;
  }

  void store(const std::string &address) {
    std::string tile = b_.variable("shared", 16, 128), v = b_.r32(), c = b_.r32();
    b_.line("mov.u32 ", v, ", 0xabcd1234;");
    b_.line("st.shared.v4.u32 [", tile, "], {", v, ", ", v, ", ", v, ", ", v, "};");
    b_.line("fence.proxy.async.shared::cta;");
    b_.line("mov.u32 ", c, ", ", 4 * b_.random.below(64), ";");
    std::string guard;
    if (b_.random.chance(30)) {
      std::string p = b_.pred(), t = b_.r32();
      b_.line("mov.u32 ", t, ", %tid.x;");
      b_.line("setp.eq.u32 ", p, ", ", t, ", 0;");
      guard = concat("@", p, " ");
    }
    b_.line("prefetch.tensormap [", address, "];");
    b_.line(guard,
            b_.random.one({"cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [",
                           "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group ["}),
            address, ", {", c, "}], [", tile, "];");
    b_.line("cp.async.bulk.commit_group;");
    b_.line("cp.async.bulk.wait_group 0;");
  }

  Body &b_;
  const MapShape &maps_;
  std::string &names_;
  bool isUniform_ = true; // the address, over all threads
};

} // namespace

void storeThroughMap(Body &body, const MapShape &maps, uint32_t &used, std::string &names) {
  used |= maskOf(Class::Maps);
  MapStore(body, maps, names).go();
}

} // namespace tenon::proof
