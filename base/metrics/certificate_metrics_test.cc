#include "base/metrics/certificate_metrics.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::HoldsFor;
using ::ordo::base::testing::PemFolder;
using ::ordo::base::testing::PemPaths;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kName[] = "ordo_test_certificate_expiry_timestamp_seconds";

// The number of the time series of a file; -1 where there is none.
double ExpiryOn(const std::string& page, const std::string& file) {
  const std::string series =
      absl::StrCat("\n", kName, "{file=\"", file, "\"} ");
  const size_t at = page.find(series);
  return at == std::string::npos ? -1
                                 : std::stod(page.substr(at + series.size()));
}

double Until(const std::string& path) {
  PosixFilesystem files;
  const auto text = ReadFile(files, path, 1 << 20);
  EXPECT_THAT(text, testing::IsOk());
  const auto says = ReadCertificate(text.value_or(""));
  EXPECT_THAT(says, testing::IsOk());
  if (!says.ok()) return -1;
  return absl::ToDoubleSeconds(says->not_after - absl::UnixEpoch());
}

class CertificateMetricsTest : public ::testing::Test {
 protected:
  const testing::TemporaryFolder folder_;
  const PemFolder pem_{folder_.path()};
  const CertificateNames names_ = {"s", kSchedulerUri, {"127.0.0.1"}};
  MetricsRegistry registry_;
};

TEST_F(CertificateMetricsTest, EachPageTellsUntilWhenFilesHoldNow) {
  const PemPaths one = pem_.Issue("one", names_, HoldsFor(absl::Hours(5)));
  const TlsFiles files = {{"tls.certificate", one.certificate},
                          {"tls.key", one.key},
                          {"tls.ca", pem_.ca()}};
  AddCertificateMetrics("test", {files}, registry_);
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.certificate"),
            Until(one.certificate));
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.ca"), Until(pem_.ca()));
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.key"), -1);

  const double before = Until(one.certificate);
  pem_.Issue("one", names_, HoldsFor(absl::Hours(20)));
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.certificate"),
            Until(one.certificate));
  EXPECT_GT(Until(one.certificate), before);

  std::remove(one.certificate.c_str());
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.certificate"), 0);
}

TEST_F(CertificateMetricsTest, OfAuthoritiesTheOneThatHoldsLongestCounts) {
  const PemPaths old = pem_.Issue("old", names_, HoldsFor(absl::Hours(1)));
  PosixFilesystem files;
  const auto first = ReadFile(files, old.certificate, 1 << 20);
  const auto second = ReadFile(files, pem_.ca(), 1 << 20);
  ORDO_ASSERT_OK(first);
  ORDO_ASSERT_OK(second);
  const std::string both = folder_.Path("both.pem");
  ORDO_ASSERT_OK(AtomicWrite(files, both, *first + *second));
  AddCertificateMetrics(
      "test", {{{"tls.certificate", both}, {}, {"tls.ca", both}}}, registry_);
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.certificate"),
            Until(old.certificate));
  EXPECT_EQ(ExpiryOn(registry_.Text(), "tls.ca"),
            std::max(Until(old.certificate), Until(pem_.ca())));
}

TEST_F(CertificateMetricsTest, WithoutFilesThereIsNoTimeSeries) {
  AddCertificateMetrics("test", {}, registry_);
  EXPECT_THAT(registry_.Text(), Not(HasSubstr(absl::StrCat(kName, "{"))));
}

}  // namespace
}  // namespace ordo::base
