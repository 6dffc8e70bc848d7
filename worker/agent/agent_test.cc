#include "worker/agent/agent.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <thread>

#include "absl/strings/match.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/orphans.h"
#include "worker/agent/service.h"
#include "worker/agent/testing/made_up_gpus.h"
#include "worker/agent/testing/programs.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::AnnounceRequest;
using ::ordo::agent::v1::AnnounceResponse;
using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::SchedulerAgentService;
using ::ordo::agent::v1::SetDesiredRequest;
using ::ordo::workers::v1::Device;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::chrono::seconds kDeadline{20};

// Remembers the newest announcement.
class Scheduler : public SchedulerAgentService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Announce(grpc::CallbackServerContext* context,
                                     const AnnounceRequest* request,
                                     AnnounceResponse* response) override {
    // Long: changes must come without it.
    response->mutable_period()->set_seconds(3600);
    absl::Status refusal;
    {
      base::MutexLock lock(mutex_);
      response->set_protocol(protocol_);
      newest_ = *request;
      changed_.NotifyAll();
      refusal = refusal_;
    }
    return base::Finish(context, refusal);
  }
  void Refuse(const absl::Status& refusal) {
    base::MutexLock lock(mutex_);
    refusal_ = refusal;
  }

  void Speak(int32_t protocol) {
    base::MutexLock lock(mutex_);
    protocol_ = protocol;
  }

  // The first announcement that satisfies `wanted`; nothing at the deadline.
  std::optional<AnnounceRequest> WaitFor(
      const std::function<bool(const AnnounceRequest&)>& wanted) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    base::MutexLock lock(mutex_);
    while (!newest_ || !wanted(*newest_)) {
      if (!changed_.WaitUntil(mutex_, deadline)) return std::nullopt;
    }
    return newest_;
  }
  void Clear() {
    base::MutexLock lock(mutex_);
    newest_.reset();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<AnnounceRequest> newest_ ORDO_GUARDED_BY(mutex_);
  absl::Status refusal_ ORDO_GUARDED_BY(mutex_);
  int32_t protocol_ ORDO_GUARDED_BY(mutex_) = base::kWorkerProtocol;
};

// This machine's, but that its wall clock can be set.
class JumpyClock : public base::RealClock {
 public:
  absl::Time Now() const override {
    return base::RealClock::Now() + absl::Nanoseconds(offset_ns_.load());
  }
  void Jump(absl::Duration offset) {
    offset_ns_ = absl::ToInt64Nanoseconds(offset);
  }

 private:
  std::atomic<int64_t> offset_ns_{0};
};

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() : scheduler_server_(*base::RpcServer::Start({}, {&scheduler_})) {}
  ~AgentTest() override {
    // Ends what a test left running.
    if (agent_ != nullptr) Stop(Leave::kDrain);
  }

  void Start(const std::string& behaviour) {
    static int incarnations = 0;
    AgentOptions options;
    options.task = testing::FakeTaskOptions(folder_.path(), behaviour);
    options.identity.set_worker("w");
    if (!probe_.empty()) {
      if (gpus_.empty()) options.identity.add_devices()->set_name("cpu:0");
      options.task.environment.push_back("ORDO_FAKE_PROBE=" + probe_);
    }
    options.identity.set_incarnation(std::to_string(++incarnations));
    for (const Device& device : gpus_) *options.identity.add_devices() = device;
    options.nvml = nvml_;
    options.stop_grace = absl::Seconds(10);
    options.unreadable_limit = unreadable_limit_;
    if (leaves_in_ < absl::InfiniteDuration()) {
      *options.identity.mutable_leave_time() =
          base::ToTimestamp(clock_.Now() + leaves_in_);
    }
    incarnation_ = options.identity.incarnation();
    sequence_ = 0;
    scheduler_.Clear();
    agent_ = std::make_unique<Agent>(options, faulty_, clock_, metrics_);
    ORDO_ASSERT_OK(agent_->Start());
    thread_ = std::thread([this] {
      agent_->Run("127.0.0.1:1", base::Connect(scheduler_server_->address()));
    });
  }
  void Stop(Leave leave) {
    std::thread acknowledge;
    agent_->RequestLeave(leave);
    if (leave == Leave::kDrain) {
      // As the scheduler does with what has ended.
      scheduler_.WaitFor([](const AnnounceRequest& request) {
        for (const auto& observed : request.observed().attempts()) {
          if (observed.phase() != ObservedAttempt::EXITED) return false;
        }
        return request.draining();
      });
      Desire({});
    }
    thread_.join();
    agent_.reset();
  }
  void Desire(const std::vector<DesiredAttempt>& attempts) {
    SetDesiredRequest request;
    request.set_worker("w");
    request.set_incarnation(incarnation_);
    request.set_epoch(1);
    request.set_sequence(++sequence_);
    for (const auto& attempt : attempts) *request.add_attempts() = attempt;
    ORDO_EXPECT_OK(agent_->SetDesired(request));
  }
  // The attempt as announced once it is in `phase`.
  std::optional<ObservedAttempt> WaitForPhase(ObservedAttempt::Phase phase) {
    const auto request =
        scheduler_.WaitFor([phase](const AnnounceRequest& request) {
          return request.observed().attempts_size() == 1 &&
                 request.observed().attempts(0).phase() == phase;
        });
    if (!request) return std::nullopt;
    return request->observed().attempts(0);
  }
  // Waits until the trainer of "a" has left; false at the deadline.
  bool WaitForItsEnd() {
    const std::string log =
        folder_.Path("storage/jobs/a/attempts/1/rank-0.log");
    return WaitFor([&] {
      const auto text = base::ReadFile(files_, log, 1 << 20);
      return absl::StrContains(text.value_or(""), "FINISHED") &&
             base::FindProcesses("--task-dir " + TaskFolder()).empty();
    });
  }
  // 0 where there is none.
  ino_t JournalInode() {
    struct stat info {};
    stat((TaskFolder() + "/journal").c_str(), &info);
    return info.st_ino;
  }
  static bool WaitFor(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return condition();
  }
  std::string TaskFolder() const { return folder_.Path("worker/tasks/a.1"); }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  // What the agent sees.
  base::testing::FaultyFilesystem faulty_{files_};
  absl::Duration unreadable_limit_ = absl::Minutes(10);
  // Until its machine's time is over.
  absl::Duration leaves_in_ = absl::InfiniteDuration();
  // What the probe of its one device says; empty: it has none.
  std::string probe_;
  // What the machine has besides, and what speaks for it.
  std::vector<Device> gpus_;
  std::shared_ptr<Nvml> nvml_;
  JumpyClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  Scheduler scheduler_;
  std::unique_ptr<base::RpcServer> scheduler_server_;
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
  std::string incarnation_;
  int64_t sequence_ = 0;
};

TEST_F(AgentTest, AnnouncesItselfAtItsStart) {
  Start("");
  const auto request =
      scheduler_.WaitFor([](const AnnounceRequest&) { return true; });
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->worker(), "w");
  EXPECT_EQ(request->incarnation(), incarnation_);
  EXPECT_EQ(request->address(), "127.0.0.1:1");
  EXPECT_FALSE(request->draining());
}

TEST_F(AgentTest, RefusalsAreLoggedAsSuchAndAgainWhenTheyChange) {
  const std::string path = folder_.Path("log");
  ORDO_ASSERT_OK(base::StartLogging({base::LogLevel::kInfo, path}));
  const auto wait_for = [&](const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    std::string log;
    while (log.find(text) == std::string::npos &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
      log = base::ReadFile(files_, path, 1 << 20).value_or("");
    }
    return log;
  };
  scheduler_.Refuse(absl::AbortedError("started-again"));
  Start("");
  EXPECT_THAT(wait_for("started-again"), HasSubstr("refuses this worker"));
  scheduler_.Refuse(absl::InvalidArgumentError("bad-devices"));
  EXPECT_THAT(wait_for("bad-devices"), Not(HasSubstr("does not answer")));
  scheduler_.Refuse(absl::OkStatus());
  Stop(Leave::kDrain);
  ORDO_ASSERT_OK(base::StartLogging({}));
}

TEST_F(AgentTest, RunsATaskAndReportsAllOfIt) {
  Start("");
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::EXIT);
  EXPECT_EQ(observed->exit_code(), 0);
  EXPECT_EQ(observed->step().step(), 20);
  EXPECT_EQ(observed->records_size(), 2);
  EXPECT_EQ(observed->finished().code(), ::ordo::training::v1::FINISHED);
  EXPECT_TRUE(observed->has_first_step_time());
  EXPECT_FALSE(observed->started().build_digest().empty());
}

TEST_F(AgentTest, RunsTasksForSchedulersOfNeighbouringReleases) {
  int attempt = 0;
  for (const int32_t protocol :
       {base::kWorkerProtocol - 1, base::kWorkerProtocol + 1}) {
    SCOPED_TRACE(protocol);
    scheduler_.Speak(protocol);
    Start("");
    Desire({testing::FakeTask("a", ++attempt)});
    const auto observed = WaitForPhase(ObservedAttempt::EXITED);
    ASSERT_TRUE(observed.has_value());
    EXPECT_EQ(observed->finished().code(), ::ordo::training::v1::FINISHED);
    Stop(Leave::kDrain);
  }
}

TEST_F(AgentTest, ForgetsWhatIsAcknowledged) {
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::EXITED).has_value());
  ORDO_EXPECT_OK(files_.Stat(TaskFolder()));
  Desire({});
  Stop(Leave::kDrain);
  EXPECT_TRUE(absl::IsNotFound(files_.Stat(TaskFolder()).status()));
}

TEST_F(AgentTest, ADeviceIsOfferedAfterItsProbeAndDoesWithoutWrongKernels) {
  probe_ = R"({"passed": ["rows/c"],
               "failed": [{"kernel": "rows/b"}, {"kernel": "rows/a"}]})";
  Start("*:step_ms=20");
  const auto offered = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.devices_size() == 1 && request.devices(0).withheld().empty();
  });
  ASSERT_TRUE(offered.has_value());
  EXPECT_EQ(offered->devices(0).probe().failed_size(), 2);
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  EXPECT_THAT(
      base::FindProcesses(folder_.path() + " --without-kernels rows/a,rows/b"),
      Not(IsEmpty()));
}

TEST_F(AgentTest, ADeviceWhoseProbeCrashesIsWithheldAndTheWorkerLives) {
  probe_ = "crash";
  Start("");
  const auto withheld = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.devices_size() == 1 &&
           absl::StrContains(request.devices(0).withheld(), "signal 4");
  });
  ASSERT_TRUE(withheld.has_value());
  // Placed before the scheduler knew.
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(observed->message(), HasSubstr("cpu:0 is withheld: the probe"));
}

TEST_F(AgentTest, ADeviceIsNotProbedBesideAnAdoptedAttempt) {
  Start("*:hold_at=5");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  Stop(Leave::kAtOnce);
  probe_ = "crash";
  Start("*:hold_at=5");
  const auto adopted = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.observed().attempts_size() == 1 &&
           request.devices_size() == 1;
  });
  ASSERT_TRUE(adopted.has_value());
  EXPECT_THAT(adopted->devices(0).withheld(), HasSubstr("to be probed"));
  DesiredAttempt end = testing::FakeTask("a", 1);
  end.set_action(DesiredAttempt::KILL);
  Desire({end});
  EXPECT_TRUE(scheduler_.WaitFor([](const AnnounceRequest& request) {
    return absl::StrContains(request.devices(0).withheld(), "signal 4");
  }));
}

TEST_F(AgentTest, StopEndsWithACheckpoint) {
  Start("*:step_ms=20");
  DesiredAttempt desired = testing::FakeTask("a", 1);
  Desire({desired});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  desired.set_action(DesiredAttempt::STOP);
  Desire({desired});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->exit_code(), 10);
  EXPECT_EQ(observed->records_size(), 1);
}

TEST_F(AgentTest, CrashIsReportedAsItsSignal) {
  Start("*:crash_at=3");
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::SIGNAL);
  EXPECT_EQ(observed->signal(), SIGABRT);
}

TEST_F(AgentTest, NextWorkerAdoptsWhatRuns) {
  Start("*:step_ms=50");
  const DesiredAttempt desired = testing::FakeTask("a", 1);
  Desire({desired});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  const auto num_steps = [this] {
    return metrics_.steps.With({"cpu:0"}).Value();
  };
  ASSERT_TRUE(WaitFor([&] { return num_steps() > 0; }));
  Stop(Leave::kAtOnce);

  Start("*:step_ms=50");
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  Desire({desired});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->exit_code(), 0);
  // From the beginning, the first worker's part too.
  EXPECT_EQ(observed->records_size(), 2);
  EXPECT_EQ(observed->records(0).number(), 1);
  // But what both read is counted once.
  EXPECT_LE(num_steps(), desired.train().training().steps());
}

TEST_F(AgentTest, AnEndThatNobodyAcknowledgesIsMadeDurable) {
  faulty_.Fail(base::testing::FileOperation::kSync, "a.1/journal", EIO);
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::EXITED).has_value());
  EXPECT_TRUE(WaitFor([this] { return faulty_.num_failed() > 0; }));
  // By the next worker, if this one has not come to it.
  Stop(Leave::kAtOnce);
  const int num_failed = faulty_.num_failed();
  Start("");
  EXPECT_TRUE(WaitFor([&] { return faulty_.num_failed() > num_failed; }));
}

TEST_F(AgentTest, AnEndThatCouldNotBeMadeDurableIsWrittenAnew) {
  faulty_.Fail(base::testing::FileOperation::kSync, "a.1/journal", EIO);
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::EXITED).has_value());
  // The journal's own, and that of one written anew.
  constexpr int kFailedInATry = 2;
  ASSERT_TRUE(
      WaitFor([this] { return faulty_.num_failed() >= kFailedInATry; }));
  const ino_t failed = JournalInode();
  // A sync of the same file would succeed now, as it does after a real error.
  faulty_.Heal();
  EXPECT_TRUE(WaitFor([&] { return JournalInode() != failed; }));
}

TEST_F(AgentTest, NextWorkerWritesAnEndAnewThatAnotherMayHaveFailedToSync) {
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::EXITED).has_value());
  Stop(Leave::kAtOnce);
  const ino_t earlier = JournalInode();
  Start("");
  EXPECT_TRUE(WaitFor([&] { return JournalInode() != earlier; }));
}

TEST_F(AgentTest, NextWorkerAdoptsEachRank) {
  const std::string behaviour = "*:step_ms=20";
  Start(behaviour);
  const DesiredAttempt first = testing::FakeTask("a", 1);
  DesiredAttempt second = first;
  second.set_rank(1);
  second.set_devices(0, "cpu:1");
  const auto both_are_in = [](ObservedAttempt::Phase phase) {
    return [phase](const AnnounceRequest& request) {
      const auto& attempts = request.observed().attempts();
      return attempts.size() == 2 && attempts[0].phase() == phase &&
             attempts[1].phase() == phase;
    };
  };
  Desire({first, second});
  ASSERT_TRUE(scheduler_.WaitFor(both_are_in(ObservedAttempt::RUNNING)));
  Stop(Leave::kAtOnce);

  Start(behaviour);
  Desire({first, second});
  const auto ended = scheduler_.WaitFor(both_are_in(ObservedAttempt::EXITED));
  ASSERT_TRUE(ended.has_value());
  for (int rank = 0; rank < 2; ++rank) {
    const ObservedAttempt& observed = ended->observed().attempts(rank);
    EXPECT_EQ(observed.rank(), rank);
    EXPECT_EQ(observed.cause(), ObservedAttempt::EXIT);
    EXPECT_EQ(observed.step().step(), 20);
    EXPECT_EQ(observed.devices(0), rank == 0 ? "cpu:0" : "cpu:1");
    // From the beginning; rank 0 alone writes checkpoints.
    EXPECT_EQ(observed.records_size(), rank == 0 ? 2 : 0);
  }
}

TEST_F(AgentTest, OrphansAreEndedBeforeADeviceIsOffered) {
  probe_ = R"({"passed": ["rows/a"]})";
  const std::string state = folder_.Path("worker");
  base::SpawnOptions sleep;
  sleep.argv = {"/bin/sleep", "300"};
  sleep.environment = {{"ORDO_TASK=" + state + "/tasks/gone.1"}};
  const auto orphan = base::Spawn(sleep);
  ORDO_ASSERT_OK(orphan);
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (FindOrphans(state, {}).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  Start("");
  const auto offered = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.devices(0).withheld().empty();
  });
  ASSERT_TRUE(offered.has_value());
  EXPECT_FALSE(base::IsRunning(*orphan));
  EXPECT_THAT(FindOrphans(state, {}), IsEmpty());
  EXPECT_THAT(registry_.Text(),
              Not(HasSubstr("ordo_worker_orphans_reaped_total 0")));
}

TEST_F(AgentTest, AGpuWithForeignMemoryIsWithheldAndNamesWhoHasIt) {
  testing::MadeUpGpus machine(folder_.path());
  machine.Write("0 GPU-a 1000 600 4711:600\n");
  nvml_ = *machine.Load();
  Device gpu;
  gpu.set_name("cuda:0");
  gpu.set_kind("cuda");
  gpu.set_uuid("GPU-a");
  gpus_ = {gpu};
  Start("");
  const auto withheld = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return absl::StrContains(request.devices(0).withheld(), "process 4711");
  });
  ASSERT_TRUE(withheld.has_value());
  // Placed before the scheduler knew.
  DesiredAttempt desired = testing::FakeTask("a", 1);
  desired.set_devices(0, "cuda:0");
  Desire({desired});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(observed->message(), HasSubstr("process 4711"));
}

TEST_F(AgentTest, AnAttemptIsOverOnceItsGpusMemoryIsBack) {
  testing::MadeUpGpus machine(folder_.path());
  machine.Write("0 GPU-a 1000 0\n");
  nvml_ = *machine.Load();
  Device gpu;
  gpu.set_name("cuda:0");
  gpu.set_kind("cuda");
  gpu.set_uuid("GPU-a");
  gpus_ = {gpu};
  probe_ = R"({"passed": ["rows/a"]})";
  Start("*:hold_at=5");
  ASSERT_TRUE(scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.devices(0).withheld().empty();
  }));
  DesiredAttempt desired = testing::FakeTask("a", 1);
  desired.set_devices(0, "cuda:0");
  Desire({desired});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  machine.Write("0 GPU-a 1000 600 4711:600\n");
  desired.set_action(DesiredAttempt::KILL);
  Desire({desired});
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!FindTaskProcesses(TaskFolder()).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  // Comes with a look after the end, which finds the memory in use.
  machine.Write("0 GPU-a 1000 600 4711:600\nxid 0 63\n");
  const auto faulty = scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.devices(0).faults_size() == 1;
  });
  ASSERT_TRUE(faulty.has_value());
  EXPECT_EQ(faulty->devices(0).faults(0).code(), "XID_63");
  EXPECT_EQ(faulty->observed().attempts(0).phase(), ObservedAttempt::STOPPING);
  machine.Write("0 GPU-a 1000 0\nxid 0 63\n");
  EXPECT_TRUE(WaitForPhase(ObservedAttempt::EXITED).has_value());
}

TEST_F(AgentTest, NextWorkerReportsWhatEndedMeanwhile) {
  Start("*:step_ms=5");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  Stop(Leave::kAtOnce);
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!FindTaskProcesses(TaskFolder()).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  Start("");
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::EXIT);
  EXPECT_EQ(observed->records_size(), 2);
}

TEST_F(AgentTest, LostSupervisorTakesAllOfItsTaskAlong) {
  Start("*:step_ms=20,grandchildren=2");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  const auto supervisors =
      base::FindProcesses("ordo-supervisor --task-dir " + TaskFolder());
  ASSERT_EQ(supervisors.size(), 1u);
  ORDO_ASSERT_OK(base::SignalProcess(supervisors[0].id, SIGKILL));
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::SUPERVISOR_LOST);
  EXPECT_THAT(FindTaskProcesses(TaskFolder()), IsEmpty());
}

TEST_F(AgentTest, StorageThatCannotBeWrittenIsAStartFailure) {
  Start("");
  ORDO_ASSERT_OK(files_.OpenForWrite(folder_.Path("storage"),
                                     base::WriteMode::kCreateNew));
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::START_FAILED);
  EXPECT_THAT(observed->message(), HasSubstr("storage"));
}

TEST_F(AgentTest, SupervisorWithoutAJournalIsTheHostsFailure) {
  Start("");
  // Its place is taken.
  ORDO_ASSERT_OK(files_.MakeFolders(TaskFolder()));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, TaskFolder() + "/journal", "mine"));
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::HOST_FAILED);
  EXPECT_THAT(observed->message(), HasSubstr(folder_.Path("worker")));
}

TEST_F(AgentTest, RecordsThatStayUnreadableAfterTheEndAreGivenUp) {
  faulty_.Fail(base::testing::FileOperation::kOpenForRead, "progress.records",
               EACCES);
  unreadable_limit_ = absl::ZeroDuration();
  Start("");
  Desire({testing::FakeTask("a", 1)});
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->cause(), ObservedAttempt::EXIT);
  EXPECT_FALSE(observed->has_finished());
  EXPECT_THAT(observed->message(), HasSubstr("a/attempts/1/progress.records"));
}

TEST_F(AgentTest, RecordsThatBecomeReadableAfterTheEndAreAllReported) {
  faulty_.Fail(base::testing::FileOperation::kOpenForRead, "progress.records",
               EACCES);
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForItsEnd());
  // The agent looks after that, too, in vain.
  const int failed = faulty_.num_failed();
  ASSERT_TRUE(WaitFor([&] { return faulty_.num_failed() > failed; }));
  faulty_.Heal();
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->records_size(), 2);
  EXPECT_TRUE(observed->has_finished());
}

TEST_F(AgentTest, JumpsOfTheWallClockNeitherHurryNorHoldUpAnything) {
  faulty_.Fail(base::testing::FileOperation::kOpenForRead, "progress.records",
               EACCES);
  Start("");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForItsEnd());
  // Beyond the time after which records are given up.
  clock_.Jump(absl::Hours(100));
  int failed = faulty_.num_failed();
  ASSERT_TRUE(WaitFor([&] { return faulty_.num_failed() > failed + 1; }));
  // It still looks every second.
  clock_.Jump(-absl::Hours(100));
  failed = faulty_.num_failed();
  ASSERT_TRUE(WaitFor([&] { return faulty_.num_failed() > failed + 1; }));
  faulty_.Heal();
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->records_size(), 2);
  EXPECT_TRUE(observed->has_finished());
}

TEST_F(AgentTest, DrainSavesWhatRuns) {
  Start("*:step_ms=20");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  agent_->RequestLeave(Leave::kDrain);
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->exit_code(), 10);
  EXPECT_EQ(observed->records_size(), 1);
  Stop(Leave::kDrain);
}

TEST_F(AgentTest, RoomAndTurnsAndTrainersAreMeasured) {
  Start("*:hold_at=5");
  Desire({testing::FakeTask("a", 1)});
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  const auto is_measured = [this] {
    return metrics_.free_bytes.With({"storage"}).Value() > 0 &&
           metrics_.free_bytes.With({"state"}).Value() > 0 &&
           metrics_.trainer_resident.With({"cpu:0"}).Value() > 0;
  };
  while (!is_measured() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(is_measured());
  EXPECT_THAT(registry_.Text(),
              Not(HasSubstr("ordo_worker_loop_turn_seconds_count 0\n")));
}

TEST_F(AgentTest, AStorageThatCannotBeReachedHasNoRoom) {
  const auto room = [this](const char* place) {
    return metrics_.free_bytes.With({place}).Value();
  };
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("storage")));
  Start("");
  ASSERT_TRUE(WaitFor([&] { return room("storage") > 0; }));
  Stop(Leave::kAtOnce);
  faulty_.Fail(base::testing::FileOperation::kFreeBytes, "/storage", EIO);
  Start("");
  EXPECT_TRUE(WaitFor([&] { return room("storage") == 0; }));
  EXPECT_GT(room("state"), 0);
}

TEST_F(AgentTest, DrainsByItselfOnceItsTimeIsOver) {
  leaves_in_ = absl::Hours(1);
  Start("*:hold_at=5");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(WaitForPhase(ObservedAttempt::RUNNING).has_value());
  ASSERT_TRUE(scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.has_leave_time() && !request.draining();
  }));
  clock_.Jump(absl::Hours(1));
  const auto observed = WaitForPhase(ObservedAttempt::EXITED);
  ASSERT_TRUE(observed.has_value());
  EXPECT_EQ(observed->exit_code(), 10);
  EXPECT_TRUE(scheduler_.WaitFor(
      [](const AnnounceRequest& request) { return request.draining(); }));
  // As the scheduler does with what has ended; then it leaves.
  Desire({});
  thread_.join();
  agent_.reset();
}

TEST_F(AgentTest, MetricsNameTheDevice) {
  Start("*:step_ms=20");
  Desire({testing::FakeTask("a", 1)});
  ASSERT_TRUE(scheduler_.WaitFor([](const AnnounceRequest& request) {
    return request.observed().attempts_size() == 1 &&
           request.observed().attempts(0).step().step() >= 2;
  }));
  const std::string text = registry_.Text();
  EXPECT_THAT(text,
              HasSubstr("ordo_worker_training_loss_nats{device=\"cpu:0\"}"));
  EXPECT_THAT(text, HasSubstr("ordo_worker_running_attempts 1"));
  EXPECT_THAT(text, HasSubstr("ordo_worker_log_bytes_dropped_total 0"));
}

}  // namespace
}  // namespace ordo::worker::agent
