#include "services/queues/queue_check.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/api/field_behavior.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler.h"

namespace ordo::services::queues {
namespace {

using ordo::queues::v1::Queue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Queue QueueOf(const std::string& text) {
  Queue queue;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &queue));
  return queue;
}

google::protobuf::FieldMask MaskOf(const std::vector<std::string>& paths) {
  google::protobuf::FieldMask mask;
  for (const std::string& path : paths) mask.add_paths(path);
  return mask;
}

// Fields that the queue is refused by.
std::vector<std::string> WrongFields(const std::string& text) {
  std::vector<std::string> fields;
  const auto resolved = ResolveQueue(QueueOf(text));
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(QueueCheckTest, QueueWithoutSettingsGetsTheDefaults) {
  const auto queue = ResolveQueue({});
  ORDO_ASSERT_OK(queue);
  EXPECT_EQ(queue->weight(), scheduler::kDefaultQueueWeight);
  EXPECT_EQ(queue->max_queued_jobs(), scheduler::kDefaultMaxQueuedJobs);
  EXPECT_FALSE(queue->has_max_devices_per_owner());
  EXPECT_TRUE(queue->quotas().empty());
}

TEST(QueueCheckTest, WhatALaterVersionSetsIsNotKept) {
  ordo::queues::v1::Queue later = QueueOf("weight: 2");
  later.GetReflection()->MutableUnknownFields(&later)->AddVarint(999, 1);
  const auto queue = ResolveQueue(later);
  ORDO_ASSERT_OK(queue);
  EXPECT_TRUE(queue->GetReflection()->GetUnknownFields(*queue).empty());
}

TEST(QueueCheckTest, OnlyWhatAPersonSetsIsKept) {
  const auto queue = ResolveQueue(
      QueueOf("name: 'queues/x' weight: 2 etag: '7' queued_jobs: 3 "
              "changes { user: 'eve' } create_time { seconds: 1 }"));
  ORDO_ASSERT_OK(queue);
  EXPECT_EQ(queue->weight(), 2);
  EXPECT_EQ(queue->name(), "");
  EXPECT_EQ(queue->etag(), "");
  EXPECT_EQ(queue->queued_jobs(), 0);
  EXPECT_TRUE(queue->changes().empty());
  EXPECT_FALSE(queue->has_create_time());
}

TEST(QueueCheckTest, BothEndsOfEachRangeAreValid) {
  EXPECT_THAT(WrongFields("weight: 0.001 max_queued_jobs: 1 "
                          "max_devices_per_owner: 1 "
                          "quotas { device: 'cpu' } "
                          "default_run_time_limit { seconds: 1 } "
                          "max_run_time_limit { seconds: 1 }"),
              ElementsAre());
  EXPECT_THAT(
      WrongFields("weight: 1000 max_queued_jobs: 10000000 "
                  "max_devices_per_owner: 1000000 "
                  "quotas { device: 'cuda' guaranteed: 1000000 "
                  "limit: 1000000 } max_run_time_limit { seconds: 31622400 }"),
      ElementsAre());
}

TEST(QueueCheckTest, WhatIsBeyondARangeIsNamed) {
  EXPECT_THAT(WrongFields("weight: 0"), ElementsAre("queue.weight"));
  EXPECT_THAT(WrongFields("weight: 1000.5"), ElementsAre("queue.weight"));
  EXPECT_THAT(WrongFields("max_queued_jobs: 0"),
              ElementsAre("queue.max_queued_jobs"));
  EXPECT_THAT(WrongFields("max_devices_per_owner: 0"),
              ElementsAre("queue.max_devices_per_owner"));
  EXPECT_THAT(WrongFields("quotas { device: 'cpu' guaranteed: -1 }"),
              ElementsAre("queue.quotas[0].guaranteed"));
  EXPECT_THAT(WrongFields("quotas { device: 'cpu' guaranteed: 2 limit: 1 }"),
              ElementsAre("queue.quotas[0].limit"));
  EXPECT_THAT(WrongFields("max_run_time_limit { seconds: 31622401 }"),
              ElementsAre("queue.max_run_time_limit"));
  EXPECT_THAT(WrongFields("default_run_time_limit { nanos: 5 }"),
              ElementsAre("queue.default_run_time_limit"));
}

TEST(QueueCheckTest, EverythingWrongIsNamedAtOnce) {
  EXPECT_THAT(WrongFields("weight: 0 max_queued_jobs: 0"),
              ElementsAre("queue.weight", "queue.max_queued_jobs"));
}

TEST(QueueCheckTest, DefaultBeyondTheMaximumIsRefused) {
  EXPECT_THAT(WrongFields("default_run_time_limit { seconds: 2 } "
                          "max_run_time_limit { seconds: 1 nanos: 9 }"),
              ElementsAre("queue.default_run_time_limit"));
}

TEST(QueueCheckTest, UnknownKindOfDeviceNamesTheNearest) {
  const auto queue = ResolveQueue(QueueOf("quotas { device: 'cudo' }"));
  EXPECT_THAT(std::string(queue.status().message()),
              HasSubstr("did you mean 'cuda'?"));
}

TEST(QueueCheckTest, KindOfDeviceHasOneQuota) {
  EXPECT_THAT(WrongFields("quotas { device: 'cpu' } quotas { device: 'cpu' }"),
              ElementsAre("queue.quotas[1].device"));
}

TEST(QueueCheckTest, MergeTakesWhatTheMaskNames) {
  const Queue queue = QueueOf("weight: 2 max_devices_per_owner: 3");
  const Queue change = QueueOf("weight: 5 max_devices_per_owner: 7");
  const auto merged = MergeQueue(queue, change, MaskOf({"weight"}));
  ORDO_ASSERT_OK(merged);
  EXPECT_EQ(merged->weight(), 5);
  EXPECT_EQ(merged->max_devices_per_owner(), 3);
}

TEST(QueueCheckTest, MergeUnsetsWhatTheMaskNamesAndTheChangeLacks) {
  const Queue queue =
      QueueOf("max_devices_per_owner: 3 quotas { device: 'cpu' limit: 1 }");
  const auto merged = MergeQueue(queue, QueueOf("weight: 5"),
                                 MaskOf({"max_devices_per_owner", "quotas"}));
  ORDO_ASSERT_OK(merged);
  EXPECT_FALSE(merged->has_max_devices_per_owner());
  EXPECT_TRUE(merged->quotas().empty());
  EXPECT_FALSE(merged->has_weight());
}

TEST(QueueCheckTest, MergeReplacesListsWhole) {
  const auto merged =
      MergeQueue(QueueOf("quotas { device: 'cpu' } quotas { device: 'cuda' }"),
                 QueueOf("quotas { device: 'cuda' limit: 2 }"), MaskOf({}));
  ORDO_ASSERT_OK(merged);
  ASSERT_EQ(merged->quotas_size(), 1);
  EXPECT_EQ(merged->quotas(0).limit(), 2);
}

TEST(QueueCheckTest, WithoutAMaskWhatIsSetIsTaken) {
  const auto merged = MergeQueue(QueueOf("weight: 2 max_queued_jobs: 3"),
                                 QueueOf("max_queued_jobs: 4"), MaskOf({}));
  ORDO_ASSERT_OK(merged);
  EXPECT_EQ(merged->weight(), 2);
  EXPECT_EQ(merged->max_queued_jobs(), 4);
}

TEST(QueueCheckTest, StarTakesAll) {
  const auto merged = MergeQueue(QueueOf("weight: 2 max_queued_jobs: 3"),
                                 QueueOf("max_queued_jobs: 4"), MaskOf({"*"}));
  ORDO_ASSERT_OK(merged);
  EXPECT_FALSE(merged->has_weight());
  EXPECT_EQ(merged->max_queued_jobs(), 4);
}

TEST(QueueCheckTest, MergeKeepsWhatNobodySets) {
  const Queue queue = QueueOf("name: 'queues/x' etag: '3' weight: 1");
  const auto merged = MergeQueue(
      queue, QueueOf("name: 'queues/y' etag: '4' weight: 2"), MaskOf({"*"}));
  ORDO_ASSERT_OK(merged);
  EXPECT_EQ(merged->name(), "queues/x");
  EXPECT_EQ(merged->etag(), "3");
}

TEST(QueueCheckTest, MaskOfWhatNobodySetsIsRefused) {
  const auto merged =
      MergeQueue({}, QueueOf("weight: 2"), MaskOf({"wieght", "etag"}));
  const auto violations = base::FieldViolations(merged.status());
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].field, "update_mask");
  EXPECT_THAT(violations[0].description, HasSubstr("did you mean 'weight'?"));
}

TEST(QueueCheckTest, ChangeOfNothingIsRefused) {
  const auto merged = MergeQueue({}, {}, {});
  const auto violations = base::FieldViolations(merged.status());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "queue");
}

// What a person sets is what the API calls optional, but for the etag.
TEST(QueueCheckTest, EveryOptionalFieldCanBeSet) {
  const auto* descriptor = Queue::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    const bool optional =
        field->options().GetExtension(google::api::field_behavior, 0) ==
            google::api::OPTIONAL &&
        field->name() != "etag";
    EXPECT_EQ(MergeQueue({}, {}, MaskOf({field->name()})).ok(), optional)
        << field->name();
  }
}

TEST(QueueCheckTest, IdsAreThoseOfJobs) {
  ORDO_EXPECT_OK(CheckQueueId("night-shift2"));
  for (const char* id : {"", "Night", "-a", "a-", "1a", "a/b"}) {
    const auto violations = base::FieldViolations(CheckQueueId(id));
    ASSERT_EQ(violations.size(), 1u) << id;
    EXPECT_EQ(violations[0].field, "queue_id");
  }
}

}  // namespace
}  // namespace ordo::services::queues
