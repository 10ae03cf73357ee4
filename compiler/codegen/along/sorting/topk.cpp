// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk.h"

#include "compiler/codegen/along/sorting/topk_block.h"
#include "compiler/codegen/along/sorting/topk_line.h"
#include "compiler/codegen/along/sorting/topk_warp.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/topk_places.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kManyBlocks = 512;
constexpr int64_t kMostParts = 256;
// A part is worth a block of its own from here.
constexpr int64_t kLongPart = 8192;

/// The result is in order from the beginning to the end; each element of the line moves up to its place.
void writeByThread(AlongWriter &w) {
  KernelBuilder &k = w.k;
  const KernelAlong &along = w.kernel.along;
  TopkLine line(w);
  line.line = k.add(k.mul(k.block(), k.number(k.threads)), k.thread());
  const KernelTensor &values = along.outputs[0].tensor;
  const KernelTensor *indices =
      along.outputs.size() == 2 && along.outputs[1].isStored ? &along.outputs[1].tensor : nullptr;
  Value zero = k.number(0), one = k.number(1);
  // Puts an element behind `count` others that are in order; what falls off the end is gone.
  auto insert = [&](Value count, Value value, Value index) {
    auto loop = scf::WhileOp::create(
        k.b, k.loc, TypeRange{k.b.getI64Type()}, ValueRange{count},
        [&](OpBuilder &, Location, ValueRange now) {
          Value isMoved =
              k.choose(
                   k.less(zero, now[0]), TypeRange{k.b.getI1Type()},
                   [&] {
                     Value before = w.load(values, line.result.element(k, line.line, k.sub(now[0], one)));
                     Entry a{{value}, zero}, b{{before}, zero};
                     return SmallVector<Value>{line.order.overtakes(a, b)};
                   },
                   [&] { return SmallVector<Value>{arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(false))}; })
                  .front();
          scf::ConditionOp::create(k.b, k.loc, isMoved, now);
        },
        [&](OpBuilder &, Location, ValueRange now) {
          Value previous = k.sub(now[0], one);
          k.when(k.less(now[0], line.result.length), [&] {
            Value from = line.result.element(k, line.line, previous), to = line.result.element(k, line.line, now[0]);
            w.store(values, to, w.load(values, from));
            if (indices)
              w.store(*indices, to, w.load(*indices, from));
          });
          scf::YieldOp::create(k.b, k.loc, ValueRange{previous});
        });
    Value place = loop.getResult(0);
    k.when(k.less(place, line.result.length), [&] {
      w.store(values, line.result.element(k, line.line, place), value);
      if (indices)
        w.store(*indices, line.result.element(k, line.line, place), index);
    });
  };
  k.when(k.less(line.line, line.source.count), [&] {
    k.loop(zero, line.result.length, one, {}, [&](Value place, ValueRange) {
      insert(place, line.startAt(place).keys[0], indices ? line.indexOf(place) : Value());
      return SmallVector<Value>();
    });
    k.loop(zero, line.source.length, one, {}, [&](Value place, ValueRange) {
      insert(line.result.length, w.load(along.inputs[0], line.source.element(k, line.line, place)),
             indices ? line.indexOf(k.add(line.result.length, place)) : Value());
      return SmallVector<Value>();
    });
  });
}

} // namespace

bool Topk::takes(Operation *op) const {
  return isa<linalg_ext::TopkOp>(op);
}

AlongPlans Topk::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::TopkOp>(kernel.along.op);
  const LineShape source(kernel.along.inputs[0], op.getDimension());
  const LineShape result(kernel.along.outputs[0].tensor, op.getDimension());
  const std::optional<int64_t> length = source.knownLength(), k = result.knownLength(), lines = source.knownLines();
  const uint32_t placeBits = linalg_ext::topkPlaceBits(length, k);
  Type position = IntegerType::get(op.getContext(), placeBits);
  Type value = kernel.along.inputs[0].element;
  const int64_t capacity = TopkBlock::capacity(value, position, k);
  auto plan = [&](int64_t capacity, int64_t parts, int64_t pass, GridFactor blocks) {
    Plan made;
    made.strategy = "topk";
    made.threads = TopkBlock::kThreads;
    made.choices = {{"capacity", capacity}, {"parts", parts}, {"pass", pass}, {"position", placeBits}};
    made.grid = {blocks};
    return made;
  };
  AlongPlans plans;
  if (TopkWarp::takes(kernel)) {
    plans.kernels.push_back(plan(0, 1, 0, {source.lines(), TopkWarp::kLines}));
    plans.kernels.back().threads = TopkWarp::kThreads;
    plans.kernels.back().choices.push_back({"warps", 1});
    return plans;
  }
  // A thread a line where blocks would be idle, or cannot hold k.
  const bool tiny = length && k && *length <= 32 && *k <= 4 && (!lines || *lines >= 1024);
  if (capacity == 0 || (tiny && kernel.along.outputs[0].isStored)) {
    plans.kernels.push_back(plan(0, 1, 0, {source.lines(), TopkBlock::kThreads}));
    return plans;
  }
  int64_t parts = 1;
  if (lines && *lines > 0 && *lines < kManyBlocks / 2 && length)
    parts = std::min<int64_t>({int64_t(llvm::divideCeil(kManyBlocks, *lines)), *length / kLongPart, kMostParts});
  if (parts < 2) {
    plans.kernels.push_back(plan(capacity, 1, 0, {source.lines(), 1}));
    return plans;
  }
  plans.kernels.push_back(plan(capacity, parts, 1, {source.lines(), 1}));
  plans.kernels.back().grid.push_back({{Extent{parts, {}}}, 1});
  plans.kernels.push_back(plan(capacity, parts, 2, {source.lines(), 1}));
  SmallVector<Extent> extents = source.lines();
  extents.push_back(Extent{parts, {}});
  extents.push_back(Extent{*k, {}});
  plans.scratch.push_back({storedType(value), extents});
  plans.scratch.push_back({position, extents});
  return plans;
}

void Topk::write(AlongWriter &writer) const {
  if (writer.choiceOrZero("warps") != 0)
    return writeTopkWarp(writer);
  writer.choice("capacity") == 0 ? writeByThread(writer) : writeTopkBlock(writer);
}

} // namespace tenon::compiler::codegen
