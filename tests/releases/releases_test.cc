// What an earlier release wrote is read by this one: README.md. To record what
// this release writes, for those to come:
//
//   ORDO_RECORD=/absolute/folder bazel test //tests/releases:releases_test
//       --test_env=ORDO_RECORD --spawn_strategy=local

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/invariants.h"
#include "scheduler/policy/fair.h"
#include "scheduler/store/sqlite_store.h"
#include "tests/harness/deployment.h"
#include "tests/releases/history.h"
#include "worker/agent/spare_folders.h"
#include "worker/agent/task.h"

namespace ordo::tests::releases {
namespace {

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using ::testing::UnorderedElementsAre;
using worker::agent::Action;
using worker::agent::AttemptKey;
using worker::agent::Task;
using worker::agent::TaskOptions;

constexpr size_t kMaxBytes = 1 << 20;
constexpr char kNewest[] = "v5";

// Releases up to v3 kept the fingerprint of a job that no request id made,
// which nothing asks for.
std::string WithoutNeedlessFingerprints(std::string text) {
  constexpr std::string_view kBegin = "request '' fingerprint '";
  for (size_t at = text.find(kBegin); at != std::string::npos;
       at = text.find(kBegin, at)) {
    at += kBegin.size();
    text.erase(at, text.find('\'', at) - at);
  }
  return text;
}

class ReleasesTest : public ::testing::TestWithParam<const char*> {
 protected:
  // A recorded file of the release.
  std::string Recorded(const std::string& name) {
    return Text(absl::StrCat("tests/releases/", GetParam(), "/", name));
  }
  std::string Text(const std::string& path) {
    auto text = base::ReadFile(files_, path, kMaxBytes);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.ok() ? *text : "";
  }
  void Write(const std::string& path, const std::string& text) {
    ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(path)));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, text));
  }
  // A copy of a recorded file that may be written to.
  std::string Copy(const std::string& name) {
    Write(folder_.Path(name), Recorded(name));
    return folder_.Path(name);
  }
  std::unique_ptr<scheduler::store::Store> OpenStore(const std::string& path) {
    auto store = scheduler::store::OpenSqliteStore({path});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  // It stays open until the next one is: specs of its jobs are read from it.
  scheduler::core::Records Load(const std::string& path) {
    store_.reset();
    store_ = OpenStore(path);
    auto contents = store_->Load();
    EXPECT_TRUE(contents.ok()) << contents.status();
    return contents->records;
  }
  // All that is stored, also of jobs that have ended.
  scheduler::core::Records All(const std::string& path) {
    scheduler::core::Records all = Load(path);
    std::set<std::string> loaded;
    for (const auto& job : all.jobs) loaded.insert(job->id());
    scheduler::store::EndedQuery query;
    query.before = kNumJobs + 1;
    query.limit = kNumJobs;
    const auto ended = store_->reader().ListEnded(query);
    EXPECT_TRUE(ended.ok()) << ended.status();
    std::vector<std::string> ids;
    for (const auto& job : ended->items) {
      if (loaded.count(job->id()) == 0) ids.push_back(job->id());
    }
    const auto past = store_->reader().FindPast(ids, {});
    EXPECT_TRUE(past.ok()) << past.status();
    for (const auto& each : past->jobs) {
      all.jobs.push_back(each.job);
      all.checkpoints.insert(all.checkpoints.end(), each.checkpoints.begin(),
                             each.checkpoints.end());
      all.reports.insert(all.reports.end(), each.reports.begin(),
                         each.reports.end());
    }
    const auto by_name = [](const auto& a, const auto& b) {
      return a->name() < b->name();
    };
    std::sort(all.jobs.begin(), all.jobs.end(),
              [](const auto& a, const auto& b) {
                return a->facts->sequence < b->facts->sequence;
              });
    std::sort(all.checkpoints.begin(), all.checkpoints.end(), by_name);
    std::sort(all.reports.begin(), all.reports.end(), by_name);
    return all;
  }
  scheduler::core::State LoadState(const std::string& path) {
    scheduler::core::Options options;
    options.place = &scheduler::policy::PlaceFair;
    auto state = scheduler::core::Load(options, Load(path), now_);
    EXPECT_TRUE(state.ok()) << state.status();
    return *std::move(state);
  }
  TaskOptions OptionsOf(const std::string& folder) {
    TaskOptions options;
    options.state_folder = folder + "/worker";
    options.storage_root = folder + "/storage";
    options.deployment = folder;
    options.supervisor = harness::Program("ordo-supervisor");
    options.trainer = harness::Program("tests/fake/fake_trainer");
    return options;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  const scheduler::core::Moment now_{absl::FromUnixSeconds(1'700'000'100),
                                     absl::Seconds(1)};
  std::unique_ptr<scheduler::store::Store> store_;
};

// Runs a task of the fake trainer to its end and keeps its folders.
void RecordTask(const TaskOptions& options, base::Filesystem& files) {
  DesiredAttempt desired;
  desired.set_job("a");
  desired.set_attempt(1);
  desired.mutable_grace()->set_seconds(10);
  desired.mutable_step_timeout()->set_seconds(60);
  desired.add_devices("cpu:0");
  desired.mutable_train()->mutable_training()->set_steps(20);
  desired.mutable_train()->mutable_checkpoint()->set_every_steps(10);
  worker::agent::SpareFolders spares(files, options.state_folder + "/spare", 1);
  Task task(options, files, spares, {"a", 1});
  ObservedAttempt::Cause cause;
  ORDO_ASSERT_OK(task.Start(desired, &cause));
  pollfd ended{task.supervisor_file(), POLLIN, 0};
  ASSERT_EQ(poll(&ended, 1, 20000), 1);
  waitpid(task.supervisor_pid(), nullptr, 0);
}

using NewestReleaseTest = ReleasesTest;

TEST_P(NewestReleaseTest, WritesWhatIsRecorded) {
  const char* record = std::getenv("ORDO_RECORD");
  const std::string folder = record != nullptr ? record : folder_.path();
  const std::string path = folder + "/store.sqlite3";
  ORDO_ASSERT_OK(files_.MakeFolders(folder));
  std::string desired;
  std::string announced;
  {
    auto store = OpenStore(path);
    History history(*store);
    history.Play();
    desired = history.desired().SerializeAsString();
    announced = AnnouncementAfter(history).SerializeAsString();
  }
  const std::string text = Describe(All(path));
  if (record != nullptr) {
    Write(folder + "/store.txt", text);
    Write(folder + "/desired.pb", desired);
    Write(folder + "/announced.pb", announced);
    RecordTask(OptionsOf(folder + "/task"), files_);
  }
  EXPECT_EQ(text, Recorded("store.txt"));
}

TEST_P(ReleasesTest, AStoreIsLoadedWhole) {
  const std::string path = Copy("store.sqlite3");
  const scheduler::core::Records all = All(path);
  EXPECT_EQ(Describe(all), WithoutNeedlessFingerprints(Recorded("store.txt")));
  EXPECT_EQ(all.jobs.size(), static_cast<size_t>(kNumJobs));
  const scheduler::core::State state = LoadState(path);
  for (const auto& job : all.jobs) {
    if (scheduler::core::IsTerminal(job->state)) continue;
    EXPECT_EQ(state.jobs.count(job->id()), 1u) << job->id();
  }
  ORDO_EXPECT_OK(scheduler::core::CheckInvariants(state));
}

TEST_P(ReleasesTest, AnAnnouncementIsTaken) {
  scheduler::core::State state = LoadState(Copy("store.sqlite3"));
  agent::v1::AnnounceRequest request;
  ASSERT_TRUE(request.ParseFromString(Recorded("announced.pb")));
  for (const auto& effect : scheduler::core::Apply(
           state, scheduler::core::Announced{request}, now_)) {
    const auto* answer = std::get_if<scheduler::core::AnswerAnnounce>(&effect);
    if (answer != nullptr) {
      ORDO_EXPECT_OK(answer->status);
    }
  }
  // It gets work once it has answered.
  scheduler::core::Apply(
      state,
      scheduler::core::Observed{request.worker(), request.incarnation(),
                                request.observed()},
      now_);
  ORDO_EXPECT_OK(scheduler::core::CheckInvariants(state));
  const auto state_of = [&state](int number) {
    return jobs::v1::Job::State_Name(state.jobs.at(JobId(number)).job->state);
  };
  EXPECT_EQ(state_of(5), "RUNNING");
  EXPECT_EQ(state_of(6), "CANCELLED");
  EXPECT_EQ(state_of(7), "RUNNING");
  EXPECT_EQ(state_of(17), "SUCCEEDED");
  EXPECT_EQ(state_of(27), "RUNNING");
  // Its worker could not start it: again, as the second attempt.
  EXPECT_EQ(state_of(37), "STARTING");
  EXPECT_EQ(state_of(47), "STARTING");
  EXPECT_EQ(state.jobs.at(JobId(7)).checkpoints.size(), 1u);
}

TEST_P(ReleasesTest, ADesiredSetIsStarted) {
  agent::v1::SetDesiredRequest request;
  ASSERT_TRUE(request.ParseFromString(Recorded("desired.pb")));
  worker::agent::Core core("w1", "w1-first", "ordo-trainer");
  const auto actions = core.SetDesired(request);
  ORDO_ASSERT_OK(actions);
  std::vector<std::string> started;
  for (const Action& action : *actions) {
    ASSERT_EQ(action.kind, Action::Kind::kStart);
    started.push_back(absl::StrCat(action.key.ToString(), " ",
                                   action.task.task_case(), " ",
                                   action.task.devices_size()));
  }
  EXPECT_THAT(started, UnorderedElementsAre("job-07.1 8 1", "job-17.1 8 1",
                                            "job-27.1 9 1", "job-37.1 10 1",
                                            "job-47.1 8 1"));
  EXPECT_EQ(core.Observed().attempts_size(), request.attempts_size());
}

TEST_P(ReleasesTest, ATaskFolderIsAdopted) {
  const std::string task_folder = "task/worker/tasks/a.1/";
  for (const char* name : {"task.pb", "journal"}) Copy(task_folder + name);
  Copy("task/storage/jobs/a/attempts/1/progress.records");
  const TaskOptions options = OptionsOf(folder_.Path("task"));
  const auto key = worker::agent::ParseAttemptKey("a.1");
  ORDO_ASSERT_OK(key);
  worker::agent::SpareFolders spares(files_, options.state_folder + "/spare",
                                     1);
  Task task(options, files_, spares, *key);
  EXPECT_EQ(task.folders().task + "/", folder_.Path(task_folder));
  EXPECT_EQ(task.Stored().train().training().steps(), 20);
  task.Adopt();
  EXPECT_FALSE(task.SupervisorRuns());

  const Task::Update update = task.Read();
  ORDO_EXPECT_OK(update.trouble);
  EXPECT_TRUE(update.complete);
  worker::agent::Core core("w1", "w1-second", "ordo-trainer");
  core.Adopt(task.Stored());
  for (const auto& record : update.records) core.OnProgress(*key, record);
  core.OnFacts(*key, update.facts);
  const ObservedAttempt* observed = core.Find(*key);
  ASSERT_NE(observed, nullptr);
  EXPECT_EQ(observed->phase(), ObservedAttempt::EXITED);
  EXPECT_EQ(observed->cause(), ObservedAttempt::EXIT);
  EXPECT_EQ(observed->exit_code(), 0);
  EXPECT_EQ(observed->step().step(), 20);
  EXPECT_EQ(core.Observed().attempts(0).records_size(), 2);
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Recorded, ReleasesTest,
                         ::testing::Values("v1", "v2", "v3", "v4", kNewest),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Recorded, NewestReleaseTest,
                         ::testing::Values(kNewest), NameOf);

}  // namespace
}  // namespace ordo::tests::releases
