#include "services/request/author.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::services::request {
namespace {

using base::testing::StatusIs;

const auth::ClaimedUserAuthenticator kAuthenticator;
const auth::OpenAuthoriser kOpen;

// Lets only root administer.
class RootOnly : public auth::OpenAuthoriser {
 public:
  absl::Status MayAdminister(
      const ordo::jobs::v1::Owner& caller) const override {
    if (caller.user() == "root") return absl::OkStatus();
    return absl::PermissionDeniedError("only root may");
  }
};

TEST(AuthorTest, AuthorIsWhoCallsWithTheReason) {
  const auto author = AuthorOf(kAuthenticator, kOpen, {"ada", ""}, "new disks");
  ORDO_ASSERT_OK(author);
  EXPECT_EQ(author->owner.user(), "ada");
  EXPECT_FALSE(author->owner.verified());
  EXPECT_EQ(author->reason, "new disks");
}

TEST(AuthorTest, CallerWhoMayNotIsDenied) {
  EXPECT_THAT(AuthorOf(kAuthenticator, RootOnly(), {"ada", ""}, ""),
              StatusIs(absl::StatusCode::kPermissionDenied));
  ORDO_EXPECT_OK(AuthorOf(kAuthenticator, RootOnly(), {"root", ""}, ""));
}

TEST(AuthorTest, WhatNobodyAdministersNeedsNoLeave) {
  const auto author = AuthorOf(kAuthenticator, {"ada", ""}, "better");
  ORDO_ASSERT_OK(author);
  EXPECT_EQ(author->owner.user(), "ada");
  EXPECT_EQ(author->reason, "better");
  EXPECT_THAT(AuthorOf(kAuthenticator, {"a b", ""}, ""),
              StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(AuthorOf(kAuthenticator, {"ada", ""}, "two\nlines"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AuthorTest, CallerWithABadNameIsRefused) {
  EXPECT_THAT(AuthorOf(kAuthenticator, kOpen, {"a b", ""}, ""),
              StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST(AuthorTest, ReasonThatCannotBeShownIsInvalid) {
  ORDO_EXPECT_OK(AuthorOf(kAuthenticator, kOpen, {"ada", ""},
                          std::string(kMaxReasonLength, 'r')));
  for (const std::string& reason :
       {std::string(kMaxReasonLength + 1, 'r'), std::string("two\nlines")}) {
    const auto author = AuthorOf(kAuthenticator, kOpen, {"ada", ""}, reason);
    EXPECT_THAT(author, StatusIs(absl::StatusCode::kInvalidArgument));
    const auto violations = base::FieldViolations(author.status());
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].field, "reason");
  }
}

}  // namespace
}  // namespace ordo::services::request
