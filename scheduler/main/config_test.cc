#include "scheduler/main/config.h"

#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using base::testing::StatusIs;
using config::v1::SchedulerConfig;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SchedulerConfig Smallest() {
  SchedulerConfig config;
  config.set_store("/srv/ordo.db");
  config.set_storage_root("/srv/storage");
  return config;
}

std::vector<std::string> Fields(const absl::Status& status) {
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(status)) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(ConfigTest, WhatIsLeftOutTakesTheDocumentedDefault) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto config,
                            ResolveConfig(Smallest(), "/srv"));
  EXPECT_EQ(config.listen(), "127.0.0.1:7420");
  EXPECT_EQ(config.metrics_listen(), "127.0.0.1:0");
  EXPECT_EQ(config.deployment(), "/srv");
  EXPECT_EQ(config.log_level(), "info");
  EXPECT_EQ(config.log_format(), "text");
  const core::Options options = CoreOptions(config);
  EXPECT_NE(options.place, nullptr);
  EXPECT_EQ(options.lease, absl::Seconds(10));
  EXPECT_EQ(options.heartbeat, absl::Seconds(2));
  EXPECT_EQ(options.retry_backoff, absl::Seconds(1));
  EXPECT_EQ(options.retry_backoff_max, absl::Seconds(60));
  EXPECT_EQ(options.cancel_grace, absl::Seconds(2));
  EXPECT_EQ(options.stop_grace, absl::Seconds(30));
  EXPECT_EQ(options.board.min_run_time, absl::Seconds(60));
  const services::limits::LimitsOptions limits = ApiLimits(config);
  const services::limits::LimitsOptions standard;
  EXPECT_EQ(limits.calls_per_second, standard.calls_per_second);
  EXPECT_EQ(limits.streams_per_user, standard.streams_per_user);
  EXPECT_EQ(limits.streams, standard.streams);
}

TEST(ConfigTest, TheTimeInWhichNobodyIsPreemptedIsTakenUpToItsEnds) {
  SchedulerConfig config = Smallest();
  config.mutable_min_run_time();
  ORDO_ASSERT_OK_AND_ASSIGN(config, ResolveConfig(config, ""));
  EXPECT_EQ(CoreOptions(config).board.min_run_time, absl::ZeroDuration());
  config.mutable_min_run_time()->set_seconds(24 * 3600);
  ORDO_ASSERT_OK_AND_ASSIGN(config, ResolveConfig(config, ""));
  EXPECT_EQ(CoreOptions(config).board.min_run_time, absl::Hours(24));
  config.mutable_min_run_time()->set_seconds(24 * 3600 + 1);
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("min_run_time"));
}

TEST(ConfigTest, LimitsOfTheApiAreTakenUpToTheirEnds) {
  SchedulerConfig config = Smallest();
  config.set_calls_per_second(0);
  config.set_streams_per_user(1);
  config.set_streams(1'000'000);
  ORDO_ASSERT_OK_AND_ASSIGN(config, ResolveConfig(config, ""));
  EXPECT_EQ(ApiLimits(config).calls_per_second, 0);
  EXPECT_EQ(ApiLimits(config).streams_per_user, 1);
  EXPECT_EQ(ApiLimits(config).streams, 1'000'000);
  config.set_calls_per_second(-1);
  config.set_streams_per_user(0);
  config.set_streams(1'000'001);
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("calls_per_second", "streams_per_user", "streams"));
}

TEST(ConfigTest, EveryViolationIsNamedAtOnce) {
  SchedulerConfig config;
  config.set_listen("nowhere");
  config.set_storage_root("relative");
  config.set_endpoints_file("relative");
  config.mutable_lease()->set_seconds(-1);
  config.set_log_level("loud");
  config.set_log_format("xml");
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("listen", "store", "storage_root", "endpoints_file",
                          "lease", "heartbeat", "log_level", "log_format"));
}

TEST(ConfigTest, AHeartbeatIsShorterThanTheLease) {
  SchedulerConfig config = Smallest();
  config.mutable_lease()->set_seconds(1);
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("heartbeat"));
}

TEST(ConfigTest, ABackoffIsNotLongerThanItsMaximum) {
  SchedulerConfig config = Smallest();
  config.mutable_retry_backoff()->set_seconds(61);
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("retry_backoff"));
}

TEST(ConfigTest, JobsStayForEverUnlessSomebodySaysSo) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto config, ResolveConfig(Smallest(), ""));
  const server::RetentionOptions options = RetentionOf(config);
  EXPECT_EQ(options.age, absl::InfiniteDuration());
  EXPECT_LT(options.max_jobs, 0);
  EXPECT_EQ(options.archive, "/srv/ordo.db.archive.jsonl");
}

TEST(ConfigTest, RetentionIsByAgeAndNumber) {
  SchedulerConfig config = Smallest();
  config.mutable_retention_age()->set_seconds(3600);
  config.set_retention_jobs(0);
  config.set_archive("/srv/old.jsonl");
  ORDO_ASSERT_OK_AND_ASSIGN(config, ResolveConfig(config, ""));
  const server::RetentionOptions options = RetentionOf(config);
  EXPECT_EQ(options.age, absl::Hours(1));
  EXPECT_EQ(options.max_jobs, 0);
  EXPECT_EQ(options.archive, "/srv/old.jsonl");
}

TEST(ConfigTest, RetentionOfNoTimeOrNumberIsRefused) {
  SchedulerConfig config = Smallest();
  config.mutable_retention_age();
  config.set_retention_jobs(-1);
  config.set_archive("relative");
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("retention_age", "retention_jobs", "archive"));
}

TEST(ConfigTest, OffLoopbackNeedsInsecure) {
  SchedulerConfig config = Smallest();
  config.set_listen("0.0.0.0:7420");
  EXPECT_THAT(ResolveConfig(config, ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("insecure: true")));
  config.set_insecure(true);
  EXPECT_THAT(ResolveConfig(config, ""), base::testing::IsOk());
}

TEST(ConfigTest, TheMetricsPageOffLoopbackNeedsInsecureToo) {
  SchedulerConfig config = Smallest();
  config.set_metrics_listen("0.0.0.0:9100");
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("metrics_listen"));
  config.set_insecure(true);
  EXPECT_THAT(ResolveConfig(config, ""), base::testing::IsOk());
}

TEST(ConfigTest, OffLoopbackTlsIsEnough) {
  SchedulerConfig config = Smallest();
  config.set_listen("0.0.0.0:7420");
  config.set_metrics_listen("0.0.0.0:9100");
  config.mutable_tls()->set_certificate("/tls/s.pem");
  config.mutable_tls()->set_key("/tls/s.key");
  config.mutable_tls()->set_ca("/tls/ca.pem");
  ORDO_ASSERT_OK_AND_ASSIGN(config, ResolveConfig(config, ""));
  EXPECT_EQ(config.tls().client_ca(), "/tls/ca.pem");
  config.mutable_tls()->clear_certificate();
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              Contains("tls.certificate"));
}

TEST(ConfigTest, WithTlsCallersAreKnown) {
  SchedulerConfig config = Smallest();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto without, ResolveConfig(config, ""));
  EXPECT_FALSE(without.has_auth());
  config.mutable_tls()->set_certificate("/tls/s.pem");
  config.mutable_tls()->set_ca("/tls/ca.pem");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto with, ResolveConfig(config, ""));
  EXPECT_THAT(with.auth().certificate_admins(), ElementsAre("admin"));
  config.mutable_auth()->set_certificate_role("owner");
  config.set_audit_log("relative");
  EXPECT_THAT(Fields(ResolveConfig(config, "").status()),
              ElementsAre("auth.certificate_role", "audit_log"));
}

TEST(ConfigTest, AFileIsReadAsItsExtensionSays) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string yaml = folder.Path("s.yaml");
  ORDO_ASSERT_OK(base::AtomicWrite(files, yaml, "store: /x\nlease: 3s\n"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto config, ReadConfig(files, yaml));
  EXPECT_EQ(config.store(), "/x");
  EXPECT_EQ(config.lease().seconds(), 3);
  const std::string other = folder.Path("s.conf");
  ORDO_ASSERT_OK(base::AtomicWrite(files, other, "store: /x\n"));
  EXPECT_THAT(
      ReadConfig(files, other),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".textproto")));
}

TEST(ConfigTest, AFileIsReadAndItsErrorsNameIt) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string path = folder.Path("s.textproto");
  EXPECT_THAT(ReadConfig(files, path),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, "storr: \"/x\""));
  EXPECT_THAT(ReadConfig(files, path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("store"))));
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, "store: \"/x\""));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto config, ReadConfig(files, path));
  EXPECT_EQ(config.store(), "/x");
}

}  // namespace
}  // namespace ordo::scheduler
