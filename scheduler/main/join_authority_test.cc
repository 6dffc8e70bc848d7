#include "scheduler/main/join_authority.h"

#include <string>

#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using base::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SignWorkerTest : public ::testing::Test {
 protected:
  SignWorkerTest() : pem_(folder_.path()) {
    order_.authority.set_certificate(pem_.ca());
    order_.authority.set_key(folder_.Path("ca.key"));
    order_.signing_request = base::SigningRequest(key_).value();
    order_.worker = "node-1";
    order_.now = base::RealClock().Now();
  }
  void PutKey(const std::string& key) {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, order_.authority.key(), key));
  }

  base::testing::TemporaryFolder folder_;
  base::testing::PemFolder pem_;
  base::PosixFilesystem files_;
  const std::string key_ = base::NewKey().value();
  JoinOrder order_;
};

TEST_F(SignWorkerTest, AWorkerGetsACertificateOfItsIdAndNoHost) {
  PutKey(pem_.authority().key);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto made, SignWorker(order_, files_));
  EXPECT_EQ(made.ca, pem_.authority().certificate);
  ORDO_EXPECT_OK(base::CheckKeyOf(made.certificate, key_));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto says,
                            base::ReadCertificate(made.certificate));
  EXPECT_THAT(says.uri_names, ElementsAre("ordo:worker/node-1"));
  EXPECT_THAT(says.hosts, Not(Contains(HasSubstr("example"))));
  ORDO_EXPECT_OK(base::CheckTimeOf(says, order_.now));
}

TEST_F(SignWorkerTest, AnAuthorityThatCannotSignIsNamed) {
  EXPECT_THAT(SignWorker(order_, files_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("tls.join_ca.key")));
  PutKey(key_);
  EXPECT_THAT(SignWorker(order_, files_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another certificate")));
}

TEST_F(SignWorkerTest, ADamagedRequestIsTheCallersMistake) {
  PutKey(pem_.authority().key);
  order_.signing_request = "hello";
  EXPECT_THAT(SignWorker(order_, files_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::scheduler
