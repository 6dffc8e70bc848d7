#ifndef ORDO_MODEL_BENCHMARK_ATTENTION_RESULTS_H_
#define ORDO_MODEL_BENCHMARK_ATTENTION_RESULTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/common/type.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/measurement.h"

// What is found of attention: as lines and as tables for people.

namespace ordo::model::benchmark {

// What the machine can do, as LibTorch's own operations do it.
struct MachineRates {
  // Of a product of square matrices.
  double gemm_flop_per_s = 0;
  // Read and written by a copy.
  double copy_bytes_per_s = 0;
};

// What ran: the row that Select takes, another one, or LibTorch.
enum class Runner { kSelected, kOther, kFlash, kMaterialised };

// A class at a shape, run by one runner. Samples are in the order of rounds.
struct AttentionRow {
  std::string encoding;
  std::string kernel;
  Runner runner = Runner::kOther;
  AttentionShape shape;
  // Whether it ran; without it "both passes" are the forward pass.
  bool has_backward = true;
  std::vector<double> forward_s;
  // Both passes.
  std::vector<double> total_s;
  // To flash attention in the same round.
  std::vector<double> forward_ratio;
  std::vector<double> total_ratio;
  int64_t peak_bytes = 0;
  Work flop;
  Work bytes;
};

struct AttentionResults {
  // Timed.
  std::vector<AttentionRow> rows;
  // Memory only.
  std::vector<AttentionRow> memory;
  // Classes that no kernel takes, and why not.
  std::map<std::string, std::string> refused;
  std::map<kernels::Type, MachineRates> machine;
  int threads = 0;
  kernels::Device device = kernels::Device::kCpu;
  // As AttentionOptions.
  int gpu = 0;
};

// Lines of the form of all benchmarks; docs/kernels.md defines the metrics.
std::vector<Measurement> MeasurementsOf(const AttentionResults& results);

// The times of a class and a type, at most 120 characters wide: each row's
// medians, and below them from where to where samples are; an asterisk marks
// the row that Select takes.
std::string TimesTable(const AttentionClass& about, kernels::Type type,
                       const AttentionResults& results);

// What the machine can do, what is not measured, and what the columns of tables
// are.
std::string HeadText(const AttentionResults& results);

// Peak memory over lengths, and the exponent that it grows with.
std::string MemoryTable(const AttentionResults& results);

// The e of N^e by which memory grows from the second longest to the longest of
// a class' rows by one kernel, given from short to long, at least two.
double MemoryExponent(const std::vector<const AttentionRow*>& rows);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_ATTENTION_RESULTS_H_
