#include "worker/agent/join.h"

#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::access::v1::AccessService;
using ::ordo::access::v1::JoinRequest;
using ::ordo::access::v1::JoinResponse;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kLength = absl::Hours(24 * 30);

// Signs for whoever asks, and keeps what was asked.
class JoinTest : public ::testing::Test {
 protected:
  AskToJoin Asking() {
    return [this](const std::string& request,
                  const std::string& token) -> absl::StatusOr<std::string> {
      ++num_asked_;
      token_ = token;
      if (!refusal_.ok()) return refusal_;
      return base::SignRequest(request, authority_,
                               base::WorkerNames(signed_for_),
                               {clock_.Now(), kLength});
    };
  }
  void PutToken() {
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, membership_.token_file, "secret\n"));
  }
  base::Certificate Own() {
    return base::ReadCertificate(
               base::ReadFile(files_, membership_.file, 1 << 16).value())
        .value();
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  const base::KeyedCertificate authority_ =
      base::NewAuthority("a", {clock_.Now(), kLength * 100}).value();
  const Membership membership_ = {"node-1", folder_.Path("state/tls/w.pem"),
                                  folder_.Path("token")};
  std::string signed_for_ = "node-1";
  absl::Status refusal_;
  int num_asked_ = 0;
  std::string token_;
};

TEST_F(JoinTest, TheFirstCertificateIsForTheToken) {
  PutToken();
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  EXPECT_EQ(token_, "secret");
  EXPECT_THAT(Own().uri_names, ElementsAre("ordo:worker/node-1"));
  const std::string file =
      base::ReadFile(files_, membership_.file, 1 << 16).value();
  ORDO_EXPECT_OK(base::CheckKeyOf(file, file));
  struct stat info = {};
  ASSERT_EQ(::stat(membership_.file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(JoinTest, AWorkerThatHasJoinedNeedsNoToken) {
  PutToken();
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  ORDO_ASSERT_OK(files_.RemoveFile(membership_.token_file));
  ORDO_EXPECT_OK(Join(membership_, clock_, Asking()));
  EXPECT_EQ(num_asked_, 1);
}

TEST_F(JoinTest, WithoutCertificateOrTokenItSaysWhatToDo) {
  EXPECT_THAT(Join(membership_, clock_, Asking()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(membership_.file),
                             HasSubstr(membership_.token_file),
                             HasSubstr("make a token"))));
  EXPECT_EQ(num_asked_, 0);
}

TEST_F(JoinTest, AnExpiredCertificateAndThatOfAnotherAreReplaced) {
  PutToken();
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  clock_.Advance(kLength + absl::Hours(1));
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  EXPECT_EQ(num_asked_, 2);
  Membership other = membership_;
  other.worker = "node-2";
  signed_for_ = "node-2";
  ORDO_ASSERT_OK(Join(other, clock_, Asking()));
  EXPECT_EQ(num_asked_, 3);
  EXPECT_THAT(Own().uri_names, ElementsAre("ordo:worker/node-2"));
}

TEST_F(JoinTest, ARefusalNamesTheTokensFileAndChangesNothing) {
  PutToken();
  refusal_ = absl::UnauthenticatedError("the token was used up");
  EXPECT_THAT(
      Join(membership_, clock_, Asking()),
      StatusIs(absl::StatusCode::kUnauthenticated,
               AllOf(HasSubstr(membership_.token_file), HasSubstr("used up"))));
  EXPECT_FALSE(base::Exists(files_, membership_.file));
}

TEST_F(JoinTest, ItIsRenewedAfterTwoThirdsOfItsTimeByWhatItShows) {
  PutToken();
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  EXPECT_FALSE(IsRenewalDue(membership_, clock_));
  clock_.Advance(kLength * 2 / 3 + absl::Seconds(1));
  EXPECT_TRUE(IsRenewalDue(membership_, clock_));
  ORDO_ASSERT_OK(Renew(membership_, Asking()));
  EXPECT_EQ(token_, "");
  EXPECT_FALSE(IsRenewalDue(membership_, clock_));
  EXPECT_EQ(Own().not_after, clock_.Now() + kLength);
}

TEST_F(JoinTest, RenewalsEndAtOnce) {
  PutToken();
  ORDO_ASSERT_OK(Join(membership_, clock_, Asking()));
  const Renewals renewals(membership_, clock_, Asking());
}

// Answers as a scheduler does, and keeps what came.
class FakeAccess : public AccessService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context,
                                 const JoinRequest* request,
                                 JoinResponse* response) override {
    worker_ = request->worker();
    const auto token = context->client_metadata().find("authorization");
    if (token != context->client_metadata().end()) {
      token_ = std::string(token->second.data(), token->second.size());
    }
    response->set_certificate_pem("signed " + request->signing_request_pem());
    return base::Finish(context, absl::OkStatus());
  }

  std::string worker_;
  std::optional<std::string> token_;
};

TEST(AskOverTest, TheSchedulerIsAskedForTheWorkerByItsToken) {
  FakeAccess access;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto server,
                            base::RpcServer::Start({}, {&access}));
  const AskToJoin ask = AskOver(base::Connect(server->address()), "node-1");
  EXPECT_THAT(ask("request", "secret"),
              base::testing::IsOkAndHolds(std::string("signed request")));
  EXPECT_EQ(access.worker_, "workers/node-1");
  EXPECT_EQ(access.token_, "Bearer secret");
  access.token_.reset();
  ORDO_EXPECT_OK(ask("request", ""));
  EXPECT_FALSE(access.token_.has_value());
}

}  // namespace
}  // namespace ordo::worker::agent
