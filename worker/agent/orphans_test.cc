#include "worker/agent/orphans.h"

#include <chrono>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::testing::IsEmpty;

TEST(OrphansTest, FindsAProcessThatLeftItsSessionByItsMark) {
  const std::string folder = "/tasks/orphans-" + std::to_string(getpid());
  base::SpawnOptions options;
  options.argv = {"/bin/sleep", "300"};
  options.environment = {{"A=b", "ORDO_TASK=" + folder}};
  options.new_session = true;
  const auto child = base::Spawn(options);
  ASSERT_TRUE(child.ok()) << child.status();

  // Spawn may return a moment before the child has an environment of its own.
  auto found = FindTaskProcesses(folder);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (found.empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    found = FindTaskProcesses(folder);
  }
  const auto prefix = FindTaskProcesses(folder.substr(0, folder.size() - 1));

  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0] == *child);
  EXPECT_THAT(prefix, IsEmpty());
  kill(child->pid, SIGKILL);
  EXPECT_EQ(waitpid(child->pid, nullptr, 0), child->pid);
  EXPECT_THAT(FindTaskProcesses(folder), IsEmpty());
}

}  // namespace
}  // namespace ordo::worker::agent
