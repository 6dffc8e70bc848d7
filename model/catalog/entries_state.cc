#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Encodings that carry a state from layer to layer.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using Violations = std::vector<base::FieldViolation>;

// What the axes of a tape component's state measure.
struct TapeSizes {
  // Channels of a head that turn.
  int64_t channels = 0;
  // Real numbers of a head's state.
  int64_t state = 0;
  // Sizes of the axes along which attention's and the MLP's changes act.
  int64_t attention = 0;
  int64_t mlp = 0;
};

bool IsVector(const Params& params) {
  return params.String("embedding") == "vector";
}

bool IsLearned(const Params& params) {
  return params.String("start") == "learned";
}

int64_t TapeChannels(const Component& component, const ModelShape& shape) {
  return component.with_size() == 0
             ? shape.head_width()
             : TurningChannels(component.with(0).params(), shape.head_width());
}

TapeSizes TapeSizesOf(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const int64_t heads = shape.heads;
  const int64_t channels = TapeChannels(component, shape);
  if (!params.Bool("equivariant")) {
    return {channels, 2 * channels, heads, heads * channels};
  }
  if (IsVector(params)) return {channels, 2 * channels, channels, channels};
  const int64_t rows = params.Integer("block_rows");
  const int64_t columns = params.Integer("block_columns");
  const int64_t size = params.String("mix_axis") == "L" ? rows : heads;
  const bool complex =
      rows == 2 && columns == 2 && params.String("mix_axis") == "heads";
  return {channels, complex ? channels : channels * columns, size, size};
}

int64_t CountTape(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const TapeSizes sizes = TapeSizesOf(component, shape);
  const int64_t inner = params.Integer("position_size");
  int64_t layer = 0;
  if (params.Bool("attention_update")) {
    layer += sizes.attention * sizes.attention;
  }
  if (params.Bool("mlp_update")) {
    layer += inner * (2 * sizes.mlp + shape.width);
  }
  const bool released = params.String("reading") == "released";
  int64_t count = layer * (shape.layers - (released ? 0 : 1));
  if (TrainsFrequencies(component)) count += sizes.channels / 2;
  return IsLearned(params) ? count + params.Integer("max_length") * sizes.state
                           : count;
}

// A learned table has to hold the positions of training, too.
int64_t LimitTape(const Component& component) {
  const Params params(component.params());
  if (!IsLearned(params)) return 0;
  return params.Integer("max_length") - params.Integer("random_offset");
}

// Which variants of the state there are: each leaves the others' choices at
// their defaults.
void CheckTapeVariant(std::string_view field, const Params& params,
                      Violations* violations) {
  const bool blocks = params.String("mix_axis") == "L" ||
                      params.Integer("block_rows") != 2 ||
                      params.Integer("block_columns") != 2;
  if (!params.Bool("equivariant") && (IsVector(params) || blocks)) {
    violations->push_back(
        {ParamPath(field, "equivariant"),
         "false is a variant of embedding: tensor and mix_axis: heads, with "
         "blocks of 2 by 2; leave the other parameters out"});
  }
  if (IsVector(params) && blocks) {
    violations->push_back(
        {ParamPath(field, "embedding"),
         "vector has no blocks; leave out mix_axis, block_rows and "
         "block_columns"});
  }
  if (params.String("reading") == "released" && (IsVector(params) || blocks)) {
    violations->push_back(
        {ParamPath(field, "reading"),
         "released is of embedding: tensor and mix_axis: heads, with blocks of "
         "2 by 2; set canonical"});
  }
}

void CheckTapeBlocks(std::string_view field, const Component& component,
                     const ModelShape& shape, Violations* violations) {
  const Params params(component.params());
  const int64_t rows = params.Integer("block_rows");
  const int64_t columns = params.Integer("block_columns");
  const int64_t channels = TapeChannels(component, shape);
  // An encoding with it says by itself where a number is odd.
  if (channels % rows != 0 && rows != 2) {
    violations->push_back(
        {ParamPath(field, "block_rows"),
         absl::StrCat("is ", rows, ", of which the ", channels,
                      " channels of a head that turn are no multiple")});
  } else if (channels % rows != 0 && component.with_size() == 0) {
    violations->push_back(
        {absl::StrCat(std::string(field), ".name"),
         absl::StrCat("tape turns pairs of channels, but heads have ", channels,
                      "; their width must be even")});
  }
  if (columns % 2 != 0 && !IsLearned(params)) {
    violations->push_back(
        {ParamPath(field, "block_columns"),
         absl::StrCat("is ", columns,
                      "; rotations need an even number, or set "
                      "start: learned")});
  }
}

void CheckTapeStart(std::string_view field, const Component& component,
                    Violations* violations) {
  const Params params(component.params());
  const std::string start = params.String("start");
  if (start != "rotary" && component.with_size() > 0) {
    violations->push_back({absl::StrCat(std::string(field), ".with"),
                           absl::StrCat("is not read where start is ", start,
                                        "; leave out one of them")});
  }
  if (IsLearned(params) && LimitTape(component) < 1) {
    violations->push_back(
        {ParamPath(field, "random_offset"),
         absl::StrCat("is ", params.Integer("random_offset"),
                      ", but the learned table has ",
                      params.Integer("max_length"),
                      " rows; lower it or raise max_length")});
  }
}

void CheckTape(std::string_view field, const Component& component,
               const ModelShape& shape, Violations* violations) {
  if (Params(component.params()).String("reading") == "released" &&
      shape.num_key_heads() != shape.heads) {
    violations->push_back(
        {ParamPath(field, "reading"),
         absl::StrCat(
             "the released tape needs as many key heads as heads, has ",
             shape.num_key_heads(), " for ", shape.heads,
             "; leave out model.key_value_heads, or take canonical")});
  }
  CheckTapeVariant(field, Params(component.params()), violations);
  CheckTapeBlocks(field, component, shape, violations);
  CheckTapeStart(field, component, violations);
}

// Whether each pair of channels keeps one complex number, so that a phase per
// frequency, which a shift of all positions is, passes through.
bool IsRelativeTape(const Component& component) {
  const Params params(component.params());
  return params.Bool("equivariant") && !IsVector(params) && !IsLearned(params);
}

// Past yarn's trained length the start depends on the row's.
int64_t SteadyTape(const Component& component) {
  if (component.with_size() == 0 || component.with(0).name() != "yarn") {
    return 0;
  }
  return Params(component.with(0).params()).Integer("trained_length");
}

// As the authors' code runs: cosines and sines of all channels apart, the
// position MLP's gate for each of the two, all layers.
ExtraCost CostOfReleasedTape(const Params& params, const ModelShape& shape,
                             const CostQuery& query) {
  const int64_t n = query.tokens, heads = shape.heads;
  const int64_t width = 2 * heads * shape.head_width();
  const int64_t inner = params.Integer("position_size");
  ExtraCost cost;
  if (params.Bool("attention_update")) {
    cost.macs += n * n * width;
    cost.flops += 2 * n * heads * width;
  }
  if (params.Bool("mlp_update")) {
    cost.macs += 2 * n * inner * shape.width;
    cost.flops += 2 * n * inner + 2 * 2 * n * inner * width;
  }
  return cost;
}

// Channels that a head's q and k have more once blocks have turned them.
int64_t WidthOfBlocks(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  if (!params.Bool("equivariant") || IsVector(params)) return 0;
  const int64_t channels = TapeChannels(component, shape);
  return channels / params.Integer("block_rows") *
             params.Integer("block_columns") -
         channels;
}

ExtraCost CostOfTape(const Component& component, const ModelShape& shape,
                     const CostQuery& query) {
  const Params params(component.params());
  const TapeSizes sizes = TapeSizesOf(component, shape);
  const int64_t n = query.tokens, heads = shape.heads;
  ExtraCost cost;
  if (query.layer == kInputLayer) {
    if (query.convention == CostConvention::kModel) {
      cost.flops = n * (sizes.channels / 2 + sizes.state);
    }
    return cost;
  }
  const bool last = query.layer + 1 == shape.layers;
  if (params.Bool("attention_update") && !last) {
    cost.state = heads * sizes.state;
  }
  const int64_t more = WidthOfBlocks(component, shape);
  // Keys that heads share are turned by head.
  cost.state +=
      heads * more + (heads - shape.num_key_heads()) * shape.head_width();
  if (query.convention == CostConvention::kTapeTable3) {
    const int64_t state = cost.state;
    cost = CostOfReleasedTape(params, shape, query);
    cost.state = state;
    return cost;
  }
  // Turning q and k: two products and a sum for each channel, or with a block
  // one of each for each of its values.
  const bool by_channel = sizes.state <= 2 * sizes.channels && more == 0;
  cost.flops = by_channel ? 3 * 2 * n * heads * sizes.channels
                          : 2 * 2 * n * heads * sizes.state;
  cost.macs = query.pairs * heads * more;
  if (last) return cost;
  // Values of a token's state.
  const int64_t values = heads * sizes.state;
  if (params.Bool("attention_update")) {
    cost.macs += query.pairs * values;
    if (params.String("reading") == "released") {
      cost.flops += heads * heads + 2 * n * values;
    } else {
      cost.macs += n * values * sizes.attention;
      cost.flops += n * values;
    }
  }
  if (params.Bool("mlp_update")) {
    const int64_t inner = params.Integer("position_size");
    const int64_t rest = values / sizes.mlp;
    cost.macs += n * inner * shape.width;
    cost.flops += 4 * n * inner + n * values;
    // By a map for each token, or in two steps, as tape_mixing.cc chooses.
    if (sizes.mlp * (inner + rest) <= 2 * inner * rest) {
      cost.macs += n * sizes.mlp * sizes.mlp * (inner + rest);
      cost.flops += inner * sizes.mlp * sizes.mlp;
    } else {
      cost.macs += 2 * n * inner * values;
      cost.flops += n * inner * rest;
    }
  }
  return cost;
}

std::vector<Param> Readings() {
  return {
      Integer("position_size", 48, {1, 65536, "channels"},
              "Inner width B' of the position MLP."),
      Choice("reading", {"canonical", "released"},
             "Which reading: canonical mixes heads by a full matrix, starts W2 "
             "at 0 and "
             "leaves the last layer's state alone; released, as the authors' "
             "code, has a gain for each head (the sum of a row of G), starts "
             "W1 at 0, has parameters in all layers and, over yarn, trains the "
             "frequencies."),
      Choice("psi_input", {"mlp_output", "attention_output"},
             "What the position MLP is gated by: the MLP's output (the "
             "authors' code) or attention's (the paper)."),
      Bool("attention_update", true,
           "Whether attention updates the state (the paper's equation 7)."),
      Bool("mlp_update", true,
           "Whether the MLP updates the state (the paper's equation 8)."),
  };
}

std::vector<Param> Variants() {
  return {
      Bool(
          "equivariant", true,
          "Where false, the position MLP mixes heads and channels, cosines and "
          "sines each by themselves, and a shift of positions counts."),
      Choice("embedding", {"tensor", "vector"},
             "What the state is; as vector, attention and the position MLP mix "
             "a head's channels, "
             "cosines and sines each by themselves."),
      Choice("mix_axis", {"heads", "L"},
             "Along which axis of the state both updates act: across heads, or "
             "across the rows of each block (the paper's letter)."),
      Integer("block_rows", 2, {1, 256, "rows"},
              "Rows L of a block of the state."),
      Integer("block_columns", 2, {1, 256, "columns"},
              "Columns D of a block of the state."),
  };
}

std::vector<Param> Starts() {
  return {
      Choice("start", {"rotary", "random_fourier", "learned"},
             "What the state starts from: the rotary encoding with it (rope if "
             "there is none), rotations of random frequency, or a learned "
             "table."),
      Number("start_std", 0.1, {1e-6, 1e3, "radians per token"},
             "Standard deviation of random frequencies."),
      Integer("start_seed", 1, {0, 9007199254740991.0},
              "Seed of random frequencies."),
      Integer("max_length", 2048, {1, 1 << 24, "positions"},
              "Rows of the learned table."),
      Integer("random_offset", 0, {0, 1 << 24, "positions"},
              "Most that all positions of a step of training are moved by, at "
              "random; 0: they are not."),
  };
}

Entry Tape() {
  Entry entry = EncodingEntry(
      "tape",
      "Contextualised equivariant encoding: each token carries rotations that "
      "attention and MLP update from layer to layer.",
      "Zhu et al. 2025, arXiv:2501.00712");
  for (const auto group : {Readings, Variants, Starts}) {
    std::vector<Param> params = group();
    std::move(params.begin(), params.end(), std::back_inserter(entry.params));
  }
  entry.with = {"linear", "ntk", "rope", "yarn"};
  entry.max_with = 1;
  entry.encoding.formula =
      "s_ij = Re sum_f (q_i e_i) conj(k_j e_j) / sqrt(d); e <- e + G (a e); "
      "e <- e + W2 diag(SiLU(X m)) W1 e";
  entry.encoding.beyond =
      "as what it starts from; over yarn past its trained length by s = n / L, "
      "with A = 0.1 ln(s) + 1, and decoding there computes whole passes; an "
      "error past a learned table";
  entry.encoding.parameters =
      "(N^2 + B'(2M + C)) per layer but the last (all with reading: released); "
      "N = M = H; with mix_axis: L both L, with embedding: vector both d, "
      "without equivariance M = C; a learned start max_length rows of d; over "
      "yarn with reading: released the frequencies";
  entry.encoding.initial =
      "the matrices of attention's update and W2 0 (W1 with reading: "
      "released), so that it starts as what it starts from; the rest normal "
      "values of standard deviation 0.02";
  entry.encoding.count_parameters = CountTape;
  entry.encoding.count_cost = CostOfTape;
  entry.encoding.limit_length = LimitTape;
  entry.encoding.steady_length = SteadyTape;
  entry.encoding.is_relative = IsRelativeTape;
  entry.encoding.check_shape = CheckTape;
  entry.encoding.carries_state = true;
  return entry;
}

}  // namespace

bool TrainsFrequencies(const Component& component) {
  return Params(component.params()).String("reading") == "released" &&
         component.with_size() > 0 && component.with(0).name() == "yarn";
}

int64_t TapeQueryWidth(const Component& component, const ModelShape& shape) {
  return shape.head_width() + WidthOfBlocks(component, shape);
}

int64_t TapeMixedWidth(const Component& component, const ModelShape& shape) {
  // The state that leaves the last layer is never read.
  const bool mixes =
      Params(component.params()).Bool("attention_update") && shape.layers > 1;
  return mixes ? TapeSizesOf(component, shape).state : 0;
}

std::vector<Entry> StateEntries() { return {Tape()}; }

}  // namespace ordo::model::catalog
