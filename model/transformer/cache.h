#ifndef ORDO_MODEL_TRANSFORMER_CACHE_H_
#define ORDO_MODEL_TRANSFORMER_CACHE_H_

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace ordo::model::transformer {

// What incremental decoding keeps of past tokens. Start with an empty one, pass
// it to each Forward over the same rows; Forward appends. Copies share their
// tensors, which are never changed in place, so a copy is a cheap fork.
struct Cache {
  struct Layer {
    // Keys as the encoding leaves them (rotated, say), [B,G,S,D], then those
    // that it needs beside them, each [B,*,S,*].
    std::vector<at::Tensor> keys;
    // Values, then whatever the encoding has mixed beside them (TAPE's state),
    // each [B,H,S,*].
    std::vector<at::Tensor> values;
  };
  std::vector<Layer> layers;
  // Past tokens, [B,S].
  at::Tensor tokens;
  // Position ids of past tokens, [1,S] or [B,S].
  at::Tensor positions;
  // Which past tokens are real, bool [B,S]; undefined: all.
  at::Tensor attention_mask;
  // Number of past tokens S.
  int64_t length = 0;

  // Keeps the rows whose numbers are in `rows`, int64 [R], in that order.
  void SelectRows(const at::Tensor& rows);
};

// Joins what is cached and what is new along the tokens' axis, for both.
void Append(at::Tensor* cached, at::Tensor* fresh, int64_t axis);
// The same of tensors [*,*,tokens,*].
void AppendAll(std::vector<at::Tensor>* cached, std::vector<at::Tensor>* fresh);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_CACHE_H_
