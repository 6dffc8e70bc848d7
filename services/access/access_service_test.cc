#include "services/access/access_service.h"

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::access {
namespace {

using ordo::access::v1::CreateTokenRequest;
using ordo::access::v1::CreateTokenResponse;
using ordo::access::v1::JoinRequest;
using ordo::access::v1::JoinResponse;
using ordo::access::v1::Role;
using ordo::access::v1::Token;
using ordo::access::v1::WhoAmIResponse;
using services::testing::Context;
using services::testing::FieldOf;
using services::testing::Loopback;
using ::testing::HasSubstr;

constexpr char kRoot[] = "the-secret-of-the-first-admin";

// Signs what says "sign me".
absl::StatusOr<WorkerCertificate> Sign(const WorkerCertificateOrder& order) {
  if (order.signing_request_pem != "sign me") {
    return absl::InvalidArgumentError("damaged");
  }
  return WorkerCertificate{"certificate of " + order.worker, "authority"};
}

AllServicesOptions Guarded() {
  AllServicesOptions options;
  options.auth.emplace();
  options.auth->admin_token_sha256 = base::Sha256Hex(kRoot);
  options.sign_worker = Sign;
  return options;
}

class AccessServiceTest : public ::testing::Test {
 protected:
  grpc::Status Create(const CreateTokenRequest& request,
                      CreateTokenResponse* made,
                      const std::string& bearer = kRoot) {
    return stub_->CreateToken(Context::OfBearer(bearer).get(), request, made);
  }
  // The secret of a new token.
  std::string SecretOf(const std::string& id, Role role,
                       const std::string& worker = "") {
    CreateTokenRequest request;
    request.set_token_id(id);
    request.mutable_token()->set_role(role);
    request.mutable_token()->set_worker(worker);
    CreateTokenResponse made;
    const grpc::Status status = Create(request, &made);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return made.secret();
  }
  grpc::Status WhoAmI(const std::string& bearer, WhoAmIResponse* caller) {
    return stub_->WhoAmI(Context::OfBearer(bearer).get(), {}, caller);
  }
  grpc::Status Join(const std::string& bearer, const std::string& worker,
                    JoinResponse* joined,
                    const std::string& signing_request = "sign me") {
    JoinRequest request;
    request.set_worker(worker);
    request.set_signing_request_pem(signing_request);
    return stub_->Join(Context::OfBearer(bearer).get(), request, joined);
  }

  Loopback loopback_{Guarded()};
  const std::unique_ptr<ordo::access::v1::AccessService::Stub> stub_ =
      ordo::access::v1::AccessService::NewStub(loopback_.channel());
};

TEST_F(AccessServiceTest, ANewTokenSaysWhoItsBearerIs) {
  const std::string secret = SecretOf("ci", ordo::access::v1::USER);
  WhoAmIResponse caller;
  ASSERT_TRUE(WhoAmI(secret, &caller).ok());
  EXPECT_EQ(caller.user(), "ci");
  EXPECT_EQ(caller.role(), ordo::access::v1::USER);
  EXPECT_EQ(caller.known_by(), "token ci");
  EXPECT_TRUE(caller.has_expire_time());
  EXPECT_TRUE(caller.queues().empty());
  CreateTokenResponse made;
  CreateTokenRequest again;
  again.set_token_id("ci");
  again.mutable_token()->set_role(ordo::access::v1::USER);
  EXPECT_EQ(Create(again, &made).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Create(again, &made, secret).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(AccessServiceTest, BadRequestsNameTheFieldOrTheQueue) {
  CreateTokenRequest request;
  request.set_token_id("ci");
  CreateTokenResponse made;
  EXPECT_EQ(FieldOf(Create(request, &made)), "token.role");
  request.mutable_token()->set_role(ordo::access::v1::USER);
  request.mutable_token()->add_queues("queues/none");
  EXPECT_EQ(Create(request, &made).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(AccessServiceTest, TokensAreListedPageByPageWithoutSecrets) {
  for (const char* id : {"b", "a", "c"}) SecretOf(id, ordo::access::v1::VIEWER);
  ordo::access::v1::ListTokensRequest request;
  request.set_page_size(2);
  ordo::access::v1::ListTokensResponse page;
  ASSERT_TRUE(
      stub_->ListTokens(Context::OfBearer(kRoot).get(), request, &page).ok());
  ASSERT_EQ(page.tokens_size(), 2);
  EXPECT_EQ(page.tokens(0).name(), "tokens/a");
  EXPECT_EQ(page.tokens(0).creator(), "admin");
  EXPECT_EQ(page.DebugString().find("ordo_"), std::string::npos);
  request.set_page_token(page.next_page_token());
  ASSERT_TRUE(
      stub_->ListTokens(Context::OfBearer(kRoot).get(), request, &page).ok());
  ASSERT_EQ(page.tokens_size(), 1);
  EXPECT_EQ(page.tokens(0).name(), "tokens/c");
  EXPECT_TRUE(page.next_page_token().empty());
}

TEST_F(AccessServiceTest, ARevokedTokenLetsNobodyIn) {
  const std::string secret = SecretOf("ci", ordo::access::v1::USER);
  ordo::access::v1::RevokeTokenRequest request;
  request.set_name("tokens/ci");
  Token token;
  ASSERT_TRUE(
      stub_->RevokeToken(Context::OfBearer(kRoot).get(), request, &token).ok());
  EXPECT_EQ(token.revoker(), "admin");
  WhoAmIResponse caller;
  const grpc::Status status = WhoAmI(secret, &caller);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(status.error_message(), HasSubstr("was revoked"));
  request.set_name("tokens/none");
  EXPECT_EQ(stub_->RevokeToken(Context::OfBearer(kRoot).get(), request, &token)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(AccessServiceTest, AWorkerJoinsOnceWithItsToken) {
  const std::string secret = SecretOf("node", ordo::access::v1::WORKER);
  JoinResponse joined;
  // What cannot be signed uses nothing up.
  EXPECT_EQ(Join(secret, "workers/w", &joined, "damaged").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(Join(secret, "workers/w", &joined).ok());
  EXPECT_EQ(joined.certificate_pem(), "certificate of w");
  EXPECT_EQ(joined.ca_pem(), "authority");
  EXPECT_EQ(Join(secret, "workers/w", &joined).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessServiceTest, NobodyJoinsAsAnotherWorker) {
  ordo::workers::v1::Worker known;
  known.set_name("workers/known");
  loopback_.scheduler().PutWorker(known);
  JoinResponse joined;
  const std::string any = SecretOf("any", ordo::access::v1::WORKER);
  EXPECT_EQ(Join(any, "workers/known", &joined).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  const std::string its =
      SecretOf("its", ordo::access::v1::WORKER, "workers/known");
  EXPECT_EQ(Join(its, "workers/other", &joined).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Join(its, "workers/known", &joined).ok());
  EXPECT_TRUE(Join(any, "workers/new", &joined).ok());
  const std::string user = SecretOf("ci", ordo::access::v1::USER);
  EXPECT_EQ(Join(user, "workers/new", &joined).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(AccessServiceTest, AJoinThatIsTooLargeNamesTheField) {
  const std::string secret = SecretOf("node", ordo::access::v1::WORKER);
  JoinResponse joined;
  EXPECT_EQ(FieldOf(Join(secret, "w", &joined)), "worker");
  EXPECT_EQ(FieldOf(Join(secret, "workers/w", &joined, "")),
            "signing_request_pem");
  EXPECT_EQ(
      FieldOf(Join(secret, "workers/w", &joined, std::string(17 << 10, 'x'))),
      "signing_request_pem");
}

TEST_F(AccessServiceTest, WithoutAnAuthorityNobodyJoins) {
  AllServicesOptions options = Guarded();
  options.sign_worker = nullptr;
  Loopback loopback(options);
  const auto stub =
      ordo::access::v1::AccessService::NewStub(loopback.channel());
  CreateTokenRequest request;
  request.set_token_id("node");
  request.mutable_token()->set_role(ordo::access::v1::WORKER);
  CreateTokenResponse made;
  ASSERT_TRUE(
      stub->CreateToken(Context::OfBearer(kRoot).get(), request, &made).ok());
  JoinRequest join;
  join.set_worker("workers/w");
  join.set_signing_request_pem("sign me");
  JoinResponse joined;
  EXPECT_EQ(stub->Join(Context::OfBearer(made.secret()).get(), join, &joined)
                .error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace ordo::services::access
