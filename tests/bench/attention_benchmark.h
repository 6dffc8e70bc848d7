#ifndef ORDO_TESTS_BENCH_ATTENTION_BENCHMARK_H_
#define ORDO_TESTS_BENCH_ATTENTION_BENCHMARK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/attention/table.h"
#include "kernels/common/type.h"
#include "tests/bench/attention_classes.h"
#include "tests/bench/attention_results.h"

// Time and memory of the table's kernels for each class of encodings, beside
// LibTorch's flash attention, which runs in turn with them.

namespace ordo::tests::bench {

struct AttentionOptions {
  std::vector<AttentionClass> classes = AttentionClasses();
  std::vector<kernels::Type> types = {kernels::Type::kFloat32,
                                      kernels::Type::kBfloat16};
  std::vector<int64_t> lengths = {256, 512, 1024, 2048, 4096};
  // Their batch, heads and width.
  AttentionShape shape;
  // Rows that Select does not take are slower; longer ones would take most of
  // the time.
  int64_t other_rows_up_to = 512;
  // Maps of weights take memory, and most of the time.
  int64_t materialised_up_to = 2048;
  // Each length is measured this often, and then until it has taken
  // `seconds_of_length` or been measured `max_rounds` times.
  int min_rounds = 3;
  int max_rounds = 15;
  double seconds_of_length = 1.5;
  // Of all lengths together. Those that would take more than their share are
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

  // A few short lengths: enough to see that it works, too few to mean much.
  static AttentionOptions Quick();
};

// Called with the results so far when a class of a type has been timed.
using AttentionProgress =
    std::function<void(const AttentionClass& about, kernels::Type type,
                       const AttentionResults& results)>;

absl::StatusOr<AttentionResults> RunAttention(
    const AttentionOptions& options, const AttentionProgress& progress);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_ATTENTION_BENCHMARK_H_
