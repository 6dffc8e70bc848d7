// The configurations that pods mount, read by the parsers of the programs.
#include "scheduler/main/config.h"

#include <filesystem>
#include <set>
#include <string>

#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/config.h"

namespace ordo::tests::kubernetes {
namespace {

using ::testing::SizeIs;

// Those of a name, of the base and of overlays.
std::set<std::string> Configs(const std::string& name) {
  std::set<std::string> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator("deploy/kubernetes")) {
    if (entry.path().filename() == name &&
        entry.path().parent_path().filename() == "config") {
      found.insert(entry.path());
    }
  }
  return found;
}

TEST(ConfigTest, TheSchedulerTakesWhatItsPodMounts) {
  base::PosixFilesystem files;
  const std::set<std::string> paths = Configs("scheduler.yaml");
  EXPECT_THAT(paths, SizeIs(1));
  for (const std::string& path : paths) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto config,
                              scheduler::ReadConfig(files, path));
    ORDO_ASSERT_OK_AND_ASSIGN(const auto resolved,
                              scheduler::ResolveConfig(config, ""));
    EXPECT_EQ(resolved.listen(), "0.0.0.0:7420");
  }
}

TEST(ConfigTest, WorkersTakeWhatTheirPodsMount) {
  const std::set<std::string> paths = Configs("worker.yaml");
  EXPECT_THAT(paths, SizeIs(3));
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    // As the command of the pod says, once Kubernetes has filled it in.
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto config,
        worker::agent::ReadConfig(path, {"", "ordo-worker-0"}));
    EXPECT_EQ(config.worker(), "ordo-worker-0");
    EXPECT_EQ(config.listen(), "0.0.0.0:7430");
  }
}

}  // namespace
}  // namespace ordo::tests::kubernetes
