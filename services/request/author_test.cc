#include "services/request/author.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::request {
namespace {

using base::testing::StatusIs;

auth::Visitor Ada() {
  auth::Visitor ada;
  ada.owner.set_user("ada");
  ada.owner.set_verified(true);
  return ada;
}

TEST(AuthorTest, IsTheCallerWithTheirReason) {
  const auto author = AuthorOf(Ada(), "new disks");
  ORDO_ASSERT_OK(author);
  EXPECT_EQ(author->owner.user(), "ada");
  EXPECT_TRUE(author->owner.verified());
  EXPECT_EQ(author->reason, "new disks");
}

TEST(AuthorTest, ReasonThatCannotBeShownIsInvalid) {
  ORDO_EXPECT_OK(AuthorOf(Ada(), std::string(kMaxReasonLength, 'r')));
  for (const std::string& reason :
       {std::string(kMaxReasonLength + 1, 'r'), std::string("two\nlines")}) {
    const auto author = AuthorOf(Ada(), reason);
    EXPECT_THAT(author, StatusIs(absl::StatusCode::kInvalidArgument));
    const auto violations = base::FieldViolations(author.status());
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].field, "reason");
  }
}

}  // namespace
}  // namespace ordo::services::request
