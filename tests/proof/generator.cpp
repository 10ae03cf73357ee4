// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/generator.h"
#include "tests/proof/disturb.h"
#include "tests/proof/guesses.h"

#include <utility>

namespace tenon::proof {
namespace {

class Generator {
public:
  Generator(uint64_t seed, uint32_t classes)
      : random_(seed * 0x2545f4914f6cdd1d + 1), classes_(classes), body_(random_, module_) {
    result_.seed = seed;
  }

  Case run() {
    result_.bindings = 2 + random_.below(3);
    result_.constants = random_.below(3);
    const uint32_t hostile = classes_ & ~(maskOf(Class::Benign) | maskOf(Class::Maps));
    const bool storesByMap =
        (classes_ & maskOf(Class::Maps)) && (random_.chance(15) || classes_ == maskOf(Class::Maps));
    if (storesByMap)
      result_.maps = {1 + random_.below(result_.bindings), random_.chance(50), random_.chance(50)};
    readParameters();
    const size_t head = body_.lines().size();
    const uint32_t statements = random_.chance(70) ? 1 : 2;
    for (uint32_t i = 0; i < statements; ++i) {
      if (storesByMap && (i == 0 || random_.chance(50) || classes_ == maskOf(Class::Maps)))
        storeThroughMap(body_, result_.maps, result_.classes, result_.ways);
      else if (!hostile || ((classes_ & maskOf(Class::Benign)) && random_.chance(20)))
        benign();
      else
        hostile_(hostile);
    }
    if ((classes_ & maskOf(Class::Control)) && random_.chance(25)) {
      result_.classes |= maskOf(Class::Control);
      name(disturb(body_, head));
    }
    return finished();
  }

  Case runOne(const Guess &guess) {
    result_.bindings = 2;
    readParameters();
    searched(guess, 0, pointers_[1]);
    return finished();
  }

  Case runOne(const Ways &ways) {
    result_.bindings = 2;
    readParameters();
    body_.parameter = "k_param_0";
    body_.other = pointers_[1];
    body_.line("st.global.u32 [", launder(body_, ways, pointers_[0], result_.classes, result_.ways), "], 1;");
    return finished();
  }

private:
  Case finished() {
    body_.line("ret;");
    result_.ptx = concat(".version 8.4\n.target sm_90\n.address_size 64\n", module_.text, ".visible .entry k(", head_,
                         ")\n", body_.text());
    return std::move(result_);
  }

  void readParameters() {
    if (result_.maps.count && result_.maps.isFirst)
      head_ = mapParameters(result_.maps);
    for (uint32_t i = 0; i < result_.bindings; ++i) {
      head_ += concat(head_.empty() ? "" : ", ", ".param .u64 k_param_", i);
      std::string p = body_.r64();
      body_.line("ld.param.u64 ", p, ", [k_param_", i, "];");
      if (random_.chance(60)) {
        std::string g = body_.r64();
        body_.line("cvta.to.global.u64 ", g, ", ", p, ";");
        p = g;
      }
      pointers_.push_back(p);
    }
    for (uint32_t i = 0; i < result_.constants; ++i)
      head_ += concat(", .param .u32 k_param_", result_.bindings + i);
    if (result_.maps.count && !result_.maps.isFirst)
      head_ += concat(", ", mapParameters(result_.maps));
    count_ = body_.r32();
    if (result_.constants)
      body_.line("ld.param.u32 ", count_, ", [k_param_", result_.bindings, "];");
    else
      body_.line("mov.u32 ", count_, ", 100;");
  }

  void name(std::string_view text) { result_.ways += concat(result_.ways.empty() ? "" : " ", text); }

  void benign() {
    const Benign &kernel = benignKernels()[random_.below(uint32_t(benignKernels().size()))];
    result_.classes |= maskOf(Class::Benign);
    name(concat("benign:", kernel.name));
    std::vector<std::string> shuffled = pointers_;
    for (uint32_t i = uint32_t(shuffled.size()); i > 1; --i)
      std::swap(shuffled[i - 1], shuffled[random_.below(i)]);
    kernel.go(body_, shuffled, count_);
  }

  /// A write behind a pointer that was laundered.
  void hostile_(uint32_t classes) {
    const uint32_t victim = random_.below(result_.bindings);
    const uint32_t other = (victim + 1 + random_.below(result_.bindings - 1)) % result_.bindings;
    body_.parameter = concat("k_param_", victim);
    body_.before = victim ? concat("k_param_", victim - 1) : "";
    body_.other = random_.chance(80) ? pointers_[other] : "";
    // One class or two at a time: what a kernel shows is then theirs. Now and then all of them.
    uint32_t taken = classes;
    if (!random_.chance(20)) {
      taken = pickOf(classes);
      if (random_.chance(40))
        taken |= pickOf(classes);
    }
    if (random_.chance(4) && searchedWith(taken, victim, other))
      return;
    const Ways ways(taken);
    if (!ways.hasChannels() && !ways.hasValues())
      return;
    const std::string &p = pointers_[victim], &q = pointers_[other];
    std::string address;
    const uint32_t form = random_.below(10);
    switch (form == 0 && !ways.hasValues() ? 9 : form) {
    case 0: { // a distance is laundered
      std::string distance = body_.r64(), sum = body_.r64();
      body_.line("sub.s64 ", distance, ", ", p, ", ", q, ";");
      body_.parameter.clear();
      name("distance-from-another");
      const ValueWay &way = ways.value(random_); // a difference may be negative: fields take 48 bits
      result_.classes |= maskOf(way.kind);
      name(way.name);
      distance = way.go(body_, distance);
      body_.line("add.s64 ", sum, ", ", q, ", ", distance, ";");
      address = sum;
      break;
    }
    case 1: { // the distance of what was laundered
      std::string distance = body_.r64(), sum = body_.r64();
      const std::string again = launder(body_, ways, p, result_.classes, result_.ways);
      body_.line("sub.s64 ", distance, ", ", again, ", ", q, ";");
      body_.line("add.s64 ", sum, ", ", distance, ", ", q, ";");
      address = sum;
      break;
    }
    case 2: { // the low half is laundered; the high one comes from another buffer, which may lie near
      std::string low = body_.r64(), high = body_.r64(), d = body_.r64();
      const uint32_t bits = random_.chance(50) ? 32 : 13 + random_.below(30);
      const uint64_t mask = (uint64_t(1) << bits) - 1;
      name("high-half-of-another");
      const bool isPlain = (taken & maskOf(Class::Arithmetic)) && random_.chance(50);
      if (isPlain)
        result_.classes |= maskOf(Class::Arithmetic);
      const std::string again = isPlain ? p : launder(body_, ways, p, result_.classes, result_.ways);
      body_.line("and.b64 ", low, ", ", again, ", ", mask, ";");
      body_.line("and.b64 ", high, ", ", q, ", ", ~mask, ";");
      body_.line(random_.one({"or.b64 ", "add.s64 ", "xor.b64 "}), d, ", ", high, ", ", low, ";");
      address = d;
      break;
    }
    default:
      address = launder(body_, ways, p, result_.classes, result_.ways);
    }
    write(address);
    body_.parameter.clear();
  }

  bool searchedWith(uint32_t classes, uint32_t victim, uint32_t other) {
    const Guess &guess = guesses()[random_.below(uint32_t(guesses().size()))];
    if (!(classes & maskOf(guess.kind)))
      return false;
    searched(guess, victim, pointers_[other]);
    return true;
  }

  /// Where a guess is wrong, a variable of the module is written, or another buffer.
  void searched(const Guess &guess, uint32_t victim, const std::string &other) {
    result_.classes |= maskOf(guess.kind);
    name(guess.name);
    std::string harmless = other;
    if (random_.chance(30)) {
      const char *space = random_.one({"shared", "local"});
      std::string variable = body_.variable(space, 64), offset = body_.r64(), v = body_.r32();
      harmless = body_.r64();
      body_.line("mov.u64 ", offset, ", ", variable, ";");
      body_.line("cvta.", space, ".u64 ", harmless, ", ", offset, ";");
      body_.line("mov.u32 ", v, ", 7;");
      search(body_, guess, pointers_[victim], harmless,
             [&](const std::string &address) { body_.line("st.u32 [", address, "], ", v, ";"); });
      return;
    }
    if (random_.chance(75)) {
      const std::string variable = module_.name("harmless");
      module_.text += concat(".global .align 16 .b8 ", variable, "[4096];\n");
      harmless = body_.r64();
      body_.line("mov.u64 ", harmless, ", ", variable, ";");
    }
    search(body_, guess, pointers_[victim], harmless, [this](const std::string &address) { write(address); });
  }

  uint32_t pickOf(uint32_t classes) {
    while (true)
      if (const uint32_t one = 1u << random_.below(kClasses); classes & one)
        return one;
  }

  void write(std::string address) {
    Body &b = body_;
    if (random_.chance(40)) {
      std::string t = b.r32(), w = b.r64(), d = b.r64();
      b.line("mov.u32 ", t, ", %tid.x;");
      b.line("mul.wide.u32 ", w, ", ", t, ", 16;");
      b.line("add.s64 ", d, ", ", address, ", ", w, ";");
      address = d;
    }
    const uint32_t offset = 16 * random_.below(5);
    const std::string place = concat("[", address, "+", offset, "]");
    std::string v = b.r32(), w = b.r64(), old = b.r32();
    b.line("mov.u32 ", v, ", 0xabcd1234;");
    b.line("mov.u64 ", w, ", 0xabcd1234abcd1234;");
    switch (random_.below(12)) {
    case 0:
      b.line("st.u32 ", place, ", ", v, ";");
      break;
    case 1:
      b.line("st.global.v2.u64 ", place, ", {", w, ", ", w, "};");
      break;
    case 2:
      b.line("red.global.add.u32 ", place, ", ", v, ";");
      break;
    case 3:
      b.line("atom.", random_.chance(50) ? "global." : "", "exch.b32 ", old, ", ", place, ", ", v, ";");
      break;
    case 4:
      b.line("st.global.u8 ", place, ", ", v, ";");
      break;
    case 5:
      storeInFunction(address, offset, v);
      break;
    case 6:
      copyFromShared(address, offset);
      break;
    case 7: {
      std::string p = b.pred(), t = b.r32();
      b.line("mov.u32 ", t, ", %tid.x;");
      b.line("setp.lt.u32 ", p, ", ", t, ", 32;");
      b.line("@", p, " st.global.u32 ", place, ", ", v, ";");
      break;
    }
    case 8:
      b.line("red.global.xor.b64 ", place, ", ", w, ";");
      break;
    case 9: {
      std::string to = b.r64();
      b.line("cvta.to.global.u64 ", to, ", ", address, ";");
      b.line("st.global.v4.u32 [", to, "+", offset, "], {", v, ", ", v, ", ", v, ", ", v, "};");
      break;
    }
    default:
      b.line("st.global.u32 ", place, ", ", v, ";");
    }
  }

  void storeInFunction(const std::string &address, uint32_t offset, const std::string &value) {
    std::string name = module_.name("store");
    module_.text += concat(".func ", name,
                           "(.param .b64 a, .param .b32 b)\n{\n.reg .b64 %rd<1>;\n.reg .b32 %r<1>;\n"
                           "ld.param.b64 %rd0, [a];\nld.param.b32 %r0, [b];\nst.u32 [%rd0+",
                           offset, "], %r0;\nret;\n}\n");
    body_.line("{ .param .b64 i; .param .b32 j; st.param.b64 [i], ", address, "; st.param.b32 [j], ", value,
               "; call.uni ", name, ", (i, j); }");
  }

  void copyFromShared(const std::string &address, uint32_t offset) {
    Body &b = body_;
    std::string source = b.variable("shared", 16), to = b.r64(), t = b.r32();
    b.line("mov.u32 ", t, ", 7;");
    b.line("st.shared.u32 [", source, "], ", t, ";");
    b.line("fence.proxy.async.shared::cta;");
    b.line("add.s64 ", to, ", ", address, ", ", offset, ";");
    b.line(random_.chance(50) ? "cp.async.bulk.global.shared::cta.bulk_group ["
                              : "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [",
           to, "], [", source, "], 16;");
    b.line("cp.async.bulk.commit_group;");
    b.line("cp.async.bulk.wait_group 0;");
  }

  Random random_;
  const uint32_t classes_;
  ModuleText module_;
  Body body_;
  Case result_;
  std::string head_, count_;
  std::vector<std::string> pointers_;
};

} // namespace

Case makeCase(uint64_t seed, const Ways &ways) {
  return Generator(seed, 0).runOne(ways);
}

Case makeCase(uint64_t seed, const Guess &guess) {
  return Generator(seed, 0).runOne(guess);
}

Case makeCase(uint64_t seed, uint32_t classes) {
  return Generator(seed, classes).run();
}

} // namespace tenon::proof
