#ifndef ORDO_MODEL_FORMATS_GPT_H_
#define ORDO_MODEL_FORMATS_GPT_H_

#include <vector>

#include "model/formats/families.h"

namespace ordo::model::formats {

// Kinds with LayerNorm and an MLP without gate: gpt2 (Radford et al. 2019),
// gpt_neox (Black et al. 2022, arXiv:2204.06745), bloom (arXiv:2211.05100) and
// mpt (MosaicML 2023).
std::vector<Family> GptFamilies();

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_GPT_H_
