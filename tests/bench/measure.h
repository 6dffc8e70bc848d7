#ifndef ORDO_TESTS_BENCH_MEASURE_H_
#define ORDO_TESTS_BENCH_MEASURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/benchmark/measurement.h"

namespace ordo::tests::bench {

using model::benchmark::Measurement;
using model::benchmark::MedianOf;
using model::benchmark::Quantile;

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
absl::StatusOr<std::vector<Measurement>> BenchmarkDispatch(
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
