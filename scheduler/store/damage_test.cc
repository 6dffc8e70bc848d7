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

TEST(DamageTest, NoneIsOk) { EXPECT_THAT(Damage({"/db"}).status(), IsOk()); }

TEST(DamageTest, TheFileAndEachRowAreNamed) {
  Damage damage({"/db"});
  damage.Add("jobs", "sequence 7");
  damage.Add("reports", "name r");
  EXPECT_THAT(damage.status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("/db"), HasSubstr("wrong rows: 2"),
                             HasSubstr("table jobs, sequence 7"),
                             HasSubstr("table reports, name r"),
                             Not(HasSubstr("...")))));
}

TEST(DamageTest, OfACopyAnotherIsToBeTaken) {
  Damage damage({"/copy", /*is_copy=*/true});
  damage.Add("meta", "key epoch");
  EXPECT_THAT(
      damage.status(),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("copy /copy is damaged"),
                     HasSubstr("take another copy"), Not(HasSubstr("store")))));
}

TEST(DamageTest, AllAreCountedAndTwentyNamed) {
  Damage damage({"/db"});
  for (int i = 1; i <= 30; ++i) damage.Add("jobs", absl::StrCat("row ", i));
  EXPECT_THAT(damage.status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("wrong rows: 30"), HasSubstr("row 20"),
                             Not(HasSubstr("row 21")), HasSubstr("; ..."))));
}

TEST(DamageTest, WhatAnotherHasIsAdded) {
  Damage damage({"/db"});
  damage.Add("jobs", "row 1");
  Damage other({"/db"});
  for (int i = 2; i <= 31; ++i) other.Add("jobs", absl::StrCat("row ", i));
  damage.Add(other);
  EXPECT_THAT(damage.status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("wrong rows: 31"), HasSubstr("row 1;"),
                             HasSubstr("row 20"), HasSubstr("; ..."))));
}

TEST(DamageTest, ARowIsToldTheSameWhateverElseIsDamaged) {
  Damage alone({"/db"});
  alone.Add("jobs", "sequence 7");
  Damage among({"/db"});
  among.Add("specs", "id 3");
  among.Add("jobs", "sequence 7");
  ASSERT_EQ(among.each().size(), 2u);
  EXPECT_EQ(among.each()[1], alone.status());
}

}  // namespace
}  // namespace ordo::scheduler::store
