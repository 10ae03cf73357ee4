// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/cluster_sums.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kState = 2; // numbers that a row has beside its columns

} // namespace

ClusterSums::ClusterSums(KernelBuilder &k, uint32_t blocks, uint32_t rows, uint32_t columns)
    : k_(k), blocks_(blocks), rows_(rows), columns_(columns),
      values_(k.shared(k.b.getF32Type(), uint64_t(rows) * columns)),
      states_(k.shared(k.b.getF32Type(), uint64_t(blocks) * rows * kState)), barrier_(k.shared(k.b.getI64Type(), 1)) {}

void ClusterSums::begin() {
  const uint32_t bytes = sizeof(float) * rows_ * (columns_ + blocks_ * kState);
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] {
    k_.assembly("mbarrier.init.shared.b64 [$0], 1;", {k_.word(barrier_)}, "r");
    k_.assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", {k_.word(barrier_), k_.word(k_.number(bytes))},
                "r,r");
    k_.assembly("fence.mbarrier_init.release.cluster;", {}, "");
  });
  NVVM::ClusterArriveRelaxedOp::create(k_.b, k_.loc, k_.b.getUnitAttr());
}

void ClusterSums::meet() {
  k_.waitForCluster();
}

Value ClusterSums::valuesAt(Value block, Value row, Value column) {
  Value line = k_.add(k_.mul(block, k_.number(rows_)), row);
  return k_.at(values_, k_.b.getF32Type(), k_.add(k_.mul(line, k_.number(ownColumns())), column));
}

Value ClusterSums::stateAt(Value block, Value row) {
  Value line = k_.add(k_.mul(block, k_.number(rows_)), row);
  return k_.at(states_, k_.b.getF32Type(), k_.mul(line, k_.number(kState)));
}

void ClusterSums::storeAsync(Value to, Value owner, ValueRange values) {
  std::string list, constraints = "r,r";
  SmallVector<Value> operands = {k_.word(k_.ofPeer(to, owner)), k_.word(k_.ofPeer(barrier_, owner))};
  for (Value value : values) {
    list += (list.empty() ? "$" : ", $") + std::to_string(operands.size());
    constraints += ",f";
    operands.push_back(value);
  }
  k_.assembly("st.async.shared::cluster.mbarrier::complete_tx::bytes.v" + std::to_string(values.size()) +
                  ".f32 [$0], {" + list + "}, [$1];",
              operands, constraints);
}

void ClusterSums::tell(Value rank, Value row, Value column, const PartialSum &sum) {
  Value own = k_.number(ownColumns()), owner = k_.div(column, own), inOwner = k_.rem(column, own);
  storeAsync(valuesAt(rank, row, inOwner), owner, sum.values);
  k_.when(k_.equal(inOwner, k_.number(0)),
          [&] { storeAsync(stateAt(rank, row), owner, ValueRange{sum.largest, sum.weights}); });
}

void ClusterSums::wait() {
  k_.assembly("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared.b64 done, [$0], 0;\n@!done bra again;\n}",
              {k_.word(barrier_)}, "r");
}

PartialSum ClusterSums::sumOf(Value row, Value column) {
  SmallVector<PartialSum> each;
  for (uint32_t number = 0; number < blocks_; ++number) {
    Value block = k_.number(number), state = stateAt(block, row);
    auto read = [&](uint32_t place) {
      return k_.load(k_.b.getF32Type(), k_.at(state, k_.b.getF32Type(), k_.number(place)), 4);
    };
    each.push_back({read(0), read(1), loadQuad(k_, valuesAt(block, row, column))});
  }
  return combine(k_, each);
}

} // namespace tenon::compiler::codegen
