// Several ranks of the real program, on loopback.

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/safetensors.h"
#include "model/training/testing/tiny_spec.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::ReadSafetensors;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ProgressRecord;
using ::ordo::training::v1::TrainSpec;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr absl::Duration kDeadline = absl::Minutes(5);
// What others of a gang may take to end when one has (architecture.md).
constexpr absl::Duration kEndOfOthers = absl::Seconds(5);

class RanksTest : public ::testing::Test {
 protected:
  // A task that any of 1, 2 and 4 ranks can do without changing its recipe.
  static TrainSpec Spec(int ranks) {
    TrainSpec spec = TinySpec("rope");
    spec.mutable_training()->set_micro_batch_size(2);
    spec.mutable_resources()->set_ranks(ranks);
    spec.mutable_resources()->set_threads(1);
    return spec;
  }

  std::string WriteTask(const TrainSpec& spec, const std::string& name) {
    const std::string path = folder_.Path(name);
    ORDO_EXPECT_OK(base::AtomicWrite(
        files_, path, base::WriteMessage(spec, base::TextForm::kJson)));
    return path;
  }

  base::ProcessId StartRank(const std::string& task, const std::string& out,
                            int rank) {
    base::SpawnOptions options;
    options.argv = {
        "./ordo-trainer",  "train",    task,     "--out",
        folder_.Path(out), "--resume", "--rank", std::to_string(rank)};
    options.stderr_file = ErrorsOf(out, rank);
    options.stdout_file = options.stderr_file;
    const auto process = base::Spawn(options);
    ORDO_EXPECT_OK(process);
    return *process;
  }

  std::vector<base::ProcessId> Start(const TrainSpec& spec,
                                     const std::string& out) {
    const std::string task = WriteTask(spec, out + ".json");
    std::vector<base::ProcessId> processes;
    // The last first: rank 0 need not be there before the others.
    for (int rank = spec.resources().ranks() - 1; rank >= 0; --rank) {
      processes.push_back(StartRank(task, out, rank));
    }
    return {processes.rbegin(), processes.rend()};
  }

  std::vector<int> Wait(const std::vector<base::ProcessId>& processes,
                        absl::Duration timeout = kDeadline) {
    std::vector<int> codes;
    for (const base::ProcessId& process : processes) {
      const auto status = base::WaitForExit(process.pid, timeout);
      ORDO_EXPECT_OK(status);
      if (!status.ok()) {
        base::SignalProcess(process, SIGKILL).IgnoreError();
        base::WaitForExit(process.pid, kDeadline).IgnoreError();
      }
      codes.push_back(!status.ok()         ? -1
                      : status->signal > 0 ? 128 + status->signal
                                           : status->exit_code);
    }
    return codes;
  }

  void RunToEnd(const TrainSpec& spec, const std::string& out) {
    EXPECT_THAT(Wait(Start(spec, out)), Each(ordo::training::v1::FINISHED))
        << Errors(out, 0) << Errors(out, 1);
  }

  std::string ErrorsOf(const std::string& out, int rank) {
    return folder_.Path(absl::StrCat(out, "-", rank, ".err"));
  }
  std::string Errors(const std::string& out, int rank) {
    return base::ReadFile(files_, ErrorsOf(out, rank), 1 << 20).value();
  }

  std::string RecordsPath(const std::string& out, int rank) {
    const std::string suffix = rank == 0 ? "" : absl::StrCat("-", rank);
    return folder_.Path(
        absl::StrCat(out, "/attempts/1/progress", suffix, ".records"));
  }

  std::vector<ProgressRecord> Records(const std::string& out, int rank) {
    base::RecordReader reader(files_, RecordsPath(out, rank));
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      ORDO_EXPECT_OK(payload);
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  // The last record of that kind which a rank wrote.
  ordo::training::v1::TrainerFinished Finished(const std::string& out,
                                               int rank) {
    return Records(out, rank).back().finished();
  }
  ordo::training::v1::TrainerStarted Started(const std::string& out, int rank) {
    ordo::training::v1::TrainerStarted started;
    for (const ProgressRecord& record : Records(out, rank)) {
      if (record.has_started()) started = record.started();
    }
    return started;
  }
  std::map<int64_t, double> Losses(const std::string& out, int rank) {
    std::map<int64_t, double> losses;
    for (const ProgressRecord& record : Records(out, rank)) {
      if (!record.has_step()) continue;
      losses[record.step().step()] = record.step().loss();
    }
    return losses;
  }

  // Waits until a rank has told of this step, or ended.
  void AwaitStep(const std::string& out, const base::ProcessId& process,
                 int rank, int64_t step) {
    base::RecordReader reader(files_, RecordsPath(out, rank));
    const absl::Time deadline = absl::Now() + kDeadline;
    while (absl::Now() < deadline) {
      const bool running = base::IsRunning(process);
      const auto payload = reader.Next();
      ProgressRecord record;
      if (payload.ok() && payload->has_value()) {
        EXPECT_TRUE(record.ParseFromString(**payload));
        if (record.step().step() >= step) return;
      } else if (!running) {
        break;
      }
    }
    ADD_FAILURE() << "rank " << rank << " did not come to step " << step << ": "
                  << Errors(out, rank);
  }

  std::string ModelDigest(const std::string& out, const std::string& id) {
    return base::Sha256HexOfFile(
               files_,
               folder_.Path(out + "/checkpoints/" + id + "/model.safetensors"))
        .value();
  }

  at::Tensor Model(const std::string& out, const std::string& id) {
    const auto tensors = ReadSafetensors(
        files_,
        folder_.Path(out + "/checkpoints/" + id + "/model.safetensors"));
    ORDO_EXPECT_OK(tensors);
    std::vector<at::Tensor> all;
    for (const auto& [name, tensor] : *tensors) {
      all.push_back(tensor.flatten().to(at::kDouble));
    }
    return at::cat(all);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

class Several : public RanksTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Several, ::testing::Values(2, 4));

// Losses and parameters as in model/training/ranks_test.cc.
TEST_P(Several, TrainWhatOneRankTrains) {
  RunToEnd(Spec(1), "one");
  RunToEnd(Spec(GetParam()), "several");
  for (int rank = 0; rank < GetParam(); ++rank) {
    const auto expected = Losses("one", 0);
    const auto losses = Losses("several", rank);
    ASSERT_EQ(losses.size(), 20u);
    for (const auto& [step, loss] : losses) {
      EXPECT_NEAR(loss, expected.at(step), 1e-5) << step;
    }
    EXPECT_EQ(Finished("several", rank).state_digest(),
              Finished("several", 0).state_digest());
  }
  const at::Tensor expected = Model("one", "20-1");
  EXPECT_LT((Model("several", "20-1") - expected).norm().item<double>(),
            1e-4 * expected.norm().item<double>());
}

TEST_P(Several, GiveTheSameBitsAgain) {
  RunToEnd(Spec(GetParam()), "first");
  RunToEnd(Spec(GetParam()), "second");
  EXPECT_EQ(ModelDigest("first", "20-1"), ModelDigest("second", "20-1"));
  EXPECT_TRUE(Started("first", 0).exact());
}

TEST_P(Several, StopAllAfterTheSameStepWhicheverIsAsked) {
  TrainSpec spec = Spec(GetParam());
  spec.clear_evaluations();
  spec.mutable_training()->set_steps(1'000'000);
  for (const int asked : {0, GetParam() - 1}) {
    const std::string out = absl::StrCat("stopped-", asked);
    const auto processes = Start(spec, out);
    AwaitStep(out, processes[asked], asked, 3);
    ORDO_ASSERT_OK(base::SignalProcess(processes[asked], SIGTERM));
    EXPECT_THAT(Wait(processes), Each(ordo::training::v1::STOPPED));
    const int64_t step = Finished(out, 0).step();
    for (int rank = 0; rank < GetParam(); ++rank) {
      EXPECT_EQ(Finished(out, rank).step(), step);
      EXPECT_EQ(Finished(out, rank).state_digest(),
                Finished(out, 0).state_digest());
    }
    EXPECT_TRUE(base::Exists(
        files_, folder_.Path(absl::StrCat(out, "/checkpoints/", step, "-1"))));
  }
}

TEST_P(Several, EndWhenOneIsKilledAndGoOnExactly) {
  TrainSpec spec = Spec(GetParam());
  spec.clear_evaluations();
  spec.mutable_checkpoint()->set_every_steps(1);
  // Steps long enough to be killed in, and enough of them.
  spec.mutable_training()->set_steps(40);
  spec.mutable_training()->set_batch_size(1024);
  spec.mutable_training()->set_micro_batch_size(256);
  RunToEnd(spec, "whole");
  // The one that the others listen to, and one that none does.
  for (const int killed : {0, GetParam() - 1}) {
    const std::string out = absl::StrCat("killed-", killed);
    auto processes = Start(spec, out);
    AwaitStep(out, processes[killed], killed, 5);
    ORDO_ASSERT_OK(base::SignalProcess(processes[killed], SIGKILL));
    EXPECT_THAT(Wait({processes[killed]}), Each(128 + SIGKILL));
    processes.erase(processes.begin() + killed);
    EXPECT_THAT(Wait(processes, kEndOfOthers),
                Each(ordo::training::v1::PEER_LOST));
    RunToEnd(spec, out);
    EXPECT_TRUE(Started(out, 0).exact());
    EXPECT_GT(Started(out, 0).start_step(), 0);
    EXPECT_EQ(ModelDigest(out, "40-1"), ModelDigest("whole", "40-1"));
  }
}

TEST_F(RanksTest, OnlyRank0WritesBesideItsProgress) {
  RunToEnd(Spec(2), "a");
  EXPECT_THAT(files_.List(folder_.Path("a/attempts/1")),
              base::testing::IsOkAndHolds(::testing::ElementsAre(
                  ::testing::StartsWith("events.out.tfevents."), "initial.json",
                  "metrics.jsonl", "progress-1.records", "progress.records")));
  EXPECT_TRUE(
      base::Exists(files_, folder_.Path("a/results/addition_grid-20-1")));
  for (const ProgressRecord& record : Records("a", 1)) {
    EXPECT_FALSE(record.has_checkpoint() || record.has_report());
  }
  const std::string metrics =
      base::ReadFile(files_, folder_.Path("a/attempts/1/metrics.jsonl"),
                     1 << 20)
          .value();
  // Twenty steps and a report.
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 21);
}

TEST_F(RanksTest, EvaluationsBetweenStepsLeaveTheRanksTogether) {
  TrainSpec spec = Spec(2);
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(7);
  RunToEnd(spec, "a");
  spec.clear_evaluations();
  RunToEnd(spec, "b");
  EXPECT_EQ(ModelDigest("a", "20-1"), ModelDigest("b", "20-1"));
  for (const int step : {7, 14, 20}) {
    EXPECT_TRUE(base::Exists(
        files_,
        folder_.Path(absl::StrCat("a/results/addition_grid-", step, "-1"))));
  }
}

TEST_F(RanksTest, ResumeWithAnotherNumberIsAllowedAndNotExact) {
  TrainSpec spec = Spec(4);
  spec.clear_evaluations();
  spec.mutable_training()->set_steps(60);
  spec.mutable_training()->set_batch_size(1024);
  spec.mutable_training()->set_micro_batch_size(256);
  const auto processes = Start(spec, "a");
  AwaitStep("a", processes[0], 0, 6);
  ORDO_ASSERT_OK(base::SignalProcess(processes[0], SIGTERM));
  EXPECT_THAT(Wait(processes), Each(ordo::training::v1::STOPPED));
  spec.mutable_resources()->set_ranks(2);
  RunToEnd(spec, "a");
  const auto started = Started("a", 0);
  EXPECT_GT(started.start_step(), 0);
  EXPECT_FALSE(started.exact());
  ASSERT_GT(started.warnings_size(), 0);
  EXPECT_THAT(started.warnings(0),
              HasSubstr("the number of ranks was 4 and is 2"));
}

TEST_F(RanksTest, RefuseATaskOfAnotherRecipe) {
  TrainSpec spec = Spec(2);
  const std::string task = WriteTask(spec, "task.json");
  spec.mutable_training()->set_learning_rate(1e-5);
  const std::string other = WriteTask(spec, "other.json");
  EXPECT_THAT(Wait({StartRank(task, "a", 0), StartRank(other, "a", 1)}),
              Each(ordo::training::v1::BAD_SPEC));
  for (const int rank : {0, 1}) {
    EXPECT_THAT(Errors("a", rank),
                HasSubstr("training.learning_rate was 0.003 and is 1e-05"));
  }
}

TEST_F(RanksTest, AnErrorOfRank0WhileTheyWaitIsThatOfAll) {
  TrainSpec spec = Spec(2);
  spec.mutable_start()->set_path(folder_.Path("nothing"));
  EXPECT_THAT(Wait(Start(spec, "a")),
              Each(ordo::training::v1::CHECKPOINT_DAMAGED));
  EXPECT_THAT(Errors("a", 1), HasSubstr("rank 0: start from checkpoint"));
}

TEST_F(RanksTest, ComputingUnlikeEachOtherIsNotExact) {
  TrainSpec spec = Spec(2);
  const std::string task = WriteTask(spec, "task.json");
  spec.mutable_resources()->set_threads(2);
  const std::string other = WriteTask(spec, "other.json");
  EXPECT_THAT(Wait({StartRank(task, "a", 0), StartRank(other, "a", 1)}),
              Each(ordo::training::v1::FINISHED));
  EXPECT_FALSE(Started("a", 0).exact());
  EXPECT_THAT(Started("a", 0).warnings(0),
              HasSubstr("the number of threads was 1 and is 2 on rank 1"));
}

}  // namespace
}  // namespace ordo::worker::trainer
