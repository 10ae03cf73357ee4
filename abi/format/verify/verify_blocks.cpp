// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the blocks of a function hang together, so that the runtime can go from one to the next without a check of its
// own. A block computes with nothing but its inputs, so a value that is not defined on every path to a block cannot be
// named there: what is left to see is that every jump hands on as many values, of the types, as its block takes.
// Rules F-26 to F-28, and F-30 of what blocks hand to each other.
#include "abi/element_type.h"
#include "abi/format/type_spelling.h"
#include "abi/format/verify/verify_support.h"

#include <algorithm>
#include <limits>

namespace tenon::abi::verify {

static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max(); // no register, no constant

// (Called from many places, so not as many times.)
[[gnu::noinline]] Status checkSameType(VerifiedBytes &file, std::string_view rule, std::string_view what,
                                       const fb::ValueType &found, const fb::ValueType &wanted) {
  const uint32_t rank = sizeOf(wanted.shape());
  TENON_RETURN_IF_ERROR(file.spend(rank));
  bool same = found.kind() == wanted.kind() && found.element() == wanted.element() && sizeOf(found.shape()) == rank;
  for (uint32_t i = 0; same && i < rank; ++i)
    same = found.shape()->Get(i) == wanted.shape()->Get(i);
  if (!same)
    return broken(rule, what, " is ", typeSpelling(found), ", ", typeSpelling(wanted), " is wanted");
  return okStatus();
}

static uint32_t parameterCount(const fb::Function &block) {
  return sizeOf(block.inputs()) - sizeOf(block.loads()); // F-27 before it is asked for
}

/// F-26: what a function with blocks does is in its blocks.
static Status checkOuter(VerifiedBytes &file, const fb::Function &function) {
  if (sizeOf(function.registers()) || sizeOf(function.buffers()) || sizeOf(function.checks()) ||
      sizeOf(function.commands()) || sizeOf(function.expectations()) || function.arena() != kNone ||
      sizeOf(function.loads()) || sizeOf(function.stores()) || sizeOf(function.targets()))
    return broken("F-26", "a function with blocks has commands, or what belongs to them, beside its blocks");
  TENON_RETURN_IF_ERROR(forEach(file, function.inputs(), "inputs",
                                [&](uint32_t, const fb::ValueType *type) { return checkInputType(file, *type); }));
  TENON_RETURN_IF_ERROR(checkDonated(file, function));
  return forEach(file, function.results(), "results", [&](uint32_t, const fb::ResultValue *result) {
    return within("type", checkType(file, *result->type()));
  });
}

/// F-27, as far as it is about one block.
static Status checkInputsAndStores(VerifiedBytes &file, const fb::Function &block, const ProgramScope &scope) {
  if (sizeOf(block.loads()) > sizeOf(block.inputs()))
    return broken("F-27", sizeOf(block.loads()), " loads, there are ", sizeOf(block.inputs()), " inputs");
  const uint32_t first = parameterCount(block);
  TENON_RETURN_IF_ERROR(forEach(file, block.loads(), "loads", [&](uint32_t i, uint32_t global) {
    TENON_RETURN_IF_ERROR(checkIndex("F-27", "global", global, sizeOf(scope.globals), "globals"));
    return checkSameType(file, "F-27", "the input that it becomes", *block.inputs()->Get(first + i),
                         *scope.globals->Get(global)->type());
  }));
  return forEach(file, block.stores(), "stores", [&](uint32_t, const fb::Store *store) {
    TENON_RETURN_IF_ERROR(checkIndex("F-27", "global", store->global(), sizeOf(scope.globals), "globals"));
    TENON_RETURN_IF_ERROR(checkIndex("F-27", "result", store->result(), sizeOf(block.results()), "results"));
    return checkSameType(file, "F-27", "the value", *block.results()->Get(store->result())->type(),
                         *scope.globals->Get(store->global())->type());
  });
}

/// F-26 of the function that `block` is one of.
static Status checkTargets(VerifiedBytes &file, const fb::Function &function, const fb::Function &block) {
  if (sizeOf(block.targets()) == 0) {
    if (sizeOf(block.results()) < sizeOf(function.results()))
      return broken("F-26", "it returns ", sizeOf(block.results()), " values, the function ",
                    sizeOf(function.results()));
    return forEach(file, function.results(), "results", [&](uint32_t i, const fb::ResultValue *result) {
      return checkSameType(file, "F-26", "what is returned", *block.results()->Get(i)->type(), *result->type());
    });
  }
  return forEach(file, block.targets(), "targets", [&](uint32_t i, const fb::Target *target) {
    const bool isLast = i + 1 == sizeOf(block.targets());
    if (isLast != (target->condition() == kNone))
      return broken("F-26", isLast ? "the last target has a condition" : "a target before the last has no condition");
    if (!isLast)
      TENON_RETURN_IF_ERROR(
          checkIndex("F-26", "condition", target->condition(), sizeOf(block.registers()), "registers"));
    TENON_RETURN_IF_ERROR(checkIndex("F-26", "block", target->block(), sizeOf(function.blocks()), "blocks"));
    const fb::Function &next = *function.blocks()->Get(target->block());
    if (sizeOf(target->arguments()) != parameterCount(next))
      return broken("F-26", sizeOf(target->arguments()), " arguments, block ", target->block(), " has ",
                    parameterCount(next), " parameters");
    return forEach(file, target->arguments(), "arguments", [&](uint32_t k, uint32_t result) {
      TENON_RETURN_IF_ERROR(checkIndex("F-26", "result", result, sizeOf(block.results()), "results"));
      return checkSameType(file, "F-26", "the argument", *block.results()->Get(result)->type(), *next.inputs()->Get(k));
    });
  });
}

namespace {

/// F-30 of blocks: what a block writes, or hands on to one that does, is the call's own.
class HandedOver {
public:
  explicit HandedOver(const fb::Function &function) : function_(function) {
    for (const fb::Function *block : *function.blocks()) {
      isWritten_.emplace_back(sizeOf(block->inputs()));
      for (uint32_t i = 0; i < sizeOf(block->donated()); ++i)
        isWritten_.back()[block->donated()->Get(i)] = true;
    }
  }

  Status check() {
    for (bool changes = true; changes;) {
      changes = false;
      for (uint32_t number = 0; number < function_.blocks()->size(); ++number) {
        const fb::Function &block = *function_.blocks()->Get(number);
        for (uint32_t i = 0; i < sizeOf(block.targets()); ++i)
          if (Status status = checkTarget(number, block, *block.targets()->Get(i), changes); !status.ok())
            return std::move(status).withContext(concat("blocks[", number, "]: targets[", i, ']'));
      }
    }
    const fb::Function &entry = *function_.blocks()->Get(0);
    for (uint32_t number = 0; number < function_.blocks()->size(); ++number)
      for (uint32_t input = parameterCount(*function_.blocks()->Get(number)); input < isWritten_[number].size();
           ++input)
        if (isWritten_[number][input])
          return broken("F-30", "block ", number, " writes input ", input, ", which is a global");
    for (uint32_t input = 0; input < parameterCount(entry); ++input)
      if (isWritten_[0][input] && !isDonated(function_, input))
        return broken("F-30", "a block writes input ", input, " of the function, which is not donated");
    return okStatus();
  }

private:
  Status checkTarget(uint32_t number, const fb::Function &block, const fb::Target &target, bool &changes) {
    auto bufferOf = [&](uint32_t parameter) -> const fb::Buffer * {
      const fb::ResultValue &value = *block.results()->Get(target.arguments()->Get(parameter));
      return value.type()->kind() == fb::ValueKind::Tensor ? block.buffers()->Get(value.buffer()) : nullptr;
    };
    for (uint32_t parameter = 0; parameter < sizeOf(target.arguments()); ++parameter) {
      const fb::Buffer *buffer = bufferOf(parameter);
      if (!buffer || !isWritten_[target.block()][parameter])
        continue;
      for (uint32_t other = 0; other < sizeOf(target.arguments()); ++other)
        if (other != parameter && bufferOf(other) == buffer)
          return broken("F-30", "block ", target.block(), " writes parameter ", parameter,
                        ", and has the same memory as ", other);
      if (buffer->source() == fb::BufferSource::Constant)
        return broken("F-30", "block ", target.block(), " writes parameter ", parameter, ", which is a constant");
      if (buffer->source() == fb::BufferSource::Input && !isWritten_[number][buffer->index()])
        changes = isWritten_[number][buffer->index()] = true;
    }
    return okStatus();
  }

  const fb::Function &function_;
  std::vector<std::vector<bool>> isWritten_; // [blocks][inputs]
};

} // namespace

Status checkBlocks(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope) {
  TENON_RETURN_IF_ERROR(checkOuter(file, function));
  // Each by itself, then how they fit: a jump looks at the inputs of blocks behind it.
  TENON_RETURN_IF_ERROR(forEach(file, function.blocks(), "blocks", [&](uint32_t, const fb::Function *block) {
    if (sizeOf(block->blocks()) != 0)
      return broken("F-26", "a block has blocks");
    TENON_RETURN_IF_ERROR(checkName(file, "name", block->name()));
    TENON_RETURN_IF_ERROR(checkBlockBody(file, *block, scope));
    return checkInputsAndStores(file, *block, scope);
  }));
  const fb::Function &entry = *function.blocks()->Get(0);
  if (parameterCount(entry) != sizeOf(function.inputs()))
    return within("blocks[0]", broken("F-26", parameterCount(entry), " parameters, the function has ",
                                      sizeOf(function.inputs()), " inputs"));
  for (uint32_t i = 0; i < sizeOf(function.inputs()); ++i)
    TENON_RETURN_IF_ERROR(within("blocks[0]", checkSameType(file, "F-26", concat("parameter ", i),
                                                            *entry.inputs()->Get(i), *function.inputs()->Get(i))));
  TENON_RETURN_IF_ERROR(forEach(file, function.blocks(), "blocks", [&](uint32_t, const fb::Function *block) {
    return checkTargets(file, function, *block);
  }));
  return HandedOver(function).check();
}

/// F-28.
Status checkGlobal(VerifiedBytes &file, const fb::Global &global, const fb::Program &program) {
  TENON_RETURN_IF_ERROR(within("type", checkType(file, *global.type())));
  if (global.constant() == kNone)
    return okStatus();
  if (global.type()->kind() == fb::ValueKind::Scalar)
    return broken("F-28", "a scalar with the bytes of a constant");
  TENON_RETURN_IF_ERROR(checkIndex("F-28", "constant", global.constant(), sizeOf(program.constants()), "constants"));
  uint64_t bytes = byteSize(static_cast<ElementType>(global.type()->element()));
  for (uint32_t i = 0; i < sizeOf(global.type()->shape()); ++i) {
    const int64_t extent = global.type()->shape()->Get(i);
    if (extent < 0)
      return broken("F-28", "an initial value of ", typeSpelling(*global.type()), ", whose size is not known");
    bytes *= static_cast<uint64_t>(extent); // below 2^63 (F-15)
  }
  const uint64_t found = program.constants()->Get(global.constant())->size();
  if (found != bytes)
    return broken("F-28", "the initial value has ", found, " bytes, ", typeSpelling(*global.type()), " takes ", bytes);
  return okStatus();
}

bool needsBlocksFormat(const fb::Program &program) {
  auto hasBlocks = [](const fb::Function *function) { return sizeOf(function->blocks()) != 0; };
  auto haveBlocks = [&](const auto *functions) {
    return functions && std::any_of(functions->begin(), functions->end(), hasBlocks);
  };
  for (uint32_t i = 0; i < sizeOf(program.editions()); ++i)
    if (haveBlocks(program.editions()->Get(i)->functions()))
      return true;
  return sizeOf(program.globals()) != 0 || program.initializer() || haveBlocks(program.functions());
}

} // namespace tenon::abi::verify
