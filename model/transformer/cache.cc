#include "model/transformer/cache.h"

#include "ATen/ops/cat.h"

namespace ordo::model::transformer {

void Cache::SelectRows(const at::Tensor& rows) {
  for (Layer& layer : layers) {
    for (auto* tensors : {&layer.keys, &layer.values}) {
      for (at::Tensor& tensor : *tensors) {
        tensor = tensor.index_select(0, rows);
      }
    }
  }
  if (tokens.defined()) tokens = tokens.index_select(0, rows);
  // A first axis of 1 stands for all rows.
  if (positions.defined() && positions.size(0) > 1) {
    positions = positions.index_select(0, rows);
  }
  if (attention_mask.defined()) {
    attention_mask = attention_mask.index_select(0, rows);
  }
}

void Append(at::Tensor* cached, at::Tensor* fresh, int64_t axis) {
  if (cached->defined()) *fresh = at::cat({*cached, *fresh}, axis);
  *cached = *fresh;
}

void AppendAll(std::vector<at::Tensor>* cached,
               std::vector<at::Tensor>* fresh) {
  cached->resize(fresh->size());
  for (size_t i = 0; i < fresh->size(); ++i) {
    Append(&(*cached)[i], &(*fresh)[i], 2);
  }
}

}  // namespace ordo::model::transformer
