#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cummax.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/isin.h"
#include "ATen/ops/maximum.h"
#include "ATen/ops/where.h"
#include "ATen/ops/zeros_like.h"
#include "base/random/random.h"
#include "c10/util/Exception.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"

// Abacus embeddings (McLeish et al. 2024, section 3): a learned vector for the
// place of a digit in its number, 1 for the first in the text; all other tokens
// have row 0. In training all places of a batch move up by one random offset,
// so that rows for longer numbers than training has are trained too.

namespace ordo::model::encodings {
namespace {

constexpr double kInitialStd = 0.02;

struct AbacusOptions {
  int64_t max_offset = 0;
  // Token ids of digits, int64, where the parameters are.
  at::Tensor digits;
};

class Abacus : public Encoding {
 public:
  Abacus(AbacusOptions options, at::Tensor table_NC)
      : options_(std::move(options)), table_NC_(std::move(table_NC)) {}

  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override {
    const at::Tensor place_BS = Places(pass);
    const int64_t rows = table_NC_.size(0);
    const auto greatest = place_BS.max().item<int64_t>();
    TORCH_CHECK(greatest < rows, "a digit has place ", greatest,
                ", the encoding has room for places below ", rows,
                "; raise rows");
    const int64_t length = x_BTC.size(1);
    const at::Tensor new_BT =
        place_BS.narrow(1, place_BS.size(1) - length, length);
    return x_BTC + at::embedding(table_NC_, new_BT);
  }

 private:
  at::Tensor Places(const Pass& pass) const {
    const at::Tensor& tokens = pass.tokens_BS;
    at::Tensor digit_BS = at::isin(tokens, options_.digits);
    if (pass.real_BS.defined()) digit_BS = digit_BS.logical_and(pass.real_BS);
    const at::Tensor column_S = at::arange(tokens.size(1), tokens.options());
    // Of the last token up to here that is no digit; -1 before there is one.
    at::Tensor break_BS = std::get<0>(at::cummax(
        at::where(digit_BS, column_S.new_full({}, -1), column_S), 1));
    // No number goes on from one text into the next.
    if (pass.first_seen_BS.defined()) {
      break_BS = at::maximum(break_BS, pass.first_seen_BS - 1);
    }
    const at::Tensor place_BS = column_S - break_BS + Offset(pass.training);
    return at::where(digit_BS, place_BS, at::zeros_like(place_BS));
  }

  int64_t Offset(const std::optional<TrainingStep>& training) const {
    if (!training.has_value()) return 0;
    const base::RandomStream stream(
        training->seed, "positions/" + std::to_string(training->step));
    return static_cast<int64_t>(
        stream.Int(0, static_cast<uint64_t>(options_.max_offset) + 1));
  }

  const AbacusOptions options_;
  const at::Tensor table_NC_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeAbacus(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  std::vector<double> digits = params.Numbers("digits");
  AbacusOptions options;
  options.max_offset = params.Integer("max_offset");
  options.digits =
      at::from_blob(digits.data(), {static_cast<int64_t>(digits.size())},
                    at::kDouble)
          .to(parameters->options().device, at::kLong);
  const at::Tensor table =
      parameters->Add(shape.scope + "abacus.weight",
                      {params.Integer("rows"), shape.width}, {kInitialStd});
  return std::make_unique<Abacus>(std::move(options), table);
}

}  // namespace ordo::model::encodings
