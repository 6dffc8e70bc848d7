// A machine with a GPU that is made up: the worker finds it through the
// driver's library, binds tasks to it, and says what becomes of it.
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::HasSubstr;
using workers::v1::Device;
using workers::v1::ListWorkersResponse;
using workers::v1::ReleaseDeviceRequest;
using workers::v1::Worker;
using workers::v1::WorkersService;

class GpuTest : public Scenario {
 protected:
  GpuTest() {
    // Where the worker's dynamic linker looks first.
    const std::string libraries = folder_.Path("lib");
    EXPECT_TRUE(files_.MakeFolders(libraries).ok());
    EXPECT_EQ(
        symlink(ProgramPath("worker/agent/testing/libfake_nvml.so").c_str(),
                (libraries + "/libnvidia-ml.so.1").c_str()),
        0);
    setenv("LD_LIBRARY_PATH", libraries.c_str(), /*overwrite=*/1);
    setenv("ORDO_FAKE_NVML", folder_.Path("gpus").c_str(), /*overwrite=*/1);
  }
  ~GpuTest() override {
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("ORDO_FAKE_NVML");
  }

  // What the driver says of its one GPU.
  void Say(const std::string& line) {
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, folder_.Path("gpus"), line + "\n"));
  }
  // The GPU as the scheduler shows it.
  Device Shown() {
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    ListWorkersResponse response;
    const auto stub =
        WorkersService::NewStub(base::Connect(deployment_->api_address()));
    if (!stub->ListWorkers(&context, {}, &response).ok()) return {};
    for (const auto& worker : response.workers()) {
      for (const Device& device : worker.devices()) {
        if (device.kind() == "cuda") return device;
      }
    }
    return {};
  }
  // What each trainer of the job named "job" sees of GPUs.
  std::multiset<std::string> Visible() const {
    constexpr absl::string_view kName = "CUDA_VISIBLE_DEVICES=";
    std::multiset<std::string> visible;
    for (const base::RunningProcess& process : ProcessesOf("job")) {
      if (!absl::StartsWith(process.command_line, trainer_)) continue;
      const auto environment = base::ReadProcFile(process.id.pid, "environ");
      // It has ended meanwhile.
      if (!environment.ok()) continue;
      for (const absl::string_view entry : absl::StrSplit(*environment, '\0')) {
        if (!absl::StartsWith(entry, kName)) continue;
        visible.emplace(entry.substr(kName.size()));
      }
    }
    return visible;
  }
  // A person does.
  absl::Status ReleaseDevice() {
    const auto stub =
        WorkersService::NewStub(base::Connect(deployment_->api_address()));
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    ListWorkersResponse workers;
    ORDO_RETURN_IF_ERROR(
        base::FromGrpcStatus(stub->ListWorkers(&context, {}, &workers)));
    ReleaseDeviceRequest request;
    request.set_name(workers.workers(0).name());
    request.set_device("cuda:3");
    grpc::ClientContext again;
    base::PrepareCall({}, &again);
    Worker worker;
    return base::FromGrpcStatus(stub->ReleaseDevice(&again, request, &worker));
  }
};

TEST_F(GpuTest, IsFoundBoundAndWatched) {
  Say("3 GPU-a 1000 0");
  Start("job:hold_at=5");
  ASSERT_TRUE(WaitFor([this] {
    const Device device = Shown();
    return device.has_probe() && device.withheld().empty();
  }));
  const Device offered = Shown();
  EXPECT_EQ(offered.name(), "cuda:3");
  EXPECT_EQ(offered.uuid(), "GPU-a");
  EXPECT_EQ(offered.memory_bytes(), int64_t{1000} << 20);
  EXPECT_EQ(offered.driver_version(), "550.54.15");

  JobSpec spec = Spec("job");
  spec.mutable_resources()->set_device("cuda");
  Submit(spec);
  const auto trainer = WaitForTrainer("job");
  ASSERT_TRUE(trainer.has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string environment,
                            base::ReadProcFile(trainer->pid, "environ"));
  EXPECT_THAT(environment, HasSubstr("CUDA_VISIBLE_DEVICES=GPU-a"));

  Say("3 GPU-a 1000 600 4711:600\nxid 0 63");
  ASSERT_TRUE(WaitFor([this] { return Shown().faults_size() == 1; }));
  EXPECT_EQ(Shown().faults(0).code(), "XID_63");
  // As far as anybody can tell it is the job's.
  EXPECT_EQ(Shown().withheld(), "");

  Say("3 GPU-a 1000 0\nxid 0 63");
  Release("job");
  ASSERT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  Say("3 GPU-a 1000 600 4711:600\nxid 0 63");
  ASSERT_TRUE(WaitFor([this] {
    return absl::StrContains(Shown().withheld(), "process 4711");
  }));
}

TEST_F(GpuTest, RanksHaveOneEachWhereThereIsNccl) {
  Say("0 GPU-a 1000 0\n3 GPU-b 1000 0");
  harness::DeploymentOptions options = Options("job:hold_at=5");
  // A folder of programs with the library or without it.
  const std::string trainer = folder_.Path("programs/ordo-trainer");
  ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(trainer)));
  std::filesystem::copy_file(options.worker.trainer(), trainer);
  options.worker.set_trainer(trainer);
  Start(options);
  JobSpec spec = Spec("job");
  spec.mutable_resources()->set_device("cuda");
  spec.mutable_resources()->set_ranks(2);
  Submit(spec);
  ASSERT_TRUE(WaitFor([this] {
    const auto explained = Explain("job");
    return explained.ok() && absl::StrContains(explained->summary(),
                                               "has NCCL for several ranks");
  }));

  const std::string library = base::NcclLibraryIn(base::FolderOf(trainer));
  ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(library)));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, library, ""));
  KillWorker();
  EXPECT_TRUE(WaitFor([this] {
    return Visible() == std::multiset<std::string>{"GPU-a", "GPU-b"};
  }));
  Release("job");
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(GpuTest, AGraveErrorOfItMovesTheJobUntilAPersonReleasesIt) {
  Say("3 GPU-a 1000 0");
  Start("job:hold_at=5");
  JobSpec spec = Spec("job");
  spec.mutable_resources()->set_device("cuda");
  Submit(spec);
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 4; }));

  Say("3 GPU-a 1000 0\nxid 0 79");
  ASSERT_TRUE(WaitFor([this] { return Shown().has_quarantine(); }));
  EXPECT_THAT(Shown().quarantine().reason(), HasSubstr("XID 79"));
  EXPECT_EQ(Shown().blames(0).job(), "jobs/job");
  const auto queued = WaitForState("job", Job::QUEUED);
  ASSERT_TRUE(queued.has_value());
  EXPECT_EQ(queued->attempts(0).reason(), "STOPPED");
  EXPECT_EQ(queued->failed_attempts(), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("job"));
  EXPECT_THAT(explained.summary(), HasSubstr("is in quarantine since"));

  Release("job");
  ORDO_ASSERT_OK(ReleaseDevice());
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

}  // namespace
}  // namespace ordo::tests::e2e
