#ifndef ORDO_TESTS_BENCH_MEASURE_H_
#define ORDO_TESTS_BENCH_MEASURE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ordo::tests::bench {

// One figure. `value` is the median of its samples.
struct Measurement {
  std::string benchmark;
  std::string metric;
  double value = 0;
  std::string unit;
  std::map<std::string, std::string> params;
  // For a ratio: what it is a ratio to. Empty otherwise.
  std::string reference;
  // Over the samples behind `value`.
  double min = 0;
  double max = 0;
};

// The q-quantile of samples, 0 <= q <= 1, by the nearest rank. Samples are not
// empty.
double Quantile(std::vector<double> samples, double q);

// A measurement whose value is the median of `samples`, with min and max.
Measurement MedianOf(Measurement about, const std::vector<double>& samples);

// One JSON object on one line.
std::string ToJson(const Measurement& measurement);

// A table for people, a line per measurement.
std::string ToTable(const std::vector<Measurement>& measurements);

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
absl::StatusOr<std::vector<Measurement>> BenchmarkCliStart(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkTrainStep(
    const BenchmarkOptions& options);
absl::StatusOr<std::vector<Measurement>> BenchmarkCheckpointStall(
    const BenchmarkOptions& options);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_MEASURE_H_
