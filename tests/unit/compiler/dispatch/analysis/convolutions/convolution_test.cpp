// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/convolutions/convolution.h"

#include "tests/unit/compiler/dispatch/convolutions.h"

namespace tenon::compiler::dispatch {
namespace {

using ConvolutionOf = ConvolutionTest;

TEST_F(ConvolutionOf, ANamedOneIsMadeGeneric) {
  const auto found = convolution({});
  ASSERT_TRUE(found);
  mlir::linalg::GenericOp op = found->op;
  EXPECT_EQ(found->image, op.getDpsInputOperand(0));
  EXPECT_EQ(found->filters, op.getDpsInputOperand(1));
  EXPECT_EQ(op.getStaticLoopRanges()[found->channels], 64);
  EXPECT_TRUE(found->hasManyChannels());
}

TEST_F(ConvolutionOf, ANamedOneThatIsTooSmallIsGenericToo) {
  mlir::func::FuncOp function = parseFunction(text({.size = 2, .channels = 1, .results = 1, .window = 1}));
  mlir::linalg::GenericOp op = genericWindowOf(*function.getOps<mlir::linalg::LinalgOp>().begin());
  ASSERT_TRUE(op);
  EXPECT_EQ(result(), op);
  EXPECT_FALSE(Convolution::of(op));
}

TEST_F(ConvolutionOf, ChannelsAreManyWhereTheyFillHalfOfAStepInWholeVectors) {
  EXPECT_FALSE(convolution({.channels = 3, .results = 512})->hasManyChannels());
  EXPECT_FALSE(convolution({.channels = 24, .results = 128})->hasManyChannels()) << "48 bytes";
  EXPECT_TRUE(convolution({.channels = 32})->hasManyChannels());
  EXPECT_FALSE(convolution({.channels = 36})->hasManyChannels()) << "72 bytes are no vectors of 16";
  EXPECT_TRUE(convolution({.channels = 40})->hasManyChannels());
}

TEST_F(ConvolutionOf, OfExactF32NoTensorCoreMultiplies) {
  EXPECT_FALSE(convolution({.type = "f32"})->isOnCores);
  EXPECT_TRUE(convolution({})->isOnCores);
}

TEST_F(ConvolutionOf, SmallOnesAreNone) {
  EXPECT_FALSE(convolution({.batch = 1, .size = 10}));
  EXPECT_FALSE(convolution({.batch = -1})) << "of an unknown number of images";
}

TEST_F(ConvolutionOf, OneOfUnknownImagesIsAskedForByName) {
  EXPECT_FALSE(convolution({.batch = -1}));
  const auto found = Convolution::ofUnknownImages(result());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isOnCores);
  EXPECT_TRUE(found->hasManyChannels());
  EXPECT_FALSE(convolution({.batch = -1, .size = 3}));
  EXPECT_FALSE(Convolution::ofUnknownImages(result())) << "of eight it would be small";
}

TEST_F(ConvolutionOf, ImagesMayBeOfAnySize) {
  EXPECT_FALSE(convolution({.batch = -1, .isOfAnySize = true}));
  const auto found = Convolution::ofUnknownImages(result());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isOnCores);
  EXPECT_TRUE(found->hasManyChannels());
  EXPECT_FALSE(convolution({.batch = 2, .isOfAnySize = true})) << "sizes are to be known";
  EXPECT_TRUE(Convolution::ofUnknownImages(result()));
}

TEST_F(ConvolutionOf, F32IsOneWhereItMayBeRounded) {
  EXPECT_TRUE(convolution({.type = "f32", .attributes = "attributes {tenon.tf32}"}));
}

} // namespace
} // namespace tenon::compiler::dispatch
