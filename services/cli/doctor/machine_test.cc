#include "services/cli/doctor/machine.h"

#include <algorithm>
#include <functional>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

MachineFacts WellFacts() {
  MachineFacts facts;
  facts.kernel = "6.1.0";
  facts.has_process_calls = true;
  facts.has_landlock = true;
  facts.open_files = 65536;
  facts.max_open_files = 65536;
  facts.inotify_instances = 128;
  facts.inotify_watches = 65536;
  facts.controllers = "cpu memory pids";
  facts.cgroup_delegated = true;
  facts.shared_memory_bytes = int64_t{1} << 30;
  facts.clock_kept = true;
  return facts;
}

// What one check says of a machine that is well but for one change.
Finding Judge(const std::string& check,
              const std::function<void(MachineFacts*)>& change) {
  MachineFacts facts = WellFacts();
  change(&facts);
  const Findings findings = JudgeMachine(facts);
  const auto found = std::find_if(
      findings.begin(), findings.end(),
      [&](const Finding& each) { return each.check == "machine/" + check; });
  EXPECT_NE(found, findings.end()) << check;
  for (const Finding& other : findings) {
    if (other.check != "machine/" + check) {
      EXPECT_EQ(other.health, Health::kOk) << other.check;
    }
    EXPECT_EQ(other.advice.empty(), other.health == Health::kOk) << other.check;
  }
  return found == findings.end() ? Finding{} : *found;
}

TEST(MachineTest, OneThatIsWellIsWell) {
  for (const Finding& finding : JudgeMachine(WellFacts())) {
    EXPECT_EQ(finding.health, Health::kOk) << finding.check;
    EXPECT_FALSE(finding.seen.empty()) << finding.check;
  }
}

TEST(MachineTest, KernelIsTooOld) {
  EXPECT_EQ(Judge("kernel",
                  [](MachineFacts* facts) { facts->has_process_calls = false; })
                .health,
            Health::kFail);
}

TEST(MachineTest, NothingKeepsTrainersFromFiles) {
  const Finding none = Judge(
      "landlock", [](MachineFacts* facts) { facts->has_landlock = false; });
  EXPECT_EQ(none.health, Health::kWarn);
  EXPECT_NE(none.advice.find("`sandbox.user`"), std::string::npos);
}

TEST(MachineTest, FewFilesMayBeOpen) {
  const Finding few = Judge("open-files", [](MachineFacts* facts) {
    facts->open_files = 1024;
    facts->max_open_files = 524288;
  });
  EXPECT_EQ(few.health, Health::kWarn);
  EXPECT_NE(few.advice.find("up to 524288 here"), std::string::npos);
  EXPECT_EQ(
      Judge("open-files", [](MachineFacts* facts) { facts->open_files = 256; })
          .health,
      Health::kFail);
}

TEST(MachineTest, LittleMayBeWatched) {
  EXPECT_EQ(Judge("inotify",
                  [](MachineFacts* facts) { facts->inotify_watches = 100; })
                .health,
            Health::kWarn);
  EXPECT_EQ(Judge("inotify",
                  [](MachineFacts* facts) { facts->inotify_instances = 1; })
                .health,
            Health::kWarn);
  EXPECT_EQ(Judge("inotify",
                  [](MachineFacts* facts) { facts->inotify_instances = -1; })
                .seen,
            "there is no inotify");
}

TEST(MachineTest, HasNoCgroupsToGive) {
  EXPECT_EQ(
      Judge("cgroup", [](MachineFacts* facts) { facts->controllers = ""; })
          .health,
      Health::kWarn);
  EXPECT_EQ(Judge("cgroup",
                  [](MachineFacts* facts) { facts->cgroup_delegated = false; })
                .health,
            Health::kWarn);
}

TEST(MachineTest, SharedMemoryIsSmall) {
  EXPECT_EQ(
      Judge("shared-memory",
            [](MachineFacts* facts) { facts->shared_memory_bytes = 64 << 20; })
          .health,
      Health::kWarn);
  EXPECT_EQ(Judge("shared-memory",
                  [](MachineFacts* facts) { facts->shared_memory_bytes = -1; })
                .seen,
            "there is no /dev/shm");
}

TEST(MachineTest, NobodyKeepsItsClock) {
  EXPECT_EQ(
      Judge("clock", [](MachineFacts* facts) { facts->clock_kept = false; })
          .health,
      Health::kWarn);
}

TEST(MachineTest, TimeZoneIsNotThere) {
  EXPECT_EQ(Judge("time-zone",
                  [](MachineFacts* facts) {
                    facts->time_zone = "Moon/Base";
                    facts->time_zone_known = false;
                  })
                .health,
            Health::kWarn);
}

TEST(MachineTest, FactsAreThoseOfItsFiles) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder root;
  const auto put = [&](const std::string& path, const std::string& text) {
    ORDO_ASSERT_OK(files.MakeFolders(base::FolderOf(root.Path(path))));
    ORDO_ASSERT_OK(base::AtomicWrite(files, root.Path(path), text));
  };
  put("proc/self/cgroup", "1:name=systemd:/\n0::/ordo.service\n");
  put("sys/fs/cgroup/ordo.service/cgroup.controllers", "memory pids\n");
  put("proc/sys/fs/inotify/max_user_instances", "7\n");
  put("proc/sys/fs/inotify/max_user_watches", "9\n");
  put("dev/shm/file", "");
  const MachineFacts facts = ReadMachineFacts(root.path());
  EXPECT_EQ(facts.controllers, "memory pids");
  EXPECT_TRUE(facts.cgroup_delegated);
  EXPECT_EQ(facts.inotify_instances, 7);
  EXPECT_EQ(facts.inotify_watches, 9);
  EXPECT_GT(facts.shared_memory_bytes, 0);
  EXPECT_GT(facts.open_files, 0);
  EXPECT_FALSE(facts.kernel.empty());
  // What runs Ordo's tests has them.
  EXPECT_TRUE(facts.has_process_calls);

  const MachineFacts none = ReadMachineFacts(root.Path("nowhere"));
  EXPECT_EQ(none.controllers, "");
  EXPECT_EQ(none.inotify_watches, -1);
  EXPECT_EQ(none.shared_memory_bytes, -1);
}

}  // namespace
}  // namespace ordo::services::cli::doctor
