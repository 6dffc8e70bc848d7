#include "model/transformer/cache.h"

namespace ordo::model::transformer {

void Cache::SelectRows(const at::Tensor& rows) {
  for (Layer& layer : layers) {
    layer.keys = layer.keys.index_select(0, rows);
    for (at::Tensor& value : layer.values) {
      value = value.index_select(0, rows);
    }
  }
  // A first axis of 1 stands for all rows.
  if (positions.defined() && positions.size(0) > 1) {
    positions = positions.index_select(0, rows);
  }
  if (attention_mask.defined()) {
    attention_mask = attention_mask.index_select(0, rows);
  }
}

}  // namespace ordo::model::transformer
