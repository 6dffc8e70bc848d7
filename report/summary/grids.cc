#include "report/summary/grids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "report/statistics.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::SummarizeSpec;

// What the runs of one seed left, by arm.
using ByArm = std::map<std::string, const Grid*>;

bool IsAlike(const Grid& a, const Grid& b) {
  return a.max_digits == b.max_digits && a.samples == b.samples &&
         a.trained_digits == b.trained_digits;
}

std::map<std::string, std::map<uint64_t, ByArm>> GridsByEvaluation(
    const SummarizeSpec& spec, const std::vector<PartRecords>& records) {
  std::map<std::string, std::map<uint64_t, ByArm>> grids;
  for (const auto& [part, counted, of_part] : RecordedReports(spec, records)) {
    const auto found = of_part->grids.find(counted.report->path());
    if (found == of_part->grids.end()) continue;
    grids[counted.evaluation][part->seed()][part->part()] = &found->second;
  }
  return grids;
}

void Add(const Grid& grid, Grid* sum) {
  sum->samples += grid.samples;
  for (size_t a = 0; a < grid.right.size(); ++a) {
    for (size_t b = 0; b < grid.right[a].size(); ++b) {
      sum->right[a][b] += grid.right[a][b];
    }
  }
}

}  // namespace

std::vector<ArmGrid> ArmGrids(const SummarizeSpec& spec,
                              const Comparison& comparison,
                              const std::vector<PartRecords>& records) {
  std::vector<ArmGrid> all;
  for (const auto& [evaluation, seeds] : GridsByEvaluation(spec, records)) {
    const Grid& first = *seeds.begin()->second.begin()->second;
    std::map<std::string, ArmGrid> arms;
    for (const auto& [seed, grids] : seeds) {
      const bool is_whole =
          grids.size() == comparison.arms.size() &&
          std::all_of(grids.begin(), grids.end(), [&](const auto& entry) {
            return IsAlike(*entry.second, first);
          });
      if (!is_whole) continue;
      for (const auto& [arm, grid] : grids) {
        ArmGrid& pooled = arms[arm];
        if (pooled.num_seeds++ > 0) {
          Add(*grid, &pooled.grid);
          continue;
        }
        pooled.evaluation = evaluation;
        pooled.grid = *grid;
        pooled.grid.name = arm;
      }
    }
    for (const std::string& arm : comparison.arms) {
      const auto found = arms.find(arm);
      if (found != arms.end()) all.push_back(std::move(found->second));
    }
  }
  return all;
}

std::string CellsTitle(const ArmGrid& of_arm) {
  const int samples = of_arm.grid.samples;
  return absl::StrCat(of_arm.grid.name, ": ", of_arm.num_seeds,
                      of_arm.num_seeds == 1 ? " seed, " : " seeds, ", samples,
                      samples == 1 ? " question a cell" : " questions a cell");
}

Table CellTable(const std::vector<ArmGrid>& grids) {
  Table table;
  table.header = {"evaluation", "arm",      "seeds", "trained",
                  "digits_a",   "digits_b", "right", "total",
                  "share",      "low",      "high"};
  for (const ArmGrid& of_arm : grids) {
    const Grid& grid = of_arm.grid;
    for (int a = 1; a <= grid.max_digits; ++a) {
      for (int b = 1; b <= grid.max_digits; ++b) {
        const int right = grid.right[a - 1][b - 1];
        const Share share = WilsonInterval(right, grid.samples);
        table.rows.push_back(
            {of_arm.evaluation, grid.name, absl::StrCat(of_arm.num_seeds),
             grid.trained_digits > 0 ? absl::StrCat(grid.trained_digits) : "",
             absl::StrCat(a), absl::StrCat(b), absl::StrCat(right),
             absl::StrCat(grid.samples), ExactText(share.value),
             ExactText(share.low), ExactText(share.high)});
      }
    }
  }
  return table;
}

}  // namespace ordo::report::summary
