#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ::testing::HasSubstr;

struct Checked {
  ParamMap params;
  std::vector<base::FieldViolation> violations;
};

Checked Resolve(const Entry& entry, const std::string& task,
                const std::map<std::string, double>& numbers) {
  Checked checked;
  for (const auto& [name, number] : numbers) {
    checked.params[name].set_number_value(number);
  }
  if (!task.empty()) checked.params["task"].set_string_value(task);
  ResolveParams(entry, "data", &checked.params, &checked.violations);
  return checked;
}

// 1024, 2048 and 4096.
TEST(EntriesRetrievalTest, LengthsOfRulerAreDoubled) {
  const Entry& ruler = *Find(Kind::kEvaluationTask, "ruler");
  const Checked checked =
      Resolve(ruler, "vt", {{"min_length", 1024}, {"max_length", 8000}});
  ASSERT_TRUE(checked.violations.empty());
  EXPECT_EQ(ruler.evaluation.items_per_sample(checked.params), 3);
  EXPECT_EQ(ruler.row_length(checked.params), 4095);
}

TEST(EntriesRetrievalTest, AllTasksOfRulerAreEleven) {
  const Entry& ruler = *Find(Kind::kEvaluationTask, "ruler");
  const Checked checked =
      Resolve(ruler, "", {{"min_length", 4096}, {"max_length", 4096}});
  EXPECT_EQ(ruler.evaluation.items_per_sample(checked.params), 11);
}

TEST(EntriesRetrievalTest, ATextThatIsTooShortForItsTaskIsRefused) {
  const Entry& ruler = *Find(Kind::kTrainingTask, "ruler");
  EXPECT_TRUE(Resolve(ruler, "vt", {{"min_length", 1500}}).violations.empty());
  for (const char* task : {"cwe", "all"}) {
    const Checked checked = Resolve(ruler, task, {{"min_length", 1500}});
    ASSERT_EQ(checked.violations.size(), 1u) << task;
    EXPECT_EQ(checked.violations[0].field, "data.params.min_length");
    EXPECT_THAT(checked.violations[0].description,
                HasSubstr("at least 2048 tokens for cwe, is 1500"));
  }
}

TEST(EntriesRetrievalTest, AGridOfNeedlesHasLengthsAndDepths) {
  const Entry& needle = *Find(Kind::kEvaluationTask, "needle");
  const Checked checked = Resolve(
      needle, "", {{"max_length", 2000}, {"lengths", 3}, {"depths", 4}});
  EXPECT_EQ(needle.evaluation.items_per_sample(checked.params), 12);
  EXPECT_EQ(needle.row_length(checked.params), 1999);
}

}  // namespace
}  // namespace ordo::model::catalog
