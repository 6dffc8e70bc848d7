#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ATen/ops/empty.h"
#include "base/random/random.h"
#include "base/status/status.h"
#include "c10/util/Exception.h"
#include "model/catalog/catalog.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/encodings/sum.h"

// Randomised positions (Ruoss et al. 2023, section 3): the ids of a row of N
// tokens are a random subset of {0 .. L - 1}, ascending, so that training sees
// the positions of longer rows. In training one subset serves a whole step; in
// evaluation one serves all rows of a length, or ids are 0 .. N - 1.
//   random_positions                over the encoding `with` it
//   random_rope, random_sinusoidal  over those
//   random_learned                  over a table of L rows

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

// The parameters that random encodings have beside those of the encoding that
// they are over.
constexpr char kMaxPosition[] = "max_position";
constexpr char kEval[] = "eval";
constexpr char kEvalSeed[] = "eval_seed";

struct RandomOptions {
  int64_t max_position = 0;
  bool random_in_evaluation = true;
  uint64_t evaluation_seed = 0;
};

// `count` of the numbers below `limit`, ascending; every subset is equally
// likely (Bentley and Floyd 1987, "A sample of brilliance").
std::vector<int64_t> DrawSubset(int64_t count, int64_t limit,
                                base::RandomSequence random) {
  std::set<int64_t> drawn;
  for (int64_t last = limit - count; last < limit; ++last) {
    const auto any =
        static_cast<int64_t>(random.Int(static_cast<uint64_t>(last) + 1));
    if (!drawn.insert(any).second) drawn.insert(last);
  }
  return {drawn.begin(), drawn.end()};
}

class RandomPositions : public Encoding {
 public:
  explicit RandomPositions(const RandomOptions& options) : options_(options) {}

  at::Tensor Positions(const PositionsInput& input) const override {
    if (!input.training.has_value() && !options_.random_in_evaluation) {
      CheckPositions(input.counted, options_.max_position,
                     "raise max_position");
      return input.counted;
    }
    TORCH_CHECK(input.final_length > 0,
                "positions are drawn for a whole row, whose number of tokens "
                "is not known here; give final_length, or set eval: arange");
    return Drawn(input);
  }

 private:
  at::Tensor Drawn(const PositionsInput& input) const {
    const at::Tensor counted = input.counted.cpu().contiguous();
    const int64_t rows = counted.size(0), length = counted.size(1);
    at::Tensor ids = at::empty({rows, length}, counted.options());
    const int64_t* in = counted.const_data_ptr<int64_t>();
    int64_t* out = ids.mutable_data_ptr<int64_t>();
    std::map<int64_t, std::vector<int64_t>> subset_of_size;
    for (int64_t row = 0; row < rows; ++row, in += length, out += length) {
      // Padding is not counted: a padded row has the ids of the row alone.
      const int64_t padding = input.num_before + length - (in[length - 1] + 1);
      const int64_t size = input.final_length - padding;
      TORCH_CHECK(size <= options_.max_position, "a row has ", size,
                  " tokens, the encoding draws from ", options_.max_position,
                  " positions; raise max_position");
      std::vector<int64_t>& subset = subset_of_size[size];
      if (subset.empty()) {
        subset = DrawSubset(size, options_.max_position, Stream(input));
      }
      for (int64_t t = 0; t < length; ++t) {
        out[t] = subset.at(static_cast<size_t>(in[t]));
      }
    }
    return ids.to(input.counted.device());
  }

  base::RandomSequence Stream(const PositionsInput& input) const {
    if (!input.training.has_value()) {
      return {options_.evaluation_seed, "positions/evaluation"};
    }
    return {input.training->seed,
            "positions/" + std::to_string(input.training->step)};
  }

  const RandomOptions options_;
};

std::unique_ptr<Encoding> MakeFromParams(const catalog::Params& params) {
  RandomOptions options;
  options.max_position = params.Integer(kMaxPosition);
  options.random_in_evaluation = params.String(kEval) == "random";
  options.evaluation_seed = static_cast<uint64_t>(params.Integer(kEvalSeed));
  return std::make_unique<RandomPositions>(options);
}

struct Call {
  const Component& component;
  const ModelShape& shape;
  parameters::ParameterSet* parameters;
};

// `name` under random positions; the component has the parameters of both.
absl::StatusOr<std::unique_ptr<Encoding>> MakeOver(const std::string& name,
                                                   const Call& call) {
  const catalog::Entry* entry = catalog::Find(catalog::Kind::kEncoding, name);
  Component inner;
  inner.set_name(name);
  for (const catalog::Param& param : entry->params) {
    const auto given = call.component.params().find(param.name);
    (*inner.mutable_params())[param.name] =
        given == call.component.params().end() ? catalog::DefaultValue(param)
                                               : given->second;
  }
  if (name == "learned") {
    (*inner.mutable_params())["max_length"] =
        call.component.params().at(kMaxPosition);
  }
  std::vector<std::unique_ptr<Encoding>> parts(2);
  parts[0] = MakeFromParams(catalog::Params(call.component.params()));
  ORDO_ASSIGN_OR_RETURN(parts[1],
                        MakeResolved(inner, call.shape, call.parameters));
  return std::make_unique<Sum>(std::move(parts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomPositions(
    const Component& component, const ModelShape& /*shape*/,
    parameters::ParameterSet* /*parameters*/) {
  return MakeFromParams(catalog::Params(component.params()));
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomLearned(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeOver("learned", {component, shape, parameters});
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomRope(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeOver("rope", {component, shape, parameters});
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomSinusoidal(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeOver("sinusoidal", {component, shape, parameters});
}

}  // namespace ordo::model::encodings
