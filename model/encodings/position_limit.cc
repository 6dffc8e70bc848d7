#include "model/encodings/position_limit.h"

#include "c10/util/Exception.h"

namespace ordo::model::encodings {

void CheckPositions(const at::Tensor& positions, int64_t limit,
                    const std::string& fix) {
  if (positions.numel() == 0) return;
  const auto least = positions.min().item<int64_t>();
  const auto greatest = positions.max().item<int64_t>();
  TORCH_CHECK(least >= 0, "position id ", least, " is below 0");
  TORCH_CHECK(greatest < limit, "position id ", greatest,
              " is beyond the encoding's ", limit, " positions; ", fix);
}

}  // namespace ordo::model::encodings
