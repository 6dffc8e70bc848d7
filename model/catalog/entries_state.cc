#include "model/catalog/entries.h"

// Encodings that carry a state from layer to layer.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

int64_t CountTape(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const int64_t heads = shape.heads, inner = params.Integer("position_size");
  int64_t layer = 0;
  if (params.Bool("attention_update")) layer += heads * heads;
  if (params.Bool("mlp_update")) layer += inner * (2 * heads + shape.width);
  return layer * (shape.layers - 1);
}

Entry Tape() {
  Entry entry = EncodingEntry(
      "tape",
      "Contextualised equivariant encoding: each token carries rotations that "
      "attention and MLP update from layer to layer.",
      "Zhu et al. 2025, arXiv:2501.00712");
  entry.params = {
      Integer("position_size", 48, {1, 65536},
              "Inner width B' of the position MLP."),
      Choice("reading", {"canonical"},
             "Which reading of the paper: canonical mixes heads by a full "
             "matrix and leaves the last layer's state alone."),
      Bool("attention_update", true,
           "Whether attention updates the state (the paper's equation 7)."),
      Bool("mlp_update", true,
           "Whether the MLP updates the state (the paper's equation 8)."),
  };
  // What the state starts from; rope with its defaults when left out.
  entry.with = {"rope"};
  entry.max_with = 1;
  entry.encoding.formula =
      "s_ij = Re sum_f (q_i e_i) conj(k_j e_j) / sqrt(d); e <- e + G (a e); "
      "e <- e + W2 diag(SiLU(X m)) W1 e";
  entry.encoding.beyond = "as what it starts from";
  entry.encoding.parameters = "(H^2 + B'(2H + C)) per layer but the last";
  entry.encoding.count_parameters = CountTape;
  entry.encoding.carries_state = true;
  return entry;
}

}  // namespace

std::vector<Entry> StateEntries() { return {Tape()}; }

}  // namespace ordo::model::catalog
