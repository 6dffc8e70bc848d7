#ifndef ORDO_MODEL_TASKS_RETRIEVAL_RECALL_H_
#define ORDO_MODEL_TASKS_RETRIEVAL_RECALL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/tasks/rate.h"
#include "model/tasks/task.h"

namespace ordo::model::tasks::retrieval {

// Mean recall in cells of a row and a length, each with as many items.
struct RecallTable {
  // What the rows are: "task", "depth".
  std::string rows;
  // Titles of rows, in their order, and lengths, rising.
  std::vector<std::string> titles;
  std::vector<int64_t> lengths;
  // By number of row and of length.
  std::vector<std::vector<Rate>> cells;

  RecallTable(std::string rows_are, std::vector<std::string> row_titles,
              std::vector<int64_t> all_lengths);

  // The mean over all rows.
  Estimate OfLength(size_t length) const;
};

// Scores with `score` and `trained_mean`, means over the lengths above the
// trained one and over the others; the table as csv, Markdown and `cells` of
// the details, each cell with its standard error.
Scores ScoresOfRecall(const RecallTable& table, int64_t trained_length);

}  // namespace ordo::model::tasks::retrieval

#endif  // ORDO_MODEL_TASKS_RETRIEVAL_RECALL_H_
