#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> InputExamples() {
  return {
      {"abacus_few_digits",
       FromText("{name: abacus, params: {digits: [3, 7], rows: 400}}")},
      {"axial_small",
       FromText("{name: axial, params: {first_size: 3, second_size: 5, "
                "first_width: 6}}")},
      {"grid_learned_small",
       FromText("{name: grid_learned, params: {rows: 3, columns: 4}}")},
      {"grid_sinusoidal_narrow",
       FromText("{name: grid_sinusoidal, params: {columns: 3}}")},
  };
}

}  // namespace ordo::model::encodings::testing
