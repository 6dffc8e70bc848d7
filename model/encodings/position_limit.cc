#include "model/encodings/position_limit.h"

#include <tuple>

#include "ATen/TensorOperators.h"
#include "ATen/ops/where.h"
#include "c10/util/Exception.h"

namespace ordo::model::encodings {

void CheckPositions(const at::Tensor& positions, int64_t limit,
                    const std::string& fix) {
  if (positions.numel() == 0) return;
  const auto least = positions.min().item<int64_t>();
  const auto greatest = positions.max().item<int64_t>();
  TORCH_CHECK_VALUE(least >= 0, "position id ", least, " is below 0");
  TORCH_CHECK_VALUE(greatest < limit, "position id ", greatest,
                    " is beyond the encoding's ", limit, " positions; ", fix);
}

void CheckAscending(const at::Tensor& positions, const at::Tensor& real,
                    const std::string& who) {
  if (positions.numel() == 0) return;
  const at::Tensor least = positions.min();
  const at::Tensor seen =
      real.defined() ? at::where(real, positions, least) : positions;
  const at::Tensor highest = std::get<0>(seen.cummax(1));
  at::Tensor back = seen.lt(highest);
  if (real.defined()) back = back.logical_and(real);
  const at::Tensor places = back.nonzero();
  if (places.size(0) == 0) return;
  const auto row = places[0][0].item<int64_t>();
  const auto token = places[0][1].item<int64_t>();
  TORCH_CHECK_VALUE(false, "positions: row ", row, " goes back to ",
                    seen[row][token].item<int64_t>(), " at token ", token,
                    " after ", highest[row][token].item<int64_t>(),
                    "; under the causal mask ", who,
                    " has no distances below 0: give ids that do not decrease");
}

}  // namespace ordo::model::encodings
