#include "tests/bench/measure.h"

#include "base/status/status.h"
#include "tests/bench/system.h"

namespace ordo::tests::bench {

const std::vector<Benchmark>& Benchmarks() {
  static const auto& benchmarks = *new std::vector<Benchmark>{
      {"submit", "durable acknowledgement of CreateJob and BatchCreateJobs",
       BenchmarkSubmit, /*durable=*/true},
      {"dispatch", "queued to trainer started, on a free worker",
       BenchmarkDispatch, /*durable=*/true},
      {"restart", "scheduler kill -9 to serving, 10 000 jobs in the store",
       BenchmarkRestart, /*durable=*/true},
      {"core", "placements of the scheduler's core, and bytes of a queued job",
       BenchmarkCore},
      {"cli_start", "start of the command line", BenchmarkCliStart},
      {"train_step", "training step of the tiny model, by encoding",
       BenchmarkTrainStep},
      {"train_ranks", "the same on two ranks of a thread, beside one of two",
       BenchmarkTrainRanks},
      {"checkpoint_stall", "what checkpoints cost training",
       BenchmarkCheckpointStall, /*durable=*/true},
  };
  return benchmarks;
}

absl::StatusOr<std::vector<Measurement>> RunBenchmark(
    const Benchmark& benchmark, const BenchmarkOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const std::string filesystem,
                        FilesystemOf(options.folder));
  if (benchmark.durable && !options.quick) {
    ORDO_RETURN_IF_ERROR(CheckDurable(options.folder, filesystem));
  }
  ORDO_ASSIGN_OR_RETURN(auto measured, benchmark.run(options));
  for (Measurement& measurement : measured) {
    if (benchmark.durable) measurement.params["filesystem"] = filesystem;
    if (options.quick) measurement.params["quick"] = "true";
  }
  return measured;
}

}  // namespace ordo::tests::bench
