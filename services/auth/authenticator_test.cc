#include "services/auth/authenticator.h"

#include <memory>
#include <string>

#include "base/clock/testing/fake_clock.h"
#include "base/digest/digest.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::auth {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;

base::Caller Claiming(const std::string& user) {
  base::Caller caller;
  caller.user = user;
  return caller;
}

TEST(ClaimedUserAuthenticatorTest, BelievesTheNameAndSaysItIsNotVerified) {
  const auto visitor = ClaimedUserAuthenticator().Identify(Claiming("ada"));
  ORDO_ASSERT_OK(visitor);
  EXPECT_EQ((*visitor)->owner.user(), "ada");
  EXPECT_FALSE((*visitor)->owner.verified());
  for (const Right right : {Right::kRead, Right::kAdminister, Right::kWorker}) {
    EXPECT_TRUE((*visitor)->Has(right));
  }
}

TEST(ClaimedUserAuthenticatorTest, CallerWithoutANameIsUnknown) {
  const auto visitor = ClaimedUserAuthenticator().Identify(Claiming(""));
  ORDO_ASSERT_OK(visitor);
  EXPECT_EQ((*visitor)->owner.user(), kUnknownUser);
}

TEST(ClaimedUserAuthenticatorTest, RefusesNamesThatCannotBeShown) {
  for (const std::string& user :
       {std::string("a b"), std::string("a\n"), std::string("\xff"),
        std::string(kMaxUserLength + 1, 'a')}) {
    EXPECT_THAT(ClaimedUserAuthenticator().Identify(Claiming(user)),
                StatusIs(absl::StatusCode::kUnauthenticated));
  }
  ORDO_EXPECT_OK(ClaimedUserAuthenticator().Identify(
      Claiming(std::string(kMaxUserLength, 'a'))));
}

class KnownAuthenticatorTest : public ::testing::Test {
 protected:
  KnownAuthenticatorTest() {
    KnownAuthenticatorOptions options;
    options.certificate_admins = {"root"};
    options.admin_token_sha256 = base::Sha256Hex("first");
    authenticator_ = std::make_unique<KnownAuthenticator>(tokens_, options);
  }

  absl::StatusOr<VisitorPtr> OfCertificate(const std::string& name) {
    base::Caller caller = Claiming("eve");
    // Whatever else it shows.
    caller.bearer = "first";
    caller.uri_names = {"https://example", name};
    return authenticator_->Identify(caller);
  }
  absl::StatusOr<VisitorPtr> OfBearer(const std::string& bearer) {
    base::Caller caller = Claiming("eve");
    caller.bearer = bearer;
    return authenticator_->Identify(caller);
  }

  base::testing::FakeClock clock_;
  scheduler::testing::FakeScheduler scheduler_;
  Tokens tokens_{scheduler_, clock_};
  std::unique_ptr<KnownAuthenticator> authenticator_;
};

TEST_F(KnownAuthenticatorTest, WhoOnlyClaimsANameIsNobody) {
  const auto visitor = authenticator_->Identify(Claiming("root"));
  ASSERT_THAT(visitor, IsOk());
  EXPECT_EQ((*visitor)->role, ordo::access::v1::ROLE_UNSPECIFIED);
  EXPECT_EQ((*visitor)->owner.user(), kUnknownUser);
  EXPECT_FALSE((*visitor)->Has(Right::kRead));
}

TEST_F(KnownAuthenticatorTest, ACertificateSaysWhoItIsOf) {
  const auto root = OfCertificate("ordo:user/root");
  ASSERT_THAT(root, IsOk());
  EXPECT_EQ((*root)->role, ordo::access::v1::ADMIN);
  EXPECT_EQ((*root)->known_by, "certificate");
  EXPECT_TRUE((*root)->owner.verified());
  const auto ada = OfCertificate("ordo:user/ada");
  ASSERT_THAT(ada, IsOk());
  EXPECT_EQ((*ada)->role, ordo::access::v1::USER);
  EXPECT_EQ((*ada)->owner.user(), "ada");
  const auto worker = OfCertificate("ordo:worker/w");
  ASSERT_THAT(worker, IsOk());
  EXPECT_EQ((*worker)->role, ordo::access::v1::WORKER);
  EXPECT_EQ((*worker)->worker, "w");
  EXPECT_TRUE((*worker)->Has(Right::kWorker));
}

TEST_F(KnownAuthenticatorTest, ACertificateThatFailsIsNotPassedOn) {
  for (const char* name : {"ordo:scheduler", "ordo:user/", "ordo:user/a b",
                           "ordo:worker/", "ordo:", "https://other"}) {
    EXPECT_THAT(OfCertificate(name).status(),
                StatusIs(absl::StatusCode::kUnauthenticated,
                         HasSubstr("lets nobody in")))
        << name;
  }
}

TEST_F(KnownAuthenticatorTest, ABearerIsWhoTheTokenIsOf) {
  const auto admin = OfBearer("first");
  ASSERT_THAT(admin, IsOk());
  EXPECT_EQ((*admin)->role, ordo::access::v1::ADMIN);
  EXPECT_EQ((*admin)->owner.user(), "admin");
  EXPECT_THAT(
      OfBearer("second").status(),
      StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("is not known")));
  EXPECT_THAT(OfBearer("a.b.c").status(),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("accepts no JWT")));
}

}  // namespace
}  // namespace ordo::services::auth
