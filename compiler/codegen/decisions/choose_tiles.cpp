// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/choose_tiles.h"
#include "compiler/codegen/strategies/strategies.h"

#include "compiler/codegen/tuning/contraction_key.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/tile_pins.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Strategies that leave something to choose.
constexpr StringLiteral kContraction = "contraction", kSkinny = "skinny";

const Strategy &strategyOf(const TileChoice &choice) {
  return *strategyNamed(choice.by == kBySkinny ? kSkinny : kContraction);
}

Operation *pinnedOperation(const KernelFunction &kernel) {
  for (const KernelOp &op : kernel.ops)
    if (tilePinOf(op.op))
      return op.op;
  return nullptr;
}

/// The operation that people know the kernel by.
Operation *contractionOf(const KernelFunction &kernel) {
  for (const KernelOp &op : kernel.ops)
    if (linalg::GenericOp(op.op).getNumReductionLoops() != 0)
      return op.op;
  return kernel.ops.front().op;
}

} // namespace

Location TileChooser::locationOf(const SourceLocation &place) const {
  return FileLineColLoc::get(context_, place.file, place.line, place.column);
}

LogicalResult TileChooser::read(const std::string &path, Location module) {
  Result<FileBytes> bytes = FileBytes::read(path);
  if (!bytes.ok())
    return emitError(module) << std::string(bytes.status().message());
  const SourceFile file(path, bytes.take());
  std::optional<std::vector<TuningEntry>> entries = readTuningFile(
      file, [&](const SourceLocation &place, const std::string &message) { emitError(locationOf(place)) << message; });
  if (!entries)
    return failure();
  for (TuningEntry &entry : *entries)
    entries_.push_back({std::move(entry)});
  return success();
}

std::optional<TileChooser::Decision> TileChooser::fromFile(const TunableContraction &contraction,
                                                           const TunableContraction::OfTarget &of) {
  for (FileEntry &each : entries_) {
    const TuningEntry &entry = each.entry;
    if (entry.target != of.target || entry.contraction != contraction.key)
      continue;
    const bool wasMet = std::exchange(each.isMet, true);
    const Location place = locationOf(entry.place);
    if (llvm::is_contained(of.choices, entry.choice))
      return Decision{
          {of.target, entry.choice}, concat("line ", entry.place.line, " of '", entry.place.file, "'"), place};
    if (!wasMet)
      emitRemark(place) << "this choice is left out: " << entry.choice.text() << " is none that "
                        << of.target.toString() << " has for the contraction";
  }
  return std::nullopt;
}

/// For each target the pin, if it takes it, or what a file says.
SmallVector<TileChooser::Decision> TileChooser::decide(Operation *op, const std::optional<TileChoice> &pin) {
  SmallVector<Decision> decisions;
  for (const TunableContraction::OfTarget &of : last_->targets) {
    std::optional<Decision> found = fromFile(*last_, of);
    if (pin && llvm::is_contained(of.choices, *pin))
      decisions.push_back({{of.target, *pin}, concat("'", std::string_view(kTileAttr), "'"), op->getLoc()});
    else if (found)
      decisions.push_back(std::move(*found));
  }
  return decisions;
}

/// One launch is for all targets, so its blocks have one tile, but for Hopper's, which take any number of theirs.
void TileChooser::dropContrary(SmallVector<Decision> &decisions) {
  SmallVector<Decision> kept;
  for (Decision &decision : decisions) {
    const TileChoice &choice = decision.given.choice;
    const auto *contrary = llvm::find_if(kept, [&](const Decision &other) {
      const TileChoice &first = other.given.choice;
      if (&strategyOf(first) != &strategyOf(choice))
        return true;
      const bool isFree = first.by == kByWarpgroups || choice.by == kByWarpgroups;
      return !isFree && first.numbers != choice.numbers;
    });
    if (contrary == kept.end())
      kept.push_back(std::move(decision));
    else
      emitRemark(decision.place) << "the choice for " << decision.given.target.toString()
                                 << " is left out: one launch is for all targets, and for "
                                 << contrary->given.target.toString() << " there is " << contrary->given.choice.text();
  }
  decisions = std::move(kept);
}

LogicalResult TileChooser::refusePin(Operation *op, const TileChoice &pin) const {
  InFlightDiagnostic error = op->emitError() << "'" << kTileAttr << "' is " << pin.text()
                                             << ", which no target of the program can take here";
  for (const TunableContraction::OfTarget &of : last_->targets) {
    mlir::Diagnostic &note = error.attachNote() << of.target.toString() << " can take";
    for (const TileChoice &choice : of.choices)
      note << (&choice == of.choices.data() ? " " : ", ") << choice.text();
  }
  return error;
}

void TileChooser::print(Operation *op, ArrayRef<Decision> decisions, ArrayRef<std::string> chosen) const {
  InFlightDiagnostic remark = op->emitRemark() << "contraction '" << last_->key << "'";
  for (auto [of, text] : llvm::zip_equal(last_->targets, chosen)) {
    const auto *decision =
        llvm::find_if(decisions, [&](const Decision &each) { return each.given.target == of.target; });
    remark.attachNote() << "on " << of.target.toString() << ": " << text << ", chosen by "
                        << (decision == decisions.end() ? "the model" : decision->by);
  }
}

FailureOr<std::vector<Plan>> TileChooser::choose(const KernelFunction &kernel, const GroupShape &shape,
                                                 const Strategy &strategy, std::vector<Plan> plans) {
  last_.reset();
  Operation *pinned = pinnedOperation(kernel);
  if (strategy.name() != kContraction && strategy.name() != kSkinny) {
    if (pinned && TileChoice::of(tilePinOf(pinned)) == TileChoice{strategy.name().str(), {}})
      dropTilePin(pinned); // who computes it is all that there is to choose
    else if (pinned)
      return pinned->emitError() << "'" << kTileAttr << "' has no effect here: strategy '" << strategy.name()
                                 << "' computes this kernel, and leaves nothing to choose";
    return plans;
  }
  if (!pinned && entries_.empty() && !print_ && !lists_)
    return plans; // nobody asks
  Operation *op = pinned ? pinned : contractionOf(kernel);
  last_ = TunableContraction{contractionKey(kernel), op->getLoc(), {}, {}};
  for (const Target &target : targets_) {
    TunableContraction::OfTarget of{target.arch, {}, {}, false};
    for (StringRef name : {kSkinny, kContraction})
      llvm::append_range(of.choices, strategyNamed(name)->choices(kernel, shape, target.arch));
    last_->targets.push_back(std::move(of));
  }
  std::optional<TileChoice> pin;
  if (pinned)
    pin = TileChoice::of(tilePinOf(pinned));
  if (pin && llvm::none_of(last_->targets, [&](const auto &of) { return llvm::is_contained(of.choices, *pin); }))
    return refusePin(op, *pin);
  SmallVector<Decision> decisions = decide(op, pin);
  dropContrary(decisions);
  const Strategy *chosenStrategy = &strategy;
  if (!decisions.empty()) {
    SmallVector<GivenChoice> given;
    for (const Decision &decision : decisions)
      given.push_back(decision.given);
    chosenStrategy = &strategyOf(given.front().choice);
    plans = chosenStrategy->plansWith(kernel, shape, given);
  }
  if (pinned)
    dropTilePin(pinned); // kernels that are alike then are one
  SmallVector<std::string> chosen;
  for (TunableContraction::OfTarget &of : last_->targets) {
    SmallVector<std::string> texts;
    for (const Plan &plan : plans)
      if (std::optional<TileChoice> choice = strategyNamed(plan.strategy)->choiceOf(kernel, shape, plan, of.target)) {
        of.chosen = choice;
        texts.push_back(choice->text());
      }
    if (texts.size() != 1)
      of.chosen.reset();
    of.isGiven = llvm::any_of(decisions, [&](const Decision &each) { return each.given.target == of.target; });
    chosen.push_back(llvm::join(texts, " or "));
  }
  if (print_)
    print(op, decisions, chosen);
  return plans;
}

void TileChooser::finish(ArrayRef<hal::ExecutableTargetAttr> others) const {
  auto isOfOther = [&](const TuningEntry &entry) {
    return llvm::any_of(others, [&](hal::ExecutableTargetAttr other) {
      const FailureOr<abi::TargetArch> arch = targetArchOf(other);
      return succeeded(arch) && *arch == entry.target;
    });
  };
  for (const FileEntry &each : entries_) {
    if (each.isMet || isOfOther(each.entry))
      continue;
    const bool isForTarget =
        llvm::any_of(targets_, [&](const Target &target) { return target.arch == each.entry.target; });
    InFlightDiagnostic remark = emitRemark(locationOf(each.entry.place)) << "this choice fits nothing: ";
    if (isForTarget)
      remark << "the program has no such contraction";
    else
      remark << "the program is not compiled for " << each.entry.target.toString();
  }
}

} // namespace tenon::compiler::codegen
