#ifndef ORDO_MODEL_EVALUATION_DRAW_H_
#define ORDO_MODEL_EVALUATION_DRAW_H_

#include <cstdint>

// Tokens that are drawn by their likelihood. No LibTorch here.

namespace ordo::model::evaluation {

// One of the `top_k` greatest of `count` logits, 0: of all, by the softmax over
// these: the first, from the greatest on (of all: from id 0 on), up to which
// there is more than `uniform` of it, 0 <= uniform < 1. Of equal logits the
// lower id is the greater. NaN counts as least; where the greatest is not
// finite that is taken, as with top_k 1. REQUIRES: one logit or more.
int64_t DrawToken(const float* logits, int64_t count, int64_t top_k,
                  double uniform);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_DRAW_H_
