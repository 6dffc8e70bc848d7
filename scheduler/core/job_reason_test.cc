#include "scheduler/core/job_reason.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

TEST(JobReasonTest, ItIsEmptyUntilItIsSet) {
  JobReason reason;
  EXPECT_EQ(reason.value(), "");
  reason = reason::kHeld;
  EXPECT_EQ(reason.value(), "HELD");
  reason = "";
  EXPECT_EQ(reason.value(), "");
  EXPECT_EQ(JobReason(reason).value(), "");
}

TEST(JobReasonTest, EachOfTheListIsThereOnce) {
  for (const char* const text : reason::kAll) {
    JobReason one;
    one = text;
    EXPECT_EQ(one.value(), text);
    JobReason other;
    other = std::string(text);
    EXPECT_EQ(&other.value(), &one.value());
    const JobReason copy = one;
    EXPECT_EQ(&copy.value(), &one.value());
  }
}

TEST(JobReasonTest, AnotherTextIsKeptAndEachCopyHasItsOwn) {
  std::optional<JobReason> reason(std::in_place);
  *reason = "OF_A_LATER_RELEASE";
  JobReason copy = *reason;
  JobReason assigned;
  assigned = "HELD_UP";
  assigned = *reason;
  const JobReason& same = assigned;
  assigned = same;
  EXPECT_NE(&copy.value(), &reason->value());
  reason.reset();
  EXPECT_EQ(copy.value(), "OF_A_LATER_RELEASE");
  EXPECT_EQ(assigned.value(), "OF_A_LATER_RELEASE");
  const JobReason moved = std::move(copy);
  EXPECT_EQ(moved.value(), "OF_A_LATER_RELEASE");
  assigned = reason::kHeld;
  EXPECT_EQ(assigned.value(), "HELD");
}

TEST(JobReasonTest, CanBeSetToAPieceOfItself) {
  JobReason reason;
  reason = "OF_A_LATER_RELEASE";
  reason = std::string_view(reason.value()).substr(5);
  EXPECT_EQ(reason.value(), "LATER_RELEASE");
}

TEST(JobReasonTest, TakesTheRoomOfAPointer) {
  EXPECT_EQ(sizeof(JobReason), sizeof(void*));
}

}  // namespace
}  // namespace ordo::scheduler::core
