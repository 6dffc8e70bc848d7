#include "base/metrics/exposer.h"

#include <string>

#include "base/certificates/testing/pem_folder.h"
#include "base/certificates/tls_files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/metrics/testing/scrape.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::ScrapeMetrics;
using ::ordo::base::testing::ScrapeMetricsWithTls;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(MetricsExposerTest, ServesThePageOnAPortOfItsChoice) {
  MetricsRegistry registry;
  registry.AddGauge({"ordo_test_queue_jobs", "Jobs."}).With({}).Set(4);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exposer,
                            MetricsExposer::Start("127.0.0.1:0", registry));
  EXPECT_GT(exposer->port(), 0);
  EXPECT_EQ(exposer->address(), "127.0.0.1:" + std::to_string(exposer->port()));
  EXPECT_THAT(ScrapeMetrics(exposer->address()),
              HasSubstr("ordo_test_queue_jobs 4\n"));
}

TEST(MetricsExposerTest, ServesThePageOverTls) {
  const testing::TemporaryFolder folder;
  const testing::PemFolder pem(folder.path());
  const auto paths = pem.Issue("s", {"s", "", {"127.0.0.1"}});
  MetricsRegistry registry;
  registry.AddGauge({"ordo_test_queue_jobs", "Jobs."}).With({}).Set(4);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto exposer,
      MetricsExposer::Start("127.0.0.1:0", registry,
                            TlsFiles{{"certificate", paths.certificate},
                                     {"key", paths.key},
                                     {"ca", ""}}));
  EXPECT_EQ(exposer->address(), "127.0.0.1:" + std::to_string(exposer->port()));
  EXPECT_THAT(ScrapeMetricsWithTls(exposer->address(),
                                   {{"", ""}, {"", ""}, {"ca", pem.ca()}}),
              HasSubstr("ordo_test_queue_jobs 4\n"));
}

TEST(MetricsExposerTest, APortInUseIsAnErrorThatNamesIt) {
  MetricsRegistry registry;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exposer,
                            MetricsExposer::Start("127.0.0.1:0", registry));
  EXPECT_THAT(MetricsExposer::Start(exposer->address(), registry),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(exposer->address())));
}

TEST(MetricsExposerTest, ABadAddressIsAnError) {
  MetricsRegistry registry;
  EXPECT_THAT(MetricsExposer::Start("here", registry),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace ordo::base
