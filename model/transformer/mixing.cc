#include "model/transformer/mixing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/where.h"
#include "absl/status/status.h"
#include "c10/util/Exception.h"
#include "kernels/attention/table.h"
#include "kernels/torch/attention.h"
#include "model/transformer/attention.h"
#include "model/transformer/blockwise.h"

namespace ordo::model::transformer {
namespace {

using encodings::Carried;
using encodings::LayerInput;
using encodings::Pass;

// The kernel that is none of the table's: plain LibTorch operations.

// Tables of distances are not made longer, whatever the position ids are.
constexpr int64_t kMaxReach = int64_t{1} << 20;

// [B,G,S,D] with each head `times` times in a row.
at::Tensor Repeat(const at::Tensor& x, int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, 1);
}

// The logits before the mask, [B,H,T,S].
at::Tensor LogitsOf(const AttentionInput& input) {
  const at::Tensor product =
      input.product.defined()
          ? input.product
          : encodings::ScaledProduct(input.q_BHTD, input.k_BHSD);
  return input.bias.defined() ? product + input.bias : product;
}

// The logits before the mask and what is mixed, v first, for each head.
struct Plain {
  encodings::ScoresInput scores;
  AttentionInput attention;
  std::vector<at::Tensor> values;
};

Plain InTheOpen(const Scored& scored, const encodings::Encoding& encoding) {
  const int64_t heads = scored.scores.q_BHTD.size(1);
  const auto for_each_head = [&](const at::Tensor& x) {
    return Repeat(x, heads / x.size(1));
  };
  encodings::ScoresInput scores = scored.scores;
  scores.k_BHSD = for_each_head(scores.k_BHSD);
  std::vector<at::Tensor> values = scored.values;
  values[0] = for_each_head(values[0]);
  AttentionInput attention{scores.q_BHTD, scores.k_BHSD, {}, {}};
  attention.product = encoding.Product(scores);
  if (!attention.product.defined() && encoding.ReadsProduct()) {
    attention.product = encodings::ScaledProduct(scores.q_BHTD, scores.k_BHSD);
  }
  attention.bias = encoding.Bias(scores, attention.product);
  return {scores, attention, values};
}

// Shows what attention of a layer did.
void Show(const Plain& plain, const at::Tensor& weights_BHTS,
          const AttentionMask& mask, const Mixing& mixing) {
  const LayerInput& layer = plain.scores.layer;
  LayerView view;
  view.layer = layer.layer;
  view.weights_BHTS = weights_BHTS;
  if (plain.attention.bias.defined()) {
    AttentionInput positions = plain.attention;
    positions.product = positions.bias.expand_as(weights_BHTS);
    positions.bias = at::Tensor();
    view.of_bias_BHTS = AttentionWeights(positions, mask);
  }
  view.state = mixing.encoding->PositionState(layer.layer, layer.carried);
  (*mixing.observer)(view);
}

// `own` and `memory` are of the block.
std::vector<at::Tensor> MixBlock(const Scored& own, const Scored* memory,
                                 const Block& block, const Mixing& mixing) {
  const Plain plain = InTheOpen(own, *mixing.encoding);
  const AttentionMask mask = mixing.sight->Mask(block);
  at::Tensor weights;
  std::vector<at::Tensor> mixed;
  if (memory != nullptr) {
    const Plain earlier = InTheOpen(*memory, *mixing.encoding);
    const at::Tensor same_segment = mixing.sight->SameSegment(block);
    AttentionInput joined = plain.attention;
    joined.product = at::where(same_segment, LogitsOf(plain.attention),
                               LogitsOf(earlier.attention));
    joined.bias = at::Tensor();
    weights = AttentionWeights(joined, mask);
    mixed = Mix(weights * same_segment, plain.values);
    const std::vector<at::Tensor> of_memory =
        Mix(weights * same_segment.logical_not(), earlier.values);
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] += of_memory[i];
  } else {
    weights = AttentionWeights(plain.attention, mask);
    mixed = Mix(weights, plain.values);
  }
  if (mixing.observer != nullptr) Show(plain, weights, mask, mixing);
  if (mixing.encoding->HasValueTerm()) {
    const at::Tensor term = mixing.encoding->ValueTerm(plain.scores, weights);
    if (term.defined()) mixed[0] = mixed[0] + term;
  }
  return mixed;
}

Pass PartOf(const Pass& pass, const Block& block,
            const std::shared_ptr<const Sight>& sight) {
  const auto keys = [&](const at::Tensor& x_BS) {
    return x_BS.defined() ? x_BS.narrow(1, block.first_key, block.num_keys)
                          : x_BS;
  };
  Pass part = pass;
  part.tokens_BS = keys(pass.tokens_BS);
  part.positions_BT =
      pass.positions_BT.narrow(1, block.first_query, block.num_queries);
  part.positions_BS = keys(pass.positions_BS);
  part.host_positions_BS = keys(pass.host_positions_BS);
  part.real_BS = keys(pass.real_BS);
  part.seen_BS = keys(pass.seen_BS);
  part.first_seen_BS = at::Tensor();
  part.visible = encodings::Visible(
      [sight, block] { return sight->MaskOfEncodings(block).visible(); });
  return part;
}

// What `map` makes of each tensor and its axis, in an order that is always the
// same.
template <typename Map>
Carried Mapped(const Carried& carried, const Map& map) {
  const auto all = [&](const std::vector<at::Tensor>& tensors, Axis axis) {
    std::vector<at::Tensor> mapped;
    for (const at::Tensor& x : tensors) mapped.push_back(map(x, axis));
    return mapped;
  };
  Carried mapped;
  mapped.tensors = all(carried.tensors, Axis::kShared);
  mapped.queries = all(carried.queries, Axis::kQueries);
  mapped.keys = all(carried.keys, Axis::kKeys);
  for (const Carried& part : carried.parts) {
    mapped.parts.push_back(Mapped(part, map));
  }
  return mapped;
}

template <typename Map>
Scored Mapped(const Scored& scored, const Pass& pass, const Carried& carried,
              const Map& map) {
  const LayerInput& of = scored.scores.layer;
  const auto of_queries = [&](const at::Tensor& x) {
    return map(x, Axis::kQueries);
  };
  const auto of_keys = [&](const at::Tensor& x) { return map(x, Axis::kKeys); };
  const LayerInput layer{of.layer,
                         pass,
                         carried,
                         of_queries(of.hidden_BTC),
                         of_queries(of.q_BHTD),
                         of_queries(of.k_BGTD),
                         of_queries(of.v_BGTD)};
  Scored mapped{{layer,
                 of_queries(scored.scores.q_BHTD),
                 of_keys(scored.scores.k_BHSD),
                 {}},
                {}};
  for (const at::Tensor& key : scored.scores.extra_keys) {
    mapped.scores.extra_keys.push_back(of_keys(key));
  }
  for (const at::Tensor& value : scored.values) {
    mapped.values.push_back(of_keys(value));
  }
  return mapped;
}

// What a layer's attention reads, or a block's, with all that it refers to.
class Reads {
 public:
  template <typename Map>
  Reads(const Scored& own, const Scored* memory, Pass pass, const Map& map)
      : pass_(std::move(pass)),
        carried_(Mapped(own.scores.layer.carried, map)),
        own_(Mapped(own, pass_, carried_, map)) {
    if (memory != nullptr) {
      memory_.emplace(Mapped(*memory, pass_, carried_, map));
    }
  }
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  const Pass& pass() const { return pass_; }
  const Scored& own() const { return own_; }
  const Scored* memory() const {
    return memory_.has_value() ? &*memory_ : nullptr;
  }

 private:
  const Pass pass_;
  const Carried carried_;
  const Scored own_;
  std::optional<const Scored> memory_;
};

// Why no kernel may do it, whatever the encoding; OK if one may.
absl::Status MayBeKernels(const Scored& scored, const Mixing& mixing) {
  if (!mixing.sight->IsByFirst()) {
    return absl::UnimplementedError(
        "keys behind the query are hidden by distance");
  }
  if (scored.scores.layer.pass.reach > kMaxReach) {
    return absl::UnimplementedError("position ids are too far apart");
  }
  if (mixing.has_memory && at::GradMode::is_enabled()) {
    return absl::UnimplementedError(
        "keys of earlier segments pass on no gradient");
  }
  return absl::OkStatus();
}

kernels::torch::Attention AttentionOf(const Scored& scored,
                                      const Mixing& mixing) {
  kernels::torch::Attention attention;
  attention.q_BHTD = scored.scores.q_BHTD;
  attention.k_BGSD = scored.scores.k_BHSD;
  const int64_t heads = attention.q_BHTD.size(1);
  const int64_t key_heads = attention.k_BGSD.size(1);
  for (const at::Tensor& value : scored.values) {
    // Heads may share v and turn the keys that they share each by a state.
    const bool shared = value.size(1) == key_heads;
    attention.values.push_back(shared ? value
                                      : Repeat(value, heads / value.size(1)));
  }
  attention.causal = mixing.sight->causal();
  attention.real_BS = mixing.sight->real();
  attention.first_BHT = mixing.first_BHT;
  const Pass& pass = scored.scores.layer.pass;
  if (!pass.consecutive) attention.positions_BS = pass.positions_BS;
  return attention;
}

}  // namespace

std::vector<at::Tensor> MixByKernel(const Scored& scored,
                                    const Mixing& mixing) {
  const std::string& name = mixing.kernel;
  const bool chosen = !name.empty();
  const bool is_for_kernels =
      chosen || kernels::torch::IsForKernels(scored.values[0]);
  if (mixing.observer != nullptr) return {};
  if (name == kPlainMixing || !is_for_kernels) return {};
  const auto refuse = [&](const absl::Status& why) {
    TORCH_CHECK_VALUE(!chosen, "attention kernel ", name, ": ",
                      std::string(why.message()));
    return std::vector<at::Tensor>();
  };
  const absl::Status may_be = MayBeKernels(scored, mixing);
  if (!may_be.ok()) return refuse(may_be);
  auto terms = mixing.encoding->KernelTerms(scored.scores);
  if (!terms.has_value()) {
    return refuse(absl::UnimplementedError(
        "no kernel has what the encoding does to logits"));
  }
  kernels::torch::Attention attention = AttentionOf(scored, mixing);
  attention.terms = std::move(*terms);
  const auto problem = kernels::torch::ProblemOf(attention);
  if (!problem.ok()) return refuse(problem.status());
  const auto kernel = kernels::attention::Select(*problem, name);
  if (!kernel.ok()) return refuse(kernel.status());
  if (mixing.kernels_taken != nullptr) {
    mixing.kernels_taken->insert((*kernel)->name);
  }
  return kernels::torch::Attend(attention, *problem, **kernel);
}

std::vector<at::Tensor> MixPlainly(const Scored& scored, const Scored* memory,
                                   const Mixing& mixing) {
  const at::Tensor& q = scored.scores.q_BHTD;
  const Block all = mixing.sight->All();
  const int64_t of_query = q.size(0) * q.size(1) * all.num_keys;
  const int64_t most = std::max(mixing.logits_at_once / of_query, int64_t{1});
  if (most >= all.num_queries || mixing.observer != nullptr)
    return MixBlock(scored, memory, all, mixing);
  BlockwiseInput input;
  for (int64_t first = 0; first < all.num_queries; first += most) {
    input.blocks.push_back(
        mixing.sight->Of(first, std::min(most, all.num_queries - first)));
  }
  // Autograd keeps the tensors.
  const auto reads =
      std::make_shared<const Reads>(scored, memory, scored.scores.layer.pass,
                                    [&](const at::Tensor& x, Axis axis) {
                                      input.tensors.push_back(x);
                                      input.axes.push_back(axis);
                                      return at::Tensor();
                                    });
  input.parameters = mixing.parameters;
  input.function = [mixing, reads](const Block& block,
                                   const std::vector<at::Tensor>& parts) {
    auto next = parts.begin();
    const Reads part(
        reads->own(), reads->memory(),
        PartOf(reads->pass(), block, mixing.sight),
        [&](const at::Tensor& /*x*/, Axis /*axis*/) { return *next++; });
    return MixBlock(part.own(), part.memory(), block, mixing);
  };
  return InBlocks(std::move(input));
}

}  // namespace ordo::model::transformer
