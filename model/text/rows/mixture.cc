#include "model/text/rows/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/tasks/epochs.h"

namespace ordo::model::text::rows {
namespace {

absl::Status Check(const std::vector<Source>& sources) {
  if (sources.empty()) return base::InvalidField("sources", "must have one");
  std::vector<base::FieldViolation> violations;
  std::set<std::string> names;
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string field = absl::StrCat("sources[", i, "]");
    if (!names.insert(sources[i].name).second) {
      violations.push_back({field + ".name", absl::StrCat("'", sources[i].name,
                                                          "' is there twice")});
    }
    if (!std::isfinite(sources[i].weight) || sources[i].weight <= 0) {
      violations.push_back({field + ".weight", "must be above 0"});
    }
    if (sources[i].num_rows == 0) {
      violations.push_back(
          {field, "has no row: it has too few tokens for one"});
    }
  }
  return base::InvalidFields(violations);
}

// Turns of each source, kNumTurns in all: the whole parts, and one more for
// those with the largest remainders.
std::vector<uint64_t> TurnsOf(const std::vector<Source>& sources) {
  const double sum = std::accumulate(
      sources.begin(), sources.end(), 0.0,
      [](double total, const Source& source) { return total + source.weight; });
  std::vector<uint64_t> turns;
  std::vector<std::pair<double, size_t>> remainders;
  uint64_t given = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const double share = sources[i].weight / sum * Mixture::kNumTurns;
    turns.push_back(static_cast<uint64_t>(share));
    given += turns.back();
    remainders.emplace_back(std::floor(share) - share, i);
  }
  std::sort(remainders.begin(), remainders.end());
  for (size_t i = 0; given < Mixture::kNumTurns; ++i, ++given) {
    ++turns[remainders[i % remainders.size()].second];
  }
  return turns;
}

}  // namespace

absl::StatusOr<Mixture> Mixture::Create(const std::vector<Source>& sources) {
  ORDO_RETURN_IF_ERROR(Check(sources));
  Mixture mixture;
  mixture.sources_ = sources;
  mixture.num_turns_ = TurnsOf(sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (mixture.num_turns_[i] > 0) continue;
    return base::InvalidField(
        absl::StrCat("sources[", i, "].weight"),
        absl::StrCat("is less than one row in ", kNumTurns,
                     ": raise it, or leave the source out"));
  }
  // Whoever is furthest behind its share has the turn, the first of equals.
  std::vector<uint64_t> had(sources.size(), 0);
  for (uint64_t turn = 0; turn < kNumTurns; ++turn) {
    const auto behind = [&](size_t i) {
      return static_cast<int64_t>((turn + 1) * mixture.num_turns_[i]) -
             static_cast<int64_t>(had[i] * kNumTurns);
    };
    size_t next = 0;
    for (size_t i = 1; i < sources.size(); ++i) {
      if (behind(i) > behind(next)) next = i;
    }
    mixture.turns_.push_back(
        {static_cast<uint32_t>(next), static_cast<uint32_t>(had[next])});
    ++had[next];
  }
  return mixture;
}

Mixture::Place Mixture::Find(uint64_t seed, uint64_t index) const {
  const Turn& turn = turns_[index % kNumTurns];
  const Source& source = sources_[turn.source];
  const uint64_t number =
      index / kNumTurns * num_turns_[turn.source] + turn.before;
  const uint64_t own_seed =
      base::RandomStream(seed, absl::StrCat("source/", source.name)).Bits(0);
  return {turn.source, tasks::RowOfSet(own_seed, number, source.num_rows),
          number / source.num_rows};
}

}  // namespace ordo::model::text::rows
