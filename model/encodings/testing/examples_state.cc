#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> StateExamples() {
  return {
      {"tape_attention_only",
       FromText("{name: tape, params: {mlp_update: false}}")},
      {"tape_mlp_only",
       FromText("{name: tape, params: {attention_update: false}}")},
      {"tape_from_partial_rope",
       FromText("{name: tape, with: [{name: rope, params: {partial: 0.5}}]}")},
  };
}

}  // namespace ordo::model::encodings::testing
