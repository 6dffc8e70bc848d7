#include "model/tasks/task.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::tasks {

std::string EvaluationTask::ItemId(uint64_t seed, int64_t index) const {
  return absl::StrCat(seed, "-", index);
}

std::string EvaluationTask::UnitId(uint64_t seed, int64_t index) const {
  return ItemId(seed, index);
}

double EvaluationTask::ItemScore(const Marks& marks) const {
  return IsRight(marks) ? 1 : 0;
}

void ReadAtPlaces(int length, Question* question) {
  for (const int64_t token : question->answer) {
    question->places.push_back(static_cast<int>(question->prompt.size()) - 1);
    question->prompt.push_back(token);
  }
  question->prompt.pop_back();
  question->prompt.resize(length, kPad);
}

bool IsRight(const Marks& marks) {
  return std::find(marks.begin(), marks.end(), 0) == marks.end();
}

double ShareRight(const Marks& marks) {
  if (marks.empty()) return 1;
  const auto wrong = std::count(marks.begin(), marks.end(), 0);
  return 1 - static_cast<double>(wrong) / static_cast<double>(marks.size());
}

Marks MarkReferences(std::string_view text,
                     const std::vector<std::string>& references) {
  const std::string said = text::scoring::LowerCase(text);
  Marks marks;
  for (const std::string& reference : references) {
    const bool found =
        said.find(text::scoring::LowerCase(reference)) != std::string::npos;
    marks.push_back(found ? 1 : 0);
  }
  return marks;
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
