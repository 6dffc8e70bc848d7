#include "scheduler/core/turn.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

class TurnTest : public ::testing::Test {
 protected:
  TurnTest() {
    auto facts = std::make_shared<JobFacts>();
    facts->id = "a";
    facts->sequence = 4;
    auto job = std::make_shared<JobRecord>();
    job->facts = facts;
    job->version = 1;
    entry_.job = job;
  }

  State state_;
  Turn turn_{state_, {}};
  JobEntry entry_;
};

TEST_F(TurnTest, ManyChangesOfAJobAreOneVersionAndOneRecord) {
  const JobPtr before = entry_.job;
  JobEdit edit(turn_, entry_);
  edit.job().reason = "x";
  edit.job().message = "y";
  EXPECT_EQ(edit.read().reason.value(), "x");
  EXPECT_EQ(entry_.job, before);
  edit.Commit();
  EXPECT_EQ(entry_.job->version, 2);
  EXPECT_EQ(before->version, 1);
  ASSERT_EQ(turn_.effects.size(), 1u);
  const auto& record = std::get<Record>(turn_.effects[0]);
  EXPECT_EQ(std::get<JobPtr>(record.value), entry_.job);
}

TEST_F(TurnTest, AnEditWithoutAChangeRecordsNothing) {
  JobEdit edit(turn_, entry_);
  EXPECT_EQ(edit.read().version, 1);
  edit.Commit();
  EXPECT_TRUE(turn_.effects.empty());
}

TEST_F(TurnTest, AnAttemptThatIsRecordedNeverChanges) {
  JobEdit first(turn_, entry_);
  first.AddAttempt().set_number(1);
  first.attempt().set_worker("w");
  first.Commit();
  const AttemptPtr recorded = entry_.job->attempts[0];
  EXPECT_EQ(recorded->worker(), "w");
  JobEdit second(turn_, entry_);
  second.attempt().set_worker("v");
  second.attempt().set_exit_code(1);
  second.Commit();
  EXPECT_EQ(entry_.job->newest_attempt().worker(), "v");
  EXPECT_EQ(entry_.job->newest_attempt().exit_code(), 1);
  EXPECT_EQ(recorded->worker(), "w");
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

TEST_F(TurnTest, WhatOneOfSeveralRanksNotesIsInItsAttempt) {
  JobEdit first(turn_, entry_);
  first.AddAttempt().set_number(1);
  first.SetIncarnation(0, "only");
  first.SetAcknowledged(0, 3);
  first.Commit();
  EXPECT_EQ(entry_.job->incarnation.value(), "only");
  EXPECT_EQ(IncarnationOf(*entry_.job, 0), "only");
  EXPECT_EQ(AcknowledgedOf(*entry_.job, 0), 3);
  JobEdit second(turn_, entry_);
  second.AddAttempt().set_number(2);
  second.attempt().add_ranks();
  second.attempt().add_ranks();
  second.SetIncarnation(1, "other");
  second.SetAcknowledged(1, 5);
  second.Commit();
  EXPECT_EQ(entry_.job->newest_attempt().ranks(1).incarnation(), "other");
  EXPECT_EQ(IncarnationOf(*entry_.job, 0), "");
  EXPECT_EQ(AcknowledgedOf(*entry_.job, 1), 5);
}

}  // namespace
}  // namespace ordo::scheduler::core
