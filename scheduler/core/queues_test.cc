#include "scheduler/core/queues.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using queues::v1::Queue;
using ::testing::HasSubstr;

constexpr absl::StatusCode kAborted = absl::StatusCode::kAborted;

Queue QueueOf(const std::string& text) {
  Queue queue;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &queue));
  return queue;
}

Author By(const std::string& user, const std::string& reason = "") {
  Author author;
  author.owner.set_user(user);
  author.reason = reason;
  return author;
}

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

class QueuesTest : public ::testing::Test {
 protected:
  // The queue as it is now in the map.
  const Queue& Create(const std::string& text) {
    const auto made = CreatedQueue(queues_, QueueOf(text), By("ada"), At(1));
    ORDO_EXPECT_OK(made);
    return Put(*made);
  }
  const Queue& Put(const QueuePtr& queue) {
    const std::string id = queue->name().substr(7);
    queues_[id] = queue;
    return *queues_[id];
  }

  Queues queues_;
};

TEST_F(QueuesTest, DefaultIsThereWithoutAnEntry) {
  const QueuePtr queue = FindQueue(queues_, "default");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(queue->name(), "queues/default");
  EXPECT_EQ(queue->weight(), 1);
  EXPECT_EQ(AllQueues(queues_).count("default"), 1u);
}

TEST_F(QueuesTest, CreatedQueueHasItsSettingsAndItsFirstChange) {
  const Queue& queue = Create("name: 'queues/night' weight: 2");
  EXPECT_EQ(queue.name(), "queues/night");
  EXPECT_EQ(queue.weight(), 2);
  EXPECT_EQ(queue.etag(), "1");
  EXPECT_EQ(queue.create_time().seconds(), 1);
  EXPECT_EQ(queue.update_time().seconds(), 1);
  ASSERT_EQ(queue.changes_size(), 1);
  EXPECT_EQ(queue.changes(0).user(), "ada");
  EXPECT_EQ(queue.changes(0).action(), "create: weight: 2");
}

TEST_F(QueuesTest, WhatFollowsFromJobsIsNotKept) {
  const Queue& queue = Create(
      "name: 'queues/night' queued_jobs: 3 active_jobs: 2 "
      "held_devices { key: 'cpu' value: 1 } etag: '9' "
      "delete_time { seconds: 1 } changes { user: 'eve' }");
  EXPECT_EQ(queue.queued_jobs(), 0);
  EXPECT_EQ(queue.active_jobs(), 0);
  EXPECT_TRUE(queue.held_devices().empty());
  EXPECT_FALSE(queue.has_delete_time());
  EXPECT_EQ(queue.etag(), "1");
  EXPECT_EQ(queue.changes_size(), 1);
}

TEST_F(QueuesTest, NameIsTakenOnce) {
  Create("name: 'queues/night'");
  for (const char* text : {"name: 'queues/night'", "name: 'queues/default'"}) {
    EXPECT_THAT(CreatedQueue(queues_, QueueOf(text), By("bob"), At(2)),
                StatusIs(absl::StatusCode::kAlreadyExists));
  }
}

TEST_F(QueuesTest, UpdateSaysWhatItChanged) {
  Create("name: 'queues/night' weight: 2 quotas { device: 'cpu' limit: 1 }");
  const auto updated = UpdatedQueue(
      queues_,
      QueueOf("name: 'queues/night' etag: '1' weight: 3 max_queued_jobs: 5"),
      By("bob", "exams"), At(2));
  ORDO_ASSERT_OK(updated);
  EXPECT_EQ((*updated)->weight(), 3);
  EXPECT_EQ((*updated)->quotas_size(), 0);
  EXPECT_EQ((*updated)->etag(), "2");
  EXPECT_EQ((*updated)->create_time().seconds(), 1);
  EXPECT_EQ((*updated)->update_time().seconds(), 2);
  ASSERT_EQ((*updated)->changes_size(), 2);
  const auto& change = (*updated)->changes(1);
  EXPECT_EQ(change.user(), "bob");
  EXPECT_EQ(change.reason(), "exams");
  EXPECT_THAT(change.action(), HasSubstr("weight: 2 -> 3"));
  EXPECT_THAT(change.action(), HasSubstr("max_queued_jobs: none -> 5"));
  EXPECT_THAT(change.action(), HasSubstr("quotas: cpu=0:1 -> none"));
}

TEST_F(QueuesTest, ChangesSayWhatWasSetAsPeopleGiveIt) {
  const Queue& queue = Create(
      "name: 'queues/night' weight: 2 "
      "quotas { device: 'cuda' guaranteed: 4 limit: 8 } "
      "quotas { device: 'cpu' guaranteed: 3 } "
      "default_run_time_limit { seconds: 5400 }");
  EXPECT_EQ(queue.changes(0).action(),
            "create: weight: 2; quotas: cuda=4:8, cpu=3; "
            "default_run_time_limit: 1h30m");
  const auto updated =
      UpdatedQueue(queues_,
                   QueueOf("name: 'queues/night' etag: '1' weight: 2 "
                           "quotas { device: 'cuda' limit: 0 } "
                           "max_run_time_limit { seconds: 60 }"),
                   By("bob"), At(2));
  ORDO_ASSERT_OK(updated);
  EXPECT_EQ((*updated)->changes(1).action(),
            "quotas: cuda=4:8, cpu=3 -> cuda=0:0; "
            "default_run_time_limit: 1h30m -> none; "
            "max_run_time_limit: none -> 1m");
  EXPECT_EQ(Create("name: 'queues/day'").changes(0).action(), "create");
}

TEST_F(QueuesTest, UpdateOfAnotherStateIsAborted) {
  Create("name: 'queues/night'");
  for (const char* etag : {"0", "2", ""}) {
    Queue wanted = QueueOf("name: 'queues/night' weight: 3");
    wanted.set_etag(etag);
    EXPECT_THAT(UpdatedQueue(queues_, wanted, By("bob"), At(2)),
                StatusIs(kAborted));
  }
}

TEST_F(QueuesTest, UpdateOfNothingIsNoChange) {
  const Queue before = Create("name: 'queues/night' weight: 2");
  const auto updated =
      UpdatedQueue(queues_, QueueOf("name: 'queues/night' etag: '1' weight: 2"),
                   By("bob"), At(2));
  ORDO_ASSERT_OK(updated);
  EXPECT_EQ((*updated)->SerializeAsString(), before.SerializeAsString());
}

TEST_F(QueuesTest, DefaultCanBeUpdatedAndNotDeleted) {
  const auto updated =
      UpdatedQueue(queues_,
                   QueueOf("name: 'queues/default' etag: '0' weight: 4 "
                           "max_queued_jobs: 1000000"),
                   By("bob"), At(2));
  ORDO_ASSERT_OK(updated);
  EXPECT_EQ((*updated)->changes(0).action(), "weight: 1 -> 4");
  Put(*updated);
  EXPECT_EQ(FindQueue(queues_, "default")->weight(), 4);
  EXPECT_THAT(DeletedQueue(queues_, {"default", "", 0}, By("bob"), At(3)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(QueuesTest, DeletedQueueIsGoneAndItsNameIsFree) {
  Create("name: 'queues/night'");
  const auto deleted =
      DeletedQueue(queues_, {"night", "1", 0}, By("bob"), At(2));
  ORDO_ASSERT_OK(deleted);
  EXPECT_EQ((*deleted)->delete_time().seconds(), 2);
  Put(*deleted);
  EXPECT_EQ(FindQueue(queues_, "night"), nullptr);
  EXPECT_EQ(AllQueues(queues_).count("night"), 0u);
  const Queue& again = Create("name: 'queues/night'");
  EXPECT_EQ(again.changes_size(), 3);
  EXPECT_EQ(again.changes(1).action(), "delete");
  EXPECT_EQ(again.etag(), "3");
}

TEST_F(QueuesTest, QueueWithJobsIsNotDeleted) {
  Create("name: 'queues/night'");
  EXPECT_THAT(DeletedQueue(queues_, {"night", "", 1}, By("bob"), At(2)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has 1 job that has not ended; wait, or "
                                 "cancel what you see with: ordo list jobs")));
}

TEST_F(QueuesTest, DeleteOfAnotherStateIsAborted) {
  Create("name: 'queues/night'");
  EXPECT_THAT(DeletedQueue(queues_, {"night", "7", 0}, By("bob"), At(2)),
              StatusIs(kAborted));
}

TEST_F(QueuesTest, WhoLosesARaceIsToldToWhom) {
  Create("name: 'queues/night'");
  Queue wanted = QueueOf("name: 'queues/night' weight: 3 etag: '1'");
  const auto updated = UpdatedQueue(queues_, wanted, By("bob"), At(2));
  ORDO_ASSERT_OK(updated);
  Put(*updated);
  const auto lost = UpdatedQueue(queues_, wanted, By("ada"), At(3));
  EXPECT_THAT(lost, StatusIs(kAborted,
                             HasSubstr("by bob (weight: none -> 3): its etag "
                                       "is 2, not 1; see: ordo queues show")));
}

TEST_F(QueuesTest, QueueHasRoomUpToItsLimit) {
  Create("name: 'queues/night' max_queued_jobs: 3");
  Create("name: 'queues/day'");
  ORDO_EXPECT_OK(CheckRoom(queues_, "night", 1, 2));
  EXPECT_THAT(CheckRoom(queues_, "night", 1, 3),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("1 of its max_queued_jobs, 3")));
  ORDO_EXPECT_OK(CheckRoom(queues_, "day", kDefaultMaxQueuedJobs - 1, 1));
  EXPECT_THAT(CheckRoom(queues_, "day", kDefaultMaxQueuedJobs, 1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(CheckRoom(queues_, "noon", 0, 1),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(QueuesTest, ThereAreNoMoreQueuesThanTheLimit) {
  for (size_t i = 1; i < kMaxQueues; ++i) {
    Create("name: 'queues/q" + std::to_string(i) + "'");
  }
  EXPECT_THAT(CreatedQueue(queues_, QueueOf("name: 'queues/one-more'"),
                           By("ada"), At(2)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("there are 1000 queues")));
  Put(DeletedQueue(queues_, {"q7", "", 0}, By("ada"), At(3)).value());
  Create("name: 'queues/one-more'");
}

TEST_F(QueuesTest, TheQueueDeletedFirstIsForgottenFirst) {
  for (size_t i = 0; i <= kMaxDeletedQueues; ++i) {
    EXPECT_EQ(QueueToForget(queues_), "");
    const std::string id = "q" + std::to_string(i);
    Create("name: 'queues/" + id + "'");
    // The second one first.
    const absl::Time at = At(i == 1 ? 10 : 11 + static_cast<int64_t>(i));
    Put(DeletedQueue(queues_, {id, "", 0}, By("ada"), at).value());
  }
  EXPECT_EQ(QueueToForget(queues_), "q1");
}

TEST_F(QueuesTest, OnlyWhatCouldHaveBeenMadeIsSound) {
  const std::string named = "name: 'queues/a' ";
  for (const char* text :
       {"", "weight: 2 etag: '7'", "weight: 0.001", "weight: 1000",
        "quotas { device: 'cpu' guaranteed: 2 limit: 2 }",
        "delete_time { seconds: 1 }"}) {
    EXPECT_TRUE(IsSound("a", QueueOf(named + text))) << text;
  }
  for (const char* text :
       {"weight: 0", "weight: nan", "weight: -1", "weight: inf", "etag: 'x'",
        "etag: '-1'", "etag: '9223372036854775807'", "quotas { limit: 1 }",
        "quotas { device: 'cpu' guaranteed: -1 }",
        "quotas { device: 'cpu' guaranteed: 2 limit: 1 }",
        "quotas { device: 'cpu' limit: 2000000000 }",
        "max_devices_per_owner: -1", "max_queued_jobs: -1"}) {
    EXPECT_FALSE(IsSound("a", QueueOf(named + text))) << text;
  }
  EXPECT_FALSE(IsSound("b", QueueOf(named)));
  EXPECT_FALSE(IsSound("", QueueOf("name: 'queues/'")));
  EXPECT_FALSE(IsSound("a/b", QueueOf("name: 'queues/a/b'")));
  EXPECT_FALSE(IsSound("default", QueueOf("name: 'queues/default' "
                                          "delete_time { seconds: 1 }")));
}

TEST_F(QueuesTest, UnknownQueueNamesTheNearest) {
  Create("name: 'queues/night'");
  for (const absl::Status& status :
       {GetQueue(queues_, "nigth").status(),
        UpdatedQueue(queues_, QueueOf("name: 'queues/nigth'"), By("bob"), At(2))
            .status(),
        DeletedQueue(queues_, {"nigth", "", 0}, By("bob"), At(2)).status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("did you mean 'night'?"));
  }
}

}  // namespace
}  // namespace ordo::scheduler::core
