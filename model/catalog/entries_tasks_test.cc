#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

// 20 digits: 20 + 1 + 20 + 1 + 21 tokens are fed, the 64th is predicted only.
TEST(EntriesTasksTest, RowsOfAdditionAreAsLongAsTheirDigits) {
  for (const auto& [kind, name] :
       {std::pair(Kind::kTrainingTask, "addition"),
        std::pair(Kind::kEvaluationTask, "addition_grid")}) {
    const Entry* entry = Find(kind, name);
    ASSERT_NE(entry, nullptr);
    ParamMap params;
    params["max_digits"].set_number_value(20);
    EXPECT_EQ(entry->row_length(params), 63);
  }
}

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

TEST(EntriesTasksTest, NumbersOfGridsSayWhichDigitIsFirst) {
  for (const char* task :
       {"addition_grid", "multiplication_grid", "sorting_grid"}) {
    EXPECT_EQ(Find(Kind::kEvaluationTask, task)->evaluation.notation,
              "numbers have their least significant digit first")
        << task;
  }
  EXPECT_EQ(Find(Kind::kEvaluationTask, "bitwise_or_grid")->evaluation.notation,
            "");
}

// 512 symbols, 256 + B + 256 tokens, 512 words: the last is said only.
TEST(EntriesTasksTest, RowsHaveThePublishedLengths) {
  for (const Kind kind : {Kind::kTrainingTask, Kind::kEvaluationTask}) {
    EXPECT_EQ(LengthOf(kind, "flip_flop", {}), 511);
    EXPECT_EQ(LengthOf(kind, "selective_copy", {}), 767);
    EXPECT_EQ(LengthOf(kind, "selective_copy", {{"blanks", 128}}), 639);
    EXPECT_EQ(LengthOf(kind, "selective_copy", {{"blanks", 512}}), 1023);
    EXPECT_EQ(LengthOf(kind, "counting", {}), 511);
  }
}

TEST(EntriesTasksTest, ValuesOutOfRangeAreNamed) {
  const struct {
    const char* task;
    const char* param;
    double value;
  } cases[] = {
      {"flip_flop", "ignore", 1.5},      {"flip_flop", "pairs", 1},
      {"selective_copy", "symbols", 0},  {"counting", "variables", 27},
      {"counting", "max_operations", 2}, {"counting", "pass", -1},
      {"nope", "max_length", 51},        {"sorting", "max_numbers", 103},
      {"ruoss", "max_length", 0}};
  for (const auto& wrong : cases) {
    ParamMap params;
    params[wrong.param].set_number_value(wrong.value);
    std::vector<base::FieldViolation> violations;
    ResolveParams(*Find(Kind::kTrainingTask, wrong.task), "data", &params,
                  &violations);
    ASSERT_EQ(violations.size(), 1u) << wrong.task << " " << wrong.param;
    EXPECT_EQ(violations[0].field, std::string("data.params.") + wrong.param);
  }
}

}  // namespace
}  // namespace ordo::model::catalog
