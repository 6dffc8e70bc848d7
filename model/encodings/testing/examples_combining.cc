#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> CombiningExamples() {
  return {
      {"per_layer_one_without",
       FromText("{name: per_layer, with: [{name: rope}, {name: rope}, {name: "
                "none}]}")},
      {"per_layer_two_tables",
       FromText("{name: per_layer, with: [{name: t5}, {name: t5, params: "
                "{buckets: 8, scale: none}}]}")},
      {"per_layer_again",
       FromText("{name: per_layer, with: [{name: fire}, {name: rope}]}")},
      {"random_positions_in_order",
       FromText("{name: random_positions, params: {eval: arange}, with: "
                "[{name: rope}]}")},
      {"random_positions_over_a_pattern",
       FromText("{name: random_positions, with: [{name: per_layer, with: "
                "[{name: rope}, {name: alibi}]}]}")},
      {"random_positions_over_learned",
       FromText("{name: random_positions, params: {max_position: 40}, with: "
                "[{name: learned, params: {max_length: 50}}]}")},
      {"random_positions_over_tape",
       FromText("{name: random_positions, with: [{name: tape}]}")},
      {"random_positions_over_segments",
       FromText("{name: random_positions, params: {eval: arange}, with: "
                "[{name: transformer_xl, params: {segment_length: 4}}]}")},
  };
}

}  // namespace ordo::model::encodings::testing
