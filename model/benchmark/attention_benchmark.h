#ifndef ORDO_MODEL_BENCHMARK_ATTENTION_BENCHMARK_H_
#define ORDO_MODEL_BENCHMARK_ATTENTION_BENCHMARK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/attention/table.h"
#include "kernels/common/type.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/attention_results.h"

// Time and memory of the table's kernels for each class of encodings, beside
// LibTorch's flash attention, which runs in turn with them.

namespace ordo::model::benchmark {

// B=2, H=12, d=64 with N=256..4096 on a CPU; on a GPU B N = 32768, H=12, d=64
// and B N = 16384, H=32, d=128 with N=512..16384.
std::vector<AttentionShape> StandardShapes(kernels::Device device);

struct AttentionOptions {
  // Where it runs; a GPU has been opened.
  kernels::Device device = kernels::Device::kCpu;
  // Its number outside this process, for what is written.
  int gpu = 0;
  std::vector<AttentionClass> classes = AttentionClasses();
  std::vector<kernels::Type> types = {kernels::Type::kFloat32,
                                      kernels::Type::kBfloat16};
  // Type and device of these are not read.
  std::vector<AttentionShape> shapes = StandardShapes(kernels::Device::kCpu);
  // Whether backward passes run too.
  bool backward = true;
  // Rows that Select does not take are slower; longer ones would take most of
  // the time.
  int64_t other_rows_up_to = 512;
  // Maps of weights take memory, and most of the time.
  int64_t materialised_up_to = 2048;
  // For four maps of fp32, which are what it keeps at a time.
  double materialised_bytes = 2.0 * (1 << 30);
  // Each shape is measured this often, and then until it has taken
  // `seconds_of_shape` or been measured `max_rounds` times.
  int min_rounds = 3;
  int max_rounds = 15;
  double seconds_of_shape = 1.5;
  // Of all shapes together. Those that would take more than their share are
  // measured less often, once at least.
  double seconds_of_all = 540;
  // Peak memory is measured up to lengths where a map of weights of all heads
  // would not fit: with one row and these heads.
  std::vector<int64_t> memory_lengths = {1024, 2048, 4096, 8192, 16384};
  int64_t memory_heads = 2;
  int64_t materialised_memory_up_to = 4096;
  // Of the machine's rates.
  int64_t gemm_side = 2048;
  int64_t copied_bytes = int64_t{256} << 20;

  // The table, and what takes a problem.
  std::vector<kernels::attention::Kernel> kernels =
      kernels::attention::Kernels();
  std::function<absl::StatusOr<const kernels::attention::Kernel*>(
      const kernels::attention::Problem&)>
      select = [](const kernels::attention::Problem& problem) {
        return kernels::attention::Select(problem, "");
      };

  // Asked after each run of each kernel; true ends it all, CANCELLED.
  std::function<bool()> should_stop = [] { return false; };
  // Told before the first shape of the first class and after each; between, as
  // before, after this much time in passes.
  double seconds_of_silence = 1;
  std::function<void(int64_t num_done, int64_t num_total)> on_shape =
      [](int64_t, int64_t) {};

  // The standard ones of a device, whose kernels are in the table by now.
  static AttentionOptions For(kernels::Device device);
  // Few short lengths: enough to see that it works, too few to mean much.
  AttentionOptions Quick() const;
};

// Called with the results so far when a class of a type has been timed.
using AttentionProgress =
    std::function<void(const AttentionClass& about, kernels::Type type,
                       const AttentionResults& results)>;

// Without rows where no kernel takes any class in any type at any shape.
absl::StatusOr<AttentionResults> RunAttention(
    const AttentionOptions& options, const AttentionProgress& progress);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_ATTENTION_BENCHMARK_H_
