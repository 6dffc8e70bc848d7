#include "tests/bench/measure.h"

#include <cstdio>

#include "base/status/status.h"
#include "tests/bench/system.h"

namespace ordo::tests::bench {
namespace {

constexpr char kControl[] = "control";

}  // namespace

void Latencies::AddRound(const std::vector<double>& times) {
  p50.push_back(Quantile(times, 0.5));
  p99.push_back(Quantile(times, 0.99));
}

void Latencies::AddTo(Measurement about, std::vector<Measurement>* out) const {
  const std::string metric = about.metric;
  about.metric = metric + "_p50";
  out->push_back(MedianOf(about, p50));
  about.metric = metric + "_p99";
  out->push_back(MedianOf(about, p99));
}

void Say(std::string_view text) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(text.size()),
               text.data());
}

const std::vector<Benchmark>& Benchmarks() {
  static const auto& benchmarks = *new std::vector<Benchmark>{
      {"submit", "durable acknowledgement of CreateJob and BatchCreateJobs",
       BenchmarkSubmit, /*durable=*/true, kControl},
      {"start", "queued to trainer process started, on a free worker",
       BenchmarkStart, /*durable=*/true, kControl},
      {"noop", "jobs that do nothing, end to end, beside Slurm's if it is here",
       BenchmarkNoop, /*durable=*/true, kControl},
      {"cancel", "cancel to process gone, and to device free", BenchmarkCancel,
       /*durable=*/true, kControl},
      {"restart", "scheduler kill -9 to serving, 100 000 jobs in the store",
       BenchmarkRestart, /*durable=*/true, kControl},
      {"list", "pages of 100 000 jobs while others are submitted",
       BenchmarkList, /*durable=*/true, kControl},
      {"idle", "processor time of a scheduler that has nothing to do",
       BenchmarkIdle, /*durable=*/true, kControl},
      {"scrape", "the metrics page, 10 000 jobs and 200 workers",
       BenchmarkScrape, /*durable=*/false, kControl},
      {"core", "decisions of the scheduler's core, and bytes of a queued job",
       BenchmarkCore, /*durable=*/false, kControl},
      {"tls", "submit with mutual TLS and without, turn by turn", BenchmarkTls,
       /*durable=*/true},
      {"tokens", "check of a token among 10 000", BenchmarkTokens},
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
