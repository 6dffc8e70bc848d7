#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

ParamMap Resolved(const Entry& entry,
                  const std::map<std::string, double>& numbers) {
  ParamMap params;
  for (const auto& [name, number] : numbers) {
    params[name].set_number_value(number);
  }
  std::vector<base::FieldViolation> violations;
  ResolveParams(entry, "", &params, &violations);
  EXPECT_TRUE(violations.empty());
  return params;
}

// 29 and 31 actions no command has, nor 34 and 35.
TEST(EntriesCompositionalTest, OnlyActionsOfCommandsAreAskedFor) {
  const Entry& scan = *Find(Kind::kEvaluationTask, "scan");
  const ParamMap params =
      Resolved(scan, {{"min_actions", 29}, {"max_actions", 35}});
  EXPECT_EQ(scan.evaluation.items_per_sample(params), 3);
  EXPECT_EQ(scan.row_length(params), 11 + 33);
}

TEST(EntriesCompositionalTest, WhereNoCommandHasSoManyActionsTheNextDo) {
  const Entry& scan = *Find(Kind::kEvaluationTask, "scan");
  const ParamMap params =
      Resolved(scan, {{"min_actions", 41}, {"max_actions", 2}});
  EXPECT_EQ(scan.evaluation.items_per_sample(params), 1);
  EXPECT_EQ(scan.row_length(params), 11 + 48);
}

// 2 functions: 4 words of functions and commas, 3 strings of 5, Solve: and
// [SEP]; 20 symbols come out.
TEST(EntriesCompositionalTest, RowsOfPcfgHoldTheirLongestExpression) {
  const Entry& pcfg = *Find(Kind::kTrainingTask, "pcfg");
  EXPECT_EQ(pcfg.row_length(Resolved(pcfg, {{"max_length", 2}})), 41);
}

}  // namespace
}  // namespace ordo::model::catalog
