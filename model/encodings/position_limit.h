#ifndef ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_
#define ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

namespace ordo::model::encodings {

// Throws c10::Error, which names the limit and `fix`, where a position id is
// not in 0 .. limit - 1.
void CheckPositions(const at::Tensor& positions, int64_t limit,
                    const std::string& fix);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_
