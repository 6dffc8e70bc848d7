#include "worker/agent/machine.h"

#include <filesystem>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class MachineTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    base::PosixFilesystem files;
    const std::string whole = root_.Path(path);
    ORDO_ASSERT_OK(files.MakeFolders(base::FolderOf(whole)));
    ORDO_ASSERT_OK(base::AtomicWrite(files, whole, text));
  }
  Machine Read() { return ReadMachine(root_.path()); }

  base::testing::TemporaryFolder root_;
};

TEST_F(MachineTest, ThisOneHasCoresMemoryAndAName) {
  const Machine machine = ReadMachine("");
  EXPECT_GT(machine.cpus, 0);
  EXPECT_GT(machine.memory_bytes, int64_t{64} << 20);
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.architecture.empty());
}

TEST_F(MachineTest, MemoryIsTheMachines) {
  Write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:  1 kB\n");
  EXPECT_EQ(Read().memory_bytes, 2 << 20);
}

TEST_F(MachineTest, WhatTheKernelDoesNotTellIsNotKnown) {
  EXPECT_EQ(Read().memory_bytes, 0);
}

TEST_F(MachineTest, TheTightestCgroupDecides) {
  Write("proc/meminfo", "MemTotal:       2048 kB\n");
  Write("proc/self/cgroup", "1:name=other:/x\n0::/a/b\n");
  Write("sys/fs/cgroup/a/memory.max", "1000000\n");
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  Write("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(Read().memory_bytes, 1000000);
  EXPECT_EQ(Read().cpus, 1);
  // A container's own.
  Write("sys/fs/cgroup/memory.max", "5000\n");
  EXPECT_EQ(Read().memory_bytes, 5000);
}

TEST_F(MachineTest, LimitsBeyondTheMachineAreNone) {
  const int cpus = ReadMachine("").cpus;
  Write("proc/meminfo", "MemTotal:       2048 kB\n");
  Write("sys/fs/cgroup/memory.max", "1000000000000\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(Read().memory_bytes, 2 << 20);
  EXPECT_EQ(Read().cpus, cpus);
}

TEST_F(MachineTest, NcclIsFoundWhereTheTrainerLooksForIt) {
  Write("release/ordo-trainer", "");
  std::filesystem::create_symlink(root_.Path("release/ordo-trainer"),
                                  root_.Path("trainer"));
  ::ordo::config::v1::WorkerConfig config;
  const auto has_nccl = [&config] {
    ::ordo::agent::v1::AnnounceRequest identity;
    Describe(Machine(), config, &identity);
    return identity.nccl();
  };
  config.set_trainer(root_.Path("trainer"));
  EXPECT_FALSE(has_nccl());
  Write("release/model/training/nccl/libordo_nccl.so", "");
  EXPECT_TRUE(has_nccl());
  config.set_trainer(root_.Path("none"));
  EXPECT_FALSE(has_nccl());
}

TEST_F(MachineTest, DataRootsAreToldWithLinksAndWithout) {
  Write("disk/text/a.txt", "");
  Write("storage/x", "");
  std::filesystem::create_symlink(root_.Path("disk/text"), root_.Path("text"));
  ::ordo::config::v1::WorkerConfig config;
  config.set_storage_root(root_.Path("storage"));
  config.add_data_roots(root_.Path("text/"));
  config.add_data_roots(root_.Path("none"));
  ::ordo::agent::v1::AnnounceRequest identity;
  Describe(Machine(), config, &identity);
  EXPECT_THAT(identity.data_roots().paths(),
              ::testing::IsSupersetOf(
                  {root_.Path("text"), root_.Path("disk/text"),
                   root_.Path("none"), root_.Path("storage/data")}));
  // Of nothing it says that too.
  ::ordo::agent::v1::AnnounceRequest nothing;
  Describe(Machine(), {}, &nothing);
  EXPECT_TRUE(nothing.has_data_roots());
}

TEST(DescribeTest, TheConfigurationGoesBeforeWhatWasFound) {
  const Machine machine{8, 1000, "node", "x86_64"};
  ::ordo::config::v1::WorkerConfig config;
  config.set_cpus(4);
  (*config.mutable_labels())["host"] = "shelf-3";
  (*config.mutable_labels())["zone"] = "east";
  ::ordo::agent::v1::AnnounceRequest identity;
  identity.add_devices()->set_kind("cpu");
  identity.add_devices()->set_kind("cuda");

  Describe(machine, config, &identity);

  EXPECT_EQ(identity.cpus(), 4);
  EXPECT_EQ(identity.memory_bytes(), 1000);
  EXPECT_THAT(identity.labels(), UnorderedElementsAre(Pair("host", "shelf-3"),
                                                      Pair("arch", "x86_64"),
                                                      Pair("zone", "east")));
  EXPECT_EQ(identity.devices(0).memory_bytes(), 1000);
  EXPECT_EQ(identity.devices(1).memory_bytes(), 0);
}

TEST(DescribeTest, ANameOfTheHostThatIsNoLabelIsLeftOut) {
  const Machine machine{8, 1000, std::string(64, 'h'), "x86_64"};
  ::ordo::agent::v1::AnnounceRequest identity;
  Describe(machine, {}, &identity);
  EXPECT_THAT(identity.labels(), UnorderedElementsAre(Pair("arch", "x86_64")));
}

}  // namespace
}  // namespace ordo::worker::agent
