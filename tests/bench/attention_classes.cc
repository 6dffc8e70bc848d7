#include "tests/bench/attention_classes.h"

#include <algorithm>
#include <cmath>

namespace ordo::tests::bench {
namespace {

using kernels::Type;
using kernels::attention::Gates;
using kernels::attention::Input;
using kernels::attention::kNumInputs;
using kernels::attention::kNumOutputs;
using kernels::attention::Output;
using kernels::attention::Problem;

Problem Plain(const AttentionShape& shape) {
  Problem problem;
  problem.type = shape.type;
  problem.batch = shape.batch;
  problem.heads = problem.key_heads = shape.heads;
  problem.queries = problem.keys = shape.length;
  problem.width = shape.width;
  problem.values[0] = {shape.width, shape.heads};
  problem.scale =
      static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
  return problem;
}

Problem TwoValues(const AttentionShape& shape) {
  Problem problem = Plain(shape);
  problem.num_values = 2;
  problem.values[1] = problem.values[0];
  return problem;
}

Problem WideValue(const AttentionShape& shape) {
  Problem problem = Plain(shape);
  problem.values[0].width = 2 * shape.width;
  return problem;
}

// Tables that tell the distances up to `reach` apart, at most all there are.
Problem WithTables(const AttentionShape& shape, int64_t reach) {
  Problem problem = Plain(shape);
  problem.reach = std::min(reach, shape.length - 1);
  return problem;
}

Problem Biased(const AttentionShape& shape) {
  Problem problem = WithTables(shape, shape.length);
  problem.biased = true;
  return problem;
}

// All beyond share the last bucket.
Problem BiasedNearby(const AttentionShape& shape) {
  constexpr int64_t kMaxDistance = 128;
  Problem problem = WithTables(shape, kMaxDistance);
  problem.biased = true;
  return problem;
}

Problem Ramp(const AttentionShape& shape) {
  constexpr int64_t kHiddenUnits = 32;
  Problem problem = WithTables(shape, shape.length);
  problem.pieces = kHiddenUnits + 1;
  return problem;
}

Problem Multiplied(const AttentionShape& shape) {
  Problem problem = WithTables(shape, shape.length);
  problem.multiplied = problem.rectified = true;
  return problem;
}

// The distances of the encodings that clip them.
constexpr int64_t kClipped = 16;

Problem MultipliedNearby(const AttentionShape& shape) {
  Problem problem = WithTables(shape, kClipped);
  problem.multiplied = true;
  return problem;
}

Problem ByChannel(const AttentionShape& shape) {
  Problem problem = WithTables(shape, kClipped);
  problem.by_channel = true;
  return problem;
}

Problem QueryBandNearby(const AttentionShape& shape) {
  Problem problem = WithTables(shape, kClipped);
  problem.query_band = shape.width;
  return problem;
}

Problem QueryBand(const AttentionShape& shape) {
  Problem problem = WithTables(shape, shape.length);
  problem.query_band = shape.width;
  problem.table_heads = shape.heads;
  return problem;
}

Problem BothBands(const AttentionShape& shape) {
  constexpr int64_t kMaxDistance = 64;
  Problem problem = WithTables(shape, kMaxDistance);
  problem.query_band = problem.key_band = shape.width;
  problem.table_heads = shape.heads;
  return problem;
}

Problem Counted(const AttentionShape& shape) {
  constexpr int64_t kPositions = 64;
  Problem problem = Plain(shape);
  problem.gates = Gates::kLogits;
  problem.positions = kPositions;
  return problem;
}

Problem Far(const AttentionShape& shape) {
  constexpr int64_t kWindow = 512;
  Problem problem = Plain(shape);
  problem.far_from = kWindow;
  return problem;
}

Problem Bounded(const AttentionShape& shape) {
  Problem problem = Plain(shape);
  problem.bounded = true;
  return problem;
}

// Groups of a quarter of the tokens; those of the second half of the heads are
// shifted by half of a group.
int64_t FirstOfGroup(const Problem& problem, int64_t head, int64_t token) {
  const int64_t group = std::max<int64_t>(problem.keys / 4, 1);
  const int64_t shift = head < problem.heads / 2 ? 0 : group / 2;
  return std::max<int64_t>((token + shift) / group * group - shift, 0);
}

// Products of queries or keys with a vector for each distance: once for each
// query where the vectors are fewer than its keys, else once for each pair.
// Backward the product once more, and the gradients of both its factors.
Work BandFlop(const Problem& problem) {
  double products = 0;
  for (int64_t token = problem.keys - problem.queries; token < problem.keys;
       ++token) {
    const int64_t seen = problem.causal ? token + 1 : problem.keys;
    products += static_cast<double>(std::min(seen, problem.distances()));
  }
  const double flop =
      products * 2 * static_cast<double>(problem.query_band + problem.key_band);
  return {flop, 3 * flop};
}

double BytesOf(const Problem& problem, Input input) {
  const bool narrow =
      problem.type == Type::kBfloat16 && !kernels::attention::IsTable(input);
  return static_cast<double>(ShapeOf(problem, input).count()) *
         (narrow ? 2 : 4);
}

}  // namespace

const std::vector<AttentionClass>& AttentionClasses() {
  static const auto* const classes = new std::vector<AttentionClass>{
      {"rope", "softmax attention, as for all that turn or leave q and k",
       Plain},
      {"tape", "two value tensors of width d under one softmax", TwoValues},
      {"tape_joined", "one value tensor of width 2d", WideValue},
      {"alibi",
       "a constant bias of the distance; sandwich too",
       Biased,
       nullptr,
       {kernels::attention::kBias}},
      {"t5",
       "a learned bias of the distance up to 128",
       BiasedNearby,
       nullptr,
       {},
       /*learned_bias=*/true},
      {"kerple_log",
       "a learned bias of every distance; learned tables too",
       Biased,
       nullptr,
       {},
       /*learned_bias=*/true},
      {"fire",
       "a learned function of distance and row, in 33 pieces",
       Ramp,
       nullptr,
       {},
       /*learned_bias=*/true},
      {"da_transformer", "rectified logits times a number for each distance",
       Multiplied},
      {"huang1", "logits times a number for each of 17 distances; huang2 too",
       MultipliedNearby},
      {"huang3", "q.k weighed by channel for each of 17 distances", ByChannel},
      {"shaw", "q with a vector for each of 17 distances", QueryBandNearby,
       BandFlop},
      {"transformer_xl", "q with a vector for every distance", QueryBand,
       BandFlop},
      {"deberta", "q and k with a vector for each of 65 distances; huang4 too",
       BothBands, BandFlop},
      {"cope", "positions counted by gates of the logits, 64 of them", Counted},
      {"rerope", "another product from a distance of 512 on", Far},
      {"shifted_sparse",
       "groups of N / 4 tokens, shifted in half of the heads",
       Bounded,
       nullptr,
       {},
       /*learned_bias=*/false,
       FirstOfGroup},
  };
  return *classes;
}

bool IsLearned(const AttentionClass& about, Input input) {
  return std::find(about.constants.begin(), about.constants.end(), input) ==
         about.constants.end();
}

double CountPairs(const AttentionClass& about, const Problem& problem) {
  double pairs = 0;
  for (int64_t head = 0; head < problem.heads; ++head) {
    for (int64_t token = problem.keys - problem.queries; token < problem.keys;
         ++token) {
      const int64_t first =
          problem.bounded ? about.first_key(problem, head, token) : 0;
      const int64_t end = problem.causal ? token + 1 : problem.keys;
      pairs += static_cast<double>(end - first);
    }
  }
  return pairs;
}

Work CountFlop(const AttentionClass& about, const Problem& problem) {
  const auto key_width = static_cast<double>(problem.width);
  double value_width = 0;
  for (int v = 0; v < problem.num_values; ++v) {
    value_width += static_cast<double>(problem.values[v].width);
  }
  const Work more =
      about.more_flop == nullptr ? Work() : about.more_flop(problem);
  const double pairs = CountPairs(about, problem);
  const auto heads = static_cast<double>(problem.heads);
  const auto batch = static_cast<double>(problem.batch);
  return {
      batch * (pairs * 2 * (key_width + value_width) + heads * more.forward),
      batch *
          (pairs * (6 * key_width + 4 * value_width) + heads * more.backward)};
}

Work CountBytes(const AttentionClass& about, const Problem& problem) {
  double inputs = 0;
  double gradients = 0;
  for (int i = 0; i < kNumInputs; ++i) {
    const auto input = static_cast<Input>(i);
    inputs += BytesOf(problem, input);
    if (IsLearned(about, input)) gradients += BytesOf(problem, input);
  }
  double outputs = 0;
  for (int i = 0; i < kNumOutputs; ++i) {
    outputs +=
        static_cast<double>(ShapeOf(problem, static_cast<Output>(i)).count() *
                            (problem.type == Type::kBfloat16 ? 2 : 4));
  }
  const auto logsumexp =
      static_cast<double>(4 * problem.batch * problem.heads * problem.queries);
  const double forward = inputs + outputs + logsumexp;
  return {forward, forward + outputs + gradients};
}

std::string NameOf(Type type) {
  return type == Type::kFloat32 ? "fp32" : "bf16";
}

}  // namespace ordo::tests::bench
