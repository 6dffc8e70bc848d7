#include "worker/agent/prober.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/testing/programs.h"

namespace ordo::worker::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWrong[] =
    R"({"kind": "cpu", "passed": ["rows/a"],
        "failed": [{"kernel": "attention/b", "problem": "padded"}]})";

class ProberTest : public ::testing::Test {
 protected:
  // With what the trainer's probe says, and a device.
  void Make(const std::string& report, const std::string& name = "cpu:0") {
    options_ = testing::FakeTaskOptions(folder_.path(), "");
    options_.environment.push_back("ORDO_FAKE_PROBE=" + report);
    options_.devices_root = folder_.path();
    Begin(name);
  }
  void Begin(const std::string& name) {
    ::ordo::workers::v1::Device device;
    device.set_name(name);
    device.set_kind(name.substr(0, name.find(':')));
    prober_.emplace(options_, std::vector<::ordo::workers::v1::Device>{device},
                    ProberTools{files_, clock_, metrics_,
                                [this](std::function<void()> work) {
                                  work_.push_back(std::move(work));
                                  if (!is_busy_) Work();
                                }});
    prober_->Step(/*idle=*/true, {});
  }
  // What the background was given is done.
  void Work() {
    for (const auto& work : std::exchange(work_, {})) work();
  }
  // A worker's turn, that much later.
  void StepAfter(absl::Duration time, bool idle) {
    clock_.Advance(time);
    prober_->Step(idle, {});
  }
  void Write(const std::string& path, const std::string& text) {
    ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(folder_.Path(path))));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path(path), text));
  }
  bool Runs() const { return prober_->file() >= 0; }
  // Until the probe that runs has ended.
  void Finish() {
    ASSERT_GE(prober_->file(), 0);
    pollfd wait{prober_->file(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, 20000), 1);
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    base::ExitStatus exit;
    exit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    EXPECT_TRUE(prober_->OnExit(pid, exit));
    EXPECT_EQ(prober_->file(), -1);
  }
  ::ordo::workers::v1::Device Device() const {
    return prober_->plan().Devices()[0];
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  TaskOptions options_;
  // The background takes its time.
  bool is_busy_ = false;
  std::vector<std::function<void()>> work_;
  std::optional<Prober> prober_;
};

TEST_F(ProberTest, ADeviceIsOfferedWithWhatItsProbeFound) {
  Make(kWrong);
  EXPECT_THAT(Device().withheld(), HasSubstr("being probed"));
  Finish();
  EXPECT_EQ(Device().withheld(), "");
  EXPECT_THAT(Device().probe().passed(), ElementsAre("rows/a"));
  EXPECT_EQ(Device().probe().failed(0).problem(), "padded");
  EXPECT_THAT(prober_->plan().WrongKernels({"cpu:0"}),
              ElementsAre("attention/b"));
}

TEST_F(ProberTest, TheNextProcessNeedNotProbeAgain) {
  Make(kWrong);
  Finish();
  Make("crash");
  EXPECT_EQ(prober_->file(), -1);
  EXPECT_EQ(Device().withheld(), "");
  EXPECT_EQ(Device().probe().failed(0).kernel(), "attention/b");
}

TEST_F(ProberTest, TheNextProcessSaysWhatIsWrongToo) {
  Make(kWrong);
  Finish();
  metrics_.wrong_kernels.With({"cpu:0"}).Set(0);
  Make("crash");
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_worker_wrong_kernels{device=\"cpu:0\"} 1"));
}

// It may only have had no time, beside others.
TEST_F(ProberTest, AKernelWithoutAnAnswerIsNotHeldAgainstTheNextProcess) {
  Make(R"({"passed": ["rows/b"],
           "failed": [{"kernel": "rows/a", "message": "no time"}]})");
  Finish();
  EXPECT_EQ(Device().withheld(), "");
  EXPECT_THAT(prober_->plan().WrongKernels({"cpu:0"}), ElementsAre("rows/a"));
  Make(R"({"passed": ["rows/a"]})");
  Finish();
  EXPECT_THAT(Device().probe().failed(), IsEmpty());
}

TEST_F(ProberTest, AnotherDriverIsNoticedInTheFirstIdleTurn) {
  Write("proc/driver/nvidia/version", "1");
  Make(kWrong, "cuda:0");
  Finish();
  Write("proc/driver/nvidia/version", "2");
  StepAfter(Prober::kKeyPeriod, /*idle=*/false);
  EXPECT_FALSE(Runs());
  EXPECT_GT(prober_->TimeLeft(), absl::ZeroDuration());
  StepAfter(absl::Seconds(1), /*idle=*/true);
  EXPECT_THAT(Device().withheld(), HasSubstr("being probed"));
  Finish();
}

TEST_F(ProberTest, NothingWaitsWhileTheTrainerIsHashed) {
  is_busy_ = true;
  Make(kWrong);
  StepAfter(absl::Seconds(1), /*idle=*/true);
  EXPECT_FALSE(Runs());
  EXPECT_THAT(Device().withheld(), HasSubstr("are to be probed"));
  // Once, however often it is looked.
  StepAfter(Prober::kKeyPeriod, /*idle=*/true);
  EXPECT_EQ(work_.size(), 1u);
  Work();
  StepAfter(absl::ZeroDuration(), /*idle=*/true);
  EXPECT_TRUE(Runs());
  Finish();
}

TEST_F(ProberTest, AnAttemptThatComesDuringALookPutsItOff) {
  Write("proc/driver/nvidia/version", "1");
  Make(kWrong, "cuda:0");
  Finish();
  Write("proc/driver/nvidia/version", "2");
  is_busy_ = true;
  StepAfter(Prober::kKeyPeriod, /*idle=*/true);
  Work();
  StepAfter(absl::Seconds(1), /*idle=*/false);
  EXPECT_EQ(Device().withheld(), "");
  StepAfter(absl::Seconds(1), /*idle=*/true);
  Work();
  StepAfter(absl::ZeroDuration(), /*idle=*/true);
  EXPECT_TRUE(Runs());
  Finish();
}

TEST_F(ProberTest, AnotherGpuIsProbed) {
  const std::string file = "proc/driver/nvidia/gpus/0000:18:00.0/information";
  Write(file, "Model: H100\nGPU UUID: GPU-a\nDevice Minor: 0\n");
  Make(kWrong, "cuda:0");
  Finish();
  Write(file, "Model: H100\nGPU UUID: GPU-b\nDevice Minor: 0\n");
  StepAfter(Prober::kKeyPeriod, /*idle=*/true);
  EXPECT_TRUE(Runs());
  Finish();
}

TEST_F(ProberTest, AReportOfWhatWasIsNotKept) {
  Write("proc/driver/nvidia/version", "1");
  Make(kWrong, "cuda:0");
  Finish();
  const std::string stored = options_.state_folder + "/probes/cuda-0.pb";
  ORDO_ASSERT_OK(files_.RemoveFile(stored));
  StepAfter(Prober::kKeyPeriod, /*idle=*/false);
  Write("proc/driver/nvidia/version", "2");
  StepAfter(Prober::kKeyPeriod / 2, /*idle=*/true);
  ASSERT_TRUE(Runs());
  // Before the limit of the probe that runs.
  Write("proc/driver/nvidia/version", "3");
  StepAfter(Prober::kKeyPeriod / 2, /*idle=*/true);
  Finish();
  EXPECT_FALSE(base::Exists(files_, stored));
  StepAfter(absl::ZeroDuration(), /*idle=*/true);
  Finish();
  EXPECT_TRUE(base::Exists(files_, stored));
}

TEST_F(ProberTest, AnotherTrainerIsProbed) {
  Make(kWrong);
  Finish();
  options_.trainer = folder_.Path("trainer");
  const auto install = [&](const std::string& kernel) {
    Write("trainer", "#!/bin/sh\necho '{\"passed\": [\"" + kernel + "\"]}'\n");
    std::filesystem::permissions(options_.trainer,
                                 std::filesystem::perms::owner_all);
  };
  install("rows/one");
  Begin("cpu:0");
  Finish();
  EXPECT_THAT(Device().probe().passed(), ElementsAre("rows/one"));
  install("rows/two");
  StepAfter(Prober::kKeyPeriod, /*idle=*/true);
  Finish();
  EXPECT_THAT(Device().probe().passed(), ElementsAre("rows/two"));
}

TEST_F(ProberTest, AReportThatIsDamagedIsMadeAgain) {
  Make(kWrong);
  Finish();
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, options_.state_folder + "/probes/cpu-0.pb", "\xff\xff"));
  Make(R"({"passed": ["rows/a"]})");
  Finish();
  EXPECT_THAT(Device().probe().failed(), IsEmpty());
}

TEST_F(ProberTest, AProbeThatCrashesWithholdsTheDevice) {
  Make("crash");
  Finish();
  EXPECT_THAT(Device().withheld(), HasSubstr("killed by signal 4"));
  EXPECT_FALSE(Device().has_probe());
  EXPECT_GT(prober_->TimeLeft(), absl::ZeroDuration());
}

TEST_F(ProberTest, AReportThatIsNoneWithholdsTheDevice) {
  Make("not JSON");
  Finish();
  EXPECT_THAT(Device().withheld(), HasSubstr("report cannot be read"));
}

TEST_F(ProberTest, AChildOfOthersIsNotTheProbe) {
  Make(kWrong);
  EXPECT_FALSE(prober_->OnExit(1, {}));
  Finish();
}

TEST_F(ProberTest, OneThatRunsIsEndedWithItsWorker) {
  Make(kWrong);
  prober_.reset();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(ProberTest, ATrainerThatIsNotThereWithholdsTheDevice) {
  Make(kWrong);
  Finish();
  options_.trainer = "/no/such/trainer";
  Begin("cpu:0");
  EXPECT_EQ(prober_->file(), -1);
  EXPECT_THAT(Device().withheld(),
              AllOf(HasSubstr("/no/such/trainer"), HasSubstr("`trainer`")));
}

}  // namespace
}  // namespace ordo::worker::agent
