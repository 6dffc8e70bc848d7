#include <map>
#include <numeric>
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
constexpr int kStallSteps = 200;

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

// Trains alone and gives back what the trainer recorded.
absl::StatusOr<std::vector<ProgressRecord>> Train(const TrainSpec& spec,
                                                  const std::string& folder) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  const std::string file = folder + "/task.json";
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, file, base::WriteMessage(spec, base::TextForm::kJson)));
  base::SpawnOptions spawn;
  spawn.argv = {harness::Program("ordo-trainer"), "train", file, "--out",
                folder + "/job"};
  spawn.stdout_file = folder + "/log";
  spawn.stderr_file = folder + "/log";
  ORDO_ASSIGN_OR_RETURN(const base::ProcessId child, base::Spawn(spawn));
  ORDO_ASSIGN_OR_RETURN(const base::ExitStatus status,
                        base::WaitForExit(child.pid, absl::Minutes(10)));
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat(
        "ordo-trainer: ", status.ToString(), "\n",
        base::ReadFile(files, folder + "/log", 1 << 20).value_or("")));
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

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkTrainStep(
    const std::string& folder) {
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, std::vector<double>> ratios;
  for (int round = 0; round < kRounds; ++round) {
    for (const char* encoding : {"rope", "none", "tape"}) {
      ORDO_ASSIGN_OR_RETURN(
          const auto records,
          Train(TinySpec(encoding, kStepsOfARound, kStepsOfARound),
                absl::StrCat(folder, "/", encoding, "-", round)));
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

absl::StatusOr<std::vector<Measurement>> BenchmarkCheckpointStall(
    const std::string& folder) {
  std::vector<Measurement> out;
  for (const int every : {10, 50}) {
    ORDO_ASSIGN_OR_RETURN(const auto records,
                          Train(TinySpec("rope", kStallSteps, every),
                                absl::StrCat(folder, "/every-", every)));
    std::vector<double> stalls;
    std::vector<double> writes;
    for (const ProgressRecord& record : records) {
      if (!record.has_checkpoint()) continue;
      stalls.push_back(record.checkpoint().stall_seconds());
      writes.push_back(record.checkpoint().write_seconds());
    }
    if (stalls.empty()) return absl::InternalError("no checkpoint written");
    const std::map<std::string, std::string> params = {
        {"every_steps", absl::StrCat(every)}, {"encoding", "rope"}};
    const double step = MedianStepSeconds(records);
    for (double& stall : stalls) stall *= 100 / (every * step);
    for (double& write : writes) write *= 1000;
    out.push_back(MedianOf(
        {"checkpoint_stall", "share_of_step_time", 0, "%", params, "", 0, 0},
        stalls));
    out.push_back(MedianOf(
        {"checkpoint_stall", "write_time", 0, "ms", params, "", 0, 0}, writes));
  }
  return out;
}

}  // namespace ordo::tests::bench
