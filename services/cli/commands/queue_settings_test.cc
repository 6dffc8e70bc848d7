#include "services/cli/commands/queue_settings.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<QueueSettings> Parse(const std::vector<std::string>& args) {
  const auto arguments = ParseArguments(QueueOptionTable(), args);
  if (!arguments.ok()) return arguments.status();
  return ParseQueueSettings(*arguments);
}

TEST(QueueSettingsTest, OptionsSetTheirFieldsAndTheMask) {
  const auto settings =
      Parse({"--weight", "2.5", "--quota", "cuda=4:8", "--quota", "cpu=2",
             "--max-queued-jobs", "9", "--max-devices-per-owner", "3",
             "--default-run-time", "90s", "--max-run-time", "2h"});
  ORDO_ASSERT_OK(settings);
  EXPECT_EQ(settings->queue.weight(), 2.5);
  ASSERT_EQ(settings->queue.quotas_size(), 2);
  EXPECT_EQ(settings->queue.quotas(0).device(), "cuda");
  EXPECT_EQ(settings->queue.quotas(0).guaranteed(), 4);
  EXPECT_EQ(settings->queue.quotas(0).limit(), 8);
  EXPECT_EQ(settings->queue.quotas(1).guaranteed(), 2);
  EXPECT_FALSE(settings->queue.quotas(1).has_limit());
  EXPECT_EQ(settings->queue.max_queued_jobs(), 9);
  EXPECT_EQ(settings->queue.max_devices_per_owner(), 3);
  EXPECT_EQ(settings->queue.default_run_time_limit().seconds(), 90);
  EXPECT_EQ(settings->queue.max_run_time_limit().seconds(), 7200);
  EXPECT_THAT(settings->mask.paths(),
              ElementsAre("weight", "quotas", "max_devices_per_owner",
                          "max_queued_jobs", "default_run_time_limit",
                          "max_run_time_limit"));
}

TEST(QueueSettingsTest, LimitNeedsNoGuarantee) {
  const auto settings = Parse({"--quota", "cuda=:0"});
  ORDO_ASSERT_OK(settings);
  EXPECT_EQ(settings->queue.quotas(0).guaranteed(), 0);
  EXPECT_TRUE(settings->queue.quotas(0).has_limit());
}

TEST(QueueSettingsTest, UnsetIsInTheMaskAlone) {
  const auto settings = Parse({"--unset", "quota", "--unset", "weight"});
  ORDO_ASSERT_OK(settings);
  EXPECT_EQ(settings->queue.ByteSizeLong(), 0u);
  EXPECT_THAT(settings->mask.paths(), ElementsAre("quotas", "weight"));
}

TEST(QueueSettingsTest, WhatCannotBeReadIsRefused) {
  for (const char* quota :
       {"cuda", "=4", "cuda=", "cuda=x", "cuda=4:", "cuda=1:2:3", "cuda=4:y"}) {
    const auto settings = Parse({"--quota", quota});
    EXPECT_THAT(settings, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(settings.status().message()),
                HasSubstr("--quota takes DEVICE=GUARANTEED"))
        << quota;
  }
  EXPECT_FALSE(Parse({"--weight", "heavy"}).ok());
  EXPECT_FALSE(Parse({"--max-queued-jobs", "-1"}).ok());
  EXPECT_FALSE(Parse({"--max-run-time", "2 hours"}).ok());
}

TEST(QueueSettingsTest, UnsetOfNothingNamesTheNearest) {
  const auto settings = Parse({"--unset", "wieght"});
  EXPECT_THAT(std::string(settings.status().message()),
              HasSubstr("did you mean 'weight'?"));
}

TEST(QueueSettingsTest, SetAndUnsetTogetherIsRefused) {
  EXPECT_FALSE(Parse({"--weight", "2", "--unset", "weight"}).ok());
}

TEST(QueueSettingsTest, QuotasOfOtherDevicesStay) {
  const auto text = [](const queues::v1::Queue& queue) {
    std::string all;
    for (const auto& quota : queue.quotas()) {
      all += quota.device() + " " + QuotaText(quota) + ";";
    }
    return all;
  };
  const auto now = Parse({"--quota", "cpu=1", "--quota", "cuda=4:8"});
  for (const auto& [given, wanted] :
       std::vector<std::pair<std::string, std::string>>{
           {"cuda=:2", "cpu 1;cuda at most 2;"},
           {"cpu=3", "cpu 3;cuda 4 of at most 8;"},
           {"tpu=3", "cpu 1;cuda 4 of at most 8;tpu 3;"}}) {
    auto change = Parse({"--quota", given});
    KeepOtherQuotas(now->queue, &change->queue);
    EXPECT_EQ(text(change->queue), wanted);
  }
}

TEST(QueueSettingsTest, QuotaReadsAsPeopleSayIt) {
  const auto text = [](const char* given) {
    return QuotaText(Parse({"--quota", given})->queue.quotas(0));
  };
  EXPECT_EQ(text("cuda=4"), "4");
  EXPECT_EQ(text("cuda=4:8"), "4 of at most 8");
  EXPECT_EQ(text("cuda=:8"), "at most 8");
  EXPECT_EQ(text("cuda=0"), "0");
  EXPECT_EQ(text("cuda=0:0"), "none may run");
  EXPECT_EQ(text("cuda=:0"), "none may run");
}

}  // namespace
}  // namespace ordo::services::cli
