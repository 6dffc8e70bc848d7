#include "services/auth/auth.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::auth {
namespace {

using base::testing::StatusIs;

TEST(ClaimedUserAuthenticatorTest, BelievesTheNameAndSaysItIsNotVerified) {
  const auto owner = ClaimedUserAuthenticator().Identify({"ada", "ipv4:x"});
  ORDO_ASSERT_OK(owner);
  EXPECT_EQ(owner->user(), "ada");
  EXPECT_FALSE(owner->verified());
}

TEST(ClaimedUserAuthenticatorTest, CallerWithoutANameIsUnknown) {
  const auto owner = ClaimedUserAuthenticator().Identify({"", "ipv4:x"});
  ORDO_ASSERT_OK(owner);
  EXPECT_EQ(owner->user(), kUnknownUser);
}

TEST(ClaimedUserAuthenticatorTest, RefusesNamesThatCannotBeShown) {
  for (const std::string& user :
       {std::string("a b"), std::string("a\n"), std::string("\xff"),
        std::string(kMaxUserLength + 1, 'a')}) {
    EXPECT_THAT(ClaimedUserAuthenticator().Identify({user, ""}),
                StatusIs(absl::StatusCode::kUnauthenticated));
  }
  ORDO_EXPECT_OK(ClaimedUserAuthenticator().Identify(
      {std::string(kMaxUserLength, 'a'), ""}));
}

TEST(OpenAuthoriserTest, LetsEverybodyChangeEverything) {
  ordo::jobs::v1::Owner ada;
  ada.set_user("ada");
  ordo::jobs::v1::Owner bob;
  bob.set_user("bob");
  ORDO_EXPECT_OK(OpenAuthoriser().MayChange(ada, bob));
  ORDO_EXPECT_OK(OpenAuthoriser().MayAdminister(ada));
}

}  // namespace
}  // namespace ordo::services::auth
