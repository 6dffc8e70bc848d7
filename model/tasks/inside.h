#ifndef ORDO_MODEL_TASKS_INSIDE_H_
#define ORDO_MODEL_TASKS_INSIDE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What evaluations ask of the inside of a model, and what they are told. No
// LibTorch here.

namespace ordo::model::tasks {

struct InsideQuery {
  enum class Kind {
    // How attention and positions change when a text begins elsewhere.
    kShifts,
    // Attention's weights.
    kAttention,
    // How positions lie to each other, from layer to layer.
    kPositions,
  };

  Kind kind = Kind::kShifts;
  // From 1; those that a model does not have are left out. Empty: of kShifts 1,
  // 2, 4 and 8, of kAttention the last, of kPositions all.
  std::vector<int> layers;
  // Of kShifts: by how many places, at least 1, and the token that stands as
  // often before the text; nothing: no tokens are put there.
  int shift = 3;
  std::optional<int64_t> begin;
  // Of kAttention: heads, from 1, that are shown one by one beside the mean
  // over all; those that a model does not have are left out.
  std::vector<int> heads;
  // In which the model computes: "fp32" or "bf16".
  std::string precision = "fp32";
};

// A number for each query and key of a text.
struct InsideMap {
  // "full", "position_only" or "similarity".
  std::string source;
  // From 1.
  int layer = 0;
  // From 1; 0: the mean over all.
  int head = 0;
  int size = 0;
  // Row by row, a row for each query.
  std::vector<float> values;
};

// A number for each distance of two tokens, from 0 on.
struct InsideCurve {
  // From 1.
  int layer = 0;
  std::vector<double> values;
};

// What was seen while a model read one text.
struct Inside {
  // By name, such as shift_attention_l2 of layer 2.
  std::map<std::string, double> numbers;
  std::vector<InsideMap> maps = {};
  std::vector<InsideCurve> curves = {};
  // What models are compared by, text by text; more is better.
  double score = 0;
};

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_INSIDE_H_
