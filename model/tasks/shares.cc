#include "model/tasks/shares.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ordo::model::tasks {

void SetMetrics(const Estimates& estimates, Scores* scores) {
  for (const auto& [name, estimate] : estimates) {
    scores->metrics[name] = estimate.value;
    if (!estimate.standard_error.has_value()) continue;
    scores->standard_errors[name] = *estimate.standard_error;
    if (estimate.num_units < 2 || estimate.num_items < estimate.num_units) {
      continue;
    }
    scores->sampled[name] = {estimate.num_units, estimate.num_items};
  }
}

std::string MetricLines(const Scores& scores) {
  std::string lines;
  for (const auto& [name, value] : scores.metrics) {
    absl::StrAppend(&lines, "- ", name, ": ", value);
    const auto error = scores.standard_errors.find(name);
    if (error != scores.standard_errors.end()) {
      absl::StrAppend(&lines, " (standard error ", error->second, ")");
    }
    absl::StrAppend(&lines, "\n");
  }
  return lines;
}

std::string ErrorCell(const Estimate& estimate) {
  return estimate.standard_error.has_value()
             ? absl::StrCat(*estimate.standard_error)
             : "";
}

std::string PercentWithError(const Estimate& estimate) {
  std::string text = absl::StrFormat("%.1f", 100 * estimate.value);
  if (estimate.standard_error.has_value()) {
    absl::StrAppendFormat(&text, " ± %.1f", 100 * *estimate.standard_error);
  }
  return text;
}

void AddError(const Estimate& estimate, int64_t num_units,
              nlohmann::ordered_json* row) {
  (*row)["units"] = num_units;
  if (estimate.standard_error.has_value()) {
    (*row)["standard_error"] = *estimate.standard_error;
  }
}

Scores ScoresOf(const Estimates& metrics, const ShareTable& table) {
  Scores scores;
  SetMetrics(metrics, &scores);
  scores.csv =
      absl::StrCat(table.by, ",", table.what, ",count,total,standard_error\n");
  scores.markdown =
      absl::StrCat("|", table.by, "|", table.what,
                   " in per cent ± standard error|of|\n|---|---|---|\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [number, share] : table.shares) {
    const auto count = static_cast<int64_t>(std::llround(share.sum()));
    const Estimate estimate = EstimateOf(share);
    nlohmann::ordered_json row = {{table.by, number},
                                  {table.what, share.value()},
                                  {"count", count},
                                  {"total", share.total()}};
    AddError(estimate, share.num_units(), &row);
    rows.push_back(std::move(row));
    absl::StrAppend(&scores.csv, number, ",", share.value(), ",", count, ",",
                    share.total(), ",", ErrorCell(estimate), "\n");
    absl::StrAppend(&scores.markdown, "|", number, "|",
                    PercentWithError(estimate), "|", share.total(), "|\n");
  }
  scores.details["shares"] = std::move(rows);
  absl::StrAppend(&scores.markdown, "\n", MetricLines(scores));
  return scores;
}

Scores ScoresByLength(const ShareTable& table, int64_t trained_length) {
  std::vector<const Rate*> longer, trained;
  for (const auto& [length, share] : table.shares) {
    (length <= trained_length ? trained : longer).push_back(&share);
  }
  Estimates metrics;
  if (!longer.empty()) metrics["score"] = MeanOf(longer);
  if (!trained.empty()) metrics["trained_mean"] = MeanOf(trained);
  Scores scores = ScoresOf(metrics, table);
  scores.details["trained_length"] = trained_length;
  return scores;
}

int64_t LeastOfRange(int64_t number) {
  int64_t least = 1;
  while (least <= number / 2) least *= 2;
  return least;
}

int64_t Millionths(double share) {
  return static_cast<int64_t>(share * 1e6 + 0.5);
}

}  // namespace ordo::model::tasks
