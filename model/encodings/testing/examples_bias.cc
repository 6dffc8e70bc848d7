#include "model/encodings/testing/examples.h"

namespace ordo::model::encodings::testing {

std::vector<Example> BiasExamples() {
  constexpr bool kBounded = true;
  return {
      {"fire_past_its_length",
       FromText("{name: fire, params: {length: 3, mlp_width: 5}}")},
      {"kerple_log", Simplest("kerple_log"), kBounded},
      {"kerple_log_per_layer",
       FromText("{name: kerple_log, params: {per_layer: true}}"), kBounded},
      {"kerple_power", Simplest("kerple_power"), kBounded},
      {"kerple_power_per_layer",
       FromText("{name: kerple_power, params: {per_layer: true}}"), kBounded},
      {"t5_few_buckets",
       FromText("{name: t5, params: {buckets: 8, max_distance: 20, init: "
                "zero}}")},
      {"t5_per_layer_unscaled",
       FromText("{name: t5, params: {per_layer: true, scale: none}}")},
      {"window_bias_2d_per_layer",
       FromText("{name: window_bias_2d, params: {per_layer: true, rows: 4, "
                "columns: 5}}")},
  };
}

}  // namespace ordo::model::encodings::testing
