#include "worker/supervisor/cgroup.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "worker/supervisor/confinement.h"
#include "worker/supervisor/journal.h"

namespace ordo::worker::supervisor {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder with files as the kernel would make them.
class CgroupTest : public ::testing::Test {
 protected:
  CgroupTest() {
    std::string pattern = ::testing::TempDir() + "cgroupXXXXXX";
    folder_ = mkdtemp(pattern.data());
    wanted_.cgroup = folder_ + "/a.1";
    std::filesystem::create_directory(wanted_.cgroup);
    for (const char* name : {"memory.max", "memory.swap.max",
                             "memory.oom.group", "pids.max", "cgroup.procs"}) {
      Put(name, "");
    }
  }
  ~CgroupTest() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& name, const std::string& text) {
    std::ofstream(wanted_.cgroup + "/" + name) << text;
  }
  std::string Get(const std::string& name) {
    return ReadText(wanted_.cgroup + "/" + name);
  }

  std::string folder_;
  Confinement wanted_;
};

TEST_F(CgroupTest, HasTheLimitsThatAreWanted) {
  wanted_.memory_bytes = 1 << 30;
  wanted_.processes = 77;
  Cgroup cgroup;
  ASSERT_EQ(cgroup.Make(wanted_), 0);
  EXPECT_EQ(Get("memory.max"), "1073741824");
  EXPECT_EQ(Get("memory.swap.max"), "0");
  EXPECT_EQ(Get("memory.oom.group"), "1");
  EXPECT_EQ(Get("pids.max"), "77");
  EXPECT_GE(cgroup.file(), 0);
}

TEST_F(CgroupTest, WithoutLimitsNoneAreSet) {
  Cgroup cgroup;
  ASSERT_EQ(cgroup.Make(wanted_), 0);
  EXPECT_EQ(Get("memory.max"), "");
  EXPECT_EQ(Get("pids.max"), "");
}

TEST_F(CgroupTest, NoneIsMadeWhereNoneIsWanted) {
  wanted_.cgroup.clear();
  wanted_.memory_bytes = 1;
  Cgroup cgroup;
  EXPECT_EQ(cgroup.Make(wanted_), 0);
  EXPECT_EQ(cgroup.file(), -1);
  EXPECT_EQ(cgroup.LimitsMet(), 0u);
}

TEST_F(CgroupTest, ALimitThatCannotBeSetIsAnError) {
  std::filesystem::remove(wanted_.cgroup + "/memory.max");
  wanted_.memory_bytes = 1;
  Cgroup cgroup;
  EXPECT_EQ(cgroup.Make(wanted_), ENOENT);
  EXPECT_EQ(cgroup.file(), -1);
}

TEST_F(CgroupTest, AFolderThatCannotBeMadeIsAnError) {
  wanted_.cgroup = folder_ + "/none/a.1";
  Cgroup cgroup;
  EXPECT_EQ(cgroup.Make(wanted_), ENOENT);
}

TEST_F(CgroupTest, TellsWhichLimitsWereMet) {
  Cgroup cgroup;
  ASSERT_EQ(cgroup.Make(wanted_), 0);
  EXPECT_EQ(cgroup.LimitsMet(), 0u);
  Put("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n");
  Put("pids.events", "max 0\n");
  EXPECT_EQ(cgroup.LimitsMet(), 0u);
  Put("memory.events", "max 9\noom 1\noom_kill 2\noom_group_kill 1\n");
  EXPECT_EQ(cgroup.LimitsMet(), kMemoryLimit);
  Put("pids.events", "max 3\n");
  EXPECT_EQ(cgroup.LimitsMet(), kMemoryLimit | kProcessLimit);
}

TEST(EventCountTest, CountsWholeNamesAlone) {
  EXPECT_EQ(EventCount("oom 3\noom_kill 5\n", "oom_kill"), 5);
  EXPECT_EQ(EventCount("oom 3\noom_kill 5\n", "oom"), 3);
  EXPECT_EQ(EventCount("oom_kill 5\n", "kill"), 0);
  EXPECT_EQ(EventCount("", "max"), 0);
}

// Where this machine has a hierarchy of version 2 that this process may change,
// whatever controllers it has.
TEST(RealCgroupTest, AProcessJoinsAndTheFolderGoesWithIt) {
  Confinement wanted;
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string folder =
        std::string(root) + "/ordo-test-" + std::to_string(getpid());
    if (access((std::string(root) + "/cgroup.procs").c_str(), W_OK) == 0 &&
        access((std::string(root) + "/cgroup.controllers").c_str(), R_OK) ==
            0) {
      wanted.cgroup = folder;
    }
  }
  Cgroup cgroup;
  if (wanted.cgroup.empty() || cgroup.Make(wanted) != 0) {
    GTEST_SKIP() << "there is no cgroup of version 2 to make folders in";
  }
  const pid_t child = fork();
  if (child == 0) {
    if (write(cgroup.file(), "0", 1) != 1) _exit(1);
    const std::string own = ReadText("/proc/self/cgroup");
    _exit(own.find("/ordo-test-") == std::string::npos ? 2 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  cgroup.Remove();
  EXPECT_FALSE(std::filesystem::exists(wanted.cgroup));
  // Some machines bind where their root is.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
    GTEST_SKIP() << "this process may not join cgroups";
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ordo::worker::supervisor
