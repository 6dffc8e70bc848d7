#include "services/cli/doctor/certificates.h"

#include <map>
#include <string>
#include <sys/stat.h>

#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

using ::testing::HasSubstr;

const absl::Duration kLong = absl::Hours(365 * 24);

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest()
      : authority_(base::NewAuthority("Ordo test", HoldsFor(kLong)).value()) {
    site_.tls.set_ca(Write("ca.pem", authority_.certificate));
    Use(Issue(Names(), kLong));
    site_.service = "scheduler";
    site_.uri_name = base::kSchedulerUri;
    site_.listen = "10.0.0.1:7420";
  }

  // From an hour ago to so long from now.
  base::Validity HoldsFor(absl::Duration length) const {
    return {clock_.Now() - absl::Hours(1), absl::Hours(1) + length};
  }
  static base::CertificateNames Names() {
    return {"scheduler", base::kSchedulerUri, {"10.0.0.1", "ordo.example"}};
  }
  base::KeyedCertificate Issue(const base::CertificateNames& names,
                               absl::Duration length) const {
    return base::Issue(authority_, names, HoldsFor(length)).value();
  }
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(base::AtomicWrite(files_, folder_.Path(name), text).ok());
    return folder_.Path(name);
  }
  void Use(const base::KeyedCertificate& keyed) {
    site_.tls.set_certificate(Write("own.pem", keyed.certificate));
    site_.tls.set_key(Write("own.key", keyed.key));
    EXPECT_EQ(chmod(site_.tls.key().c_str(), 0600), 0);
  }
  // By name, without "tls/scheduler.".
  std::map<std::string, Finding> Check() {
    std::map<std::string, Finding> found;
    for (const Finding& finding : CheckCertificates(files_, clock_, site_)) {
      EXPECT_EQ(finding.advice.empty(), finding.health == Health::kOk);
      found[finding.check.substr(finding.check.find('.') + 1)] = finding;
    }
    return found;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::KeyedCertificate authority_;
  CertificateSite site_;
};

TEST_F(CertificatesTest, ThoseThatFitAreWell) {
  const auto found = Check();
  for (const char* check : {"files", "expiry", "name", "host", "key"}) {
    ASSERT_EQ(found.count(check), 1u) << check;
    EXPECT_EQ(found.at(check).health, Health::kOk) << found.at(check).seen;
  }
  EXPECT_EQ(found.at("files").check, "tls/scheduler.files");
}

TEST_F(CertificatesTest, AFileIsNotThereOrOfAnotherKey) {
  site_.tls.set_ca(folder_.Path("none.pem"));
  auto found = Check();
  EXPECT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("files").health, Health::kFail);
  site_.tls.set_ca(folder_.Path("ca.pem"));
  site_.tls.set_key(Write("other.key", Issue(Names(), kLong).key));
  EXPECT_EQ(Check().at("files").health, Health::kFail);
}

TEST_F(CertificatesTest, TheyExpireOrHaveExpired) {
  Use(Issue(Names(), absl::Hours(48)));
  EXPECT_EQ(Check().at("expiry").health, Health::kWarn);
  Use(Issue(Names(), -absl::Minutes(1)));
  EXPECT_EQ(Check().at("files").health, Health::kFail);
}

TEST_F(CertificatesTest, TheyAreOfSomebodyElse) {
  Use(Issue(base::WorkerNames("w"), kLong));
  const Finding finding = Check().at("name");
  EXPECT_EQ(finding.health, Health::kFail);
  EXPECT_THAT(finding.seen, HasSubstr("but of ordo:worker/w"));
}

TEST_F(CertificatesTest, TheHostIsNotInThem) {
  site_.listen = "10.0.0.2:7420";
  const Finding finding = Check().at("host");
  EXPECT_EQ(finding.health, Health::kWarn);
  EXPECT_THAT(finding.advice, HasSubstr("--host 10.0.0.2"));
  site_.listen = "0.0.0.0:7420";
  EXPECT_EQ(Check().at("host").health, Health::kOk);
  // Nobody asks for the host of a worker.
  site_.listen = "";
  EXPECT_EQ(Check().count("host"), 0u);
}

TEST_F(CertificatesTest, EverybodyCanReadTheKey) {
  ASSERT_EQ(chmod(site_.tls.key().c_str(), 0644), 0);
  EXPECT_EQ(Check().at("key").health, Health::kWarn);
}

TEST_F(CertificatesTest, AWorkerJoinsByItsToken) {
  site_.service = "worker";
  site_.tls.clear_certificate();
  site_.tls.clear_key();
  site_.tls.set_join_token_file(folder_.Path("token"));
  site_.state_folder = folder_.Path("state");
  EXPECT_EQ(Check().at("files").health, Health::kFail);
  Write("token", "secret");
  EXPECT_EQ(Check().at("files").health, Health::kOk);
  EXPECT_EQ(Check().size(), 1u);
  // With the certificate that it got the token is of no account.
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("state/tls")));
  const base::KeyedCertificate own = Issue(base::WorkerNames("w"), kLong);
  Write("state/tls/worker.pem", own.certificate + own.key);
  ORDO_ASSERT_OK(files_.RemoveFile(folder_.Path("token")));
  site_.uri_name = "ordo:worker/w";
  EXPECT_EQ(Check().at("files").health, Health::kOk);
  EXPECT_EQ(Check().at("name").health, Health::kOk);
}

}  // namespace
}  // namespace ordo::services::cli::doctor
