#include "services/auth/tokens.h"

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/clock/testing/fake_clock.h"
#include "base/digest/digest.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::auth {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ordo::access::v1::Token;
using ::testing::HasSubstr;

class TokensTest : public ::testing::Test {
 protected:
  Token Named(const std::string& id) {
    Token token;
    token.set_name("tokens/" + id);
    token.set_user("ada");
    token.set_role(ordo::access::v1::USER);
    token.set_creator("root");
    *token.mutable_expire_time() =
        base::ToTimestamp(clock_.Now() + absl::Hours(1));
    return token;
  }

  absl::StatusOr<NewToken> Create(const Token& token) {
    absl::StatusOr<NewToken> made = absl::UnknownError("no answer");
    tokens_->Create(token, [&made](absl::StatusOr<NewToken> answer) {
      made = std::move(answer);
    });
    return made;
  }
  absl::StatusOr<Token> Revoke(const std::string& id) {
    absl::StatusOr<Token> revoked = absl::UnknownError("no answer");
    tokens_->Revoke(id, "root", [&revoked](absl::StatusOr<Token> answer) {
      revoked = std::move(answer);
    });
    return revoked;
  }
  absl::StatusOr<Token> UseUp(const std::string& id,
                              const std::string& worker = "w") {
    absl::StatusOr<Token> used = absl::UnknownError("no answer");
    tokens_->UseUp(id, worker, [&used](absl::StatusOr<Token> answer) {
      used = std::move(answer);
    });
    return used;
  }
  absl::StatusOr<VisitorPtr> Find(const std::string& secret) {
    return tokens_->Find(base::Sha256Hex(secret));
  }

  base::testing::FakeClock clock_;
  scheduler::testing::FakeScheduler scheduler_;
  std::unique_ptr<Tokens> tokens_ =
      std::make_unique<Tokens>(scheduler_, clock_);
};

TEST_F(TokensTest, TheSecretIsItsBearersAndStoredNowhere) {
  Token token = Named("ci");
  token.add_queues("queues/night");
  const auto made = Create(token);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->secret.size(), 48u);
  const auto visitor = Find(made->secret);
  ASSERT_THAT(visitor, IsOk());
  EXPECT_EQ((*visitor)->owner.user(), "ada");
  EXPECT_TRUE((*visitor)->owner.verified());
  EXPECT_EQ((*visitor)->role, ordo::access::v1::USER);
  EXPECT_EQ((*visitor)->known_by, "token ci");
  EXPECT_TRUE((*visitor)->MaySee("night"));
  EXPECT_FALSE((*visitor)->MaySee("default"));

  const auto stored = scheduler_.ListTokens();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].sha256, base::Sha256Hex(made->secret));
  EXPECT_EQ(stored[0].token.SerializeAsString().find(made->secret),
            std::string::npos);
  EXPECT_THAT(Find("ordo_guess"), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(TokensTest, TokensAreThereAfterARestart) {
  const auto made = Create(Named("ci"));
  ASSERT_THAT(made, IsOk());
  tokens_ = std::make_unique<Tokens>(scheduler_, clock_);
  EXPECT_THAT(Find(made->secret), IsOk());
}

TEST_F(TokensTest, OneThatHasExpiredLetsNobodyIn) {
  const auto made = Create(Named("ci"));
  ASSERT_THAT(made, IsOk());
  clock_.Advance(absl::Hours(1) - absl::Seconds(1));
  const auto visitor = Find(made->secret);
  ASSERT_THAT(visitor, IsOk());
  EXPECT_TRUE(tokens_->StillHolds(**visitor));
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(tokens_->StillHolds(**visitor));
  EXPECT_THAT(Find(made->secret), StatusIs(absl::StatusCode::kUnauthenticated,
                                           HasSubstr("token ci has expired")));
}

TEST_F(TokensTest, OneThatWasRevokedLetsNobodyInAgain) {
  const auto made = Create(Named("ci"));
  ASSERT_THAT(made, IsOk());
  const VisitorPtr before = Find(made->secret).value();
  EXPECT_TRUE(tokens_->StillHolds(*before));
  const auto revoked = Revoke("ci");
  ASSERT_THAT(revoked, IsOk());
  EXPECT_FALSE(tokens_->StillHolds(*before));
  EXPECT_EQ(revoked->revoker(), "root");
  EXPECT_TRUE(revoked->has_revoke_time());
  EXPECT_THAT(Find(made->secret), StatusIs(absl::StatusCode::kUnauthenticated,
                                           HasSubstr("token ci was revoked")));
  // Twice is as once, also after a restart.
  tokens_ = std::make_unique<Tokens>(scheduler_, clock_);
  EXPECT_THAT(Find(made->secret), StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(Revoke("ci"), IsOk());
  EXPECT_THAT(Revoke("none"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(TokensTest, NamesAreTakenOnce) {
  ASSERT_THAT(Create(Named("ci")), IsOk());
  EXPECT_THAT(Create(Named("ci")).status(),
              StatusIs(absl::StatusCode::kAlreadyExists));
  ASSERT_EQ(tokens_->List().size(), 1u);
  EXPECT_EQ(tokens_->List()[0].creator(), "root");
}

TEST_F(TokensTest, AWorkersTokenServesOnce) {
  Token token = Named("node");
  token.set_role(ordo::access::v1::WORKER);
  token.set_worker("workers/w");
  const auto made = Create(token);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ((*Find(made->secret))->worker, "w");
  EXPECT_TRUE((*Find(made->secret))->HasOneTimeToken());
  ASSERT_THAT(UseUp("node"), IsOk());
  const auto is_refused = StatusIs(absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(UseUp("node").status(), is_refused);
  EXPECT_THAT(Find(made->secret).status(), is_refused);
}

TEST_F(TokensTest, TwoWorkersOfANameDoNotJoinByTokensForNewOnes) {
  for (const char* id : {"a", "b"}) {
    Token token = Named(id);
    token.set_role(ordo::access::v1::WORKER);
    ASSERT_THAT(Create(token), IsOk());
  }
  Token own = Named("own");
  own.set_role(ordo::access::v1::WORKER);
  own.set_worker("workers/w");
  ASSERT_THAT(Create(own), IsOk());
  ASSERT_THAT(UseUp("a"), IsOk());
  const auto is_refused =
      StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("--worker w"));
  EXPECT_THAT(UseUp("b").status(), is_refused);
  // Also after a restart.
  tokens_ = std::make_unique<Tokens>(scheduler_, clock_);
  EXPECT_THAT(UseUp("b").status(), is_refused);
  // One that is for this very name lets it join again.
  EXPECT_THAT(UseUp("own"), IsOk());
  EXPECT_THAT(UseUp("b", "v"), IsOk());
}

TEST_F(TokensTest, TheOldestThatHoldsNoMoreMakesRoom) {
  for (size_t i = 0; i < scheduler::kMaxTokens; ++i) {
    ASSERT_THAT(Create(Named("t" + std::to_string(i))), IsOk());
    if (i < 2) clock_.Advance(absl::Seconds(1));
  }
  EXPECT_THAT(Create(Named("more")).status(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_THAT(Revoke("t1"), IsOk());
  ASSERT_THAT(Revoke("t0"), IsOk());
  EXPECT_THAT(Create(Named("more")), IsOk());
  EXPECT_EQ(scheduler_.ListTokens().size(), scheduler::kMaxTokens);
  EXPECT_THAT(Revoke("t0").status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Revoke("t1"), IsOk());
}

}  // namespace
}  // namespace ordo::services::auth
