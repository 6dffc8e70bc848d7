#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> RotaryExamples() {
  return {
      {"rope_interleaved",
       FromText("{name: rope, params: {layout: interleaved}}")},
      {"rope_partial", FromText("{name: rope, params: {partial: 0.5}}")},
  };
}

}  // namespace ordo::model::encodings::testing
