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

class SignWithTest : public ::testing::Test {
 protected:
  SignWithTest() : pem_(folder_.path()) {
    authority_.set_certificate(pem_.ca());
    authority_.set_key(folder_.Path("ca.key"));
    order_.signing_request_pem = base::SigningRequest(key_).value();
    order_.worker = "node-1";
  }
  void PutKey(const std::string& key) {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, authority_.key(), key));
  }
  absl::StatusOr<services::access::WorkerCertificate> Sign() {
    return SignWith(authority_, files_, clock_)(order_);
  }

  base::testing::TemporaryFolder folder_;
  base::testing::PemFolder pem_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  const std::string key_ = base::NewKey().value();
  config::v1::JoinAuthority authority_;
  services::access::WorkerCertificateOrder order_;
};

TEST_F(SignWithTest, AWorkerGetsACertificateOfItsIdAndNoHost) {
  PutKey(pem_.authority().key);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto made, Sign());
  EXPECT_EQ(made.ca_pem, pem_.authority().certificate);
  ORDO_EXPECT_OK(base::CheckKeyOf(made.certificate_pem, key_));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto says,
                            base::ReadCertificate(made.certificate_pem));
  EXPECT_THAT(says.uri_names, ElementsAre("ordo:worker/node-1"));
  EXPECT_THAT(says.hosts, Not(Contains(HasSubstr("example"))));
  ORDO_EXPECT_OK(base::CheckTimeOf(says, clock_.Now()));
}

TEST_F(SignWithTest, AnAuthorityThatCannotSignIsNamed) {
  EXPECT_THAT(Sign(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("tls.join_ca.key")));
  PutKey(key_);
  EXPECT_THAT(Sign(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("another certificate")));
}

TEST_F(SignWithTest, ADamagedRequestIsTheCallersMistake) {
  PutKey(pem_.authority().key);
  order_.signing_request_pem = "hello";
  EXPECT_THAT(Sign(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::scheduler
