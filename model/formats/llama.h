#ifndef ORDO_MODEL_FORMATS_LLAMA_H_
#define ORDO_MODEL_FORMATS_LLAMA_H_

#include <vector>

#include "model/formats/families.h"

namespace ordo::model::formats {

// Llama (Touvron et al. 2023, arXiv:2302.13971) and those built like it, with
// Ordo's names of tensors: mistral (Jiang et al. 2023, arXiv:2310.06825), qwen2
// (arXiv:2407.10671), qwen3 (arXiv:2505.09388).
std::vector<Family> LlamaFamilies();

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_LLAMA_H_
