#ifndef ORDO_KERNELS_ATTENTION_SCORE_MODS_SOFT_RAMP_H_
#define ORDO_KERNELS_ATTENTION_SCORE_MODS_SOFT_RAMP_H_

#include "kernels/attention/score_mod.h"

namespace ordo::kernels::attention::score_mods {

// theta_0 ln(1 + exp(theta_1 t r)): 0 on one side, a ramp on the other, smooth
// between.
struct SoftRamp {
  static constexpr int kParameters = 2;

  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static Number Value(const ModPair<Number>& pair,
                                     const Number (&theta)[kParameters]) {
    return theta[0] * Soft<Math>(theta[1] * pair.t * pair.r);
  }

  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static ModGradient<Number, kParameters> Gradient(
      const ModPair<Number>& pair, const Number (&theta)[kParameters]) {
    const Number x = theta[1] * pair.t * pair.r;
    const Number small = Small<Math>(x);
    const Number one = Math::Of(1.0F);
    const Number slope =
        theta[0] * (x > Math::Of(0.0F) ? one : small) / (one + small);
    return {slope * theta[1] * pair.r,
            slope * theta[1] * pair.t,
            {Soft<Math>(x), slope * pair.t * pair.r}};
  }

 private:
  // exp(-|x|): the exponential of x would not fit.
  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static Number Small(const Number& x) {
    return Math::Exp(x > Math::Of(0.0F) ? -x : x);
  }

  // ln(1 + exp(x)).
  template <typename Math, typename Number = typename Math::Number>
  ORDO_SCORE_MOD static Number Soft(const Number& x) {
    const Number ramp = x > Math::Of(0.0F) ? x : Math::Of(0.0F);
    return ramp + Math::Log(Math::Of(1.0F) + Small<Math>(x));
  }
};

}  // namespace ordo::kernels::attention::score_mods

#endif  // ORDO_KERNELS_ATTENTION_SCORE_MODS_SOFT_RAMP_H_
