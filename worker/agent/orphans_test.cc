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

// A sleeping process with this mark.
base::ProcessId StartMarked(const std::string& mark) {
  base::SpawnOptions options;
  options.argv = {"/bin/sleep", "300"};
  options.environment = {{"A=b", "ORDO_TASK=" + mark}};
  const auto child = base::Spawn(options);
  EXPECT_TRUE(child.ok()) << child.status();
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (FindTaskProcesses(mark).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  return *child;
}

TEST(OrphansTest, OrphansAreThoseOfTheFolderThatNobodyKnows) {
  const std::string state = "/state-" + std::to_string(getpid());
  const base::ProcessId known = StartMarked(state + "/tasks/a.1");
  const base::ProcessId orphan = StartMarked(state + "/tasks/b.1");
  const base::ProcessId other = StartMarked(state + "-other/tasks/b.1");

  EXPECT_THAT(FindOrphans(state, {state + "/tasks/a.1"}),
              ::testing::ElementsAre(orphan));

  for (const base::ProcessId& process : {known, orphan, other}) {
    kill(process.pid, SIGKILL);
    EXPECT_EQ(waitpid(process.pid, nullptr, 0), process.pid);
  }
}

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
