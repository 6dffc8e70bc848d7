#include "tests/fake/behaviour.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::fake {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(BehaviourTest, NothingSaidIsWellBehaved) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Behaviour behaviour, ParseBehaviour("", "a"));
  EXPECT_EQ(behaviour.crash_at, 0);
  EXPECT_EQ(behaviour.step_ms, 0);
}

TEST(BehaviourTest, OwnEntryGoesBeforeTheStar) {
  for (const char* text :
       {"*:step_ms=2;a:crash_at=7,once=1", "a:crash_at=7,once=1;*:step_ms=2"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Behaviour mine, ParseBehaviour(text, "a"));
    EXPECT_EQ(mine.crash_at, 7);
    EXPECT_EQ(mine.once, 1);
    EXPECT_EQ(mine.step_ms, 0);
    ORDO_ASSERT_OK_AND_ASSIGN(const Behaviour other, ParseBehaviour(text, "b"));
    EXPECT_EQ(other.step_ms, 2);
    EXPECT_EQ(other.crash_at, 0);
  }
}

TEST(BehaviourTest, SlipsAreNamed) {
  for (const char* text : {"a:crash=7", "a:crash_at=x", "a:crash_at", "a"}) {
    EXPECT_THAT(ParseBehaviour(text, "b"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a")));
  }
}

}  // namespace
}  // namespace ordo::tests::fake
