#ifndef ORDO_TESTS_BENCH_MEASURE_H_
#define ORDO_TESTS_BENCH_MEASURE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ordo::tests::bench {

// One figure. `value` is the median where there are several samples.
struct Measurement {
  std::string benchmark;
  std::string metric;
  double value = 0;
  std::string unit;
  std::map<std::string, std::string> params;
  // For a ratio: what it is a ratio to. Empty otherwise.
  std::string reference;
  // Over the samples behind `value`, for comparisons; equal to it otherwise.
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

// A benchmark: its name, what it measures, and how. It writes only below the
// folder that it is given.
struct Benchmark {
  std::string name;
  std::string text;
  absl::StatusOr<std::vector<Measurement>> (*run)(const std::string& folder);
};

// All of them.
const std::vector<Benchmark>& Benchmarks();

absl::StatusOr<std::vector<Measurement>> BenchmarkSubmit(
    const std::string& folder);
absl::StatusOr<std::vector<Measurement>> BenchmarkDispatch(
    const std::string& folder);
absl::StatusOr<std::vector<Measurement>> BenchmarkRestart(
    const std::string& folder);
absl::StatusOr<std::vector<Measurement>> BenchmarkCliStart(
    const std::string& folder);
absl::StatusOr<std::vector<Measurement>> BenchmarkTrainStep(
    const std::string& folder);
absl::StatusOr<std::vector<Measurement>> BenchmarkCheckpointStall(
    const std::string& folder);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_MEASURE_H_
