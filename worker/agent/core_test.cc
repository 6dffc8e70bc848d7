#include "worker/agent/core.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::SetDesiredRequest;
using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::ProgressRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DesiredAttempt ToRun(const std::string& job, int attempt) {
  DesiredAttempt desired;
  desired.set_job(job);
  desired.set_attempt(attempt);
  desired.set_action(DesiredAttempt::RUN);
  desired.add_devices("cpu:0");
  desired.mutable_train()->set_job(job);
  return desired;
}

DesiredAttempt End(const std::string& job, DesiredAttempt::Action action) {
  DesiredAttempt desired = ToRun(job, 1);
  desired.set_action(action);
  desired.mutable_grace()->set_seconds(3);
  return desired;
}

ProgressRecord Checkpoint(int64_t step) {
  ProgressRecord record;
  record.mutable_time()->set_seconds(step);
  record.mutable_checkpoint()->set_step(step);
  return record;
}

SupervisorFacts ExitFacts(int exit_code, int signal) {
  SupervisorFacts facts;
  facts.supervisor_pid = 1;
  facts.exit = supervisor::JournalRecord{};
  facts.exit->exit_code = exit_code;
  facts.exit->signal = signal;
  facts.group_empty = true;
  return facts;
}

class CoreTest : public ::testing::Test {
 protected:
  SetDesiredRequest Set(std::initializer_list<DesiredAttempt> attempts) {
    SetDesiredRequest request;
    request.set_worker("w");
    request.set_incarnation("i");
    request.set_epoch(1);
    request.set_sequence(++sequence_);
    for (const DesiredAttempt& attempt : attempts) {
      *request.add_attempts() = attempt;
    }
    return request;
  }
  // What the agent does after each change, as "start a.1".
  std::vector<std::string> Take(Actions actions) {
    for (const Action& action : core_.ForgetUnlisted()) {
      actions.push_back(action);
    }
    std::vector<std::string> texts;
    for (const Action& action : actions) {
      const char* names[] = {"start ", "stop ", "kill ", "forget "};
      texts.push_back(names[static_cast<int>(action.kind)] +
                      action.key.ToString());
    }
    return texts;
  }
  std::vector<std::string> Desire(
      std::initializer_list<DesiredAttempt> attempts) {
    auto actions = core_.SetDesired(Set(attempts));
    EXPECT_TRUE(actions.ok()) << actions.status();
    return actions.ok() ? Take(*actions) : std::vector<std::string>{};
  }
  ObservedAttempt::Phase PhaseOf(const std::string& job) const {
    const ObservedAttempt* observed = core_.Find({job, 1});
    return observed == nullptr ? ObservedAttempt::PHASE_UNSPECIFIED
                               : observed->phase();
  }

  Core core_{"w", "i", "/bin/trainer"};
  int64_t sequence_ = 0;
};

TEST_F(CoreTest, StartsWhatIsDesiredOnce) {
  EXPECT_THAT(Desire({ToRun("a", 1)}), ElementsAre("start a.1"));
  EXPECT_THAT(Desire({ToRun("a", 1)}), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::STARTING);
}

TEST_F(CoreTest, FirstRecordMakesItRun) {
  Desire({ToRun("a", 1)});
  ProgressRecord record;
  record.mutable_time()->set_seconds(7);
  record.mutable_started()->set_start_step(5);
  core_.OnProgress({"a", 1}, record);
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::RUNNING);
  EXPECT_EQ(core_.Find({"a", 1})->run_time().seconds(), 7);
  EXPECT_FALSE(core_.Find({"a", 1})->has_first_step_time());
}

TEST_F(CoreTest, ExitedStaysUntilItIsNotDesired) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(Take(core_.OnFacts({"a", 1}, ExitFacts(0, 0))), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::EXITED);
  EXPECT_THAT(Desire({ToRun("a", 1)}), IsEmpty());
  EXPECT_THAT(Desire({}), ElementsAre("forget a.1"));
  EXPECT_TRUE(core_.IsEmpty());
}

TEST_F(CoreTest, ForgottenAttemptIsNotStartedAgain) {
  Desire({ToRun("a", 1)});
  core_.OnFacts({"a", 1}, ExitFacts(0, 0));
  Desire({});
  EXPECT_THAT(Desire({ToRun("a", 1)}), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::EXITED);
  EXPECT_EQ(core_.Find({"a", 1})->cause(), ObservedAttempt::KILLED);
  EXPECT_THAT(Desire({ToRun("a", 2)}), ElementsAre("start a.2", "forget a.1"));
}

TEST_F(CoreTest, RunningButNotDesiredIsKilled) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(Desire({}), ElementsAre("kill a.1"));
  EXPECT_THAT(Desire({}), IsEmpty());
  EXPECT_THAT(Take(core_.OnFacts({"a", 1}, ExitFacts(0, 9))),
              ElementsAre("forget a.1"));
}

TEST_F(CoreTest, StopMayTurnIntoKillButNotBack) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(Desire({End("a", DesiredAttempt::STOP)}),
              ElementsAre("stop a.1"));
  EXPECT_THAT(Desire({End("a", DesiredAttempt::STOP)}), IsEmpty());
  EXPECT_THAT(Desire({End("a", DesiredAttempt::KILL)}),
              ElementsAre("kill a.1"));
  EXPECT_THAT(Desire({End("a", DesiredAttempt::STOP)}), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::STOPPING);
}

TEST_F(CoreTest, GraceComesWithTheRequest) {
  Desire({ToRun("a", 1)});
  const auto actions = core_.SetDesired(Set({End("a", DesiredAttempt::STOP)}));
  ORDO_ASSERT_OK(actions);
  EXPECT_EQ(actions->at(0).grace, absl::Seconds(3));
}

TEST_F(CoreTest, EndOfAnUnknownAttemptIsAnsweredAtOnce) {
  EXPECT_THAT(Desire({End("a", DesiredAttempt::KILL)}), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::EXITED);
  EXPECT_EQ(core_.Find({"a", 1})->cause(), ObservedAttempt::KILLED);
}

TEST_F(CoreTest, UnknownAttemptWithoutATaskIsOver) {
  DesiredAttempt desired = ToRun("a", 1);
  desired.clear_task();
  EXPECT_THAT(Desire({desired}), IsEmpty());
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::EXITED);
}

TEST_F(CoreTest, OlderSetIsAborted) {
  const SetDesiredRequest older = Set({});
  Desire({ToRun("a", 1)});
  EXPECT_THAT(core_.SetDesired(older), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::STARTING);
}

TEST_F(CoreTest, NewEpochBeginsItsSequenceAgain) {
  Desire({});
  Desire({});
  SetDesiredRequest request = Set({});
  request.set_epoch(2);
  request.set_sequence(1);
  EXPECT_TRUE(core_.SetDesired(request).ok());
}

TEST_F(CoreTest, OtherIncarnationIsRefused) {
  SetDesiredRequest request = Set({ToRun("a", 1)});
  request.set_incarnation("before");
  EXPECT_THAT(core_.SetDesired(request),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  request.set_incarnation("i");
  request.set_worker("other");
  EXPECT_THAT(core_.SetDesired(request),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(core_.IsEmpty());
}

TEST_F(CoreTest, NamesThatWouldLeaveTheFolderAreRefused) {
  for (const char* job : {"", "..", "a/b", "A", "a.1"}) {
    EXPECT_THAT(core_.SetDesired(Set({ToRun(job, 1)})),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(core_.SetDesired(Set({ToRun("a", 0)})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(core_.IsEmpty());
}

TEST_F(CoreTest, DurableRecordsRepeatUntilAcknowledged) {
  Desire({ToRun("a", 1)});
  for (int64_t step = 1; step <= 3; ++step) {
    core_.OnProgress({"a", 1}, Checkpoint(step));
  }
  ASSERT_EQ(core_.Observed().attempts(0).records_size(), 3);
  EXPECT_EQ(core_.Observed().attempts(0).records(2).number(), 3);

  DesiredAttempt desired = ToRun("a", 1);
  desired.set_acknowledged_records(2);
  Desire({desired});

  ASSERT_EQ(core_.Observed().attempts(0).records_size(), 1);
  EXPECT_EQ(core_.Observed().attempts(0).records(0).checkpoint().step(), 3);
}

TEST_F(CoreTest, RecordsAreSentInParts) {
  Desire({ToRun("a", 1)});
  for (int64_t step = 1; step <= 100; ++step) {
    core_.OnProgress({"a", 1}, Checkpoint(step));
  }
  EXPECT_EQ(core_.Observed().attempts(0).records_size(), Core::kMaxRecordsSent);
  DesiredAttempt desired = ToRun("a", 1);
  desired.set_acknowledged_records(64);
  Desire({desired});
  EXPECT_EQ(core_.Observed().attempts(0).records_size(), 36);
  EXPECT_EQ(core_.Observed().attempts(0).records(0).number(), 65);
}

TEST_F(CoreTest, TheFirstRecordAndTheFirstStepAreStartsAndOthersSteps) {
  Desire({ToRun("a", 1)});
  const auto after = [this](const ProgressRecord& record) {
    const int64_t before = core_.sequence();
    core_.OnProgress({"a", 1}, record);
    return core_.NewsSince(before);
  };
  ProgressRecord started, step;
  started.mutable_started();
  step.mutable_step()->set_step(1);
  EXPECT_EQ(after(started), News::kStarts);
  EXPECT_EQ(after(step), News::kStarts);
  EXPECT_EQ(after(step), News::kSteps);
  EXPECT_EQ(core_.NewsSince(core_.sequence()), News::kNone);
}

TEST_F(CoreTest, TheEndAndADurableRecordAreUrgentWhateverCameWithThem) {
  Desire({ToRun("a", 1)});
  int64_t before = core_.sequence();
  core_.OnProgress({"a", 1}, Checkpoint(3));
  EXPECT_EQ(core_.NewsSince(before), News::kUrgent);
  before = core_.sequence();
  ProgressRecord started;
  started.mutable_started();
  core_.OnProgress({"a", 1}, started);
  EXPECT_EQ(core_.NewsSince(before), News::kStarts);
  core_.OnFacts({"a", 1}, ExitFacts(0, 0));
  EXPECT_EQ(core_.NewsSince(before), News::kUrgent);
}

TEST_F(CoreTest, AnEvaluationIsOverWithItsReport) {
  Desire({ToRun("a", 1)});
  ProgressRecord evaluation;
  evaluation.mutable_evaluation()->set_total(2);
  core_.OnProgress({"a", 1}, evaluation);
  EXPECT_TRUE(core_.Find({"a", 1})->has_evaluation());
  ProgressRecord report;
  report.mutable_report()->set_id("grid-1");
  core_.OnProgress({"a", 1}, report);
  EXPECT_FALSE(core_.Find({"a", 1})->has_evaluation());
}

TEST_F(CoreTest, AnEvaluationIsOverWithItsLastQuestion) {
  Desire({ToRun("a", 1)});
  ProgressRecord record;
  record.mutable_evaluation()->set_total(2);
  for (const int done : {0, 1, 2}) {
    record.mutable_evaluation()->set_done(done);
    core_.OnProgress({"a", 1}, record);
    EXPECT_EQ(core_.Find({"a", 1})->has_evaluation(), done < 2) << done;
  }
}

TEST_F(CoreTest, DeviceIsNotGivenTwice) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(Desire({ToRun("b", 1)}), ElementsAre("kill a.1"));
  EXPECT_EQ(PhaseOf("b"), ObservedAttempt::STARTING);
  EXPECT_THAT(Take(core_.OnFacts({"a", 1}, ExitFacts(0, 9))),
              ElementsAre("start b.1", "forget a.1"));
}

TEST_F(CoreTest, AdoptedAttemptOfUnknownDevicesHoldsThemAll) {
  DesiredAttempt damaged;
  damaged.set_job("a");
  damaged.set_attempt(1);
  core_.Adopt(damaged);
  EXPECT_THAT(Desire({ToRun("b", 1)}), ElementsAre("kill a.1"));
  EXPECT_THAT(Take(core_.OnFacts({"a", 1}, ExitFacts(0, 9))),
              ElementsAre("start b.1", "forget a.1"));
}

TEST_F(CoreTest, AdoptedAttemptLearnsItsDevicesFromTheScheduler) {
  DesiredAttempt damaged;
  damaged.set_job("a");
  damaged.set_attempt(1);
  core_.Adopt(damaged);
  DesiredAttempt other = ToRun("b", 1);
  other.set_devices(0, "cuda:0");
  EXPECT_THAT(Desire({ToRun("a", 1), other}), ElementsAre("start b.1"));
  EXPECT_THAT(Desire({ToRun("a", 1), other, ToRun("c", 1)}), IsEmpty());
}

TEST_F(CoreTest, AttemptThatWaitsForItsDeviceCanBeCancelled) {
  Desire({ToRun("a", 1)});
  Desire({ToRun("a", 1), ToRun("b", 1)});
  EXPECT_THAT(Desire({ToRun("a", 1), End("b", DesiredAttempt::KILL)}),
              IsEmpty());
  EXPECT_EQ(PhaseOf("b"), ObservedAttempt::EXITED);
}

TEST_F(CoreTest, DrainStopsAndStartsNothing) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(Take(core_.Drain(absl::Seconds(1))), ElementsAre("stop a.1"));
  DesiredAttempt other = ToRun("b", 1);
  other.set_devices(0, "cuda:0");
  EXPECT_THAT(Desire({ToRun("a", 1), other}), IsEmpty());
  EXPECT_EQ(PhaseOf("b"), ObservedAttempt::EXITED);
  EXPECT_FALSE(core_.IsIdle());
  core_.OnFacts({"a", 1}, ExitFacts(10, 0));
  EXPECT_TRUE(core_.IsIdle());
}

TEST_F(CoreTest, ADeviceIsHeldUntilItsAttemptIsOver) {
  Desire({ToRun("a", 1)});
  EXPECT_THAT(core_.HeldDevices().devices, ElementsAre("cpu:0"));
  core_.OnFacts({"a", 1}, ExitFacts(0, 0));
  EXPECT_THAT(core_.HeldDevices().devices, IsEmpty());
  EXPECT_FALSE(core_.HeldDevices().any);
  // What it holds is not known.
  DesiredAttempt damaged = ToRun("b", 1);
  damaged.clear_devices();
  core_.Adopt(damaged);
  EXPECT_TRUE(core_.HeldDevices().any);
}

TEST_F(CoreTest, AdoptedAttemptGoesOn) {
  core_.Adopt(ToRun("a", 1));
  EXPECT_THAT(Desire({ToRun("a", 1)}), IsEmpty());
  EXPECT_EQ(core_.NumRunning(), 1);
  SupervisorFacts facts;
  facts.stop_requested = true;
  core_.OnFacts({"a", 1}, facts);
  EXPECT_EQ(PhaseOf("a"), ObservedAttempt::STOPPING);
  // It was asked already.
  EXPECT_THAT(Desire({End("a", DesiredAttempt::STOP)}), IsEmpty());
}

TEST_F(CoreTest, LostSupervisorIsSaid) {
  Desire({ToRun("a", 1)});
  core_.OnSupervisorLost({"a", 1}, {});
  EXPECT_EQ(core_.Find({"a", 1})->cause(), ObservedAttempt::SUPERVISOR_LOST);
}

TEST_F(CoreTest, LostSupervisorOfAKnownExitIsAnExit) {
  Desire({ToRun("a", 1)});
  SupervisorFacts facts = ExitFacts(0, 0);
  facts.group_empty = false;
  core_.OnSupervisorLost({"a", 1}, facts);
  EXPECT_EQ(core_.Find({"a", 1})->cause(), ObservedAttempt::EXIT);
}

TEST_F(CoreTest, AnEndSaysSinceWhen) {
  Desire({ToRun("a", 1)});
  core_.OnProgress({"a", 1}, Checkpoint(4));
  SupervisorFacts facts = ExitFacts(0, 0);
  facts.exit->time_ns = 5'000'000'000;
  facts.group_empty_ns = 6'000'000'007;
  core_.OnFacts({"a", 1}, facts);
  EXPECT_EQ(core_.Find({"a", 1})->end_time().seconds(), 6);
  EXPECT_EQ(core_.Find({"a", 1})->end_time().nanos(), 7);
}

TEST_F(CoreTest, AnEndThatNobodyWroteDownWasAfterTheLastSignOfLife) {
  Desire({ToRun("a", 1), ToRun("b", 1), ToRun("c", 1)});
  core_.OnProgress({"a", 1}, Checkpoint(4));
  SupervisorFacts facts;
  facts.trainer_start_ns = 3'000'000'000;
  core_.OnSupervisorLost({"a", 1}, facts);
  EXPECT_EQ(core_.Find({"a", 1})->end_time().seconds(), 4);
  core_.OnSupervisorLost({"b", 1}, facts);
  EXPECT_EQ(core_.Find({"b", 1})->end_time().seconds(), 3);
  core_.OnSupervisorLost({"c", 1}, {});
  EXPECT_FALSE(core_.Find({"c", 1})->has_end_time());
}

TEST_F(CoreTest, AnEndWithLostRecordsSaysWhichFile) {
  Desire({ToRun("a", 1)});
  core_.OnDamage({"a", 1}, absl::OkStatus());
  core_.OnDamage({"a", 1}, absl::DataLossError("byte 7 of x.records"));
  core_.OnFacts({"a", 1}, ExitFacts(0, 0));
  EXPECT_EQ(core_.Find({"a", 1})->message(), "byte 7 of x.records");
}

TEST_F(CoreTest, StartFailureCarriesItsReason) {
  Desire({ToRun("a", 1)});
  core_.OnStartFailed({"a", 1}, ObservedAttempt::HOST_FAILED, "disk full");
  EXPECT_EQ(core_.Find({"a", 1})->cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(core_.Find({"a", 1})->message(), HasSubstr("disk full"));
}

TEST_F(CoreTest, RanksOfAnAttemptAreTasksOfTheirOwn) {
  DesiredAttempt second = ToRun("a", 1);
  second.set_rank(1);
  second.set_devices(0, "cpu:1");
  EXPECT_THAT(Desire({ToRun("a", 1), second}),
              ElementsAre("start a.1", "start a.1.1"));
  core_.OnFacts({"a", 1, 1}, ExitFacts(3, 0));
  const auto observed = core_.Observed();
  ASSERT_EQ(observed.attempts_size(), 2);
  EXPECT_EQ(observed.attempts(0).rank(), 0);
  EXPECT_EQ(observed.attempts(0).phase(), ObservedAttempt::STARTING);
  EXPECT_EQ(observed.attempts(1).rank(), 1);
  EXPECT_EQ(observed.attempts(1).phase(), ObservedAttempt::EXITED);
  EXPECT_THAT(observed.attempts(1).devices(), ElementsAre("cpu:1"));
  EXPECT_THAT(Desire({second}), ElementsAre("kill a.1"));
}

TEST(AttemptKeyTest, TextGoesThereAndBack) {
  for (const AttemptKey& key :
       {AttemptKey{"my-job", 12}, AttemptKey{"my-job", 12, 3}}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const AttemptKey read,
                              ParseAttemptKey(key.ToString()));
    EXPECT_TRUE(read == key);
  }
  EXPECT_EQ((AttemptKey{"a", 1, 0}.ToString()), "a.1");
  EXPECT_EQ((AttemptKey{"a", 1, 2}.ToString()), "a.1.2");
  for (const char* text : {"", "a", "a.", "a.x", ".1", "a.0", "../a.1", "a.1.",
                           "a.1.0", "a.1.-1", "a.1.2.3", "a.01"}) {
    EXPECT_THAT(ParseAttemptKey(text),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace ordo::worker::agent
