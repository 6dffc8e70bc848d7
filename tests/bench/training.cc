#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "base/records/records.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "tests/bench/measure.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using training::v1::ProgressRecord;
using training::v1::TrainSpec;

constexpr int kRounds = 5;
constexpr int kStepsOfARound = 60;
constexpr int kLogEverySteps = 10;
constexpr int kStallSteps = 150;

TrainSpec TinySpec(const std::string& encoding, int steps,
                   int checkpoint_steps) {
  TrainSpec spec;
  spec.set_job("bench");
  spec.set_attempt(1);
  spec.mutable_model()->set_preset("tiny");
  spec.mutable_encoding()->set_name(encoding);
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(steps);
  spec.mutable_training()->set_batch_size(64);
  spec.mutable_training()->set_log_every_steps(kLogEverySteps);
  spec.mutable_checkpoint()->set_every_steps(checkpoint_steps);
  return spec;
}

// Starts a rank of the task in `file`.
absl::StatusOr<base::ProcessId> StartRank(const std::string& file, int rank,
                                          const std::string& folder) {
  base::SpawnOptions spawn;
  spawn.argv = {harness::Program("ordo-trainer"),
                "train",
                file,
                "--out",
                folder + "/job",
                "--rank",
                absl::StrCat(rank)};
  spawn.stdout_file = folder + "/log";
  spawn.stderr_file = folder + "/log";
  return base::Spawn(spawn);
}

// Trains, with nobody else, and gives back what rank 0 recorded.
absl::StatusOr<std::vector<ProgressRecord>> Train(const TrainSpec& spec,
                                                  const std::string& folder) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  const std::string file = folder + "/task.json";
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, file, base::WriteMessage(spec, base::TextForm::kJson)));
  std::vector<base::ProcessId> children;
  for (int rank = 0; rank < std::max(spec.resources().ranks(), 1); ++rank) {
    ORDO_ASSIGN_OR_RETURN(children.emplace_back(),
                          StartRank(file, rank, folder));
  }
  for (const base::ProcessId& child : children) {
    ORDO_ASSIGN_OR_RETURN(const base::ExitStatus status,
                          base::WaitForExit(child.pid, absl::Minutes(10)));
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat(
          "ordo-trainer: ", status.ToString(), "\n",
          base::ReadFile(files, folder + "/log", 1 << 20).value_or("")));
    }
  }
  std::vector<ProgressRecord> records;
  base::RecordReader reader(files, folder + "/job/attempts/1/progress.records");
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const auto payload, reader.Next());
    if (!payload.has_value()) return records;
    records.emplace_back();
    if (!records.back().ParseFromString(*payload)) {
      return absl::DataLossError("a progress record cannot be parsed");
    }
  }
}

// Median seconds per step, the first interval left out: it warms up.
double MedianStepSeconds(const std::vector<ProgressRecord>& records) {
  std::vector<double> seconds;
  for (const ProgressRecord& record : records) {
    if (record.has_step() && record.step().step() > kLogEverySteps) {
      seconds.push_back(record.step().step_seconds());
    }
  }
  return Quantile(seconds, 0.5);
}

// Seconds from the end of the first interval, which warms up, to the last step.
double TrainingSeconds(const std::vector<ProgressRecord>& records) {
  std::optional<double> first;
  double last = 0;
  for (const ProgressRecord& record : records) {
    if (!record.has_step() || record.step().step() < kLogEverySteps) continue;
    last = static_cast<double>(record.time().seconds()) +
           1e-9 * record.time().nanos();
    if (!first) first = last;
  }
  return last - *first;
}

// What checkpoints cost a run, next to one without any. The stall is the time
// in which training stands still for one: its copy and the wait for the write
// before it. The write itself goes on beside training and slows it; that shows
// only in the whole time.
struct CheckpointCosts {
  // A sample for each checkpoint.
  std::vector<double> stall_ms;
  std::vector<double> stall_of_a_step;
  std::vector<double> write_ms;
  // A sample for each round.
  std::vector<double> stall_of_training;
  std::vector<double> time_ratio;

  void AddRound(const std::vector<ProgressRecord>& without,
                const std::vector<ProgressRecord>& with) {
    const double step = MedianStepSeconds(without);
    double stalled = 0;
    for (const ProgressRecord& record : with) {
      if (!record.has_checkpoint()) continue;
      // That of the last step is not part of the time.
      if (record.checkpoint().step() == with.back().finished().step()) continue;
      const double stall = record.checkpoint().stall_seconds();
      stalled += stall;
      stall_ms.push_back(1000 * stall);
      stall_of_a_step.push_back(100 * stall / step);
      write_ms.push_back(1000 * record.checkpoint().write_seconds());
    }
    stall_of_training.push_back(100 * stalled / TrainingSeconds(with));
    time_ratio.push_back(TrainingSeconds(with) / TrainingSeconds(without));
  }
};

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkTrainStep(
    const BenchmarkOptions& options) {
  const int steps = options.Count(kStepsOfARound, 2 * kLogEverySteps);
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, std::vector<double>> ratios;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    for (const char* encoding : {"rope", "none", "tape"}) {
      ORDO_ASSIGN_OR_RETURN(
          const auto records,
          Train(TinySpec(encoding, steps, steps),
                absl::StrCat(options.folder, "/", encoding, "-", round)));
      seconds[encoding].push_back(MedianStepSeconds(records));
      ratios[encoding].push_back(seconds[encoding].back() /
                                 seconds["rope"].back());
    }
  }
  std::vector<Measurement> out;
  for (const auto& [encoding, samples] : seconds) {
    out.push_back(MedianOf({"train_step",
                            "seconds_per_step",
                            0,
                            "s",
                            {{"encoding", encoding}, {"batch", "64"}},
                            "",
                            0,
                            0},
                           samples));
  }
  for (const char* encoding : {"none", "tape"}) {
    out.push_back(MedianOf({"train_step",
                            "ratio",
                            0,
                            "1",
                            {{"encoding", encoding}, {"batch", "64"}},
                            "rope",
                            0,
                            0},
                           ratios[encoding]));
  }
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkTrainRanks(
    const BenchmarkOptions& options) {
  // A core each, in one process and in two.
  constexpr int kCores = 2;
  const int steps = options.Count(kStepsOfARound, 2 * kLogEverySteps);
  std::map<int, std::vector<double>> seconds;
  std::vector<double> ratios;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    for (const int ranks : {1, kCores}) {
      TrainSpec spec = TinySpec("rope", steps, steps);
      spec.mutable_resources()->set_ranks(ranks);
      spec.mutable_resources()->set_threads(kCores / ranks);
      ORDO_ASSIGN_OR_RETURN(
          const auto records,
          Train(spec, absl::StrCat(options.folder, "/", ranks, "-", round)));
      seconds[ranks].push_back(MedianStepSeconds(records));
    }
    ratios.push_back(seconds[kCores].back() / seconds[1].back());
  }
  std::vector<Measurement> out;
  const auto add = [&](const std::string& metric, const std::string& unit,
                       int ranks, const std::vector<double>& samples) {
    out.push_back(MedianOf({"train_ranks",
                            metric,
                            0,
                            unit,
                            {{"ranks", absl::StrCat(ranks)},
                             {"threads", absl::StrCat(kCores / ranks)},
                             {"batch", "64"}},
                            metric == "ratio" ? "one_rank" : "",
                            0,
                            0},
                           samples));
  };
  for (const auto& [ranks, samples] : seconds) {
    add("seconds_per_step", "s", ranks, samples);
  }
  add("ratio", "1", kCores, ratios);
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkCheckpointStall(
    const BenchmarkOptions& options) {
  const int steps = options.Count(kStallSteps, 3 * kLogEverySteps);
  // The last step is always checkpointed, after the time that counts.
  const std::vector<int> intervals = {10, options.Count(50, 20)};
  std::map<int, CheckpointCosts> costs;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    const auto train = [&](int every) {
      return Train(TinySpec("rope", steps, every),
                   absl::StrCat(options.folder, "/", every, "-", round));
    };
    ORDO_ASSIGN_OR_RETURN(const auto without, train(steps));
    for (const int every : intervals) {
      ORDO_ASSIGN_OR_RETURN(const auto with, train(every));
      costs[every].AddRound(without, with);
    }
  }
  std::vector<Measurement> out;
  for (const auto& [every, cost] : costs) {
    const auto add = [&, every = every](const std::string& metric,
                                        const std::string& unit,
                                        const std::string& reference,
                                        const std::vector<double>& samples) {
      out.push_back(MedianOf(
          {"checkpoint_stall",
           metric,
           0,
           unit,
           {{"every_steps", absl::StrCat(every)}, {"encoding", "rope"}},
           reference,
           0,
           0},
          samples));
    };
    add("stall", "ms", "", cost.stall_ms);
    add("stall_of_a_step", "%", "step_time", cost.stall_of_a_step);
    add("stall_of_training", "%", "training_time", cost.stall_of_training);
    add("training_time", "1", "no_checkpoints", cost.time_ratio);
    add("write_time", "ms", "", cost.write_ms);
  }
  return out;
}

}  // namespace ordo::tests::bench
