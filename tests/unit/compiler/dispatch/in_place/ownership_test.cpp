// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/in_place/ownership.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class OwnershipTest : public KernelTextTest {
protected:
  /// Why the launch named `@k::@over` may not write over its first operand.
  std::string why(const std::string &arguments, const std::string &body) {
    const std::string count = " count(%d: !hal.device, %n: index) -> (index, index, index) {\n"
                              "hal.return %n, %n, %n : index, index, index\n"
                              "} attributes {workgroup_size = [64 : index]}\n";
    mlir::func::FuncOp function =
        parseFunction("#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>\n"
                      "#rw = #hal.pipeline.binding<storage_buffer>\n"
                      "#layout = #hal.pipeline.layout<bindings = [#ro, #rw]>\n"
                      "#sm = #hal.executable.target<\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\"}>\n"
                      "hal.executable.source private @k attributes {objects = "
                      "#hal.executable.objects<{#sm = [#hal.executable.object<{path = \"k.ptx\"}>]}>} {\n"
                      "hal.executable.export public @over ordinal(0) layout(#layout)" +
                      count + "hal.executable.export public @other ordinal(1) layout(#layout)" + count +
                      "}\nutil.global private mutable @kept = dense<0.0> : tensor<4xf32>\n"
                      "func.func @f(" +
                      arguments + ") -> tensor<4xf32> {\n%one = arith.constant 1 : index\n" + body + "\n}\n");
    flow::DispatchOp over;
    function.walk([&](flow::DispatchOp launch) {
      if (launch.entryPoint().getLeafReference() == "over")
        over = launch;
    });
    return Ownership(function).whyNotOver(over.getArguments()[0], over);
  }
  static std::string launch(const std::string &name, const std::string &operand) {
    return "flow.dispatch @k::@" + name + "[%one](" + operand + ") : (tensor<4xf32>) -> tensor<4xf32>\n";
  }
  const std::string kGiven = "%x: tensor<4xf32> {tenon.donated}, %c: i1", kTaken = "%x: tensor<4xf32>, %c: i1";
};

TEST_F(OwnershipTest, OfWhatACallerGivesUp) {
  const std::string body = "%0 = " + launch("over", "%x") + "return %0 : tensor<4xf32>";
  EXPECT_EQ(why(kGiven, body), "");
  EXPECT_EQ(why(kTaken, body), "others hold it, too");
  EXPECT_EQ(
      why(kTaken, "%0 = " + launch("over", "%x") +
                      "%1 = hal.tensor.alias %0 : tensor<4xf32> to %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>"),
      "")
      << "it is assigned to";
}

TEST_F(OwnershipTest, OfWhatTheFunctionComputes) {
  EXPECT_EQ(why(kTaken, "%0 = " + launch("other", "%x") + "%1 = " + launch("over", "%0") + "return %1 : tensor<4xf32>"),
            "");
  EXPECT_EQ(why(kTaken, "%0 = arith.constant dense<1.0> : tensor<4xf32>\n%1 = " + launch("over", "%0") +
                            "return %1 : tensor<4xf32>"),
            "others hold it, too");
  EXPECT_EQ(why(kTaken, "%0 = util.global.load @kept : tensor<4xf32>\n%1 = " + launch("over", "%0") +
                            "return %1 : tensor<4xf32>"),
            "others hold it, too");
}

TEST_F(OwnershipTest, NobodyReadsItBehindTheLaunch) {
  EXPECT_EQ(why(kGiven, "%1 = " + launch("other", "%x") + "%0 = " + launch("over", "%x") + "return %0 : tensor<4xf32>"),
            "");
  EXPECT_EQ(why(kGiven, "%0 = " + launch("over", "%x") + "%1 = " + launch("other", "%x") + "return %0 : tensor<4xf32>"),
            "it is read again behind it");
  EXPECT_EQ(why(kGiven, "%0 = " + launch("over", "%x") + "return %x : tensor<4xf32>"), "it is read again behind it");
  EXPECT_EQ(
      why(kGiven, "%s = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>\n"
                  "%0 = " +
                      launch("over", "%x") +
                      "%t = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>\n"
                      "%1 = " +
                      launch("other", "%t") + "return %0 : tensor<4xf32>"),
      "it is read again behind it")
      << "under another name";
  EXPECT_EQ(why(kGiven,
                "%0 = " + launch("over", "%x") + "%d = tensor.dim %x, %one : tensor<4xf32>\nreturn %0 : tensor<4xf32>"),
            "")
      << "a size is no element";
}

TEST_F(OwnershipTest, SomeLookWhenAllLaunchesAreDone) {
  EXPECT_EQ(why(kGiven, "%e = tensor.extract %x[%one] : tensor<4xf32>\n%0 = " + launch("over", "%x") +
                            "return %0 : tensor<4xf32>"),
            "it is looked at when the launches around it are done");
  EXPECT_EQ(why(kGiven,
                "check.expect_eq(%x, %x) : tensor<4xf32>\n%0 = " + launch("over", "%x") + "return %0 : tensor<4xf32>"),
            "it is looked at when the launches around it are done");
  EXPECT_EQ(why(kGiven, "util.global.store %x, @kept : tensor<4xf32>\n%0 = " + launch("over", "%x") +
                            "return %0 : tensor<4xf32>"),
            "a global holds it");
}

TEST_F(OwnershipTest, ALoopHandsOnWhatItMakes) {
  auto loop = [&](const std::string &handed, const std::string &end) {
    return "cf.br ^head(%x : tensor<4xf32>)\n^head(%v: tensor<4xf32>):\ncf.cond_br %c, ^body, ^end\n^body:\n%0 = " +
           launch("over", "%v") + "cf.br ^head(" + handed + " : tensor<4xf32>)\n^end:\nreturn " + end +
           " : tensor<4xf32>";
  };
  EXPECT_EQ(why(kGiven, loop("%0", "%v")), "");
  EXPECT_EQ(why(kTaken, loop("%0", "%v")), "others hold it, too") << "in the first round";
  EXPECT_EQ(why(kGiven, loop("%0", "%x")), "others hold it, too") << "it is read behind the loop";
  EXPECT_EQ(why(kGiven, loop("%v", "%v")), "it is read again behind it");
}

TEST_F(OwnershipTest, WhatIsHandedToTwoIsSharedByThem) {
  EXPECT_EQ(why(kGiven, "cf.br ^next(%x, %x : tensor<4xf32>, tensor<4xf32>)\n"
                        "^next(%v: tensor<4xf32>, %w: tensor<4xf32>):\n%0 = " +
                            launch("over", "%v") + "%1 = " + launch("other", "%w") + "return %1 : tensor<4xf32>"),
            "others hold it, too");
  EXPECT_EQ(why(kGiven, "cf.br ^next(%x : tensor<4xf32>)\n^next(%v: tensor<4xf32>):\n%0 = " + launch("over", "%x") +
                            "%1 = " + launch("other", "%v") + "return %1 : tensor<4xf32>"),
            "it was handed on before");
}

TEST_F(OwnershipTest, ABlockIsHandedOneName) {
  const std::string
      other = "%s = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>\n",
      read =
          "%t = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>\n%1 = " + launch("other", "%t"),
      end = "%0 = " + launch("over", "%x") + "return %0 : tensor<4xf32>";
  EXPECT_EQ(why(kGiven, other + read + end), "");
  EXPECT_EQ(why(kGiven, other + "cf.br ^next\n^next:\n" + read + end), "it comes there under two names");
}

TEST_F(OwnershipTest, ABlockThatIsDividedHandsOnOneName) {
  const std::string
      made = "%m = " + launch("other", "%x") +
             "%s = tensor.expand_shape %m [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>\n",
      read = "%r = tensor.extract %x[%one] : tensor<4xf32>\n",
      end = "cf.cond_br %c, ^yes, ^no(%s : tensor<2x2xf32>)\n^yes:\n%1 = " + launch("other", "%m") +
            "return %1 : tensor<4xf32>\n^no(%v: tensor<2x2xf32>):\n"
            "%t = tensor.collapse_shape %v [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>\n%0 = " +
            launch("over", "%t") + "return %0 : tensor<4xf32>";
  EXPECT_EQ(why(kTaken, made + end), "");
  EXPECT_EQ(why(kTaken, made + read + end), "others hold it, too") << "the second part has both";
}

TEST_F(OwnershipTest, WaysThatDoNotMeetDoNotMatter) {
  auto branches = [&](const std::string &no) {
    return "cf.cond_br %c, ^yes, ^no\n^yes:\n%0 = " + launch("over", "%x") +
           "return %0 : tensor<4xf32>\n^no:\n%1 = " + launch("other", no) + "return %1 : tensor<4xf32>";
  };
  EXPECT_EQ(why(kGiven, branches("%x")), "");
  EXPECT_EQ(why(kGiven, "cf.br ^round\n^round:\n%0 = " + launch("over", "%x") +
                            "cf.cond_br %c, ^round, ^end\n^end:\nreturn %0 : tensor<4xf32>"),
            "it is read again on a way from there")
      << "in the next round";
}

// What a call leaves in an argument is what is assigned on its path, and what the host reads is what was there before.
TEST_F(OwnershipTest, WhatIsAssignedOnOnePathIsComputedElsewhere) {
  const std::string assigned = "%1 = hal.tensor.alias %0 : tensor<4xf32> to %x : tensor<4xf32>\n";
  EXPECT_EQ(why(kGiven, "%0 = " + launch("over", "%x") + "cf.cond_br %c, ^a, ^b\n^a:\n" + assigned +
                            "cf.br ^b\n^b:\nreturn %0 : tensor<4xf32>"),
            "others hold it, too");
  EXPECT_EQ(why(kGiven, "%i = arith.constant 0 : index\n%e = tensor.extract %x[%i] : tensor<4xf32>\n%0 = " +
                            launch("over", "%x") + assigned + "return %0 : tensor<4xf32>"),
            "others hold it, too");
}

// The loop's memory is handed to it, and asked for its size behind it.
TEST_F(OwnershipTest, ABlockThatAsksForASizeHoldsTheTensor) {
  EXPECT_NE(
      why(kTaken, "cf.br ^a(%x : tensor<4xf32>)\n^a(%v: tensor<4xf32>):\n%0 = " + launch("over", "%v") +
                      "cf.cond_br %c, ^a(%0 : tensor<4xf32>), ^b\n^b:\n%i = arith.constant 0 : index\n%n = tensor.dim "
                      "%v, %i : tensor<4xf32>\nreturn %0 : tensor<4xf32>"),
      "");
}

} // namespace
} // namespace tenon::compiler::dispatch
