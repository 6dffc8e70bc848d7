// Who may do what, with real processes: tokens that are revoked, have expired
// or say too little, jobs of others and of other queues, what is written down,
// and thousands who are nobody.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/digest/testing/signing_key.h"
#include "base/files/file_util.h"
#include "base/files/secret_file.h"
#include "base/process/use.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/health.grpc.pb.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using base::testing::StatusIs;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using jobs::v1::Job;
using jobs::v1::JobsService;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRefused = 2;
constexpr char kSecret[] = "the-first-administrators-secret-of-a-test";
// Connections that say nothing of who they are, and those that are open at a
// time: as many as a process may have files.
constexpr int kNobodies = 10'000;
constexpr int kAtATime = 500;
// A call of somebody who is known takes no longer beside them.
constexpr absl::Duration kMostForACall = absl::Seconds(2);
// Connections of strangers who watch the scheduler's health, the streams that
// each opens, and what the scheduler's memory may grow by.
constexpr int kWatchers = 8;
constexpr int kWatches = 1500;
constexpr int64_t kMostForWatches = 100 << 20;

// What a job needs beside its name.
constexpr char kRest[] = R"(
kind: train
model: {layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4, log_every_steps: 1}
checkpoint: {every_steps: 20}
)";

class AccessTest : public Scenario {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK(
        base::WriteSecretFile(Secret("root"), absl::StrCat(kSecret, "\n")));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder_.Path("keys.json"),
        absl::StrCat(R"({"keys": [{"kty": "EC", "crv": "P-256", "kid": "k", )",
                     R"("x": ")", Encoded(key_.Number("x")), R"(", "y": ")",
                     Encoded(key_.Number("y")), R"("}]})")));
    harness::DeploymentOptions options = Options("*:hold_at=30");
    auto& auth = *options.scheduler.mutable_auth();
    auth.set_admin_token_file(Secret("root"));
    auth.mutable_jwt()->set_issuer("https://id.example");
    auth.mutable_jwt()->add_audiences("ordo");
    auth.mutable_jwt()->set_key_set_file(folder_.Path("keys.json"));
    options.scheduler.set_audit_log(folder_.Path("audit.jsonl"));
    Start(options);
    if (HasFatalFailure()) return;
    for (const auto& [file, head] :
         {std::pair("job.yaml", "name: job"),
          std::pair("night.yaml", "name: plan\nqueue: night")}) {
      ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path(file),
                                       absl::StrCat(head, kRest)));
    }
    EXPECT_EQ(As("root", {"queues", "create", "night"}).exit_code, 0);
  }

  std::string Secret(const std::string& name) const {
    return folder_.Path(absl::StrCat(name, ".secret"));
  }

  // What `ordo` says to the bearer of a secret.
  Said As(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--token-file", Secret(name)});
    return RunOrdo(arguments);
  }

  // Makes a token and keeps its secret.
  void MakeToken(const std::string& name,
                 const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"admin", "token", "create",
                                          name,    "--out", Secret(name)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Said said = As("root", arguments);
    EXPECT_EQ(said.exit_code, 0) << said.err;
  }

  static std::string Encoded(const std::string& text) {
    return absl::WebSafeBase64Escape(text);
  }
  // Keeps a JWT of the user `name` that expires then.
  void SignIn(const std::string& name, absl::Time expiry) {
    const std::string text = absl::StrCat(
        Encoded(R"({"alg": "ES256", "kid": "k"})"), ".",
        Encoded(absl::StrCat(
            R"({"iss": "https://id.example", "aud": "ordo", "role": "user", )",
            R"("sub": ")", name, R"(", "exp": )", absl::ToUnixSeconds(expiry),
            "}")));
    ORDO_EXPECT_OK(base::WriteSecretFile(
        Secret(name), absl::StrCat(text, ".", Encoded(key_.Sign(text)), "\n")));
  }

  // That `name` may not, and why.
  void ExpectRefused(const std::string& name,
                     const std::vector<std::string>& arguments,
                     const std::string& why) {
    const Said said = As(name, arguments);
    EXPECT_EQ(said.exit_code, kRefused) << said.out;
    EXPECT_THAT(said.err, HasSubstr(why));
  }

  std::string AuditLog() {
    return base::ReadFile(files_, folder_.Path("audit.jsonl"), 64 << 20)
        .value_or("");
  }

  // Of an identity provider.
  const base::testing::SigningKey key_ = base::testing::SigningKey::P256();
};

TEST_F(AccessTest, WhoShowsNothingIsLetInNowhere) {
  const Said said = RunOrdo({"list", "jobs"});
  EXPECT_EQ(said.exit_code, kRefused);
  EXPECT_THAT(said.err, AllOf(HasSubstr("needs the right READ"),
                              HasSubstr("ORDO_TOKEN_FILE")));
  EXPECT_THAT(RunOrdo({"whoami"}).out, HasSubstr("nobody"));
}

TEST_F(AccessTest, ATokenThatIsRevokedOrHasExpiredLetsNobodyIn) {
  MakeToken("ci", {});
  EXPECT_EQ(As("ci", {"list", "jobs"}).exit_code, 0);
  // Also after the scheduler has died.
  KillScheduler();
  EXPECT_EQ(As("ci", {"list", "jobs"}).exit_code, 0);
  EXPECT_EQ(As("root", {"admin", "token", "revoke", "ci"}).exit_code, 0);
  ExpectRefused("ci", {"list", "jobs"}, "the token ci was revoked");
  KillScheduler();
  ExpectRefused("ci", {"list", "jobs"}, "the token ci was revoked");
  ORDO_ASSERT_OK(base::WriteSecretFile(Secret("guess"), "ordo_guess\n"));
  ExpectRefused("guess", {"list", "jobs"}, "is not known");
}

TEST_F(AccessTest, AJwtIsItsUsersUntilItExpires) {
  SignIn("ada", absl::Now() + absl::Hours(1));
  const Said said = As("ada", {"whoami"});
  EXPECT_THAT(said.out, AllOf(HasSubstr("ada"), HasSubstr("jwt"))) << said.err;
  EXPECT_EQ(As("ada", {"submit", folder_.Path("job.yaml")}).exit_code, 0);
  SignIn("ada", absl::Now() - absl::Hours(1));
  ExpectRefused("ada", {"cancel", "job"}, "the JWT has expired");
}

TEST_F(AccessTest, ARoleThatIsTooLowIsToldWhatItLacks) {
  MakeToken("guest", {"--role", "viewer"});
  EXPECT_EQ(As("guest", {"list", "jobs"}).exit_code, 0);
  ExpectRefused("guest", {"submit", folder_.Path("job.yaml")},
                "needs the right SUBMIT (role user): guest, known by token "
                "guest, has the role viewer");
  MakeToken("ada", {});
  ExpectRefused("ada", {"queues", "create", "more"},
                "needs the right ADMINISTER (role admin)");
  ExpectRefused("ada", {"admin", "token", "create", "eve", "--role", "admin"},
                "needs the right ADMINISTER");
}

TEST_F(AccessTest, OthersJobsAreSeenAndNotChanged) {
  MakeToken("ada", {});
  MakeToken("bob", {});
  ASSERT_EQ(As("ada", {"submit", folder_.Path("job.yaml")}).exit_code, 0);
  EXPECT_THAT(As("bob", {"list", "jobs", "--all-users"}).out, HasSubstr("job"));
  ExpectRefused("bob", {"cancel", "job"}, "cancel jobs/job: it is of ada");
  EXPECT_EQ(As("ada", {"cancel", "job"}).exit_code, 0);
}

TEST_F(AccessTest, JobsOfOtherQueuesAreNotThere) {
  MakeToken("ada", {"--queue", "night"});
  MakeToken("eve", {"--queue", "default"});
  ASSERT_EQ(As("ada", {"submit", folder_.Path("night.yaml")}).exit_code, 0);
  EXPECT_THAT(As("ada", {"list", "jobs"}).out, HasSubstr("plan"));
  for (const std::vector<std::string>& ask :
       std::vector<std::vector<std::string>>{{"show", "plan"},
                                             {"logs", "plan"},
                                             {"explain", "plan"},
                                             {"cancel", "plan"},
                                             {"watch", "plan"}}) {
    ExpectRefused("eve", ask, "there is no job plan; see: ordo list jobs");
  }
  for (const std::vector<std::string>& ask :
       std::vector<std::vector<std::string>>{{"list", "jobs", "--all-users"},
                                             {"list", "workers", "-o", "json"},
                                             {"usage", "--by", "job"},
                                             {"queues", "list"}}) {
    const Said said = As("eve", ask);
    EXPECT_EQ(said.exit_code, 0) << said.err;
    EXPECT_THAT(said.out,
                AllOf(Not(HasSubstr("plan")), Not(HasSubstr("night"))));
  }
  ExpectRefused("eve", {"submit", folder_.Path("night.yaml")},
                "there is no queue night");
}

TEST_F(AccessTest, WhatWasDoneAndRefusedIsWrittenDownWithoutSecrets) {
  MakeToken("ada", {});
  ASSERT_EQ(As("ada", {"submit", folder_.Path("job.yaml")}).exit_code, 0);
  ExpectRefused("ada", {"queues", "create", "more"}, "ADMINISTER");
  RunOrdo({"list", "jobs"});
  const std::string log = AuditLog();
  const auto secret = base::ReadFile(files_, Secret("ada"), 1000);
  ASSERT_TRUE(secret.ok());
  EXPECT_THAT(log, Not(HasSubstr(kSecret)));
  EXPECT_THAT(log, Not(HasSubstr(secret->substr(0, secret->size() - 1))));
  const std::vector<std::string> lines =
      absl::StrSplit(log, '\n', absl::SkipEmpty());
  const auto has = [&lines](const std::vector<std::string>& parts) {
    for (const std::string& line : lines) {
      bool all = true;
      for (const std::string& part : parts) {
        all = all && absl::StrContains(line, part);
      }
      if (all) return true;
    }
    return false;
  };
  EXPECT_TRUE(has({R"("user": "admin")", "CreateToken", R"("resource": "ada")",
                   R"("result": "OK")"}))
      << log;
  EXPECT_TRUE(has({R"("user": "ada")", R"("known_by": "token ada")",
                   "JobsService", R"("resource": "job")", R"("result": "OK")"}))
      << log;
  EXPECT_TRUE(has(
      {R"("user": "ada")", "CreateQueue", R"("result": "PERMISSION_DENIED")"}))
      << log;
  EXPECT_TRUE(has(
      {R"("user": "unknown")", "ListJobs", R"("result": "UNAUTHENTICATED")"}))
      << log;
}

// A connection of its own.
std::unique_ptr<JobsService::Stub> Alone(const std::string& address) {
  return JobsService::NewStub(base::ConnectAlone(address));
}

TEST_F(AccessTest, TenThousandNobodiesCostOthersLittle) {
  MakeToken("ada", {});
  const auto secret = base::ReadFile(files_, Secret("ada"), 1000);
  ASSERT_TRUE(secret.ok());
  base::CallOptions known;
  known.timeout = absl::Seconds(30);
  known.bearer = secret->substr(0, secret->size() - 1);
  const auto ada = Alone(deployment_->api_address());
  for (int i = 0; i < kNobodies / kAtATime; ++i) {
    std::vector<std::unique_ptr<JobsService::Stub>> nobodies;
    for (int j = 0; j < kAtATime; ++j) {
      nobodies.push_back(Alone(deployment_->api_address()));
      grpc::ClientContext context;
      base::PrepareCall({absl::Seconds(30), "root", true}, &context);
      jobs::v1::ListJobsResponse response;
      // Nothing of it is answered, however it is refused.
      EXPECT_THAT(base::FromGrpcStatus(
                      nobodies.back()->ListJobs(&context, {}, &response)),
                  AnyOf(StatusIs(absl::StatusCode::kUnauthenticated),
                        StatusIs(absl::StatusCode::kResourceExhausted)));
    }
    // With all of them open.
    grpc::ClientContext context;
    base::PrepareCall(known, &context);
    jobs::v1::ListJobsResponse response;
    const absl::Time before = absl::Now();
    EXPECT_TRUE(ada->ListJobs(&context, {}, &response).ok());
    EXPECT_LT(absl::Now() - before, kMostForACall);
  }
  const std::string log = AuditLog();
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), kNobodies / 2);
  ASSERT_EQ(As("ada", {"submit", folder_.Path("job.yaml")}).exit_code, 0);
}

// A stream of a stranger who watches the scheduler's health.
class HealthWatch : public grpc::ClientReadReactor<HealthCheckResponse> {
 public:
  // Counts its end; both outlive this.
  HealthWatch(Health::Stub& stub, std::atomic<int>& num_ended)
      : num_ended_(num_ended) {
    base::PrepareCall({absl::Minutes(5), "", false}, &context_);
    stub.async()->Watch(&context_, &request_, this);
    StartRead(&response_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (ok) StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    refused_ = status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    ++num_ended_;
  }

  void Cancel() { context_.TryCancel(); }
  // After its end.
  bool refused() const { return refused_; }

 private:
  std::atomic<int>& num_ended_;
  grpc::ClientContext context_;
  const HealthCheckRequest request_;
  HealthCheckResponse response_;
  bool refused_ = false;
};

TEST_F(AccessTest, WhoWatchesItsHealthDoesNotFillTheScheduler) {
  const auto bytes = [this] {
    const auto use = base::UseOf(deployment_->scheduler_process().pid);
    ORDO_EXPECT_OK(use);
    return use.ok() ? use->resident_bytes : 0;
  };
  const int64_t before = bytes();
  std::atomic<int> num_ended{0};
  std::vector<std::unique_ptr<Health::Stub>> strangers;
  std::vector<std::unique_ptr<HealthWatch>> watches;
  // All but these are refused, whatever their connection.
  const auto are_refused = [&] {
    return num_ended + base::kMaxWatchesPerAddress >=
           static_cast<int>(watches.size());
  };
  for (int i = 0; i < kWatchers && are_refused(); ++i) {
    strangers.push_back(
        Health::NewStub(base::ConnectAlone(deployment_->api_address())));
    for (int j = 0; j < kWatches; ++j) {
      watches.push_back(
          std::make_unique<HealthWatch>(*strangers.back(), num_ended));
    }
    EXPECT_TRUE(WaitFor(are_refused));
  }
  EXPECT_LT(bytes() - before, kMostForWatches);
  const absl::Time called = absl::Now();
  EXPECT_EQ(As("root", {"list", "jobs"}).exit_code, 0);
  EXPECT_LT(absl::Now() - called, kMostForACall);
  EXPECT_EQ(RunOrdo({"health"}).exit_code, 0);

  for (const auto& watch : watches) watch->Cancel();
  const int num_all = static_cast<int>(watches.size());
  EXPECT_TRUE(WaitFor([&] { return num_ended == num_all; }));
  const auto num_refused =
      std::count_if(watches.begin(), watches.end(),
                    [](const auto& watch) { return watch->refused(); });
  EXPECT_GE(num_refused, num_all - base::kMaxWatchesPerAddress);
}

}  // namespace
}  // namespace ordo::tests::e2e
