#include "worker/agent/task.h"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <set>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "worker/agent/spare_folders.h"
#include "worker/agent/testing/programs.h"
#include "worker/supervisor/journal.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kDeadlineMs = 20000;

class TaskTest : public ::testing::Test {
 protected:
  void Prepare(const std::string& behaviour) {
    options_ = testing::FakeTaskOptions(folder_.path(), behaviour);
    spares_.emplace(files_, folder_.Path("spare"), 1);
    task_ =
        std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1});
  }
  absl::Status Start() {
    return task_->Start(testing::FakeTask("a", 1), &cause_);
  }
  // Waits for the supervisor's end, and reaps it.
  bool WaitForEnd() {
    pollfd file{task_->supervisor_file(), POLLIN, 0};
    const bool ended = poll(&file, 1, kDeadlineMs) == 1;
    if (ended) waitpid(task_->supervisor_pid(), nullptr, 0);
    return ended;
  }
  bool WaitForRecord() {
    for (int i = 0; i < kDeadlineMs; ++i) {
      if (!task_->Read().records.empty()) return true;
      poll(nullptr, 0, 1);
    }
    return false;
  }
  std::string Text(const std::string& path) {
    auto text = base::ReadFile(files_, path, 1 << 20);
    return text.ok() ? *text : text.status().ToString();
  }

  // 0 where there is no file.
  static ino_t Inode(const std::string& path) {
    struct stat info {};
    stat(path.c_str(), &info);
    return info.st_ino;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  TaskOptions options_;
  std::optional<SpareFolders> spares_;
  std::unique_ptr<Task> task_;
  ObservedAttempt::Cause cause_ = ObservedAttempt::CAUSE_UNSPECIFIED;
};

TEST_F(TaskTest, TheTrainerIsToldWhatItMayRead) {
  Prepare("*:step_ms=20");
  options_.data_roots = {"/srv/a", "/srv/b"};
  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1});
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  // The supervisor and the trainer.
  EXPECT_EQ(base::FindProcesses("--deployment " + folder_.path() +
                                " --data-roots /srv/a:/srv/b")
                .size(),
            2u);
  ORDO_ASSERT_OK(task_->Signal(SIGTERM, absl::Seconds(10)));
  EXPECT_TRUE(WaitForEnd());
}

TEST_F(TaskTest, TheTraceOfItsJobIsInTheTrainersEnvironment) {
  const std::string parent =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  unsetenv("TRACEPARENT");
  Prepare("");
  // It prints its environment and takes none of its arguments for a variable.
  const std::string script = folder_.Path("print_trace");
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, script, "#!/bin/sh\necho \"trace ${TRACEPARENT-none}\"\n"));
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  options_.trainer = script;
  const auto said = [this](int attempt, const std::string& trace) {
    DesiredAttempt desired = testing::FakeTask("a", attempt);
    desired.set_traceparent(trace);
    task_ = std::make_unique<Task>(options_, files_, *spares_,
                                   AttemptKey{"a", attempt});
    ORDO_EXPECT_OK(task_->Start(desired, &cause_));
    EXPECT_TRUE(WaitForEnd());
    return Text(task_->folders().attempt + "/rank-0.log");
  };
  EXPECT_EQ(said(1, parent), "trace " + parent + "\n");
  EXPECT_EQ(said(2, ""), "trace none\n");
  EXPECT_EQ(said(3, "malformed"), "trace none\n");
}

TEST_F(TaskTest, OnlyWhatReadsDataIsToldWhereItLies) {
  Prepare("");
  options_.data_roots = {"/srv/a"};
  // What it was started with is its log.
  options_.trainer = "/bin/echo";
  const auto arguments_of = [this](const DesiredAttempt& desired) {
    task_ = std::make_unique<Task>(options_, files_, *spares_,
                                   AttemptKey{"a", desired.attempt()});
    ORDO_EXPECT_OK(task_->Start(desired, &cause_));
    EXPECT_TRUE(WaitForEnd());
    return Text(task_->folders().attempt + "/rank-0.log");
  };
  DesiredAttempt evaluate = testing::FakeTask("a", 1);
  evaluate.mutable_evaluate();
  DesiredAttempt gate = testing::FakeTask("a", 2);
  gate.mutable_gate();
  DesiredAttempt benchmark = testing::FakeTask("a", 3);
  benchmark.mutable_benchmark();
  DesiredAttempt summarize = testing::FakeTask("a", 4);
  summarize.mutable_summarize();
  EXPECT_THAT(arguments_of(evaluate), HasSubstr("--data-roots /srv/a"));
  EXPECT_THAT(arguments_of(gate), HasSubstr("--data-roots /srv/a"));
  EXPECT_THAT(arguments_of(benchmark),
              ::testing::AllOf(HasSubstr("benchmark"),
                               ::testing::Not(HasSubstr("--data-roots"))));
  EXPECT_THAT(arguments_of(summarize),
              ::testing::AllOf(HasSubstr("summarize"),
                               ::testing::Not(HasSubstr("--data-roots"))));
}

TEST_F(TaskTest, TheSupervisorIsToldOfTheSandbox) {
  Prepare("*:step_ms=20");
  options_.sandbox.open_files = 999;
  options_.sandbox.writable = {folder_.path(), "/dev"};
  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1});
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  EXPECT_EQ(base::FindProcesses("--rank 0 --open-files 999 --writable " +
                                task_->folders().job + " --writable " +
                                folder_.path() + " --writable /dev -- ")
                .size(),
            1u);
  ORDO_ASSERT_OK(task_->Signal(SIGTERM, absl::Seconds(10)));
  EXPECT_TRUE(WaitForEnd());
}

TEST_F(TaskTest, WhatTheTrainerWritesIsItsUsers) {
  Prepare("");
  constexpr uid_t kNobody = 65534;
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("given"), ""));
  if (chown(folder_.Path("given").c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  options_.sandbox.user = {kNobody, kNobody};
  // Whether it can be reached by that user or not.
  options_.trainer = "/bin/true";
  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1});
  ORDO_ASSERT_OK(Start());
  EXPECT_TRUE(WaitForEnd());
  const auto owner = [](const std::string& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_uid;
  };
  const TaskFolders& folders = task_->folders();
  for (const std::string& path :
       {folders.attempt, folders.progress, folders.job + "/checkpoints",
        folders.job + "/results"}) {
    EXPECT_EQ(owner(path), kNobody) << path;
  }
  // Whoever may rename what lies in them could have the worker write elsewhere.
  EXPECT_EQ(owner(folders.job), 0u);
  EXPECT_EQ(owner(base::FolderOf(folders.attempt)), 0u);
  EXPECT_EQ(owner(folders.task), 0u);
}

TEST_F(TaskTest, APipeThatATrainerPutsInThePlaceOfItsRecordsHoldsNobodyUp) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  const std::string path = task_->folders().progress;
  ORDO_ASSERT_OK(files_.RemoveFile(path));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(task_->Read().trouble,
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const Task::Update update = task_->Read({true, true});
  EXPECT_TRUE(update.complete);
  EXPECT_FALSE(update.damage.ok());
}

TEST_F(TaskTest, ALinkInThePlaceOfAProgressFileIsNotFollowed) {
  Prepare("");
  ORDO_ASSERT_OK(files_.MakeFolders(task_->folders().attempt));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("precious"), "text"));
  ORDO_ASSERT_OK(
      files_.ReplaceLink(folder_.Path("precious"), task_->folders().progress));
  EXPECT_THAT(Start(), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(cause_, ObservedAttempt::START_FAILED);
  EXPECT_EQ(Text(folder_.Path("precious")), "text");
}

TEST_F(TaskTest, RunsToItsEndWithAllRecords) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());

  const Task::Update update = task_->Read();

  EXPECT_TRUE(update.facts.group_empty);
  EXPECT_EQ(update.facts.exit->exit_code, 0);
  EXPECT_GT(update.facts.trainer_start_ns, 0);
  ASSERT_FALSE(update.records.empty());
  EXPECT_TRUE(update.records.front().has_started());
  EXPECT_TRUE(update.records.back().has_finished());
  EXPECT_EQ(update.records.front().started().control().initial_digest().size(),
            64u);
  std::set<std::string> data_digests;
  for (const auto& record : update.records) {
    if (!record.has_checkpoint()) continue;
    data_digests.insert(record.checkpoint().data_digest());
  }
  EXPECT_EQ(data_digests.size(), 2u);
  EXPECT_TRUE(task_->Read().records.empty());
  EXPECT_THAT(Text(task_->folders().attempt + "/task.json"),
              HasSubstr("\"every_steps\":\"10\""));
}

TEST_F(TaskTest, ASummaryOfAThousandPartsIsRunByItsOwnCommand) {
  Prepare("");
  DesiredAttempt desired = testing::FakeTask("a", 1);
  auto* summary = desired.mutable_summarize();
  summary->set_kind("comparison");
  for (int i = 0; i < 1000; ++i) {
    auto* part = summary->add_parts();
    part->set_job("a-" + std::to_string(i));
    part->set_state(i == 0 ? "FAILED" : "SUCCEEDED");
    part->set_message(std::string(1000, 'x'));
  }
  ORDO_ASSERT_OK(task_->Start(desired, &cause_));
  ASSERT_TRUE(WaitForEnd());

  const Task::Update update = task_->Read();

  EXPECT_EQ(update.facts.exit->exit_code, ordo::training::v1::PART_FAILED);
  ASSERT_EQ(update.records.size(), 3u);
  ordo::training::v1::SummarizeSpec read;
  ASSERT_TRUE(read.ParseFromString(
      base::ReadFile(files_, task_->folders().task_message, 16 << 20).value()));
  EXPECT_EQ(read.job(), "a");
  EXPECT_EQ(read.attempt(), 1);
  EXPECT_EQ(read.parts_size(), 1000);
  const auto& report = update.records[1].report();
  EXPECT_EQ(report.kind(), "comparison");
  EXPECT_EQ(report.metrics().at("parts"), 1000);
  EXPECT_EQ(task_->Stored().summarize().parts_size(), 1000);
}

TEST_F(TaskTest, AGateIsDecidedByItsOwnCommand) {
  Prepare("");
  DesiredAttempt desired = testing::FakeTask("a", 1);
  desired.mutable_gate()->add_subjects()->set_role("candidate");
  ORDO_ASSERT_OK(task_->Start(desired, &cause_));
  ASSERT_TRUE(WaitForEnd());

  const Task::Update update = task_->Read();

  EXPECT_EQ(update.facts.exit->exit_code, ordo::training::v1::FINISHED);
  ASSERT_EQ(update.records.size(), 3u);
  EXPECT_EQ(update.records[1].report().kind(), "gate");
  EXPECT_THAT(Text(task_->folders().attempt + "/task.json"),
              HasSubstr("\"role\":\"candidate\""));
}

TEST_F(TaskTest, ItsProgressFileIsThereBeforeItsTrainerWritesToIt) {
  Prepare("");
  options_.trainer = folder_.Path("no-such-trainer");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  EXPECT_THAT(base::ReadFile(files_, task_->folders().progress, 1),
              IsOkAndHolds(""));
  const Task::Update update = task_->Read();
  EXPECT_TRUE(update.complete);
  EXPECT_TRUE(update.facts.start_failure.has_value());
}

TEST_F(TaskTest, AJournalThatTheDiskDidNotTakeIsWrittenAnew) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  base::testing::FaultyFilesystem faulty(files_);
  const Task task(options_, faulty, *spares_, AttemptKey{"a", 1});
  const std::string path = task.folders().task + "/journal";
  const std::string before = Text(path);
  faulty.Fail(base::testing::FileOperation::kSync, "/journal", EIO);
  EXPECT_FALSE(task.SyncJournal(/*anew=*/false).ok());
  // The journal, and what was written in its place.
  EXPECT_EQ(faulty.num_failed(), 2);
  EXPECT_EQ(Text(path), before);
  const ino_t failed = Inode(path);
  faulty.Heal();
  ORDO_EXPECT_OK(task.SyncJournal(/*anew=*/true));
  EXPECT_NE(Inode(path), failed);
  EXPECT_EQ(Text(path), before);
}

TEST_F(TaskTest, AJournalThatReadsBackWithoutItsEndIsNotCalledDurable) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  const std::string path = task_->folders().task + "/journal";
  // As the disk had it before the end, which it did not take.
  std::string older = Text(path).substr(0, sizeof(supervisor::JournalRecord));
  older.resize(supervisor::kJournalBytes);
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, older));
  const ino_t inode = Inode(path);
  EXPECT_THAT(task_->SyncJournal(/*anew=*/true),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
  EXPECT_EQ(Inode(path), inode);
}

TEST_F(TaskTest, AJournalThatIsGoneIsNotMadeAnew) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  ORDO_EXPECT_OK(task_->SyncJournal(/*anew=*/false));
  const std::string journal = task_->folders().task + "/journal";
  ORDO_ASSERT_OK(files_.RemoveFile(journal));
  EXPECT_THAT(task_->SyncJournal(/*anew=*/false),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(task_->SyncJournal(/*anew=*/true),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(base::Exists(files_, journal));
}

TEST_F(TaskTest, TheFolderOfATaskThatIsOverServesAnother) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  ORDO_ASSERT_OK(task_->Remove());
  EXPECT_FALSE(base::Exists(files_, task_->folders().task));

  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"b", 1});
  ORDO_ASSERT_OK(task_->Start(testing::FakeTask("b", 1), &cause_));
  EXPECT_THAT(files_.List(folder_.Path("spare")), IsOkAndHolds(IsEmpty()));
  ASSERT_TRUE(WaitForEnd());
  const Task::Update update = task_->Read();
  EXPECT_TRUE(update.facts.group_empty);
  EXPECT_EQ(update.facts.supervisor_pid, task_->supervisor_pid());
  EXPECT_EQ(task_->Stored().job(), "b");
}

TEST_F(TaskTest, RanksShareAnAttemptsFolderAndNoFileInIt) {
  Prepare("");
  const TaskFolders first(options_, {"a", 1, 0});
  const TaskFolders second(options_, {"a", 1, 1});
  EXPECT_EQ(first.attempt, second.attempt);
  EXPECT_EQ(base::NameOf(first.task), "a.1");
  EXPECT_EQ(base::NameOf(second.task), "a.1.1");
  EXPECT_EQ(base::NameOf(first.progress), "progress.records");
  EXPECT_EQ(base::NameOf(second.progress), "progress-1.records");
  EXPECT_EQ(base::NameOf(second.task_file), "task-1.json");
  EXPECT_EQ(base::NameOf(second.supervisor_log), "supervisor-1.log");
}

TEST_F(TaskTest, ATaskIsToldItsRankAndWhereItIsReached) {
  Prepare("");
  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1, 1});
  DesiredAttempt desired = testing::FakeTask("a", 1);
  desired.set_rank(1);
  desired.mutable_train()->mutable_resources()->set_ranks(2);
  options_.host = "worker-7";
  ORDO_ASSERT_OK(task_->Start(desired, &cause_));
  ASSERT_TRUE(WaitForEnd());
  EXPECT_THAT(
      Text(task_->folders().task_file),
      AllOf(HasSubstr("\"rank\":1"), HasSubstr("\"host\":\"worker-7\"")));
  EXPECT_EQ(task_->Stored().rank(), 1);
  EXPECT_THAT(Text(task_->folders().attempt + "/rank-1.log"),
              HasSubstr("fake trainer"));
}

TEST_F(TaskTest, SpecLeavesOutWhatBelongsToTheAttempt) {
  Prepare("");
  DesiredAttempt desired = testing::FakeTask("a", 1);
  desired.mutable_train()->set_attempt(1);
  desired.mutable_train()->add_finished_reports("x-1");
  ORDO_ASSERT_OK(files_.MakeFolders(task_->folders().job));
  ORDO_ASSERT_OK(task_->WriteSpec(desired));
  const std::string text = Text(task_->folders().job + "/spec.json");
  EXPECT_THAT(text, HasSubstr("every_steps"));
  EXPECT_THAT(text, Not(HasSubstr("finished_reports")));
  EXPECT_THAT(text, Not(HasSubstr("\"attempt\"")));

  // The first attempt's stays.
  desired.mutable_train()->mutable_training()->set_steps(7);
  ORDO_ASSERT_OK(task_->WriteSpec(desired));
  EXPECT_EQ(Text(task_->folders().job + "/spec.json"), text);
}

TEST_F(TaskTest, AnotherTaskObjectTakesOver) {
  Prepare("*:step_ms=20");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  const pid_t supervisor = task_->supervisor_pid();

  task_ =
      std::make_unique<Task>(options_, files_, *spares_, AttemptKey{"a", 1});
  EXPECT_EQ(task_->Stored().train().training().steps(), 20);
  task_->Adopt();

  EXPECT_EQ(task_->supervisor_pid(), supervisor);
  EXPECT_TRUE(task_->SupervisorRuns());
  EXPECT_TRUE(task_->Read().records.front().has_started());
  ORDO_ASSERT_OK(task_->Signal(SIGTERM, absl::Seconds(10)));
  ASSERT_TRUE(WaitForEnd());
  EXPECT_EQ(task_->Read().facts.exit->exit_code, 10);
}

TEST_F(TaskTest, SupervisorOfAnotherBootIsGone) {
  Prepare("*:step_ms=20");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  const std::string path = task_->folders().task + "/task.pb";
  ::ordo::agent::v1::StoredTask stored;
  ASSERT_TRUE(stored.ParseFromString(Text(path)));
  EXPECT_EQ(stored.boot_id(), base::BootId());
  stored.set_boot_id("8d31e5a2-0000-4000-8000-000000000000");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, stored.SerializeAsString()));

  // Its pid and start time are those of a process that runs.
  Task next(options_, files_, *spares_, AttemptKey{"a", 1});
  next.Adopt();
  EXPECT_FALSE(next.SupervisorRuns());
  EXPECT_TRUE(absl::IsNotFound(next.Signal(SIGTERM, absl::ZeroDuration())));
  EXPECT_EQ(next.Stored().train().training().steps(), 20);

  ORDO_ASSERT_OK(task_->Signal(SIGTERM, absl::Seconds(10)));
  ASSERT_TRUE(WaitForEnd());
}

TEST_F(TaskTest, SupervisorIsFoundThoughTheTaskFileIsDamaged) {
  Prepare("*:step_ms=20");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, task_->folders().task + "/task.pb", "\xff"));
  Task next(options_, files_, *spares_, AttemptKey{"a", 1});
  next.Adopt();
  EXPECT_EQ(next.supervisor_pid(), task_->supervisor_pid());
  EXPECT_TRUE(next.SupervisorRuns());
  ORDO_ASSERT_OK(next.Signal(SIGTERM, absl::Seconds(10)));
  ASSERT_TRUE(WaitForEnd());
}

TEST_F(TaskTest, GraceTravelsWithTheSignal) {
  Prepare("*:step_ms=20,ignore_term=1");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  ORDO_ASSERT_OK(task_->Signal(SIGTERM, absl::Milliseconds(10)));
  ASSERT_TRUE(WaitForEnd());
  EXPECT_EQ(task_->Read().facts.exit->signal, SIGKILL);
}

TEST_F(TaskTest, LeftoversOfALostSupervisorAreEnded) {
  Prepare("*:step_ms=20,grandchildren=3");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForRecord());
  ASSERT_EQ(kill(task_->supervisor_pid(), SIGKILL), 0);
  ASSERT_TRUE(WaitForEnd());
  EXPECT_FALSE(task_->SupervisorRuns());
  EXPECT_GE(task_->EndLeftovers(), 3);
  for (int i = 0; i < kDeadlineMs && task_->EndLeftovers() > 0; ++i) {
    poll(nullptr, 0, 1);
  }
  EXPECT_EQ(task_->EndLeftovers(), 0);
}

TEST_F(TaskTest, StorageThatCannotBeWrittenIsNamed) {
  Prepare("");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("storage"), "a file"));
  const absl::Status status = Start();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("storage"));
  EXPECT_EQ(cause_, ObservedAttempt::START_FAILED);
  EXPECT_EQ(task_->supervisor_file(), -1);
}

TEST_F(TaskTest, StateFolderThatCannotBeWrittenIsTheHosts) {
  Prepare("");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("worker"), "a file"));
  EXPECT_THAT(std::string(Start().message()), HasSubstr("`state_folder`"));
  EXPECT_EQ(cause_, ObservedAttempt::HOST_FAILED);
}

TEST_F(TaskTest, FolderOfAnAttemptThatNobodyKnowsIsNotTakenOver) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  // The worker's state is gone, as is the scheduler's.
  ORDO_ASSERT_OK(task_->Remove());
  Prepare("");
  EXPECT_THAT(Start(), StatusIs(absl::StatusCode::kAlreadyExists,
                                HasSubstr(task_->folders().attempt +
                                          " holds an attempt")));
  EXPECT_EQ(cause_, ObservedAttempt::FOLDER_TAKEN);
  EXPECT_EQ(task_->supervisor_file(), -1);
}

TEST_F(TaskTest, ProcessThatOnlySpeaksOfTheTaskIsNotAdopted) {
  Prepare("");
  base::SpawnOptions spawn;
  spawn.argv = {"/bin/sh",           "-c",         "kill -STOP $$",
                options_.supervisor, "--task-dir", task_->folders().task,
                "and more"};
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId other, base::Spawn(spawn));
  for (int i = 0;
       i < kDeadlineMs && base::FindProcesses(task_->folders().task).empty();
       ++i) {
    poll(nullptr, 0, 1);
  }
  task_->Adopt();
  EXPECT_EQ(task_->supervisor_file(), -1);
  ORDO_ASSERT_OK(base::SignalProcess(other, SIGKILL));
  ORDO_EXPECT_OK(base::WaitForExit(other.pid, absl::Seconds(20)));
}

TEST_F(TaskTest, DamagedProgressIsReportedOnce) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  const std::string path = task_->folders().progress;
  std::string bytes = Text(path);
  bytes[bytes.size() / 2] ^= 1;
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, bytes));
  const Task::Update update = task_->Read();
  EXPECT_THAT(update.damage, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(update.complete);
  ORDO_EXPECT_OK(task_->Read().damage);
}

TEST_F(TaskTest, MissingEndOfAFinishedRunIsDamage) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  const std::string path = task_->folders().progress;
  ORDO_ASSERT_OK(files_.Truncate(path, Text(path).size() - 1));
  EXPECT_THAT(task_->Read().damage,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
}

TEST_F(TaskTest, WhatIsMendedBeforeTheEndIsReadOn) {
  Prepare("");
  const std::string path = task_->folders().progress;
  ORDO_ASSERT_OK(files_.MakeFolders(task_->folders().attempt));
  ORDO_ASSERT_OK_AND_ASSIGN(auto writer,
                            base::RecordWriter::Open(files_, path));
  ::ordo::training::v1::ProgressRecord record;
  record.mutable_step()->set_step(1);
  ORDO_ASSERT_OK(writer->Append(record.SerializeAsString()));
  ORDO_ASSERT_OK(writer->Append(record.SerializeAsString()));
  const std::string good = Text(path);
  std::string bad = good;
  bad.back() ^= 1;
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, bad));
  const Task::Update before = task_->Read();
  EXPECT_THAT(before.trouble, StatusIs(absl::StatusCode::kDataLoss));
  ORDO_EXPECT_OK(before.damage);
  EXPECT_FALSE(before.complete);
  EXPECT_EQ(before.records.size(), 1u);

  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, good));

  const Task::Update after = task_->Read();
  EXPECT_TRUE(after.complete);
  EXPECT_EQ(after.records.size(), 1u);
}

TEST_F(TaskTest, JournalThatCannotBeReadIsNotTakenForNone) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  base::testing::FaultyFilesystem faulty(files_);
  faulty.Fail(base::testing::FileOperation::kOpenForRead, "journal", EACCES);
  Task next(options_, faulty, *spares_, AttemptKey{"a", 1});
  const Task::Update before = next.Read({true, false});
  EXPECT_THAT(before.trouble, StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_FALSE(before.journal_read);
  EXPECT_FALSE(before.complete);
  faulty.Heal();
  const Task::Update after = next.Read({true, false});
  EXPECT_TRUE(after.complete);
  EXPECT_TRUE(after.facts.group_empty);
}

TEST_F(TaskTest, UnreadableRecordsAreLostOnlyAfterTheEndAndGivenUp) {
  Prepare("");
  ORDO_ASSERT_OK(Start());
  ASSERT_TRUE(WaitForEnd());
  base::testing::FaultyFilesystem faulty(files_);
  faulty.Fail(base::testing::FileOperation::kOpenForRead, "progress.records",
              EACCES);
  Task running(options_, faulty, *spares_, AttemptKey{"b", 1});
  EXPECT_FALSE(running.Read({false, true}).complete);
  Task next(options_, faulty, *spares_, AttemptKey{"a", 1});
  const Task::Update before = next.Read({true, false});
  EXPECT_FALSE(before.trouble.ok());
  ORDO_EXPECT_OK(before.damage);
  EXPECT_FALSE(before.complete);
  const Task::Update after = next.Read({true, true});
  ORDO_EXPECT_OK(after.trouble);
  EXPECT_THAT(std::string(after.damage.message()),
              HasSubstr(next.folders().progress));
  EXPECT_TRUE(after.complete);
}

TEST_F(TaskTest, SupervisorThatIsMissingIsTheHosts) {
  Prepare("");
  options_.supervisor = folder_.Path("no-such-supervisor");
  EXPECT_THAT(std::string(Start().message()),
              AllOf(HasSubstr("start the supervisor"),
                    HasSubstr("no-such-supervisor")));
  EXPECT_EQ(cause_, ObservedAttempt::HOST_FAILED);
}

TEST_F(TaskTest, DamagedTaskFileStillNamesTheAttempt) {
  Prepare("");
  ORDO_ASSERT_OK(files_.MakeFolders(task_->folders().task));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, task_->folders().task + "/task.pb", "\xff"));
  EXPECT_EQ(task_->Stored().job(), "a");
  EXPECT_EQ(task_->Stored().attempt(), 1);
  EXPECT_FALSE(task_->Stored().has_train());
}

TEST(EnvironmentTest, AddedReplacesOld) {
  EXPECT_THAT(EnvironmentWith({"NAME=old", "NAMES=old"}, {{"NAME", "new"}}),
              ::testing::ElementsAre("NAMES=old", "NAME=new"));
}

}  // namespace
}  // namespace ordo::worker::agent
