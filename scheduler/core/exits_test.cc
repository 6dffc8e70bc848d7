#include "scheduler/core/exits.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/builders.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using testing::AttemptBuilder;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using training::v1::RetryDecision;

struct Case {
  ObservedAttempt observed;
  RetryDecision decision;
  std::string reason;
};

TEST(ExitsTest, EachExitIsJudgedAsTheTableSays) {
  const std::vector<Case> cases = {
      {AttemptBuilder("a", 1).Exited(0), training::v1::DONE, "FINISHED"},
      {AttemptBuilder("a", 1).Exited(1), training::v1::BUDGETED,
       "TRAINER_FAILED"},
      {AttemptBuilder("a", 1).Exited(2), training::v1::NEVER, "BAD_SPEC"},
      {AttemptBuilder("a", 1).Exited(10), training::v1::FREE, "STOPPED"},
      {AttemptBuilder("a", 1).Exited(11), training::v1::NEVER, "DATA_MISSING"},
      {AttemptBuilder("a", 1).Exited(12), training::v1::NEVER, "NON_FINITE"},
      {AttemptBuilder("a", 1).Exited(13), training::v1::NEVER,
       "CHECKPOINT_DAMAGED"},
      {AttemptBuilder("a", 1).Exited(14), training::v1::BUDGETED,
       "OUT_OF_MEMORY"},
      {AttemptBuilder("a", 1).Exited(15), training::v1::BUDGETED,
       "DEVICE_ERROR"},
      {AttemptBuilder("a", 1).Exited(16), training::v1::BUDGETED,
       "STORAGE_ERROR"},
      {AttemptBuilder("a", 1).Exited(17), training::v1::FREE, "PEER_LOST"},
      {AttemptBuilder("a", 1).Exited(18), training::v1::BUDGETED, "NCCL_ERROR"},
      {AttemptBuilder("a", 1).Exited(19), training::v1::NEVER, "PART_FAILED"},
      {AttemptBuilder("a", 1).Exited(70), training::v1::BUDGETED,
       "TRAINER_FAILED"},
      {AttemptBuilder("a", 1).Exited(99), training::v1::BUDGETED,
       "TRAINER_FAILED"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::SIGNAL, 9),
       training::v1::BUDGETED, "TRAINER_KILLED"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::HANG),
       training::v1::BUDGETED, "HANG"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::START_FAILED),
       training::v1::BUDGETED, "START_FAILED"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::HOST_FAILED),
       training::v1::FREE, "HOST_FAILED"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::FOLDER_TAKEN),
       training::v1::FREE, "FOLDER_TAKEN"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::SUPERVISOR_LOST),
       training::v1::FREE, "WORKER_LOST"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED),
       training::v1::FREE, "WORKER_LOST"},
      {AttemptBuilder("a", 1).Ended(ObservedAttempt::CAUSE_UNSPECIFIED),
       training::v1::BUDGETED, "TRAINER_FAILED"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.observed.ShortDebugString());
    const AttemptEnd end = JudgeExit(c.observed, Asked::kRun);
    EXPECT_EQ(end.decision, c.decision);
    EXPECT_EQ(end.reason, c.reason);
    EXPECT_FALSE(end.message.empty());
  }
}

TEST(ExitsTest, EveryExitCodeHasADecisionAndAKnownReason) {
  const std::set<std::string> reasons(std::begin(reason::kAttemptEnds),
                                      std::end(reason::kAttemptEnds));
  const auto* codes = training::v1::ExitCode_descriptor();
  for (int i = 0; i < codes->value_count(); ++i) {
    const AttemptEnd end = JudgeExit(
        AttemptBuilder("a", 1).Exited(codes->value(i)->number()), Asked::kRun);
    EXPECT_NE(end.decision, training::v1::RETRY_DECISION_UNSPECIFIED)
        << codes->value(i)->name();
    EXPECT_EQ(reasons.count(end.reason), 1) << end.reason;
    // So that the reason of a rank that ended says what follows from it.
    EXPECT_EQ(DecisionOf(end.reason), end.decision) << end.reason;
  }
}

TEST(ExitsTest, DeathOnADrainingWorkerIsFree) {
  for (const auto cause : {ObservedAttempt::SIGNAL, ObservedAttempt::KILLED}) {
    const AttemptEnd end =
        JudgeExit(AttemptBuilder("a", 1).Ended(cause, 9), Asked::kStop);
    EXPECT_EQ(end.decision, training::v1::FREE);
    EXPECT_EQ(end.reason, "STOPPED");
  }
}

TEST(ExitsTest, DeathByTheEndOfAnotherRankIsFree) {
  const AttemptEnd killed = JudgeExit(
      AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED, 9), Asked::kKill);
  EXPECT_EQ(killed.decision, training::v1::FREE);
  EXPECT_EQ(killed.reason, "PEER_LOST");
  // It died before it was told.
  const AttemptEnd died = JudgeExit(
      AttemptBuilder("a", 1).Ended(ObservedAttempt::SIGNAL, 11), Asked::kKill);
  EXPECT_EQ(died.decision, training::v1::BUDGETED);
}

TEST(ExitsTest, DeathByACancelIsTheUsers) {
  for (const auto cause : {ObservedAttempt::SIGNAL, ObservedAttempt::KILLED}) {
    const AttemptEnd end =
        JudgeExit(AttemptBuilder("a", 1).Ended(cause, 9), Asked::kCancel);
    EXPECT_EQ(end.reason, "CANCELLED_BY_USER");
    EXPECT_THAT(end.message, HasSubstr("a user cancelled"));
  }
}

TEST(ExitsTest, AnEndWithoutItsRecordsIsAFailure) {
  for (const int exit_code : {0, 10}) {
    ObservedAttempt observed = AttemptBuilder("a", 1).Exited(exit_code);
    observed.clear_finished();
    observed.set_message("byte 7 of /mnt/progress.records");
    const AttemptEnd end = JudgeExit(observed, Asked::kStop);
    EXPECT_EQ(end.decision, training::v1::BUDGETED);
    EXPECT_EQ(end.reason, "STORAGE_ERROR");
    EXPECT_THAT(end.message, HasSubstr("cannot be read: byte 7 of /mnt"));
  }
}

TEST(ExitsTest, TheMessageSaysWhatTheTrainerSaidAndWhatToDo) {
  ObservedAttempt observed = AttemptBuilder("a", 1).Exited(11);
  observed.set_message("/data/x: No such file");
  const std::string message = JudgeExit(observed, Asked::kRun).message;
  EXPECT_THAT(message, HasSubstr("/data/x: No such file"));
  EXPECT_THAT(message, HasSubstr("submit again"));
}

TEST(ExitsTest, AGoodEndIsSaidOnce) {
  for (const int exit_code : {0, 10}) {
    ObservedAttempt observed = AttemptBuilder("a", 1).Exited(exit_code);
    observed.set_message("ended at step 7");
    EXPECT_EQ(JudgeExit(observed, Asked::kRun).message, "ended at step 7");
    observed.clear_message();
    EXPECT_NE(JudgeExit(observed, Asked::kRun).message, "");
  }
}

TEST(ExitsTest, TheFixNamesTheJob) {
  const std::vector<ObservedAttempt> ends = {
      AttemptBuilder("long-run", 1).Exited(1),
      AttemptBuilder("long-run", 1).Exited(70),
      AttemptBuilder("long-run", 1).Exited(99),
      AttemptBuilder("long-run", 1).Ended(ObservedAttempt::SIGNAL, 6),
      AttemptBuilder("long-run", 1).Ended(ObservedAttempt::CAUSE_UNSPECIFIED)};
  for (const ObservedAttempt& observed : ends) {
    EXPECT_THAT(JudgeExit(observed, Asked::kRun).message,
                EndsWith(": ordo logs long-run --attempt 1"));
  }
}

}  // namespace
}  // namespace ordo::scheduler::core
