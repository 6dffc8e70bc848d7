#ifndef ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_
#define ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

namespace ordo::model::encodings {

// What position ids an encoding can use. Each throws c10::ValueError, which a
// caller that gave the ids can mend. Ids are best given on the host: elsewhere
// they are waited for.

// Names the limit and `fix` where a position id is not in 0 .. limit - 1.
void CheckPositions(const at::Tensor& positions, int64_t limit,
                    const std::string& fix);

// Names the first place where ids, int64 [B,S] or [1,S], go back along a row;
// those of padding, where `real`, bool [B,S], is defined and false, do not
// count. `who` is what needs them in order.
void CheckAscending(const at::Tensor& positions, const at::Tensor& real,
                    const std::string& who);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_POSITION_LIMIT_H_
