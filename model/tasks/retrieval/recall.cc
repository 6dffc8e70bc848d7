#include "model/tasks/retrieval/recall.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/tasks/shares.h"

namespace ordo::model::tasks::retrieval {

RecallTable::RecallTable(std::string rows_are,
                         std::vector<std::string> row_titles,
                         std::vector<int64_t> all_lengths)
    : rows(std::move(rows_are)),
      titles(std::move(row_titles)),
      lengths(std::move(all_lengths)),
      cells(titles.size(), std::vector<Rate>(lengths.size())) {}

Estimate RecallTable::OfLength(size_t length) const {
  std::vector<const Rate*> rates;
  for (const std::vector<Rate>& row : cells) rates.push_back(&row[length]);
  return MeanOf(rates);
}

Scores ScoresOfRecall(const RecallTable& table, int64_t trained_length) {
  Scores scores;
  // Lengths have as many rows each.
  std::vector<const Rate*> longer, trained;
  for (size_t i = 0; i < table.lengths.size(); ++i) {
    for (const std::vector<Rate>& row : table.cells) {
      (table.lengths[i] <= trained_length ? trained : longer)
          .push_back(&row[i]);
    }
  }
  Estimates metrics;
  if (!longer.empty()) metrics["score"] = MeanOf(longer);
  if (!trained.empty()) metrics["trained_mean"] = MeanOf(trained);
  SetMetrics(metrics, &scores);
  scores.details["trained_length"] = trained_length;
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  scores.csv =
      absl::StrCat(table.rows, ",length,recall,items,standard_error\n");
  scores.markdown =
      absl::StrCat("Recall in per cent ± standard error; rows: ", table.rows,
                   ", columns: length.\n\n| |");
  for (const int64_t length : table.lengths) {
    absl::StrAppend(&scores.markdown, length, "|");
  }
  scores.markdown += "\n|---|";
  for (size_t i = 0; i < table.lengths.size(); ++i) scores.markdown += "---|";
  scores.markdown += "\n";
  for (size_t row = 0; row < table.titles.size(); ++row) {
    absl::StrAppend(&scores.markdown, "|", table.titles[row], "|");
    for (size_t i = 0; i < table.lengths.size(); ++i) {
      const Rate& cell = table.cells[row][i];
      const Estimate recall = EstimateOf(cell);
      nlohmann::ordered_json json = {{table.rows, table.titles[row]},
                                     {"length", table.lengths[i]},
                                     {"recall", recall.value},
                                     {"items", cell.total()}};
      AddError(recall, cell.num_units(), &json);
      cells.push_back(std::move(json));
      absl::StrAppend(&scores.csv, table.titles[row], ",", table.lengths[i],
                      ",", recall.value, ",", cell.total(), ",",
                      ErrorCell(recall), "\n");
      absl::StrAppend(&scores.markdown, PercentWithError(recall), "|");
    }
    scores.markdown += "\n";
  }
  scores.details["cells"] = std::move(cells);
  absl::StrAppend(&scores.markdown, "\n", MetricLines(scores));
  return scores;
}

}  // namespace ordo::model::tasks::retrieval
