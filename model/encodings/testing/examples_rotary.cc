#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> RotaryExamples() {
  return {
      {"rope_interleaved",
       FromText("{name: rope, params: {layout: interleaved}}")},
      {"rope_partial", FromText("{name: rope, params: {partial: 0.5}}")},
      {"rope_with_alibi", FromText("{name: rope, with: [{name: alibi}]}")},
      // Past the trained length.
      {"dynamic_linear_stretched",
       FromText("{name: dynamic_linear, params: {trained_length: 4}}")},
      {"dynamic_ntk_stretched",
       FromText("{name: dynamic_ntk, params: {trained_length: 4, factor: 2, "
                "layout: interleaved}}")},
      {"dynamic_ntk_with_rope_bias",
       FromText("{name: dynamic_ntk, params: {trained_length: 4}, "
                "with: [{name: rope_bias}]}")},
      {"longrope_long",
       FromText("{name: longrope, params: {trained_length: 4, factor: 2, "
                "short_factors: [1, 1, 1.5, 2], long_factors: [1, 2, 4, 8]}}")},
      {"partial_ntk_ramps",
       FromText("{name: partial_ntk, params: {trained_length: 64, base: 50}}")},
      {"yarn_ramp",
       FromText("{name: yarn, params: {factor: 4, trained_length: 64, base: "
                "500, truncate: false}}")},
      {"yarn_partial",
       FromText("{name: yarn, params: {partial: 0.5, attention_factor: 1.5}}")},
      {"llama3_blend",
       FromText("{name: llama3, params: {trained_length: 64, base: 50}}")},
      {"rope_mixed_base_list",
       FromText("{name: rope_mixed_base, params: {lambdas: [1, 2, 1, 3]}}")},
      {"xpos_off_centre",
       FromText("{name: xpos, params: {scale_base: 64, centre: 8}}")},
      {"rerope_clipped", FromText("{name: rerope, params: {window: 3}}")},
      {"leaky_rerope_clipped",
       FromText("{name: leaky_rerope, params: {window: 3, leak: 4}}")},
      {"rerope_with_t5",
       FromText("{name: rerope, params: {window: 3}, with: [{name: t5}]}")},
      {"leaky_rerope_with_fire",
       FromText("{name: leaky_rerope, params: {window: 3, leak: 4}, with: "
                "[{name: fire}]}")},
      {"rope_bias_of_yarn",
       FromText("{name: rope_bias, with: [{name: yarn}]}")},
      {"rope_bias_of_rerope",
       FromText("{name: rope_bias, with: [{name: rerope, params: {window: "
                "3}}]}")},
      {"rope_bias_with_cope",
       FromText("{name: rope_bias, with: [{name: cope}]}")},
      {"rope_bias_with_t5", FromText("{name: rope_bias, with: [{name: t5}]}")},
      {"rope_2d_partial",
       FromText("{name: rope_2d, params: {partial: 0.5, columns: 3, layout: "
                "interleaved}}")},
      {"liere_blocks", FromText("{name: liere, params: {block: 2}}")},
      {"liere_grid",
       FromText("{name: liere, params: {axes: 2, columns: 3, block: 4}}")},
  };
}

}  // namespace ordo::model::encodings::testing
