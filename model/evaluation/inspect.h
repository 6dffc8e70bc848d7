#ifndef ORDO_MODEL_EVALUATION_INSPECT_H_
#define ORDO_MODEL_EVALUATION_INSPECT_H_

#include <cstdint>
#include <vector>

#include "model/tasks/inside.h"
#include "model/transformer/transformer.h"

namespace ordo::model::evaluation {

// Positions of a map of kPositions, from the first on; the numbers and curves
// are of all.
inline constexpr int kMaxMapPositions = 64;

// What goes on inside of a model that reads one row. Attention's weights a_ij
// are of query i and key j, e_i is the state of position i at a layer (what
// turns q and k there, Encoding::PositionState) and p_ij = <e_i, e_j>. Of a
// causal model only pairs with j <= i count. Position ids are 0, 1, ... where
// nothing else is said.
//
// kShifts, after table 8 of the TAPE paper (Zhu et al. 2025), which leaves open
// what its differences are. A prime is of another pass: `shift_` of the same
// tokens with ids from query.shift on, `add_` of query.shift times query.begin
// and then the tokens, of which those alone are compared. Of layer n:
//
//   shift_attention_ln, add_attention_ln  mean over heads and pairs of
//                                         |a'_ij - a_ij|
//   shift_variation_ln, add_variation_ln  mean over heads and queries of
//                                         sum_j |a'_ij - a_ij| / 2
//   shift_positions_ln, add_positions_ln  mean over heads and pairs of
//                                         |p'_ij - p_ij|, over that of |p_ij|
//
// kAttention, after its figure 7 and figure 4 of CoPE (Golovneva et al. 2024):
//
//   diagonal_ln           mean over heads and queries but the first, which has
//                         no choice, of a_ii
//   position_diagonal_ln  the same of the softmax of the bias alone
//
// and maps of both, "full" and "position_only", the mean over heads and those
// asked for.
//
// kPositions:
//
//   state_change_ln  mean over heads and pairs of |p_ij - q_ij| over that of
//                    |q_ij|, q_ij being p_ij of layer 1
//   state_norm_ln    mean over heads and positions of |e_i|, over that of layer
//                    1
//
// and, of the mean over heads of the cosine p_ij / (|e_i| |e_j|), a map
// ("similarity") and the mean by the distance i - j.
//
// What an encoding does not have is left out: positions that turn q and k, or
// a bias. `score`: of kShifts minus the mean over layers of shift_attention, of
// kAttention the diagonal of the last layer asked for, of kPositions minus the
// mean of state_change; 0 where there is none.
//
// `with_maps` false: none are made. Throws what LibTorch throws. REQUIRES: a
// row of at least one token, all of the model's vocabulary.
tasks::Inside Inspect(const transformer::Transformer& model,
                      const tasks::InsideQuery& query,
                      const std::vector<int64_t>& row, bool with_maps);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_INSPECT_H_
