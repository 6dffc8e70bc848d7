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

}  // namespace
}  // namespace ordo::model::catalog
