#ifndef ORDO_KERNELS_ATTENTION_SCORE_MODS_H_
#define ORDO_KERNELS_ATTENTION_SCORE_MODS_H_

#include <cstdint>

#include "kernels/attention/score_mod.h"
#include "kernels/attention/score_mod_list.h"

// The score mods that there are: the headers of score_mods/, by a list that the
// build makes of their names. ORDO_SCORE_MODS(X) is X(Struct, "name") for each.

namespace ordo::kernels::attention {

enum class ScoreMod : int32_t {
  kNone,
#define ORDO_ONE(Mod, name) k##Mod,
  ORDO_SCORE_MODS(ORDO_ONE)
#undef ORDO_ONE
};

// All but none, for those who walk them.
inline constexpr ScoreMod kScoreMods[] = {
#define ORDO_ONE(Mod, name) ScoreMod::k##Mod,
    ORDO_SCORE_MODS(ORDO_ONE)
#undef ORDO_ONE
};

// Calls function(Struct()) of the mod; of none, nothing.
template <typename Function>
ORDO_SCORE_MOD void WithMod(ScoreMod mod, const Function& function) {
  switch (mod) {
    case ScoreMod::kNone:
      return;
#define ORDO_ONE(Mod, name) \
  case ScoreMod::k##Mod:    \
    return function(score_mods::Mod());
      ORDO_SCORE_MODS(ORDO_ONE)
#undef ORDO_ONE
  }
}

// P of problem.h; 0 of none.
constexpr int64_t ParametersOf(ScoreMod mod) {
  switch (mod) {
    case ScoreMod::kNone:
      return 0;
#define ORDO_ONE(Mod, name) \
  case ScoreMod::k##Mod:    \
    return score_mods::Mod::kParameters;
      ORDO_SCORE_MODS(ORDO_ONE)
#undef ORDO_ONE
  }
  return 0;
}

// "x_y" of x_y.h; "none".
constexpr const char* NameOf(ScoreMod mod) {
  switch (mod) {
    case ScoreMod::kNone:
      return "none";
#define ORDO_ONE(Mod, name) \
  case ScoreMod::k##Mod:    \
    return name;
      ORDO_SCORE_MODS(ORDO_ONE)
#undef ORDO_ONE
  }
  return "none";
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_SCORE_MODS_H_
