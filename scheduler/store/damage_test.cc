#include "scheduler/store/damage.h"

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DamageTest, NoneIsOk) { EXPECT_THAT(Damage("/db").status(), IsOk()); }

TEST(DamageTest, TheFileAndEachRowAreNamed) {
  Damage damage("/db");
  damage.Add("jobs", "sequence 7");
  damage.Add("reports", "name r");
  EXPECT_THAT(damage.status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("/db"), HasSubstr("wrong rows: 2"),
                             HasSubstr("table jobs, sequence 7"),
                             HasSubstr("table reports, name r"),
                             Not(HasSubstr("...")))));
}

TEST(DamageTest, AllAreCountedAndTwentyNamed) {
  Damage damage("/db");
  for (int i = 1; i <= 30; ++i) damage.Add("jobs", absl::StrCat("row ", i));
  EXPECT_THAT(damage.status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("wrong rows: 30"), HasSubstr("row 20"),
                             Not(HasSubstr("row 21")), HasSubstr("; ..."))));
}

}  // namespace
}  // namespace ordo::scheduler::store
