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
  ~LauncherTest() override {
    kill(launcher_, SIGKILL);
    waitpid(launcher_, nullptr, 0);
    close(socket_);
    std::filesystem::remove_all(folder_);
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
  // A supervisor of /bin/true.
  void SendTask() {
    std::string texts;
    for (const std::string& text :
         {program_, std::string("--task-dir"), folder_,
          std::string("--attempt-dir"), folder_, std::string("--"),
          std::string("/bin/true"), std::string("NAME=value")}) {
      texts += text + '\0';
    }
    LaunchHeader header;
    header.num_bytes = static_cast<uint32_t>(texts.size());
    header.num_arguments = 7;
    Send(header, texts);
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
  int status = 0;
  ASSERT_EQ(waitpid(answer[0], &status, 0), answer[0]);
  EXPECT_EQ(status, 0);
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
