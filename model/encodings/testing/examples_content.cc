#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> ContentExamples() {
  return {
      {"cope_small", FromText("{name: cope, params: {max_position: 3}}")},
      {"cope_divided",
       FromText("{name: cope, params: {divide_position: true}}")},
      {"cope_sep_keys", FromText("{name: cope, params: {gates: sep_keys}}")},
      {"cope_values", FromText("{name: cope, params: {gates: values}}")},
      {"cope_mlp", FromText("{name: cope, params: {form: mlp}}")},
      {"cope_mlp_first",
       FromText("{name: cope, params: {form: mlp, mlp_layers: first}}")},
      {"cope_alibi", FromText("{name: cope, params: {form: alibi}}")},
      {"cope_alibi_learned",
       FromText("{name: cope, params: {form: alibi, learned_slopes: true, "
                "sign: plus}}")},
      {"cope_shared", FromText("{name: cope, params: {share: model}}")},
      {"cope_shaw", FromText("{name: cope, with: [{name: shaw}]}")},
      {"cope_rope", FromText("{name: cope, with: [{name: rope}]}")},
      {"rope_cope", FromText("{name: rope, with: [{name: cope}]}")},
      {"rope_cope_plain",
       FromText("{name: rope, with: [{name: cope, params: {gates: plain}}]}")},
      {"shaw_short", FromText("{name: shaw, params: {max_distance: 2}}")},
      {"shaw_values",
       FromText("{name: shaw, params: {values: true, max_distance: 3}}")},
      {"shaw_drops",
       FromText("{name: shaw, params: {values: true, unseen: none, "
                "max_distance: 2, share: model}}")},
      {"huang3_short", FromText("{name: huang3, params: {max_distance: 2}}")},
      {"huang4_short", FromText("{name: huang4, params: {max_distance: 2}}")},
      {"tener_original",
       FromText("{name: tener, params: {project_keys: false}}")},
      {"tener_scaled", FromText("{name: tener, params: {scale: true}}")},
      {"deberta_short", FromText("{name: deberta, params: {max_distance: 2}}")},
      {"deberta_paper", FromText("{name: deberta, params: {index: paper, "
                                 "max_distance: 3}}")},
      {"transformer_xl_clamped",
       FromText("{name: transformer_xl, params: {clamp_length: 2}}")},
      // Without a memory: that passes on no gradient, by definition.
      {"transformer_xl_segments",
       FromText("{name: transformer_xl, params: {segment_length: 4}}")},
  };
}

}  // namespace ordo::model::encodings::testing
