#include "worker/supervisor/proc.h"

#include <algorithm>
#include <unistd.h>

#include "gtest/gtest.h"

namespace ordo::worker::supervisor {
namespace {

TEST(ProcTest, ReadsThisProcess) {
  ProcessStat stat;
  ASSERT_TRUE(ReadProcessStat(getpid(), &stat));
  EXPECT_EQ(stat.pid, getpid());
  EXPECT_EQ(stat.parent, getppid());
  EXPECT_EQ(stat.group, getpgrp());
  EXPECT_EQ(stat.state, 'R');
  EXPECT_GT(stat.start_ticks, 0u);
}

TEST(ProcTest, KnowsNoProcessZero) {
  ProcessStat stat;
  EXPECT_FALSE(ReadProcessStat(0, &stat));
}

TEST(ProcTest, ListsThisProcess) {
  const auto processes = ListProcesses();
  EXPECT_TRUE(std::any_of(
      processes.begin(), processes.end(),
      [](const ProcessStat& process) { return process.pid == getpid(); }));
}

}  // namespace
}  // namespace ordo::worker::supervisor
