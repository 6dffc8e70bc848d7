#include "worker/agent/facts.h"

#include <cerrno>
#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/exit_code.pb.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::ObservedAttempt;
using supervisor::JournalRecord;
using supervisor::Operation;
using supervisor::Phase;
using ::testing::HasSubstr;

JournalRecord Of(Phase phase) {
  JournalRecord record{};
  record.phase = static_cast<uint32_t>(phase);
  return record;
}

JournalRecord Exited(int exit_code, int signal) {
  JournalRecord record = Of(Phase::kExited);
  record.exit_code = exit_code;
  record.signal = signal;
  return record;
}

ObservedAttempt Describe(const std::vector<JournalRecord>& journal,
                         bool kill_asked) {
  ObservedAttempt observed;
  observed.mutable_finished()->set_message("said so itself");
  DescribeEnd(FactsOf(journal), kill_asked, "/bin/trainer", &observed);
  return observed;
}

TEST(FactsTest, EmptyJournalSaysNothing) {
  const SupervisorFacts facts = FactsOf({});
  EXPECT_EQ(facts.supervisor_pid, 0);
  EXPECT_FALSE(facts.exit);
  EXPECT_FALSE(facts.group_empty);
}

TEST(FactsTest, WholeLifeIsRead) {
  JournalRecord supervisor = Of(Phase::kSupervisorStarted);
  supervisor.pid = 10;
  supervisor.start_ticks = 99;
  JournalRecord trainer = Of(Phase::kTrainerStarted);
  trainer.time_ns = 5;
  trainer.pid = 11;
  JournalRecord empty = Of(Phase::kGroupEmpty);
  empty.time_ns = 7;
  const SupervisorFacts facts = FactsOf(
      {supervisor, trainer, Of(Phase::kStopRequested), Exited(10, 0), empty});
  EXPECT_EQ(facts.supervisor_pid, 10);
  EXPECT_EQ(facts.supervisor_start_ticks, 99u);
  EXPECT_EQ(facts.trainer_start_ns, 5);
  EXPECT_EQ(facts.trainer_pid, 11);
  EXPECT_TRUE(facts.stop_requested);
  EXPECT_FALSE(facts.kill_requested);
  EXPECT_EQ(facts.exit->exit_code, 10);
  EXPECT_TRUE(facts.group_empty);
  EXPECT_EQ(facts.group_empty_ns, 7);
}

TEST(FactsTest, LeavingByItselfIsAnExitWhateverWasAsked) {
  for (const bool asked : {false, true}) {
    const ObservedAttempt observed = Describe({Exited(10, 0)}, asked);
    EXPECT_EQ(observed.cause(), ObservedAttempt::EXIT);
    EXPECT_EQ(observed.exit_code(), 10);
    EXPECT_EQ(observed.message(), "said so itself");
  }
}

TEST(FactsTest, OurSignalIsAKillAndOthersAreNot) {
  EXPECT_EQ(Describe({Exited(0, SIGKILL)}, true).cause(),
            ObservedAttempt::KILLED);
  EXPECT_EQ(
      Describe({Of(Phase::kStopRequested), Exited(0, SIGKILL)}, false).cause(),
      ObservedAttempt::KILLED);
  const ObservedAttempt observed = Describe({Exited(0, SIGSEGV)}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::SIGNAL);
  EXPECT_EQ(observed.signal(), SIGSEGV);
  EXPECT_THAT(observed.message(), HasSubstr("Segmentation"));
}

JournalRecord Met(JournalRecord exited, uint32_t limits) {
  exited.detail = limits;
  return exited;
}

TEST(FactsTest, DeathByTheMemoryLimitIsRunningOutOfMemory) {
  const JournalRecord exit = Met(Exited(0, SIGKILL), supervisor::kMemoryLimit);
  const ObservedAttempt observed = Describe({exit}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::EXIT);
  EXPECT_EQ(observed.exit_code(), ::ordo::training::v1::OUT_OF_MEMORY);
  EXPECT_THAT(observed.message(), HasSubstr("resources.memory_bytes"));
  // One that was asked to end, or died of something else, did not.
  EXPECT_EQ(Describe({exit}, true).cause(), ObservedAttempt::KILLED);
  EXPECT_EQ(Describe({Met(Exited(0, SIGSEGV), supervisor::kMemoryLimit)}, false)
                .cause(),
            ObservedAttempt::SIGNAL);
}

TEST(FactsTest, TheLimitOfProcessesIsSaidOfWhatFailed) {
  for (const JournalRecord& exit : {Exited(70, 0), Exited(0, SIGABRT)}) {
    EXPECT_THAT(
        Describe({Met(exit, supervisor::kProcessLimit)}, false).message(),
        HasSubstr("`sandbox.processes`"));
  }
  EXPECT_EQ(
      Describe({Met(Exited(0, 0), supervisor::kProcessLimit)}, false).message(),
      "said so itself");
}

TEST(FactsTest, AUserWithTooManyProcessesIsTheHosts) {
  JournalRecord failed = Of(Phase::kStartFailed);
  failed.operation = static_cast<uint32_t>(Operation::kExecute);
  failed.error_number = EAGAIN;
  const ObservedAttempt observed = Describe({failed}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(observed.message(), HasSubstr("`sandbox.processes`"));
}

TEST(FactsTest, WhatCannotBeConfinedIsTheHosts) {
  JournalRecord failed = Of(Phase::kStartFailed);
  failed.operation = static_cast<uint32_t>(Operation::kConfine);
  failed.error_number = EPERM;
  const ObservedAttempt observed = Describe({failed}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(observed.message(), HasSubstr("`sandbox`"));
  EXPECT_THAT(observed.message(), HasSubstr("not permitted"));
}

TEST(FactsTest, HangIsNamedWithItsTime) {
  JournalRecord hang = Of(Phase::kHang);
  hang.detail = 1500;
  const ObservedAttempt observed = Describe({hang, Exited(0, SIGKILL)}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::HANG);
  EXPECT_THAT(observed.message(), HasSubstr("1.5 s"));
}

TEST(FactsTest, StartFailureNamesTheProgramAndTheField) {
  JournalRecord failed = Of(Phase::kStartFailed);
  failed.operation = static_cast<uint32_t>(Operation::kExecute);
  failed.error_number = ENOENT;
  const ObservedAttempt observed = Describe({failed}, false);
  EXPECT_EQ(observed.cause(), ObservedAttempt::START_FAILED);
  EXPECT_THAT(observed.message(), HasSubstr("/bin/trainer"));
  EXPECT_THAT(observed.message(), HasSubstr("No such file"));
  EXPECT_THAT(observed.message(), HasSubstr("`trainer`"));
}

TEST(FactsTest, ProcessThatCannotBeMadeIsTheHosts) {
  JournalRecord failed = Of(Phase::kStartFailed);
  failed.operation = static_cast<uint32_t>(Operation::kFork);
  failed.error_number = EAGAIN;
  EXPECT_EQ(Describe({failed}, false).cause(), ObservedAttempt::HOST_FAILED);
}

}  // namespace
}  // namespace ordo::worker::agent
