#ifndef ORDO_MODEL_ENCODINGS_ROWS_H_
#define ORDO_MODEL_ENCODINGS_ROWS_H_

#include <cstdint>

#include <ATen/core/Tensor.h>

// What encodings share whose logits depend on the content of q or k and on the
// distance. Legend: B batch, H heads, T queries, S keys, R rows of a table, F
// frequencies.

namespace ordo::model::encodings {

// For each pair the value of the row that it takes: of_row [B,H,T,R], row int64
// [1,1,T,S] or [B,1,T,S]; gives [B,H,T,S].
at::Tensor TakeRows(const at::Tensor& of_row, const at::Tensor& row);

// sin and cos of positions times frequencies, as [1|B,1,*,F]. Angles are
// computed in fp64 and rounded to `dtype` at the end.
struct Waves {
  at::Tensor sin;
  at::Tensor cos;
};

// `positions` int64 [1,*] or [B,*], `frequencies` double [F].
Waves WavesOf(const at::Tensor& positions, const at::Tensor& frequencies,
              c10::ScalarType dtype);

// x_i . [sin(w (i - j)) | cos(w (i - j))] for each pair, [B,H,T,S], where x is
// [B,H,T,2F], without a tensor for each pair: sin and cos of a difference are
// products of those of its ends. `keys` and `queries` come from the same
// frequencies.
at::Tensor DotWavesOfDistance(const at::Tensor& x_BHTF, const Waves& queries,
                              const Waves& keys);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_ROWS_H_
