#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> StateExamples() {
  const auto tape = [](const std::string& params) {
    return FromText("{name: tape, params: {" + params + "}}");
  };
  const auto over = [](const std::string& start) {
    return FromText("{name: tape, with: [" + start + "]}");
  };
  // Inner widths are small where states would grow so much that finite
  // differences say little.
  return {
      {"tape_attention_only", tape("mlp_update: false")},
      {"tape_mlp_only", tape("attention_update: false")},
      {"tape_neither", tape("attention_update: false, mlp_update: false")},
      {"tape_released", tape("reading: released")},
      {"tape_of_attention_output", tape("psi_input: attention_output")},
      {"tape_not_equivariant", tape("equivariant: false, position_size: 2")},
      {"tape_not_equivariant_released",
       tape("equivariant: false, reading: released, position_size: 2")},
      {"tape_vector", tape("embedding: vector, position_size: 1")},
      {"tape_rows", tape("mix_axis: L")},
      {"tape_rows_4_by_6",
       tape("mix_axis: L, block_rows: 4, block_columns: 6, position_size: 2")},
      {"tape_heads_of_blocks", tape("block_rows: 1, block_columns: 4")},
      {"tape_random_fourier", tape("start: random_fourier")},
      {"tape_learned",
       tape("start: learned, max_length: 24, position_size: 2")},
      {"tape_learned_blocks",
       tape("start: learned, max_length: 24, mix_axis: L, block_rows: 4, "
            "block_columns: 3, position_size: 2")},
      {"tape_from_partial_rope",
       over("{name: rope, params: {partial: 0.5, layout: interleaved}}")},
      {"tape_over_linear", over("{name: linear, params: {factor: 3}}")},
      {"tape_over_ntk", over("{name: ntk}")},
      {"tape_over_yarn", over("{name: yarn}")},
      {"tape_released_over_yarn",
       FromText("{name: tape, params: {reading: released}, with: [{name: "
                "yarn}]}")},
  };
}

}  // namespace ordo::model::encodings::testing
