// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generator that knows the values in scope and their types. Each choice takes a byte; where there are none left the
// first alternative is taken, which ends.
#include "mlir_grammar.h"

#include <initializer_list>

namespace tenon::fuzz {
namespace {

using Words = std::initializer_list<const char *>;

struct Value {
  std::string name, type;
};

class Generator {
public:
  explicit Generator(Stream &in) : in_(in) {}

  std::string module() {
    for (uint64_t aliases = in_.below(4); aliases != 0; --aliases)
      line("#alias" + std::to_string(aliases_++) + " = " + attribute(3));
    line("module" + (in_.flag() ? " @" + word() : std::string()) +
         (in_.flag() ? " attributes {hal.device.targets = [" + deviceTarget() + "]}" : "") + " {");
    for (uint64_t items = in_.below(3) + 1; items != 0; --items)
      item(2);
    line("}");
    return std::move(text_);
  }

private:
  std::string pick(Words words) { return words.begin()[in_.below(words.size())]; }
  bool rarely() { return in_.byte() >= 248; }
  void line(const std::string &text) { text_ += text + "\n"; }
  std::string word() {
    return pick({"f", "g", "kernels", "add", "a_rather_long_name", "\"with space\"", "f$0", "_", "index", "\"\""});
  }
  std::string number() {
    return pick({"1", "0", "2", "4", "64", "1024", "-1", "65536", "2147483647", "4294967296", "9223372036854775807",
                 "18446744073709551616", "0x7f", "1.0", "-0.0", "1e400", "0xFFFFFFFF"});
  }
  std::string element() {
    return pick({"f32", "i32", "f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i64", "index", "i7", "complex<f32>",
                 "f8E4M3FN", "ui32", "none"});
  }
  std::string tensor() {
    std::string out = "tensor<";
    for (uint64_t rank = in_.below(rarely() ? 80 : 4); rank != 0; --rank)
      out += pick({"4x", "?x", "1x", "8x", "0x", "3x", "1000000x", "9223372036854775807x"});
    return out + element() + (rarely() ? ", " + attribute(1) : "") + ">";
  }
  std::string type() {
    if (rarely())
      return pick({"!hal.device", "!hal.buffer_view", "vector<4xf32>", "memref<?xf32>", "tuple<f32, i32>",
                   "!unknown.t<4>", "() -> ()"});
    return in_.byte() < 180 ? tensor() : element();
  }

  std::string attribute(unsigned depth) {
    if (depth == 0 || in_.byte() < 64)
      return pick({"1 : i32", "\"text\"", "unit", "true", "@f", "@f::@g", "f32", "1.5 : f32", "-1 : index", "dense<0>",
                   "affine_map<(d0) -> (d0)>", "[]", "{}"});
    switch (in_.below(6)) {
    case 0:
      return "[" + attribute(depth - 1) + ", " + attribute(depth - 1) + "]";
    case 1:
      return "{" + pick({"a", "target_arch", "workgroup_size", "\"x y\""}) + " = " + attribute(depth - 1) + "}";
    case 2:
      return aliases_ == 0 ? "unit" : "#alias" + std::to_string(in_.below(aliases_));
    case 3:
      return "dense<" + (in_.flag() ? number() : "[" + number() + ", " + number() + "]") + "> : " + tensor();
    case 4:
      return "affine_map<(d0, d1)[s0] -> (" + affine(3) + ", " + affine(3) + ")>";
    default:
      return target();
    }
  }
  std::string affine(unsigned depth) {
    if (depth == 0 || in_.byte() < 80)
      return pick({"d0", "d1", "s0", "1", "0", "64", "-1", "d7"});
    return "(" + affine(depth - 1) + pick({" + ", " * ", " - ", " floordiv ", " ceildiv ", " mod "}) +
           affine(depth - 1) + ")";
  }
  std::string target() {
    return "#hal.executable.target<\"" + pick({"cuda", "cuda", "vulkan-spirv", ""}) +
           "\", \"cuda-nvptx-fb\", {target_arch = " +
           (rarely() ? attribute(1)
                     : "\"" + pick({"sm_75", "sm_80", "sm_90", "sm_90a", "sm_1", "", "sm_99999999999"}) + "\"") +
           "}>";
  }
  std::string deviceTarget() { return "#hal.device.target<\"cuda\", [" + target() + "]> : !hal.device"; }
  std::string layout() {
    std::string bindings;
    for (uint64_t count = in_.below(4); count != 0; --count)
      bindings += (bindings.empty() ? "" : ", ") + std::string("#hal.pipeline.binding<storage_buffer") +
                  (in_.flag() ? ", " + pick({"ReadOnly", "Indirect", "\"ReadOnly|Indirect\"", "Nothing"}) : "") + ">";
    return "#hal.pipeline.layout<constants = " + (rarely() ? number() : std::to_string(in_.below(4))) +
           ", bindings = [" + bindings + "]>";
  }

  void item(unsigned depth) {
    switch (in_.below(depth == 0 ? 4 : 6)) {
    case 0:
    case 1:
    case 2:
      return function();
    case 3:
      return executable();
    case 4:
      line("module @" + word() + " {");
      item(depth - 1);
      return line("}");
    default:
      line(pick({"util.global private @v = ", "\"unknown.op\"() : () -> () // ", "func.func private @h() // ",
                 "flow.executable private @e {} // "}) +
           attribute(2) + (in_.flag() ? " : " + type() : ""));
    }
  }

  void executable() {
    line("hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{" + target() +
         " = [#hal.executable.object<{" +
         (in_.flag() ? "path = \"none.ptx\"" : "data = dense<[" + number() + "]> : vector<1xi8>") + "}>]}>} {");
    for (uint64_t exports = in_.below(3); exports != 0; --exports) {
      line("hal.executable.export public @" + word() + " ordinal(" + std::to_string(in_.below(3)) + ") layout(" +
           layout() + ")");
      if (in_.flag())
        line("count(%device: !hal.device, %w: index) -> (index, index, index) {\n"
             "%x = affine.apply affine_map<()[s0] -> (" +
             affine(2) + ")>()[%w]\n%c = arith.constant " + number() +
             " : index\nhal.return %x, %c, %c : index, index, index\n}");
      if (in_.flag())
        line("attributes {workgroup_size = [" + number() + " : index, 1 : index, 1 : index]}");
    }
    line("}");
  }

  std::string newName() { return "%v" + std::to_string(next_++); }
  Value value() {
    if (values_.empty() || rarely())
      return {"%missing", type()};
    return values_[in_.below(values_.size())];
  }
  void define(const std::string &name, const std::string &type, const std::string &operation) {
    line(name + " = " + operation);
    values_.push_back({name, type});
  }

  void function() {
    values_.clear();
    std::string arguments;
    for (uint64_t count = in_.below(4); count != 0; --count) {
      values_.push_back({newName(), type()});
      arguments += (arguments.empty() ? "" : ", ") + values_.back().name + ": " + values_.back().type;
    }
    const size_t head = text_.size();
    for (uint64_t operations = in_.below(12); operations != 0; --operations)
      operation();
    std::string names, types;
    for (uint64_t count = in_.below(3); count != 0 && !values_.empty(); --count) {
      const Value result = value();
      names += (names.empty() ? " " : ", ") + result.name;
      types += (types.empty() ? "" : ", ") + result.type;
    }
    line("return" + names + (types.empty() ? "" : " : " + types));
    line("}");
    text_.insert(head, pick({"func.func @", "func.func private @", "util.func public @"}) + "fn" +
                           std::to_string(next_++) + "(" + arguments + ") -> (" + types + ") {\n");
  }

  void operation() {
    const Value one = value(), two = value();
    const std::string name = newName();
    switch (in_.below(12)) {
    case 0:
      return define(name, "index", "arith.constant " + number() + " : index");
    case 1: {
      const std::string of = tensor();
      return define(name, of, "arith.constant dense<" + number() + "> : " + of);
    }
    case 2:
    case 3:
    case 4:
      return define(name, one.type,
                    pick({"arith.addf ", "arith.mulf ", "arith.addi ", "arith.subf ", "arith.divsi ", "arith.maximumf ",
                          "arith.shli ", "arith.remf "}) +
                        one.name + ", " + (in_.byte() < 200 ? one.name : two.name) + " : " + one.type);
    case 5:
      return define(name, one.type,
                    pick({"math.exp ", "math.sqrt ", "math.tanh ", "arith.negf ", "math.absi "}) + one.name + " : " +
                        one.type);
    case 6: {
      const std::string index = newName();
      define(index, "index", "arith.constant " + std::to_string(in_.below(3)) + " : index");
      return define(name, "index", "tensor.dim " + one.name + ", " + index + " : " + one.type);
    }
    case 7: {
      const std::string to = element();
      return define(name, to, "arith.index_cast " + one.name + " : " + one.type + " to " + to);
    }
    case 8: {
      const std::string result = tensor();
      return define(name, result,
                    "flow.dispatch @kernels::@" + word() + "[" + two.name + "](" + one.name + ") : (" + one.type +
                        ") -> " + result);
    }
    case 9:
      return define(name, one.type,
                    pick({"flow.tensor.clone ", "util.optimization_barrier ", "flow.tensor.barrier "}) + one.name +
                        " : " + one.type);
    case 10:
      return line(pick({"check.expect_eq(", "check.expect_almost_eq("}) + one.name + ", " + two.name +
                  ") : " + one.type);
    default: {
      const std::string result = tensor();
      return define(name, result,
                    pick({"linalg.matmul", "linalg.add", "linalg.copy", "linalg.fill"}) + " ins(" + one.name + ", " +
                        two.name + " : " + one.type + ", " + two.type + ") outs(" + one.name + " : " + one.type +
                        ") -> " + result);
    }
    }
  }

  Stream &in_;
  std::string text_;
  std::vector<Value> values_;
  size_t aliases_ = 0, next_ = 0;
};

} // namespace

std::string mlirModule(Stream &in) {
  return Generator(in).module();
}

} // namespace tenon::fuzz
