#include "worker/supervisor/trainer_process.h"

#include <cerrno>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace ordo::worker::supervisor {
namespace {

constexpr int kNobody = 65534;

// Whether this process may have another become `kNobody`: in a user namespace
// of its own root may not.
bool MayBecomeNobody() {
  const pid_t child = fork();
  if (child == 0) {
    _exit(setgroups(0, nullptr) == 0 &&
                  setresgid(kNobody, kNobody, kNobody) == 0 &&
                  setresuid(kNobody, kNobody, kNobody) == 0
              ? 0
              : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

class TrainerProcessTest : public ::testing::Test {
 protected:
  TrainerProcessTest() {
    options_.attempt_dir = ::testing::TempDir();
    options_.rank = getpid();
  }
  std::string Log() const {
    std::ifstream file(options_.attempt_dir + "/rank-" +
                       std::to_string(options_.rank) + ".log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Options options_;
};

TEST_F(TrainerProcessTest, ItLeadsItsGroupAndSpeaksToItsLog) {
  options_.trainer = {"/bin/sh", "-c", "echo out; echo err >&2; read x"};
  const StartedTrainer started = StartTrainerProcess(options_);
  ASSERT_GT(started.pid, 0);
  EXPECT_EQ(getpgid(started.pid), started.pid);
  // Its input is empty: it ends by itself.
  EXPECT_EQ(waitpid(started.pid, nullptr, 0), started.pid);
  EXPECT_EQ(Log(), "out\nerr\n");
}

TEST_F(TrainerProcessTest, WhatCannotBeExecutedSaysWhy) {
  options_.trainer = {"/no/such/program"};
  const StartedTrainer started = StartTrainerProcess(options_);
  EXPECT_EQ(started.pid, 0);
  EXPECT_EQ(started.failed, Operation::kExecute);
  EXPECT_EQ(started.error_number, ENOENT);
  // Nothing is left of it.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(TrainerProcessTest, AChildThatBecomesAnotherUserHidesNotItsParent) {
  if (!MayBecomeNobody()) GTEST_SKIP() << "only root becomes another user";
  options_.trainer = {"/bin/true"};
  options_.confinement.uid = kNobody;
  options_.confinement.gid = kNobody;
  // Whether that user reaches the log's folder or not.
  const StartedTrainer started = StartTrainerProcess(options_);
  if (started.pid > 0) waitpid(started.pid, nullptr, 0);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
}

TEST_F(TrainerProcessTest, WhatCannotBeConfinedSaysWhy) {
  if (MayBecomeNobody()) GTEST_SKIP() << "this is root";
  options_.trainer = {"/bin/true"};
  options_.confinement.uid = kNobody;
  options_.confinement.gid = kNobody;
  const StartedTrainer started = StartTrainerProcess(options_);
  EXPECT_EQ(started.failed, Operation::kConfine);
  EXPECT_NE(started.error_number, 0);
}

TEST_F(TrainerProcessTest, ALogThatCannotBeOpenedSaysWhy) {
  options_.trainer = {"/bin/true"};
  options_.attempt_dir = "/no/such/folder";
  const StartedTrainer started = StartTrainerProcess(options_);
  EXPECT_EQ(started.failed, Operation::kOpenLog);
  EXPECT_EQ(started.error_number, ENOENT);
}

}  // namespace
}  // namespace ordo::worker::supervisor
