#include "model/catalog/attention_classes.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "model/catalog/cuda_widths.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;

constexpr Distances kNone = Distances::kNone;
constexpr Distances kNumbers = Distances::kNumbers;
constexpr Distances kProducts = Distances::kProducts;

// As PlainCase; null: none.
struct PlainRow {
  bool (*holds)(const Component& encoding) = nullptr;
  const char* text = "";
};

// As AttentionClass; words with spaces between in the place of lists.
struct Row {
  const char* name;
  const char* text;
  const char* encodings;
  const char* kernels;
  const char* no_cuda;
  Distances distances;
  bool is_measured;
  double slowdown;
  AttentionWidths (*widths)(const Component& encoding,
                            const ModelShape& shape) = nullptr;
  bool needs_causal = false;
  const char* pieces_param = "";
  const char* segments_param = "";
  PlainRow plain[2] = {};
  int (*vectors)(const Component& encoding) = nullptr;
};

// Null: it is not given.
const google::protobuf::Value* ParamOf(const Component& encoding,
                                       const char* name) {
  const auto found = encoding.params().find(name);
  return found == encoding.params().end() ? nullptr : &found->second;
}

// "": it is the default.
std::string FormOf(const Component& encoding) {
  const auto* const form = ParamOf(encoding, "form");
  return form == nullptr ? "" : form->string_value();
}

// An MLP of the position is no table of whole ones.
bool IsMlpOfPositions(const Component& encoding) {
  return FormOf(encoding) == "mlp";
}

bool IsLongTableOfPositions(const Component& encoding) {
  const std::string form = FormOf(encoding);
  const auto* const positions = ParamOf(encoding, "max_position");
  return (form.empty() || form == "table") && positions != nullptr &&
         positions->number_value() > kMaxPositions;
}

// Farthest distance that its tables tell apart; 0: it is not given.
int64_t ReachOfShaw(const Component& encoding) {
  const auto* const distance = ParamOf(encoding, "max_distance");
  const auto* const unseen = ParamOf(encoding, "unseen");
  if (distance == nullptr) return 0;
  // Those that add nothing are one distance more.
  const bool drops = unseen != nullptr && unseen->string_value() == "none";
  return static_cast<int64_t>(distance->number_value()) + (drops ? 1 : 0);
}

bool HasShawsValues(const Component& encoding) {
  const auto* const values = ParamOf(encoding, "values");
  return values != nullptr && values->bool_value();
}

bool IsPlainShaw(const Component& encoding) {
  return HasShawsValues(encoding) && ReachOfShaw(encoding) > kMaxSummedReach;
}

int VectorsOfShaw(const Component& encoding) {
  const int64_t reach = ReachOfShaw(encoding);
  if (HasShawsValues(encoding) || reach >= kNoLimit) return kNoLimit;
  return static_cast<int>(reach + 1);
}

int VectorsOfTransformerXl(const Component& encoding) {
  const auto* const clamp = ParamOf(encoding, "clamp_length");
  const double reach = clamp == nullptr ? 0 : clamp->number_value();
  if (reach == 0 || reach >= kNoLimit) return kNoLimit;
  return static_cast<int>(reach) + 1;
}

AttentionWidths WidthsOfTener(const Component& /*encoding*/,
                              const ModelShape& shape) {
  return {int64_t{2} * shape.head_width(), {shape.head_width()}};
}

AttentionWidths WidthsOfTape(const Component& encoding,
                             const ModelShape& shape) {
  const int64_t mixed = TapeMixedWidth(encoding, shape);
  AttentionWidths widths{TapeQueryWidth(encoding, shape), {shape.head_width()}};
  if (mixed > 0) widths.values.push_back(mixed);
  return widths;
}

constexpr Row kRows[] = {
    {"rope", "softmax attention, as for all that turn or leave q and k", "",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNone, true, 2.1},
    {"tener", "q and k of width 2d, half of them waves", "tener",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNone, false, 2.5,
     WidthsOfTener},
    {"tape", "two value tensors of width d under one softmax", "tape",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNone, true, 2.0,
     WidthsOfTape},
    {"tape_joined", "one value tensor of width 2d", "",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNone, true, 2.0},
    {"alibi", "a bias in proportion to the distance", "alibi",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNumbers, true, 2.7},
    {"sandwich", "a constant bias, a sum of cosines of the distance",
     "sandwich", "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNumbers,
     true, 2.7},
    {"t5", "a learned bias of the distance up to 128", "t5",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNumbers, true, 6.2},
    {"kerple_log", "a learned bias of every distance",
     "kerple_log kerple_power", "cpu_pairs cpu_tiled cuda_hopper cuda_tiled",
     "", kNumbers, true, 3.7},
    {"window_bias_2d",
     "a learned bias of every distance in a grid of position ids",
     "window_bias_2d", "cpu_pairs cpu_tiled cuda_tiled", "", kNumbers, false,
     3.7},
    {"fire", "a learned function of distance and row, in 33 pieces", "fire",
     "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNumbers, true, 14.6,
     /*widths=*/nullptr, /*needs_causal=*/false,
     /*pieces_param=*/"mlp_width"},
    {"da_transformer", "rectified logits times a number for each distance",
     "da_transformer", "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "",
     kNumbers, true, 6.5},
    {"huang1", "logits times a number for each of 17 distances",
     "huang1 huang2", "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "",
     kNumbers, true, 3.4},
    {"huang3", "q.k weighed by channel for each of 17 distances", "huang3",
     "cpu_tiled",
     "near the diagonal each pair's q and k are weighed channel by channel, "
     "and those products are not written for GPUs",
     kProducts, true, 33.2},
    {"shaw",
     "q with a vector for each of 17 distances",
     "shaw",
     "cpu_tiled cuda_hopper cuda_tiled",
     "",
     kProducts,
     true,
     2.7,
     /*widths=*/nullptr,
     /*needs_causal=*/false,
     /*pieces_param=*/"",
     /*segments_param=*/"",
     {{IsPlainShaw,
       "values: true and a max_distance above 1024, or 1023 with unseen: none, "
       "as kernels keep a sum of weights for each token and distance"}},
     VectorsOfShaw},
    {"transformer_xl", "q with a vector for every distance", "transformer_xl",
     "cpu_tiled cuda_hopper cuda_tiled", "", kProducts, true, 2.5,
     /*widths=*/nullptr, /*needs_causal=*/false,
     /*pieces_param=*/"", /*segments_param=*/"segment_length",
     /*plain=*/{}, VectorsOfTransformerXl},
    {"deberta", "q and k with a vector for each of 65 distances",
     "deberta huang4", "cpu_tiled cuda_tiled", "", kProducts, true, 3.9},
    {"cope",
     "positions counted by gates of the logits, 64 of them",
     "cope",
     "cpu_counted cuda_counted",
     "",
     kNone,
     true,
     4.0,
     /*widths=*/nullptr,
     /*needs_causal=*/false,
     /*pieces_param=*/"",
     /*segments_param=*/"",
     {{IsMlpOfPositions,
       "form: mlp, as kernels interpolate between whole positions, of which an "
       "MLP knows nothing"},
      {IsLongTableOfPositions,
       "form: table and a max_position above 1025, as kernels read a number "
       "for each token and position"}}},
    {"rerope", "another product from a distance of 512 on",
     "rerope leaky_rerope", "cpu_tiled cuda_hopper cuda_tiled", "", kProducts,
     true, 2.4,
     /*widths=*/nullptr, /*needs_causal=*/true},
    {"shifted_sparse", "groups of N / 4 tokens, shifted in half of the heads",
     "", "cpu_pairs cpu_tiled cuda_hopper cuda_tiled", "", kNone, true, 2.1},
};

std::vector<PlainCase> PlainCasesOf(const Row& row) {
  std::vector<PlainCase> cases;
  for (const PlainRow& one : row.plain) {
    if (one.holds != nullptr) cases.push_back({one.holds, one.text});
  }
  return cases;
}

}  // namespace

std::vector<AttentionKernel> AttentionKernelsOf(bool has_all_widths) {
  const std::vector<std::string> both = {"fp32", "bf16"}, half = {"bf16"};
  const auto built = [&](int usual, int all) {
    return has_all_widths ? all : usual;
  };
  return {
      {"cpu_pairs_amx", "cpu_pairs", "cpu", half, kNoLimit, 1},
      {"cpu_pairs_avx512bf16", "cpu_pairs", "cpu", half, kNoLimit, 1},
      {"cpu_tiled_avx512", "cpu_tiled", "cpu", both, kNoLimit, 1},
      {"cpu_tiled_avx2", "cpu_tiled", "cpu", both, kNoLimit, 1},
      {"cpu_tiled", "cpu_tiled", "cpu", both, kNoLimit, 1},
      {"cpu_counted_avx512", "cpu_counted", "cpu", both, kNoLimit, 1},
      {"cpu_counted_avx2", "cpu_counted", "cpu", both, kNoLimit, 1},
      {"cpu_counted", "cpu_counted", "cpu", both, kNoLimit, 1},
      {"cuda_hopper", "cuda_hopper", "cuda", half,
       built(kUsualHopperHeadWidth, kAllHopperHeadWidth), 8,
       built(kUsualHopperValuesWidth, kAllHopperValuesWidth), 64, 64, kNone, 64,
       /*mixes_products=*/false},
      {"cuda_tiled", "cuda_tiled", "cuda", half,
       built(kUsualTiledHeadWidth, kAllTiledHeadWidth), 8,
       built(kUsualTiledValuesWidth, kAllTiledValuesWidth), 1, 64, kNumbers},
      {"cuda_counted", "cuda_counted", "cuda", half,
       built(kUsualCountedHeadWidth, kAllCountedHeadWidth), 8,
       built(kUsualCountedValuesWidth, kAllCountedValuesWidth), 1, 0, kNone},
  };
}

const std::vector<AttentionKernel>& AttentionKernels() {
  static const auto* const kernels =
      new std::vector<AttentionKernel>(AttentionKernelsOf(kHasAllCudaWidths));
  return *kernels;
}

const std::vector<AttentionClass>& AttentionClasses() {
  static const auto* const classes = [] {
    auto* const made = new std::vector<AttentionClass>;
    for (const Row& row : kRows) {
      made->push_back({row.name, row.text,
                       absl::StrSplit(row.encodings, ' ', absl::SkipEmpty()),
                       absl::StrSplit(row.kernels, ' '), row.no_cuda,
                       row.distances, row.is_measured, row.slowdown, row.widths,
                       row.needs_causal, row.pieces_param, row.segments_param,
                       PlainCasesOf(row), row.vectors});
    }
    return made;
  }();
  return *classes;
}

std::vector<std::string> KernelNames(const AttentionClass& about) {
  std::vector<std::string> names;
  for (const AttentionKernel& kernel : AttentionKernels()) {
    const auto& families = about.kernels;
    if (std::find(families.begin(), families.end(), kernel.family) !=
        families.end()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

const AttentionClass& AttentionClassOf(std::string_view encoding) {
  const auto& classes = AttentionClasses();
  for (const AttentionClass& about : classes) {
    const auto& names = about.encodings;
    if (std::find(names.begin(), names.end(), encoding) != names.end()) {
      return about;
    }
  }
  return classes.front();
}

}  // namespace ordo::model::catalog
