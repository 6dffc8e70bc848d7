#include "model/tasks/task.h"

#include <algorithm>

namespace ordo::model::tasks {

bool IsRight(const Marks& marks) {
  return std::find(marks.begin(), marks.end(), 0) == marks.end();
}

bool IsExactMatch(const std::vector<int64_t>& produced,
                  const std::vector<int64_t>& answer) {
  std::vector<int64_t> row(produced);
  const auto end = std::find(row.begin(), row.end(), kEnd);
  if (end != row.end()) std::fill(end + 1, row.end(), kPad);
  std::vector<int64_t> gold(answer);
  const size_t length = std::max(row.size(), gold.size());
  row.resize(length, kPad);
  gold.resize(length, kPad);
  return row == gold;
}

}  // namespace ordo::model::tasks
