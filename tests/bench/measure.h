#ifndef ORDO_TESTS_BENCH_MEASURE_H_
#define ORDO_TESTS_BENCH_MEASURE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/benchmark/measurement.h"

namespace ordo::tests::bench {

using model::benchmark::Measurement;
using model::benchmark::MedianOf;
using model::benchmark::Quantile;
using Params = std::map<std::string, std::string>;

// Median and 99th percentile of each round of a measurement.
struct Latencies {
  std::vector<double> p50;
  std::vector<double> p99;

  void AddRound(const std::vector<double>& times);
  // As "<metric>_p50" and "<metric>_p99".
  void AddTo(Measurement about, std::vector<Measurement>* out) const;
};

// Tells people, on standard error, what the figures do not say.
void Say(std::string_view text);

// How a benchmark is run.
struct BenchmarkOptions {
  // It writes only below this folder, which exists and is empty.
  std::string folder;
  // A few samples of each figure: enough to see that it works, too few to mean
  // anything.
  bool quick = false;

  // How often to do something.
  int Count(int full, int few) const { return quick ? few : full; }
};

// A benchmark: its name, what it measures, and how.
struct Benchmark {
  std::string name;
  std::string text;
  absl::StatusOr<std::vector<Measurement>> (*run)(
      const BenchmarkOptions& options);
  // Its figures depend on the disk.
  bool durable = false;
  // A name for all benchmarks that have the same; empty: none.
  std::string group = {};
};

// All of them.
const std::vector<Benchmark>& Benchmarks();

// Runs one. The figures of a durable one say on what filesystem they were
// taken; FAILED_PRECONDITION when that is memory and they are to mean
// something.
absl::StatusOr<std::vector<Measurement>> RunBenchmark(
    const Benchmark& benchmark, const BenchmarkOptions& options);

absl::StatusOr<std::vector<Measurement>> BenchmarkSubmit(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkTls(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkTokens(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkStart(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkNoop(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkCancel(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkList(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkIdle(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkScrape(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkRestart(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkCore(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkCliStart(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkTrainStep(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkTrainRanks(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkCheckpointStall(
    const BenchmarkOptions& options);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_MEASURE_H_
