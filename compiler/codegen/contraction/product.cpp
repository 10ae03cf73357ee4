// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/product.h"

#include "compiler/codegen/ptx/rewrites/widen_f8.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// Tensors in memory that `input` of `op` is computed from.
void collectMemory(const KernelFunction &kernel, const KernelOp &op, const KernelInput &input,
                   SmallVector<OperandInput> &found) {
  if (input.isMemory()) {
    if (llvm::none_of(found, [&](const OperandInput &each) { return each.input == &input; }))
      found.push_back({&op, &input});
    return;
  }
  for (const KernelOp &producer : kernel.ops)
    if (input.computed && input.computed.getDefiningOp() == producer.op)
      for (const KernelInput &each : producer.inputs)
        collectMemory(kernel, producer, each, found);
}

/// Whether exact f32 that are read from an image with a border lie along the axis, in vectors that begin at multiples
/// of themselves: channels that are parts of the sum are the image's from some vector on.
bool liesInVectors(const KernelFunction &kernel, const KernelTensor &image, const KernelOp &op, unsigned axis,
                   const GroupShape &shape) {
  const GroupShape::Along along = shape.along(image, op.op, axis);
  func::FuncOp function = kernel.function;
  if (along != GroupShape::Along::Shifted || !image.element.isF32() || function->hasAttr(dispatch::kTf32Attr))
    return along == GroupShape::Along::Adjacent;
  const auto ofVector = int64_t(16 / dispatch::elementBytes(image.element));
  const std::optional<dispatch::LinearExpr> last =
      dispatch::LinearExpr::of(image.map.getResults().back(), image.map.getNumDims());
  // The axis itself is the only one that leads elsewhere.
  return last && last->offset % ofVector == 0 && image.shape.back().size % ofVector == 0 &&
         llvm::count_if(last->factors, [&](int64_t factor) { return factor % ofVector != 0; }) == 1;
}

/// The images of tf32 along whose places a window slides in whole vectors (dispatch/products/patches/shifted_images.h):
/// steps are whole, and boxes begin at multiples of 16 bytes.
const KernelInput *slidInputOf(const Operand &operand, const KernelFunction &kernel, const KernelOp &op,
                               const GroupShape &shape) {
  constexpr int64_t kStep = 32, kVector = 4;
  func::FuncOp function = kernel.function;
  const std::optional<int64_t> size = shape.axes[operand.vectorAxis].size;
  auto argument = dyn_cast<BlockArgument>(operand.value);
  if (!argument || !operand.value.getType().isF32() || !function->hasAttr(dispatch::kTf32Attr) ||
      !function->hasAttr(dispatch::kHopperOnlyAttr) || !size || *size == 0 || *size % kStep != 0)
    return nullptr;
  const KernelInput &input = op.inputs[argument.getArgNumber()];
  const KernelTensor &tensor = input.tensor;
  if (!input.isMemory() || tensor.map.getNumResults() == 0 || tensor.shape.empty() || tensor.shape.back().value ||
      tensor.shape.back().size % kVector != 0 ||
      shape.along(tensor, op.op, operand.vectorAxis) != GroupShape::Along::Shifted)
    return nullptr;
  const std::optional<dispatch::LinearExpr> last =
      dispatch::LinearExpr::of(tensor.map.getResults().back(), tensor.map.getNumDims());
  // The axis itself is the only one that leads elsewhere.
  const bool areVectors = last && last->offset % kVector == 0 &&
                          llvm::count_if(last->factors, [](int64_t factor) { return factor % kVector != 0; }) == 1;
  return areVectors ? &input : nullptr;
}

Operand operandOf(const KernelFunction &kernel, const KernelOp &op, const dispatch::ContractionSide &side,
                  ArrayRef<unsigned> across, ArrayRef<unsigned> reduced, const GroupShape &shape) {
  Operand operand;
  operand.value = dispatch::beforeExtension(side.value);
  operand.factor = dispatch::factorTypeOf(side.value);
  operand.isUnsigned = isa_and_nonnull<arith::ExtUIOp>(side.value.getDefiningOp());
  operand.across = llvm::to_vector(across);
  for (unsigned input : side.inputs)
    collectMemory(kernel, op, op.inputs[input], operand.inputs);
  const unsigned alongReduced = reduced.back(), alongAcross = across.empty() ? alongReduced : across.back();
  operand.vectorAxis = alongReduced;
  auto liesAlong = [&](const KernelTensor &tensor, const KernelOp &reader, unsigned axis) {
    return shape.along(tensor, reader.op, axis) == GroupShape::Along::Adjacent;
  };
  const auto *border = llvm::find_if(op.borders, [&](const auto &each) { return each.value == operand.value; });
  // Of what is computed, that which has most elements decides: a scale for each column, or for each row, is in a cache.
  auto isWhole = [&](const OperandInput &each) {
    return llvm::none_of(ArrayRef<unsigned>{alongReduced, alongAcross}, [&](unsigned axis) {
      return shape.along(each.input->tensor, each.op->op, axis) == GroupShape::Along::Same;
    });
  };
  const bool hasWhole = llvm::any_of(operand.inputs, isWhole);
  auto lies = [&](unsigned axis) {
    return border != op.borders.end()
               ? liesInVectors(kernel, border->tensor, op, axis, shape)
               : llvm::any_of(operand.inputs, [&](const OperandInput &each) {
                   return (!hasWhole || isWhole(each)) && (liesAlong(each.input->tensor, *each.op, axis) ||
                                                           shape.sharedBy(each.input->tensor, each.op->op, axis));
                 });
  };
  if (alongAcross != alongReduced && lies(alongAcross) && (operand.inputs.size() <= 1 || !lies(alongReduced)))
    operand.vectorAxis = alongAcross;
  operand.isAlongReduced = operand.vectorAxis == alongReduced;
  if (auto argument = dyn_cast<BlockArgument>(operand.value))
    if (const KernelInput &input = op.inputs[argument.getArgNumber()];
        input.isMemory() && liesAlong(input.tensor, op, operand.vectorAxis))
      operand.plain = &input;
  if (border != op.borders.end() && liesInVectors(kernel, border->tensor, op, operand.vectorAxis, shape))
    operand.border = border;
  if (!operand.isCopied() && operand.isAlongReduced)
    operand.plain = slidInputOf(operand, kernel, op, shape);
  return operand;
}

/// Reduced elements are counted along that axis last whose neighbours are neighbours in memory, of either side.
void bringAdjacentLast(SmallVector<unsigned> &reduced, const KernelFunction &kernel, const KernelOp &op,
                       const dispatch::Contraction &form, const GroupShape &shape) {
  SmallVector<OperandInput> inputs;
  for (const dispatch::ContractionSide *side : {&form.left, &form.right})
    for (unsigned input : side->inputs)
      collectMemory(kernel, op, op.inputs[input], inputs);
  auto isAdjacent = [&](unsigned axis) {
    auto lies = [&](const KernelTensor &tensor, const KernelOp &reader) {
      return shape.along(tensor, reader.op, axis) == GroupShape::Along::Adjacent ||
             shape.sharedBy(tensor, reader.op, axis);
    };
    return llvm::any_of(inputs, [&](const OperandInput &each) { return lies(each.input->tensor, *each.op); }) ||
           llvm::any_of(op.borders, [&](const KernelBorder &each) {
             return lies(each.tensor, op) || liesInVectors(kernel, each.tensor, op, axis, shape);
           });
  };
  if (reduced.empty() || isAdjacent(reduced.back()))
    return;
  auto *adjacent = llvm::find_if(reduced, isAdjacent);
  if (adjacent != reduced.end())
    std::rotate(adjacent, adjacent + 1, reduced.end());
}

/// Whether boxes have 16-bit places of images that lie across, and none where those of all images follow each other:
/// rows of places are vectors, and no whole lines. (Of whole lines an image alone is no gain: seven layers of 16, 24
/// and 56 places squared took 1.03 times as long on an H200; of sums that are no whole step, 1.09 times.) Of a kernel
/// that has this product alone.
bool haveBoxesApart(const KernelFunction &kernel, const GroupShape &shape, const Product &apart,
                    const Operand &places) {
  constexpr int64_t kInBox = 64, kVector = 8, kLeastOther = 32, kLeastReduced = 64;
  const Operand &other = &places == &apart.left ? apart.right : apart.left;
  const auto reductions = llvm::count_if(
      kernel.ops, [](const KernelOp &op) { return linalg::GenericOp(op.op).getNumReductionLoops() != 0; });
  if (reductions != 1 || shape.gatesAxis || apart.routes || !apart.places.empty() || !apart.tensorCoreElement() ||
      !apart.left.plain || !apart.right.plain || apart.batch.size() != 1 || places.across.size() != 1 ||
      other.across.size() != 1 || apart.reduced.size() != 1)
    return false;
  auto sizeOn = [&](unsigned axis) { return shape.axes[axis].size.value_or(0); };
  const int64_t size = sizeOn(places.vectorAxis), ofOther = sizeOn(other.vectorAxis);
  return sizeOn(apart.batch.front()) > 0 && sizeOn(apart.reduced.front()) >= kLeastReduced &&
         sizeOn(other.across.front()) >= kLeastOther && size >= kInBox && size % kVector == 0 && size % kInBox != 0 &&
         ofOther > 0 && ofOther % kVector == 0;
}

/// Rows of tf32 that lie across, or of 16 bits that are vectors and no whole lines, each image's places, beside filters
/// that all images have: an image is an element of the batch, so that no tile lies on two, and none of the rows' boxes
/// goes from one to the next.
void separateImages(Product &product, const KernelFunction &kernel, const GroupShape &shape) {
  func::FuncOp function = kernel.function;
  if (!function->hasAttr(dispatch::kHopperOnlyAttr))
    return;
  for (auto [operand, axes] : {std::pair(&product.left, &product.rows), std::pair(&product.right, &product.columns)}) {
    if (axes->size() != 2 || operand->isAlongReduced)
      continue;
    Product apart = product;
    Operand &ofImage = operand == &product.left ? apart.left : apart.right;
    SmallVector<unsigned> &places = operand == &product.left ? apart.rows : apart.columns;
    apart.batch.push_back(places.front());
    places.erase(places.begin());
    ofImage.across.erase(ofImage.across.begin());
    const Product asRead = apart.forWarpgroups();
    if (!asRead.isReadAcross(asRead.left) && !haveBoxesApart(kernel, shape, apart, ofImage))
      continue;
    llvm::sort(apart.batch);
    product = apart;
    return;
  }
}

} // namespace

std::optional<Product> Product::ofOperation(const KernelFunction &kernel, const GroupShape &shape, const KernelOp &op) {
  const std::optional<dispatch::Contraction> form = dispatch::productOf(op.op);
  if (!form)
    return std::nullopt;
  Product product;
  product.op = &op;
  product.sumsNarrowly = kernel.function->hasAttr(kNarrowSumsAttr);
  product.roundsToTf32 = kernel.function->hasAttr(dispatch::kTf32Attr);
  for (const auto &phase : phasesOf(kernel, shape.group))
    for (const RowSum &sum : phase)
      if (sum.op == &op)
        product.sum = sum;
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
  auto axesOf = [&](ArrayRef<unsigned> loops) {
    SmallVector<unsigned> axes;
    for (auto [number, axis] : llvm::enumerate(shape.axes))
      if (llvm::any_of(loops, [&](unsigned loop) { return groupAxes[loop] == axis.axes.front(); }))
        axes.push_back(number);
    return axes;
  };
  product.batch = axesOf(form->batch);
  product.rows = axesOf(form->rows);
  product.columns = axesOf(form->columns);
  product.reduced = axesOf(form->reduced);
  if (form->isRouted()) {
    // Rows are numbered as the table numbers them.
    product.rows.clear();
    for (unsigned loop : form->rows)
      for (unsigned axis : axesOf(loop))
        if (!llvm::is_contained(product.rows, axis))
          product.rows.push_back(axis);
    product.routes = &op.inputs.back().tensor;
    product.experts = form->right.routed->experts;
  }
  bringAdjacentLast(product.reduced, kernel, op, *form, shape);
  for (dispatch::SummedPlaces places : form->places) {
    const SmallVector<unsigned> of = axesOf(places.of), along = axesOf(places.along);
    if (of.size() != 1 || along.size() != 1 || shape.axes[of[0]].axes.size() != 1 ||
        shape.axes[along[0]].axes.size() != 1)
      return std::nullopt;
    places.of = of[0];
    places.along = along[0];
    product.places.push_back(places);
  }
  // Vectors and steps go along the last one.
  if (product.placesAlong(product.reduced.back()))
    return std::nullopt;
  product.left = operandOf(kernel, op, form->left, product.rows, product.reduced, shape);
  product.right = operandOf(kernel, op, form->right, product.columns, product.reduced, shape);
  separateImages(product, kernel, shape);
  return product;
}

std::optional<Product> Product::of(const KernelFunction &kernel, const GroupShape &shape) {
  const auto reductions = llvm::count_if(
      kernel.ops, [](const KernelOp &op) { return linalg::GenericOp(op.op).getNumReductionLoops() != 0; });
  if (reductions != 1)
    return std::nullopt;
  for (const KernelOp &op : kernel.ops)
    if (std::optional<Product> product = ofOperation(kernel, shape, op))
      return product;
  return std::nullopt;
}

void Product::exchangeSides() {
  std::swap(left, right);
  std::swap(rows, columns);
}

bool Product::isReadAcross(const Operand &operand) const {
  Type element = warpElement();
  return element && element.isTF32() && &operand == &left && !left.isAlongReduced && right.isAlongReduced &&
         left.plain && right.plain && left.across.size() == 1 && right.across.size() == 1 && reduced.size() == 1;
}

Product Product::forWarpgroups() const {
  Product exchanged = *this;
  exchanged.exchangeSides();
  return exchanged.isReadAcross(exchanged.left) ? exchanged : *this;
}

const dispatch::SummedPlaces *Product::placesAlong(unsigned axis) const {
  const auto *found = llvm::find_if(places, [&](const dispatch::SummedPlaces &each) { return each.along == axis; });
  return found == places.end() ? nullptr : found;
}

uint32_t Product::widthOf(const Operand &operand, const GroupShape &shape) const {
  uint32_t widest = operand.border ? dispatch::elementBytes(operand.border->tensor.element) : 0;
  for (auto [op, input] : operand.inputs)
    if (shape.along(input->tensor, op->op, operand.vectorAxis) == GroupShape::Along::Adjacent)
      widest = std::max(widest, dispatch::elementBytes(input->tensor.element));
    else if (shape.sharedBy(input->tensor, op->op, operand.vectorAxis))
      widest = std::max(widest, 1u); // or less
  const std::optional<int64_t> size = shape.axes[operand.vectorAxis].size;
  if (widest == 1 && operand.isAlongReduced && size)
    for (uint32_t width : {kMostPacked, kMostPacked / 2})
      if (*size % width == 0 && bytesOf(operand, shape, width) <= 16)
        return width;
  // Else bytes are computed with eight at a time.
  if (widest == 1 && operand.isCopied() && size && *size % 16 == 0)
    return 16;
  return widest == 0 ? 1 : 16 / std::max(widest, 2u);
}

uint32_t Product::bytesOf(const Operand &operand, const GroupShape &shape, uint32_t width) {
  uint32_t most = operand.border ? width * dispatch::elementBytes(operand.border->tensor.element) : 1;
  for (auto [op, input] : operand.inputs) {
    const uint32_t bytes = dispatch::elementBytes(input->tensor.element);
    const std::optional<int64_t> shared = shape.sharedBy(input->tensor, op->op, operand.vectorAxis);
    if (shared && (width % *shared == 0 || *shared % width == 0))
      most = std::max(most, uint32_t(llvm::divideCeil(width, uint64_t(*shared))) * bytes);
    else if (shape.along(input->tensor, op->op, operand.vectorAxis) != GroupShape::Along::Same)
      most = std::max(most, width * bytes);
  }
  return most;
}

Type Product::tensorCoreElement() const {
  Type element = left.value.getType();
  const bool fits = element == right.value.getType() && isa<Float16Type, BFloat16Type>(element) && sum.sum.type.isF32();
  return fits ? element : Type();
}

Type Product::warpElement() const {
  if (Type element = tensorCoreElement())
    return element;
  MLIRContext *context = left.value.getContext();
  if (isOfF8())
    return sum.sum.type.isF32() ? left.factor : Type();
  Type element = left.factor;
  if (element != right.factor)
    return {};
  if (element.isInteger(8) && sum.sum.type.isInteger(32) && left.isUnsigned == right.isUnsigned)
    return IntegerType::get(context, 8, left.isUnsigned ? IntegerType::Unsigned : IntegerType::Signed);
  return roundsToTf32 && element.isF32() && sum.sum.type.isF32() ? Type(FloatTF32Type::get(context)) : Type();
}

bool Product::isOfF8() const {
  return dispatch::isF8(left.factor) && dispatch::isF8(right.factor);
}

bool hasTensorCoresFor(const Product &product, const abi::TargetArch &target) {
  Type element = product.warpElement();
  if (product.isOfF8())
    return element && hasF8(target);
  return element && target.number >= (element.isF16() || isa<IntegerType>(element) ? 75 : 80);
}

Value extended(KernelBuilder &k, const Operand &operand, Value value, Type type) {
  if (dispatch::isF8(operand.factor))
    value = arith::BitcastOp::create(k.b, k.loc, operand.factor, value);
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(k.b, k.loc, type, value);
  return operand.isUnsigned ? arith::ExtUIOp::create(k.b, k.loc, type, value).getResult()
                            : arith::ExtSIOp::create(k.b, k.loc, type, value).getResult();
}

} // namespace tenon::compiler::codegen
