#ifndef ORDO_MODEL_TASKS_NOPE_PCFG_H_
#define ORDO_MODEL_TASKS_NOPE_PCFG_H_

#include "model/tasks/nope/items.h"

// PCFG SET (Hupkes et al., "Compositionality decomposed", 2020): functions of
// strings of symbols, applied to each other, and the string that comes out.
// Functions and symbols are those of the published set; which stand where is
// drawn here, so items are not the published ones.

namespace ordo::model::tasks::nope {

// Most functions of an item.
inline constexpr int kMaxFunctions = 30;
// Most symbols of an answer.
inline constexpr int kMaxSymbols = 100;

// Items of n functions, 1 <= n <= kMaxFunctions. Each function is drawn from
// all ten, those with two arguments share the rest of the functions among them
// in every way equally often, and strings have 2 to 5 symbols. A function of
// one argument that would make its string longer than kMaxSymbols is drawn
// again.
Kind Pcfg();

}  // namespace ordo::model::tasks::nope

#endif  // ORDO_MODEL_TASKS_NOPE_PCFG_H_
