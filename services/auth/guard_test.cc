#include "services/auth/guard.h"

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "gmock/gmock.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "services/auth/rights.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::auth {
namespace {

using google::protobuf::Empty;
using services::testing::Context;
using services::testing::KnownUsers;
using services::testing::Loopback;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTrace[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Calls a method with a request of which nothing is set, and reads no answer.
grpc::Status CallWithNothing(Loopback& loopback, const std::string& method,
                             const std::string& user) {
  grpc::TemplatedGenericStub<Empty, Empty> stub(loopback.channel());
  Context context(user);
  const Empty request;
  Empty response;
  std::promise<grpc::Status> status;
  stub.UnaryCall(
      &context, "/" + method, grpc::StubOptions(), &request, &response,
      [&status](grpc::Status got) { status.set_value(std::move(got)); });
  return status.get_future().get();
}

bool IsRefusal(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED ||
         code == grpc::StatusCode::PERMISSION_DENIED;
}

// Those that the scheduler's port serves by the callback API.
std::vector<MethodRule> ServedMethods() {
  std::vector<MethodRule> rules;
  for (const MethodRule& rule : MethodRules()) {
    const std::string method = rule.method;
    if (method.rfind("ordo.", 0) != 0) continue;
    if (method.find("WorkerAgentService") != std::string::npos) continue;
    rules.push_back(rule);
  }
  return rules;
}

TEST(GuardTest, NoMethodAnswersThoseWhoLackItsRight) {
  const std::pair<const char*, ordo::access::v1::Role> kCallers[] = {
      {"", ordo::access::v1::ROLE_UNSPECIFIED},
      {"guest", ordo::access::v1::VIEWER},
      {"ada", ordo::access::v1::USER},
      {"root", ordo::access::v1::ADMIN}};
  const KnownUsers users;
  for (const auto& [user, role] : kCallers) {
    Loopback loopback(&users);
    Visitor visitor;
    visitor.role = role;
    for (const MethodRule& rule : ServedMethods()) {
      // Refusals of one address are slowed down.
      loopback.clock().Advance(kFailurePeriod);
      const grpc::Status status = CallWithNothing(loopback, rule.method, user);
      EXPECT_EQ(IsRefusal(status.error_code()), !visitor.Has(rule.right))
          << rule.method << " by '" << user << "': " << status.error_code()
          << " " << status.error_message();
      if (visitor.Has(rule.right)) continue;
      EXPECT_EQ(status.error_code(), role == ordo::access::v1::ROLE_UNSPECIFIED
                                         ? grpc::StatusCode::UNAUTHENTICATED
                                         : grpc::StatusCode::PERMISSION_DENIED)
          << rule.method;
      EXPECT_THAT(
          status.error_message(),
          AllOf(HasSubstr(absl::StrCat("needs the right ", NameOf(rule.right))),
                HasSubstr("ordo admin token create")))
          << rule.method;
    }
  }
}

TEST(GuardTest, FailuresOfAnAddressAreSlowedDown) {
  const KnownUsers users;
  Loopback loopback(&users);
  const std::string method = "ordo.jobs.v1.JobsService/ListJobs";
  for (int i = 0; i < kFailureBurst; ++i) {
    EXPECT_EQ(CallWithNothing(loopback, method, "").error_code(),
              grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_EQ(CallWithNothing(loopback, method, "").error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // Others there, who are known, are not.
  EXPECT_TRUE(CallWithNothing(loopback, method, "guest").ok());
  loopback.clock().Advance(kFailurePeriod);
  EXPECT_EQ(CallWithNothing(loopback, method, "").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

// Knows the bearers `known` and `new`; to find out about others than `known`
// takes time.
class SlowUsers : public Authenticator {
 public:
  absl::StatusOr<VisitorPtr> Identify(
      const base::Caller& caller) const override {
    Visitor visitor;
    visitor.owner.set_user("ada");
    visitor.role = ordo::access::v1::USER;
    if (caller.bearer != "known" && caller.bearer != "new") {
      return absl::UnauthenticatedError("who is that");
    }
    return std::make_shared<const Visitor>(visitor);
  }
  bool TakesTime(const base::Caller& caller) const override {
    return caller.bearer != "known";
  }
};

TEST(GuardTest, WhereManyFailThoseWhoAreKnownGetIn) {
  const SlowUsers users;
  Loopback loopback(&users);
  const auto stub = ordo::jobs::v1::JobsService::NewStub(loopback.channel());
  const auto list = [&stub](const std::string& bearer) {
    ordo::jobs::v1::ListJobsResponse response;
    return stub->ListJobs(Context::OfBearer(bearer).get(), {}, &response)
        .error_code();
  };
  EXPECT_EQ(list("new"), grpc::StatusCode::OK);
  for (int i = 0; i < kFailureBurst; ++i) {
    EXPECT_EQ(list("bad"), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_EQ(list("bad"), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(list("new"), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(list("known"), grpc::StatusCode::OK);
}

TEST(GuardTest, ChangesAndRefusalsAreWrittenDown) {
  const KnownUsers users;
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  base::testing::FakeClock clock;
  const auto log =
      AuditLog::Open(files, folder.Path("audit.jsonl"), clock).value();
  AllServicesOptions options;
  options.authenticator = &users;
  options.audit_log = log.get();
  Loopback loopback(options);
  ordo::jobs::v1::Job job;
  job.set_name("jobs/a");
  job.set_state(ordo::jobs::v1::Job::QUEUED);
  job.mutable_owner()->set_user("ada");
  loopback.scheduler().PutJob(job);
  const auto stub = ordo::jobs::v1::JobsService::NewStub(loopback.channel());
  const auto hold = [&stub, &job](const std::string& user,
                                  const std::string& name) {
    Context context(user);
    context.AddMetadata("traceparent", kTrace);
    ordo::jobs::v1::HoldJobRequest request;
    request.set_name(name);
    return stub->HoldJob(&context, request, &job).error_code();
  };
  EXPECT_EQ(hold("ada", "jobs/a"), grpc::StatusCode::OK);
  EXPECT_EQ(hold("bob", "jobs/a"), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(hold("guest", "jobs/a"), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(hold("ada", "jobs/none"), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(hold("", "jobs/a"), grpc::StatusCode::UNAUTHENTICATED);
  // Who reads leaves no line.
  EXPECT_TRUE(
      CallWithNothing(loopback, "ordo.jobs.v1.JobsService/ListJobs", "ada")
          .ok());
  const std::string text =
      base::ReadFile(files, folder.Path("audit.jsonl"), 1 << 20).value();
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 5u) << text;
  const auto is_line = [](const std::string& user, const std::string& resource,
                          const std::string& result) {
    return AllOf(HasSubstr(absl::StrCat("\"user\": \"", user, "\"")),
                 HasSubstr(R"("method": "ordo.jobs.v1.JobsService/HoldJob")"),
                 HasSubstr(absl::StrCat("\"resource\": \"", resource, "\"")),
                 HasSubstr(absl::StrCat("\"trace\": \"", kTrace, "\"")),
                 HasSubstr(R"("address": ")"),
                 HasSubstr(absl::StrCat("\"result\": \"", result, "\"")));
  };
  EXPECT_THAT(lines[0], is_line("ada", "jobs/a", "OK"));
  EXPECT_THAT(lines[1], is_line("bob", "jobs/a", "PERMISSION_DENIED"));
  EXPECT_THAT(lines[2], is_line("guest", "jobs/a", "PERMISSION_DENIED"));
  EXPECT_THAT(lines[3], is_line("ada", "jobs/none", "NOT_FOUND"));
  EXPECT_THAT(lines[4], is_line("unknown", "jobs/a", "UNAUTHENTICATED"));
}

// A scheduler's services with an audit log.
class AuditTest : public ::testing::Test {
 protected:
  AllServicesOptions Options() {
    AllServicesOptions options;
    options.authenticator = &users_;
    options.audit_log = log_.get();
    return options;
  }
  grpc::StatusCode Hold(const std::string& user, const std::string& name) {
    Context context(user);
    context.AddMetadata("traceparent", "nonsense");
    ordo::jobs::v1::HoldJobRequest request;
    request.set_name(name);
    ordo::jobs::v1::Job job;
    return ordo::jobs::v1::JobsService::NewStub(loopback_.channel())
        ->HoldJob(&context, request, &job)
        .error_code();
  }
  std::vector<std::string> Lines() {
    const std::string text =
        base::ReadFile(files_, folder_.Path("audit.jsonl"), 64 << 20).value();
    return absl::StrSplit(text, '\n', absl::SkipEmpty());
  }

  const KnownUsers users_;
  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  const std::unique_ptr<AuditLog> log_ =
      AuditLog::Open(files_, folder_.Path("audit.jsonl"), clock_).value();
  Loopback loopback_{Options()};
};

TEST_F(AuditTest, WhatAStrangerSendsIsNotWrittenDownAtLength) {
  const std::string name(8 << 20, 'x');
  EXPECT_EQ(Hold("", name), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Hold("guest", name), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Hold("ada", name), grpc::StatusCode::INVALID_ARGUMENT);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    EXPECT_LT(line.size(), 2500u);
    EXPECT_THAT(line, HasSubstr("\"resource\": \"xxx"));
    EXPECT_THAT(line, ::testing::Not(HasSubstr("nonsense")));
  }
}

TEST_F(AuditTest, ManyRefusalsOfOneWhoIsKnownAreFewLines) {
  constexpr int kMore = 5;
  for (int i = 0; i < kFailureBurst + kMore; ++i) {
    EXPECT_EQ(Hold("guest", "jobs/a"), grpc::StatusCode::PERMISSION_DENIED);
  }
  EXPECT_EQ(Lines().size(), static_cast<size_t>(kFailureBurst));
  loopback_.clock().Advance(kFailurePeriod);
  // They are refused as ever, and count for nothing else.
  EXPECT_EQ(Hold("guest", "jobs/a"), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(Lines().back(), HasSubstr(absl::StrCat("\"left_out\": ", kMore)));
  EXPECT_EQ(Hold("", "jobs/a"), grpc::StatusCode::UNAUTHENTICATED);
}

TEST(GuardTest, RequestsSayWhatTheyAreAbout) {
  ordo::jobs::v1::CreateJobRequest create;
  EXPECT_EQ(ResourceOf(create), "");
  create.mutable_job()->mutable_spec()->set_name("a");
  EXPECT_EQ(ResourceOf(create), "a");
  ordo::queues::v1::UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  EXPECT_EQ(ResourceOf(update), "queues/night");
  ordo::access::v1::CreateTokenRequest token;
  token.set_token_id("ci");
  EXPECT_EQ(ResourceOf(token), "ci");
}

}  // namespace
}  // namespace ordo::services::auth
