#include "worker/agent/prober.h"

#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "base/clock/clock.h"
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
  void Make(const std::string& report) {
    options_ = testing::FakeTaskOptions(folder_.path(), "");
    options_.environment.push_back("ORDO_FAKE_PROBE=" + report);
    ::ordo::workers::v1::Device device;
    device.set_name("cpu:0");
    device.set_kind("cpu");
    prober_.emplace(options_, std::vector<::ordo::workers::v1::Device>{device},
                    ProberTools{files_, clock_, metrics_});
    prober_->Step(/*idle=*/true);
  }
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
  base::RealClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  TaskOptions options_;
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
  ::ordo::workers::v1::Device device = Device();
  prober_.emplace(options_, std::vector{device},
                  ProberTools{files_, clock_, metrics_});
  prober_->Step(/*idle=*/true);
  EXPECT_EQ(prober_->file(), -1);
  EXPECT_THAT(Device().withheld(),
              AllOf(HasSubstr("/no/such/trainer"), HasSubstr("`trainer`")));
}

}  // namespace
}  // namespace ordo::worker::agent
