#include "services/cli/client.h"

#include "base/certificates/testing/pem_folder.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/fake_scheduler.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using jobs::v1::GetJobRequest;
using jobs::v1::JobsService;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    options_.address = scheduler_.address();
    options_.retry_for = absl::Milliseconds(300);
    scheduler_.SetJob("a", jobs::v1::Job::QUEUED);
    request_.set_name("jobs/a");
  }

  absl::StatusOr<jobs::v1::Job> Get() {
    Client client(options_, interrupt_);
    return client.Call(client.jobs(), &JobsService::Stub::GetJob, request_);
  }

  testing::FakeScheduler scheduler_;
  Interrupt interrupt_;
  ClientOptions options_;
  GetJobRequest request_;
};

TEST_F(ClientTest, TriesAgainWhileTheServerIsAway) {
  options_.retry_for = absl::Seconds(20);
  scheduler_.LoseAnswers(3);
  EXPECT_THAT(Get(), IsOk());
}

TEST_F(ClientTest, SaysWhatToDoWhenNobodyAnswers) {
  scheduler_.Leave();
  EXPECT_THAT(Get(),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(scheduler_.address()),
                             HasSubstr("'ordo up'"), HasSubstr("--server"),
                             Not(HasSubstr("failed to connect")))));
}

TEST_F(ClientTest, SaysThatTheServerSpeaksNoTls) {
  const base::testing::TemporaryFolder folder;
  options_.tls.ca.path = base::testing::PemFolder(folder.path()).ca();
  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kUnavailable,
                              HasSubstr("speaks no TLS; leave out --ca")));
}

TEST_F(ClientTest, AFileThatCannotBeUsedIsNamedAndNothingIsSaidWithoutTls) {
  options_.tls.ca.path = "/no/such/ca.pem";
  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kInvalidArgument,
                              HasSubstr("--ca /no/such/ca.pem")));
}

TEST_F(ClientTest, ErrorsOfTheServerAreNotTriedAgain) {
  request_.set_name("jobs/b");
  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kNotFound,
                              HasSubstr("there is no jobs/b")));
}

TEST_F(ClientTest, InterruptEndsTheTries) {
  options_.retry_for = absl::Hours(1);
  scheduler_.Leave();
  interrupt_.Trigger();
  EXPECT_THAT(Get(), Not(IsOk()));
}

TEST(IsAwayTest, OnlyABrokenConnectionIsWorthAnotherTry) {
  EXPECT_TRUE(IsAway(grpc::Status(grpc::StatusCode::UNAVAILABLE, "")));
  EXPECT_TRUE(IsAway(grpc::Status(grpc::StatusCode::CANCELLED, "")));
  EXPECT_FALSE(IsAway(grpc::Status(grpc::StatusCode::NOT_FOUND, "")));
  EXPECT_FALSE(IsAway(grpc::Status::OK));
}

}  // namespace
}  // namespace ordo::services::cli
