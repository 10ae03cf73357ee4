// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuner/measured.h"

#include "support/text/json.h"

#include <algorithm>
#include <cmath>

namespace tenon::tuner {
namespace {

using compiler::codegen::TuningEntry;

// Rounds of one kernel differ by as much.
constexpr double kNoise = 0.01;

int64_t rounded(double nanoseconds) {
  return std::llround(nanoseconds);
}

} // namespace

size_t winnerOf(const std::vector<Racer> &racers) {
  size_t best = 0;
  for (size_t i = 1; i < racers.size(); ++i)
    if (racers[i].problem.empty() && racers[i].nanoseconds < racers[best].nanoseconds)
      best = i;
  return racers[best].nanoseconds < (1 - kNoise) * racers.front().nanoseconds ? best : 0;
}

TuningEntry entryOf(const Contraction &contraction, abi::TargetArch target,
                    const std::vector<std::optional<TileChoice>> &choices, const std::vector<Racer> &racers,
                    size_t winner, const Measured &how) {
  JsonWriter json(JsonWriter::Style::Inline);
  const auto choiceMember = [&](const std::optional<TileChoice> &choice) {
    json.member("choice", choice ? choice->text() : "several kernels");
  };
  json.beginObject();
  json.breakLine(8);
  json.member("machine", how.machine);
  json.breakLine(8);
  json.member("tenon", TENON_VERSION);
  json.breakLine(8);
  json.member("rounds", how.rounds);
  json.member("calls", how.calls);
  if (how.size != 0)
    json.member("size", how.size);
  json.breakLine(8);
  json.member("nanoseconds", rounded(racers[winner].nanoseconds));
  json.breakLine(8);
  json.key("model");
  json.beginObject();
  choiceMember(choices.front());
  json.member("nanoseconds", rounded(racers.front().nanoseconds));
  json.endObject();
  json.breakLine(8);
  json.key("others");
  json.beginArray();
  for (size_t i = 1; i < racers.size(); ++i) {
    if (i == winner)
      continue;
    json.breakLine(10);
    json.beginObject();
    choiceMember(choices[i]);
    if (racers[i].problem.empty())
      json.member("nanoseconds", rounded(racers[i].nanoseconds));
    else
      json.member("problem", racers[i].problem);
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return {target, contraction.key, *choices[winner], json.take()};
}

std::vector<TuningEntry> merged(std::vector<TuningEntry> known, std::vector<TuningEntry> entries) {
  for (TuningEntry &entry : entries) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const TuningEntry &other) {
      return other.target == entry.target && other.contraction == entry.contraction;
    });
    if (same == known.end())
      known.push_back(std::move(entry));
    else
      *same = std::move(entry);
  }
  return known;
}

} // namespace tenon::tuner
