#include "model/benchmark/attention_classes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/catalog/attention_classes.h"

namespace ordo::model::benchmark {
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
  problem.device = shape.device;
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
  problem.mod = kernels::attention::ScoreMod::kRamp;
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

// ALiBi's (Press et al. 2022): of the n heads of the largest power of two the
// slopes are powers of 2^(-8/n), those of others lie between them. Kernels
// leave out keys that such a bias leaves no weight.
double SlopedBias(const Problem& problem, int64_t head, int64_t distance) {
  int64_t power = 1;
  while (2 * power <= problem.heads) power *= 2;
  const int64_t halves = head < power ? 2 * (head + 1) : 2 * (head - power) + 1;
  const double slope = std::exp2(-4.0 * static_cast<double>(halves) /
                                 static_cast<double>(power));
  return slope * static_cast<double>(distance);
}

// Sandwich's with its default parameters (Chi et al. 2023): a sum of cosines,
// weaker from head to head.
double WavyBias(const Problem& problem, int64_t head, int64_t distance) {
  constexpr double kBase = 10000;
  constexpr int kWaves = 64;
  constexpr double kGreatestRatio = 8;
  double sum = 0;
  for (int f = 0; f < kWaves; ++f) {
    sum += std::cos(static_cast<double>(distance) *
                    std::pow(kBase, -static_cast<double>(f) / kWaves));
  }
  const double ratio = kGreatestRatio * static_cast<double>(head + 1) /
                       static_cast<double>(problem.heads);
  return sum / ratio;
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

int64_t BytesOfNumber(Type type) { return type == Type::kFloat32 ? 4 : 2; }

double BytesOf(const Problem& problem, Input input) {
  const Type type =
      kernels::attention::IsTable(input) ? Type::kFloat32 : problem.type;
  return static_cast<double>(ShapeOf(problem, input).count() *
                             BytesOfNumber(type));
}

}  // namespace

const std::vector<AttentionClass>& AttentionClasses() {
  static const auto* const classes = new std::vector<AttentionClass>{
      {"rope", Plain},
      {"tape", TwoValues},
      {"tape_joined", WideValue},
      {"alibi",
       Biased,
       nullptr,
       {kernels::attention::kBias},
       /*learned_bias=*/false,
       SlopedBias},
      {"sandwich",
       Biased,
       nullptr,
       {kernels::attention::kBias},
       /*learned_bias=*/false,
       WavyBias},
      {"t5", BiasedNearby, nullptr, {}, /*learned_bias=*/true},
      {"kerple_log", Biased, nullptr, {}, /*learned_bias=*/true},
      {"fire", Ramp, nullptr, {}, /*learned_bias=*/true},
      {"da_transformer", Multiplied},
      {"huang1", MultipliedNearby},
      {"huang3", ByChannel},
      {"shaw", QueryBandNearby, BandFlop},
      {"transformer_xl", QueryBand, BandFlop},
      {"deberta", BothBands, BandFlop},
      {"cope", Counted},
      {"rerope", Far},
      {"shifted_sparse",
       Bounded,
       nullptr,
       {},
       /*learned_bias=*/false,
       /*bias=*/nullptr,
       FirstOfGroup},
  };
  return *classes;
}

std::string TextOf(const AttentionClass& about) {
  for (const catalog::AttentionClass& known : catalog::AttentionClasses()) {
    if (known.name == about.name) return known.text;
  }
  return "";
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
                            BytesOfNumber(problem.type));
  }
  const auto logsumexp =
      static_cast<double>(4 * problem.batch * problem.heads * problem.queries);
  const double forward = inputs + outputs + logsumexp;
  return {forward, forward + outputs + gradients};
}

std::string NameOf(Type type) {
  if (type == Type::kFloat32) return "fp32";
  return type == Type::kFloat16 ? "fp16" : "bf16";
}

absl::StatusOr<Type> TypeNamed(std::string_view name) {
  for (const Type type : {Type::kFloat32, Type::kBfloat16, Type::kFloat16}) {
    if (NameOf(type) == name) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(name), "' is not one of fp32, bf16, fp16"));
}

}  // namespace ordo::model::benchmark
