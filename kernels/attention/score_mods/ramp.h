#ifndef ORDO_KERNELS_ATTENTION_SCORE_MODS_RAMP_H_
#define ORDO_KERNELS_ATTENTION_SCORE_MODS_RAMP_H_

#include "kernels/attention/score_mod.h"

namespace ordo::kernels::attention::score_mods {

// theta_0 t r + theta_1: in pieces, what an MLP with ReLU of one number is (Li
// et al. 2024, FIRE).
struct Ramp {
  static constexpr int kParameters = 2;

  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static Number Value(const ModPair<Number>& pair,
                                     const Number (&theta)[kParameters]) {
    return pair.t * (theta[0] * pair.r) + theta[1];
  }

  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static ModGradient<Number, kParameters> Gradient(
      const ModPair<Number>& pair, const Number (&theta)[kParameters]) {
    return {theta[0] * pair.r,
            theta[0] * pair.t,
            {pair.t * pair.r, Math::Of(1.0F)}};
  }
};

}  // namespace ordo::kernels::attention::score_mods

#endif  // ORDO_KERNELS_ATTENTION_SCORE_MODS_RAMP_H_
