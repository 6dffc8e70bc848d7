#include "scheduler/core/turn.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

class TurnTest : public ::testing::Test {
 protected:
  TurnTest() {
    auto job = std::make_shared<jobs::v1::Job>();
    job->mutable_spec()->set_name("a");
    job->set_sequence(4);
    job->set_version(1);
    entry_.job = job;
  }

  State state_;
  Turn turn_{state_, {}, {}, {}, {}, {}};
  JobEntry entry_;
};

TEST_F(TurnTest, ManyChangesOfAJobAreOneVersionAndOneRecord) {
  const JobPtr before = entry_.job;
  JobEdit edit(turn_, entry_);
  edit.job().set_reason("x");
  edit.job().set_message("y");
  EXPECT_EQ(edit.read().reason(), "x");
  EXPECT_EQ(entry_.job, before);
  edit.Commit();
  EXPECT_EQ(entry_.job->version(), 2);
  EXPECT_EQ(before->version(), 1);
  ASSERT_EQ(turn_.effects.size(), 1u);
  const auto& record = std::get<Record>(turn_.effects[0]);
  EXPECT_EQ(std::get<JobRecord>(record.value).job, entry_.job);
}

TEST_F(TurnTest, AnEditWithoutAChangeRecordsNothing) {
  JobEdit edit(turn_, entry_);
  EXPECT_EQ(edit.read().version(), 1);
  edit.Commit();
  EXPECT_TRUE(turn_.effects.empty());
}

TEST_F(TurnTest, ARecordHoldsWhatIsDurableOfALiveAttempt) {
  Live live;
  live.incarnation = "i";
  live.acknowledged_records = 3;
  entry_.place = live;
  EXPECT_EQ(RecordOf(entry_).incarnation, "i");
  EXPECT_EQ(RecordOf(entry_).acknowledged_records, 3);
  entry_.place = Queued{};
  EXPECT_EQ(RecordOf(entry_).incarnation, "");
}

TEST_F(TurnTest, ADeadlineIsMovedNotAdded) {
  std::optional<absl::Duration> slot;
  SetDeadline(state_, {Deadline::Kind::kLease, "w", &slot}, absl::Seconds(5));
  SetDeadline(state_, {Deadline::Kind::kLease, "w", &slot}, absl::Seconds(9));
  ASSERT_EQ(state_.deadlines.size(), 1u);
  EXPECT_EQ(state_.deadlines.begin()->at, absl::Seconds(9));
  SetDeadline(state_, {Deadline::Kind::kLease, "w", &slot}, std::nullopt);
  EXPECT_TRUE(state_.deadlines.empty());
  EXPECT_EQ(slot, std::nullopt);
}

TEST_F(TurnTest, OnlyWhatAWorkerOffersAndNothingHoldsIsFree) {
  Worker worker;
  worker.id = "w";
  worker.devices = {{"cpu:0", "cpu"}, {"cpu:1", "cpu"}, {"cuda:0", "cuda"}};
  worker.liveness = Worker::Liveness::kOnline;
  worker.lingering = {"cpu:1"};
  IndexFreeDevices(state_, worker);
  EXPECT_EQ(state_.free["cpu"].size(), 1u);
  EXPECT_EQ(state_.free["cuda"].size(), 1u);
  worker.draining = true;
  IndexFreeDevices(state_, worker);
  EXPECT_TRUE(state_.free["cpu"].empty());
  EXPECT_TRUE(state_.free["cuda"].empty());
}

TEST_F(TurnTest, WaitingJobsAreIndexedByNeedAndSequence) {
  StartWaiting(state_, *entry_.job);
  EXPECT_EQ(state_.waiting.at({"cpu", {}}).at(4), "a");
  StopWaiting(state_, *entry_.job);
  EXPECT_TRUE(state_.waiting.empty());
  StopWaiting(state_, *entry_.job);
}

}  // namespace
}  // namespace ordo::scheduler::core
