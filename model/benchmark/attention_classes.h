#ifndef ORDO_MODEL_BENCHMARK_ATTENTION_CLASSES_H_
#define ORDO_MODEL_BENCHMARK_ATTENTION_CLASSES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/attention/problem.h"
#include "kernels/common/type.h"

// What is measured of attention: classes of encodings that ask kernels for the
// same work, and the work that is counted. Legend: problem.h of
// kernels/attention.

namespace ordo::model::benchmark {

// B, H, N and d of the figures; as many queries as keys, a head of keys for
// each.
struct AttentionShape {
  kernels::Type type = kernels::Type::kFloat32;
  int64_t batch = 2;
  int64_t heads = 12;
  int64_t length = 0;
  int64_t width = 64;
  kernels::Device device = kernels::Device::kCpu;
};

// Of the two passes.
struct Work {
  double forward = 0;
  double backward = 0;

  double sum() const { return forward + backward; }
};

struct AttentionClass {
  // That of the catalogue (model/catalog/attention_classes.h).
  std::string name;
  kernels::attention::Problem (*problem)(const AttentionShape& shape) = nullptr;
  // FLOP of a head of a row of the batch beyond the products with keys and
  // values; null: none.
  Work (*more_flop)(const kernels::attention::Problem& problem) = nullptr;
  // Inputs that are not learned: nobody wants their gradients.
  std::vector<kernels::attention::Input> constants = {};
  // Whether the way without kernels is to add a map of learned biases.
  bool learned_bias = false;
  // The number of a bias for a head and a distance below 0; null: drawn ones.
  double (*bias)(const kernels::attention::Problem& problem, int64_t head,
                 int64_t distance) = nullptr;
  // Of a bounded problem: the first key that the query at `token` of a head
  // sees.
  int64_t (*first_key)(const kernels::attention::Problem& problem, int64_t head,
                       int64_t token) = nullptr;
};

// A class is one row.
const std::vector<AttentionClass>& AttentionClasses();

// For people: what it is.
std::string TextOf(const AttentionClass& about);

// Whether training wants the gradient of an input that the problem has.
bool IsLearned(const AttentionClass& about, kernels::attention::Input input);

// Pairs of a query and a key that it sees, in all heads of a row of the batch
// without padding.
double CountPairs(const AttentionClass& about,
                  const kernels::attention::Problem& problem);

// Floating point operations, additions and multiplications apart, in products
// of matrices over the pairs that the causal mask leaves: with D the width of
// keys and M that of all value tensors together, 2 (D + M) for a pair forward
// (q.k; the mix) and 6 D + 4 M backward (q.k once more, dq, dk; d_mixed.v, dv),
// and what the class adds. Exponentials, sums and what is done to single logits
// are not counted.
Work CountFlop(const AttentionClass& about,
               const kernels::attention::Problem& problem);

// Bytes of the tensors that a pass must read or write, once each: forward the
// inputs, the outputs and the logsumexp; backward these, and the gradients of
// outputs and of inputs that are learned.
Work CountBytes(const AttentionClass& about,
                const kernels::attention::Problem& problem);

// "fp32", "bf16", "fp16".
std::string NameOf(kernels::Type type);

// The type of the name; INVALID_ARGUMENT lists the names there are.
absl::StatusOr<kernels::Type> TypeNamed(std::string_view name);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_ATTENTION_CLASSES_H_
