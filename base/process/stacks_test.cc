#include "base/process/stacks.h"

#include <array>
#include <atomic>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What a child that runs `body` says on standard error, and how it ended, when
// it is sent SIGQUIT after its first byte.
struct Ended {
  std::string text;
  int status = 0;
};

template <typename F>
Ended QuitChild(F body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) ADD_FAILURE() << "pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    // A test that fails must not stay for ever.
    alarm(60);
    PrintStacksOnQuit();
    body();
    _exit(0);
  }
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 4096> part{};
  ssize_t num_bytes = 0;
  while ((num_bytes = read(pipe_ends[0], part.data(), part.size())) > 0) {
    if (ended.text.empty()) kill(child, SIGQUIT);
    ended.text.append(part.data(), static_cast<size_t>(num_bytes));
  }
  close(pipe_ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

void SayReady() {
  if (write(STDERR_FILENO, "ready\n", 6) != 6) _exit(1);
}

[[noreturn]] void WaitForEver() {
  while (true) pause();
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(StacksTest, EveryThreadPrintsItsOwnAndTheProcessEnds) {
  const Ended ended = QuitChild([] {
    std::atomic<int> num_ready{0};
    const auto wait = [&] {
      ++num_ready;
      WaitForEver();
    };
    std::thread first(wait);
    std::thread second(wait);
    pthread_setname_np(second.native_handle(), "second");
    while (num_ready.load() < 2) std::this_thread::yield();
    SayReady();
    WaitForEver();
  });
  ASSERT_TRUE(WIFSIGNALED(ended.status));
  EXPECT_EQ(WTERMSIG(ended.status), SIGQUIT);
  EXPECT_EQ(CountOf(ended.text, "\nthread "), 3) << ended.text;
  // Each has the call that it waits in.
  EXPECT_GE(CountOf(ended.text, "(pause+"), 3) << ended.text;
  EXPECT_THAT(ended.text,
              AllOf(HasSubstr("(second)\n"), HasSubstr("stacks of process "),
                    HasSubstr("end of stacks")));
}

TEST(StacksTest, AThreadThatDoesNotAnswerIsNamed) {
  const Ended ended = QuitChild([] {
    std::atomic<bool> ready{false};
    std::thread deaf([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      pthread_setname_np(pthread_self(), "deaf");
      ready = true;
      WaitForEver();
    });
    while (!ready.load()) std::this_thread::yield();
    SayReady();
    WaitForEver();
  });
  EXPECT_EQ(WTERMSIG(ended.status), SIGQUIT);
  EXPECT_THAT(
      ended.text,
      AllOf(HasSubstr("(deaf)\n  does not answer; the kernel has it in"),
            HasSubstr("end of stacks")));
}

}  // namespace
}  // namespace ordo::base
