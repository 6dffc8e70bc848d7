#include "model/tasks/shares.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ordo::model::tasks {

Scores ScoresOf(std::map<std::string, double> metrics,
                const ShareTable& table) {
  Scores scores;
  scores.metrics = std::move(metrics);
  scores.csv = absl::StrCat(table.by, ",", table.what, ",count,total\n");
  scores.markdown = absl::StrCat("|", table.by, "|", table.what,
                                 " in per cent|of|\n|---|---|---|\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [number, share] : table.shares) {
    rows.push_back({{table.by, number},
                    {table.what, share.value()},
                    {"count", share.count},
                    {"total", share.total}});
    absl::StrAppend(&scores.csv, number, ",", share.value(), ",", share.count,
                    ",", share.total, "\n");
    absl::StrAppendFormat(&scores.markdown, "|%d|%.1f|%d|\n", number,
                          100 * share.value(), share.total);
  }
  scores.details["shares"] = std::move(rows);
  scores.markdown += "\n";
  for (const auto& [name, value] : scores.metrics) {
    absl::StrAppend(&scores.markdown, "- ", name, ": ", value, "\n");
  }
  return scores;
}

Scores ScoresByLength(const ShareTable& table, int64_t trained_length) {
  Mean score, trained;
  for (const auto& [length, share] : table.shares) {
    (length <= trained_length ? trained : score).Add(share.value());
  }
  std::map<std::string, double> metrics;
  if (score.count > 0) metrics["score"] = score.sum / score.count;
  if (trained.count > 0) metrics["trained_mean"] = trained.sum / trained.count;
  Scores scores = ScoresOf(std::move(metrics), table);
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
