#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

int64_t LengthOf(Kind kind, const std::string& task,
                 const std::map<std::string, double>& numbers,
                 const std::map<std::string, std::string>& texts = {}) {
  const Entry& entry = *Find(kind, task);
  ParamMap params;
  for (const auto& [name, number] : numbers) {
    params[name].set_number_value(number);
  }
  for (const auto& [name, text] : texts) params[name].set_string_value(text);
  std::vector<base::FieldViolation> violations;
  ResolveParams(entry, "", &params, &violations);
  EXPECT_TRUE(violations.empty());
  return entry.row_length(params);
}

// Odd inputs alone: 99 and one output.
TEST(EntriesLengthTasksTest, RowsOfLengthTasksAreOfTheirTask) {
  EXPECT_EQ(LengthOf(Kind::kEvaluationTask, "ruoss", {{"max_length", 100}},
                     {{"task", "modular_arithmetic"}}),
            100);
  EXPECT_EQ(
      LengthOf(Kind::kEvaluationTask, "ruoss",
               {{"min_length", 90}, {"max_length", 100}, {"length_step", 7}},
               {{"task", "duplicate_string"}}),
      291);
  EXPECT_EQ(LengthOf(Kind::kTrainingTask, "nope", {{"max_length", 40}}), 82);
}

TEST(EntriesLengthTasksTest, TheLongestIsNoShorterThanTheShortest) {
  EXPECT_EQ(LengthOf(Kind::kEvaluationTask, "ruoss",
                     {{"min_length", 60}, {"max_length", 10}}),
            61);
}

TEST(EntriesLengthTasksTest, OnlyWhatIsSaidBesideTheInputNeedsNoCausalModel) {
  EXPECT_NE(Find(Kind::kEvaluationTask, "ruoss")->answers_in_place, nullptr);
  EXPECT_EQ(Find(Kind::kEvaluationTask, "nope")->answers_in_place, nullptr);
}

}  // namespace
}  // namespace ordo::model::catalog
