#include "services/access/token_check.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::access {
namespace {

using base::testing::IsOk;
using ordo::access::v1::CreateTokenRequest;
using ::testing::ElementsAre;

constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

CreateTokenRequest Of(ordo::access::v1::Role role) {
  CreateTokenRequest request;
  request.set_token_id("ci");
  request.mutable_token()->set_role(role);
  return request;
}

std::vector<std::string> BadFields(const CreateTokenRequest& request) {
  std::vector<std::string> fields;
  for (const auto& violation :
       base::FieldViolations(NewTokenOf(request, kNow).status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(TokenCheckTest, WhatIsLeftOutHasADefault) {
  const auto token = NewTokenOf(Of(ordo::access::v1::USER), kNow);
  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(token->name(), "tokens/ci");
  EXPECT_EQ(token->user(), "ci");
  EXPECT_EQ(base::ToTime(token->expire_time()), kNow + kDefaultTtl);
  const auto worker = NewTokenOf(Of(ordo::access::v1::WORKER), kNow);
  ASSERT_THAT(worker, IsOk());
  EXPECT_EQ(base::ToTime(worker->expire_time()), kNow + kDefaultWorkerTtl);
}

TEST(TokenCheckTest, WhatPeopleSetIsKept) {
  CreateTokenRequest request = Of(ordo::access::v1::VIEWER);
  request.mutable_token()->set_user("ada@example");
  request.mutable_token()->add_queues("queues/night");
  *request.mutable_ttl() = base::ToProtoDuration(absl::Hours(2));
  const auto token = NewTokenOf(request, kNow);
  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(token->user(), "ada@example");
  EXPECT_THAT(token->queues(), ElementsAre("queues/night"));
  EXPECT_EQ(base::ToTime(token->expire_time()), kNow + absl::Hours(2));
}

TEST(TokenCheckTest, EveryViolationIsNamed) {
  CreateTokenRequest request = Of(ordo::access::v1::ROLE_UNSPECIFIED);
  request.set_token_id("No");
  request.mutable_token()->set_user("a b");
  request.mutable_token()->add_queues("night");
  request.mutable_token()->set_worker("workers/w");
  *request.mutable_ttl() = base::ToProtoDuration(absl::Seconds(59));
  EXPECT_THAT(BadFields(request),
              ElementsAre("token_id", "token.role", "token.user",
                          "token.queues[0]", "token.worker", "ttl"));
  CreateTokenRequest worker = Of(ordo::access::v1::WORKER);
  worker.mutable_token()->set_user("ada");
  worker.mutable_token()->add_queues("queues/night");
  worker.mutable_token()->set_worker("w");
  *worker.mutable_ttl() =
      base::ToProtoDuration(kMaxWorkerTtl + absl::Seconds(1));
  EXPECT_THAT(BadFields(worker),
              ElementsAre("token.user", "token.queues", "token.worker", "ttl"));
  CreateTokenRequest many = Of(ordo::access::v1::USER);
  for (int i = 0; i <= kMaxQueuesOfToken; ++i) {
    many.mutable_token()->add_queues("queues/q");
  }
  EXPECT_THAT(BadFields(many), ElementsAre("token.queues"));
}

}  // namespace
}  // namespace ordo::services::access
