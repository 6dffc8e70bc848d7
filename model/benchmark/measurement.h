#ifndef ORDO_MODEL_BENCHMARK_MEASUREMENT_H_
#define ORDO_MODEL_BENCHMARK_MEASUREMENT_H_

#include <map>
#include <string>
#include <vector>

// What benchmarks find, and the one form in which they write it.

namespace ordo::model::benchmark {

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

// The q-quantile of samples, 0 <= q <= 1, on the line between the two samples
// beside it: the median of two is their mean. Samples are not empty.
double Quantile(std::vector<double> samples, double q);

// A measurement whose value is the median of `samples`, with min and max.
Measurement MedianOf(Measurement about, const std::vector<double>& samples);

// One JSON object on one line.
std::string ToJson(const Measurement& measurement);

// A table for people, a line per measurement.
std::string ToTable(const std::vector<Measurement>& measurements);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_MEASUREMENT_H_
