#include "model/tasks/retrieval/recall.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ordo::model::tasks::retrieval {
namespace {

double ValueOf(const Mean& mean) {
  return mean.count == 0 ? 0 : mean.sum / mean.count;
}

}  // namespace

RecallTable::RecallTable(std::string rows_are,
                         std::vector<std::string> row_titles,
                         std::vector<int64_t> all_lengths)
    : rows(std::move(rows_are)),
      titles(std::move(row_titles)),
      lengths(std::move(all_lengths)),
      cells(titles.size(), std::vector<Mean>(lengths.size())) {}

Mean RecallTable::OfLength(size_t length) const {
  Mean mean;
  for (const std::vector<Mean>& row : cells) {
    mean.sum += row[length].sum;
    mean.count += row[length].count;
  }
  return mean;
}

Scores ScoresOfRecall(const RecallTable& table, int64_t trained_length) {
  Scores scores;
  Mean longer, trained;
  for (size_t i = 0; i < table.lengths.size(); ++i) {
    (table.lengths[i] <= trained_length ? trained : longer)
        .Add(ValueOf(table.OfLength(i)));
  }
  if (longer.count > 0) scores.metrics["score"] = ValueOf(longer);
  if (trained.count > 0) scores.metrics["trained_mean"] = ValueOf(trained);
  scores.details["trained_length"] = trained_length;
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  scores.csv = absl::StrCat(table.rows, ",length,recall,items\n");
  scores.markdown = absl::StrCat("Recall in per cent; rows: ", table.rows,
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
      const Mean& cell = table.cells[row][i];
      cells.push_back({{table.rows, table.titles[row]},
                       {"length", table.lengths[i]},
                       {"recall", ValueOf(cell)},
                       {"items", cell.count}});
      absl::StrAppend(&scores.csv, table.titles[row], ",", table.lengths[i],
                      ",", ValueOf(cell), ",", cell.count, "\n");
      absl::StrAppendFormat(&scores.markdown, "%.1f|", 100 * ValueOf(cell));
    }
    scores.markdown += "\n";
  }
  scores.details["cells"] = std::move(cells);
  scores.markdown += "\n";
  for (const auto& [name, value] : scores.metrics) {
    absl::StrAppend(&scores.markdown, "- ", name, ": ", value, "\n");
  }
  return scores;
}

}  // namespace ordo::model::tasks::retrieval
