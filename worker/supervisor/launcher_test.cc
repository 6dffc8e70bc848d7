#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/supervisor/journal.h"
#include "worker/supervisor/launch.h"

namespace ordo::worker::supervisor {
namespace {

constexpr int kLimitMs = 20000;

// Talks to the program itself.
class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest() {
    std::string pattern = ::testing::TempDir() + "launcherXXXXXX";
    folder_ = mkdtemp(pattern.data());
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
    program_.assign(self, length);
    for (int i = 0; i < 3; ++i) program_.resize(program_.rfind('/'));
    program_ += "/ordo-supervisor";
    Begin();
  }
  ~LauncherTest() override {
    End();
    std::filesystem::remove_all(folder_);
  }

  void Begin() {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    socket_ = sockets[0];
    launcher_ = fork();
    if (launcher_ == 0) {
      dup2(sockets[1], 0);
      execl(program_.c_str(), program_.c_str(), "--launcher", "--deployment",
            folder_.c_str(), nullptr);
      _exit(126);
    }
    close(sockets[1]);
  }
  void End() {
    if (launcher_ > 0) {
      kill(launcher_, SIGKILL);
      waitpid(launcher_, nullptr, 0);
    }
    launcher_ = 0;
    close(socket_);
  }

  // Its next answer; nothing at the end of the socket.
  std::vector<int> Answer() {
    int32_t answer = 0;
    if (recv(socket_, &answer, sizeof(answer), MSG_WAITALL) != sizeof(answer)) {
      return {};
    }
    return {answer};
  }
  void Send(const LaunchHeader& header, const std::string& texts) {
    const std::string bytes =
        std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
        texts;
    ASSERT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // A supervisor with these arguments.
  void SendArguments(const std::vector<std::string>& arguments) {
    std::string texts = program_ + '\0';
    for (const std::string& text : arguments) texts += text + '\0';
    texts += std::string("NAME=value") + '\0';
    LaunchHeader header;
    header.num_bytes = static_cast<uint32_t>(texts.size());
    header.num_arguments = static_cast<uint32_t>(arguments.size() + 1);
    Send(header, texts);
  }
  // A supervisor of /bin/true.
  void SendTask() {
    SendArguments(
        {"--task-dir", folder_, "--attempt-dir", folder_, "--", "/bin/true"});
  }
  // How a supervisor, a child of this process, has exited.
  int Wait(pid_t supervisor) {
    int status = 0;
    EXPECT_EQ(waitpid(supervisor, &status, 0), supervisor);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::vector<JournalRecord> Journal() {
    std::ifstream file(folder_ + "/journal", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return ParseJournal(bytes.data(), bytes.size());
  }
  // The launcher's exit code; -1 when it goes on.
  int ExitCode() {
    int status = 0;
    for (int i = 0; i < kLimitMs; ++i) {
      if (waitpid(launcher_, &status, WNOHANG) == launcher_) {
        launcher_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
      poll(nullptr, 0, 1);
    }
    return -1;
  }

  std::string folder_;
  std::string program_;
  int socket_ = -1;
  pid_t launcher_ = 0;
};

TEST_F(LauncherTest, AnswersOfItselfAndThenOfSupervisors) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  SendTask();
  const std::vector<int> answer = Answer();
  ASSERT_EQ(answer.size(), 1u);
  ASSERT_GT(answer[0], 0);
  // A child of this process, not of the launcher.
  EXPECT_EQ(Wait(answer[0]), 0);
  const auto journal = Journal();
  ASSERT_FALSE(journal.empty());
  EXPECT_EQ(journal.front().pid, answer[0]);
  EXPECT_EQ(journal.back().phase, static_cast<uint32_t>(Phase::kGroupEmpty));
}

TEST_F(LauncherTest, EndsWithItsSocket) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  shutdown(socket_, SHUT_RDWR);
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(LauncherTest, WhatNobodyHearsOfDoesNotRun) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  shutdown(socket_, SHUT_RD);
  SendTask();
  shutdown(socket_, SHUT_WR);
  EXPECT_EQ(ExitCode(), 0);
  // Its supervisor is the only other child.
  EXPECT_GT(wait(nullptr), 0);
  EXPECT_TRUE(Journal().empty());
}

TEST_F(LauncherTest, WhatItAnsweredIsHeardAfterTheShutdown) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  SendTask();
  pollfd entry{socket_, POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, kLimitMs), 1);
  shutdown(socket_, SHUT_RD);
  const std::vector<int> answer = Answer();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(Wait(answer[0]), 0);
}

TEST_F(LauncherTest, WhereItDiesASupervisorAnswersOrNothingRuns) {
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    SCOPED_TRACE(i);
    ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
    SendTask();
    // From before the request is read until after the supervisor has begun.
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(3 * i);
    while (std::chrono::steady_clock::now() < until) {
    }
    ASSERT_EQ(kill(launcher_, SIGKILL), 0);
    const std::vector<int> answer = Answer();
    if (!answer.empty()) {
      ASSERT_GT(answer[0], 0);
      EXPECT_EQ(Wait(answer[0]), 0);
    }
    End();
    // One of which nobody has heard is a child of this process, too.
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    const auto journal = Journal();
    ASSERT_EQ(journal.empty(), answer.empty());
    if (!journal.empty()) {
      EXPECT_EQ(journal.front().pid, answer[0]);
      EXPECT_EQ(journal.back().phase,
                static_cast<uint32_t>(Phase::kGroupEmpty));
    }
    std::filesystem::remove(folder_ + "/journal");
    Begin();
  }
}

TEST_F(LauncherTest, ASupervisorThatCannotBeginSaysWhy) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  SendArguments({"--task-dir", folder_, "--attempt-dir", folder_, "--grace"});
  const std::vector<int> answer = Answer();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(Wait(answer[0]), 2);
  std::ifstream log(folder_ + "/supervisor.log");
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  EXPECT_EQ(said, "ordo-supervisor: unknown flag --grace\n");
}

TEST_F(LauncherTest, WhatIsNoRequestEndsIt) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  LaunchHeader header;
  header.num_bytes = kMaxLaunchBytes + 1;
  header.num_arguments = 1;
  Send(header, "");
  EXPECT_TRUE(Answer().empty());
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(LauncherTest, TextsThatDoNotEndEndIt) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  LaunchHeader header;
  header.num_bytes = 4;
  header.num_arguments = 1;
  Send(header, "text");
  EXPECT_TRUE(Answer().empty());
}

TEST_F(LauncherTest, FewerTextsThanArgumentsEndIt) {
  ASSERT_THAT(Answer(), ::testing::ElementsAre(0));
  LaunchHeader header;
  header.num_bytes = 2;
  header.num_arguments = 2;
  Send(header, std::string("x\0", 2));
  EXPECT_TRUE(Answer().empty());
}

}  // namespace
}  // namespace ordo::worker::supervisor
