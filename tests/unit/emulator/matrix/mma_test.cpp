// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync of 8-bit floats and of doubles: whole numbers, whose products and sums every form holds exactly, against
// three loops. Fragments are laid out here by the tables of the PTX ISA ("Matrix Fragments for mma").
#include "support/small_float.h"
#include "tests/unit/emulator/harness.h"

#include <cstring>

namespace tenon::emulator::test {
namespace {

constexpr uint32_t kLanes = 32, kColumns = 8;

/// Small whole numbers, none of them like its neighbours.
int numberAt(uint32_t row, uint32_t column, int factor) {
  return int(row * 7 + column * 5 + row * column) % (2 * factor + 1) - factor;
}

enum class Sum { F32, F64, S32 };
struct Form {
  std::string name;       // of the instruction
  uint32_t m, k, perWord; // elements of A and B in a register
  Sum sum;
  bool isDouble() const { return sum == Sum::F64; }
};

/// Row and column of element `i` of lane `lane`, through its registers.
std::pair<uint32_t, uint32_t> placeOfA(const Form &form, uint32_t lane, uint32_t i) {
  const uint32_t reg = i / form.perWord, group = lane / 4, thread = lane % 4;
  const bool isLower = form.m == 16 && reg % 2 == 1;
  const uint32_t block = form.m == 16 ? reg / 2 : reg;
  return {group + (isLower ? 8 : 0), (block * 4 + thread) * form.perWord + i % form.perWord};
}

std::string registers(const char *prefix, uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i)
    text += (i == 0 ? "{%" : ", %") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

/// A kernel of one warp: each lane loads its registers of A and B, and stores those of the product.
std::string kernel(const Form &form, uint32_t a, uint32_t b, uint32_t d) {
  const std::string input = form.isDouble() ? "f64" : "u32", sum = form.isDouble()        ? "f64"
                                                                   : form.sum == Sum::F32 ? "f32"
                                                                                          : "s32";
  const uint32_t bytes = form.isDouble() ? 8 : 4;
  std::string text = header("sm_90a") +
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d)\n{\n"
                     "  .reg .b64 %p<3>, %t;\n  .reg .b32 %l;\n  .reg ." +
                     std::string(form.isDouble() ? "f64 %a<8>, %b<4>" : "b32 %a<8>, %b<4>") + ";\n  .reg ." + sum +
                     " %d<4>, %z;\n  mov.u32 %l, %laneid;\n";
  auto at = [&](const char *name, uint32_t number, uint32_t count) {
    const std::string pointer = "%p" + std::to_string(number);
    text += "  ld.param.u64 " + pointer + ", [" + name + "];\n  mul.wide.u32 %t, %l, " + std::to_string(count * bytes) +
            ";\n  add.u64 " + pointer + ", " + pointer + ", %t;\n";
    return pointer;
  };
  auto load = [&](const char *name, uint32_t number, uint32_t count) {
    const std::string pointer = at(name, number, count);
    for (uint32_t i = 0; i < count; ++i)
      text += "  ld.global." + input + " %" + name + std::to_string(i) + ", [" + pointer + "+" +
              std::to_string(i * bytes) + "];\n";
  };
  load("a", 0, a);
  load("b", 1, b);
  const char *start = form.isDouble() ? ", 0d4008000000000000;\n" : form.sum == Sum::F32 ? ", 0f40400000;\n" : ", 3;\n";
  for (uint32_t i = 0; i < d; ++i)
    text += "  mov." + sum + " %d" + std::to_string(i) + start;
  text += "  " + form.name + " " + registers("d", d) + ", " + registers("a", a) + ", " + registers("b", b) + ", " +
          registers("d", d) + ";\n";
  const std::string pointer = at("d", 2, d);
  for (uint32_t i = 0; i < d; ++i)
    text +=
        "  st.global." + sum + " [" + pointer + "+" + std::to_string(i * bytes) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

/// 3 + the product, for whole numbers of at most `factor`.
template <typename Register, typename Result, typename Encode>
void expectProduct(const Form &form, int factor, Encode encode) {
  const uint32_t a = form.m * form.k / kLanes / form.perWord, b = kColumns * form.k / kLanes / form.perWord,
                 d = form.m * kColumns / kLanes;
  std::vector<Register> left(kLanes * a), right(kLanes * b);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t i = 0; i < a * form.perWord; ++i) {
      const auto [row, column] = placeOfA(form, lane, i);
      encode(left[lane * a + i / form.perWord], i % form.perWord, numberAt(row, column, factor), /*isLeft=*/true);
    }
    for (uint32_t i = 0; i < b * form.perWord; ++i) {
      const uint32_t row = (i / form.perWord * 4 + lane % 4) * form.perWord + i % form.perWord;
      encode(right[lane * b + i / form.perWord], i % form.perWord, numberAt(row, lane / 4, factor), /*isLeft=*/false);
    }
  }
  Session session;
  DeviceArray<Register> x(left), y(right);
  DeviceArray<Result> out(kLanes * d);
  ASSERT_EQ(run(kernel(form, a, b, d), {x.address, y.address, out.address}, 1, kLanes), CUDA_SUCCESS) << lastReport();
  const std::vector<Result> found = out.read();
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t i = 0; i < d; ++i) {
      const uint32_t row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      int wanted = 3;
      for (uint32_t k = 0; k < form.k; ++k)
        wanted += numberAt(row, k, factor) * numberAt(k, column, factor);
      EXPECT_EQ(found[lane * d + i], Result(wanted)) << form.name << ", row " << row << ", column " << column;
    }
}

TEST(EmulatorMma, MultipliesFloatsOfABytePairedAnyWay) {
  for (const char *left : {"e4m3", "e5m2"})
    for (const char *right : {"e4m3", "e5m2"}) {
      const Form form{"mma.sync.aligned.m16n8k32.row.col.f32." + std::string(left) + "." + right + ".f32", 16, 32, 4,
                      Sum::F32};
      expectProduct<uint32_t, float>(form, 4, [&](uint32_t &word, uint32_t byte, int number, bool isLeft) {
        const bool isE4m3 = std::string_view(isLeft ? left : right) == "e4m3";
        const uint8_t code = isE4m3 ? floatToE4m3(float(number)) : floatToE5m2(float(number));
        word |= uint32_t(code) << (8 * byte);
      });
    }
}

TEST(EmulatorMma, MultipliesBytesInTheShapeOfTuring) {
  const Form form{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 4, Sum::S32};
  expectProduct<uint32_t, int32_t>(form, 100, [](uint32_t &word, uint32_t byte, int number, bool) {
    word |= uint32_t(uint8_t(number)) << (8 * byte);
  });
}

TEST(EmulatorMma, MultipliesDoublesInEveryShape) {
  struct Shape {
    const char *name;
    uint32_t m, k;
  };
  for (const Shape &shape : {Shape{"m8n8k4", 8, 4}, {"m16n8k4", 16, 4}, {"m16n8k8", 16, 8}, {"m16n8k16", 16, 16}}) {
    const Form form{"mma.sync.aligned." + std::string(shape.name) + ".row.col.f64.f64.f64.f64", shape.m, shape.k, 1,
                    Sum::F64};
    expectProduct<double, double>(form, 100, [](double &value, uint32_t, int number, bool) { value = number; });
  }
}

TEST(EmulatorMma, SumsOfFloatsOfAByteKeep13BitsBelowTheLargestExponent) {
  // 2^8 * 2^5 and 1: 13 bits below. Half of that is dropped.
  const Form form{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, 4, Sum::F32};
  Session session;
  for (const float small : {1.0f, 0.5f}) {
    std::vector<uint32_t> left(kLanes * 4), right(kLanes * 2);
    left[0] = uint32_t(floatToE4m3(256)) | uint32_t(floatToE4m3(small)) << 8; // row 0, elements 0 and 1
    right[0] = uint32_t(floatToE4m3(32)) | uint32_t(floatToE4m3(1)) << 8;
    DeviceArray<uint32_t> x(left), y(right);
    DeviceArray<float> out(kLanes * 4);
    std::string text = kernel(form, 4, 2, 4);
    for (size_t at; (at = text.find("0f40400000")) != std::string::npos;)
      text.replace(at, 10, "0f00000000");
    ASSERT_EQ(run(text, {x.address, y.address, out.address}, 1, kLanes), CUDA_SUCCESS) << lastReport();
    EXPECT_EQ(out.read()[0], small == 1 ? 8193.0f : 8192.0f);
  }
}

TEST(EmulatorMma, RefusesOtherForms) {
  Session session;
  for (const char *body : {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
                           "{%r2}, {%f0, %f1, %f2, %f3};",
                           "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.s8.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
                           "%r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};",
                           "mma.sync.aligned.m16n8k32.row.col.s32.e4m3.e4m3.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, "
                           "%r3}, {%r4, %r5}, {%r0, %r1, %r2, %r3};"}) {
    const std::string why =
        refusal(header("sm_90a") + ".visible .entry k(.param .u64 p)\n{\n  .reg .b32 %r<8>;\n  .reg .f32 %f<4>;\n  " +
                body + "\n  ret;\n}\n");
    EXPECT_NE(why.find("the emulator does not support 'mma."), std::string::npos) << why;
  }
}

} // namespace
} // namespace tenon::emulator::test
