#ifndef ORDO_KERNELS_ATTENTION_SCORE_MOD_H_
#define ORDO_KERNELS_ATTENTION_SCORE_MOD_H_

// What a score mod is made of: f(t[d], r_i; theta) of problem.h. Each header of
// score_mods/ is one: x_y.h has, in the namespace score_mods, a struct
//
//   struct XY {
//     // Numbers that theta is.
//     static constexpr int kParameters = 2;
//
//     template <typename Math, typename Number = typename Math::Number>
//     ORDO_SCORE_MOD static Number Value(
//         const ModPair<Number>& pair, const Number (&theta)[kParameters]);
//
//     template <typename Math, typename Number = typename Math::Number>
//     ORDO_SCORE_MOD static ModGradient<Number, kParameters> Gradient(
//         const ModPair<Number>& pair, const Number (&theta)[kParameters]);
//   };
//
// and nothing else has to know of it: the build finds the header, and
// ScoreMod::kXY names it. Both functions must be finite for every t, also where
// r is 0, as tiles have elements beyond the last query and key.
//
// A Number is a double, a float or a vector of floats. It has the operators of
// arithmetic, also with a float; comparisons, and `a > b ? x : y`, whose x and
// y are both computed; and no others. Math has
//
//   Of(x)   a float in all of its elements
//   Exp(x)  e^x: infinite beyond 2^127, 0 below 2^-126
//   Log(x)  ln x: of 0, and below 2^-126, -infinity; of less not a number
//
// Instances are local to the file that makes them where Math is; so code for
// one processor does not take the place of another's. Nothing of the C++
// library may be used.

#if defined(__CUDACC__)
#define ORDO_SCORE_MOD __host__ __device__ __forceinline__
#else
#define ORDO_SCORE_MOD inline __attribute__((always_inline))
#endif

namespace ordo::kernels::attention {

// What is said of a query and a key at distance d.
template <typename Number>
struct ModPair {
  // t[d].
  Number t;
  // r_i.
  Number r;
};

// Of f, by what it is of.
template <typename Number, int kParameters>
struct ModGradient {
  Number t;
  Number r;
  Number theta[kParameters];
};

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_SCORE_MOD_H_
