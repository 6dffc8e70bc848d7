#ifndef ORDO_MODEL_TRANSFORMER_MIXING_H_
#define ORDO_MODEL_TRANSFORMER_MIXING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"
#include "model/transformer/sight.h"

// Attention under an encoding, by a kernel or in plain operations. Both take
// memory linear in the number of tokens, and both have gradients.
//
// Legend: B batch, H heads, T queries, S keys.

namespace ordo::model::transformer {

// Most logits that plain operations make at a time, of all rows and heads
// together: 16 MiB of fp32.
inline constexpr int64_t kLogitsAtOnce = int64_t{1} << 22;

// In the place of a kernel's name.
inline constexpr char kPlainMixing[] = "reference";

// What attention of one layer did, for those who look into a model.
struct LayerView {
  // From 0.
  int layer = 0;
  // Attention's weights, [B,H,T,S]; a query that sees no key has weights 0.
  at::Tensor weights_BHTS;
  // The weights that Encoding::Bias alone would give, without q.k: [B,H,T,S];
  // undefined where there is none.
  at::Tensor of_bias_BHTS;
  // Encoding::PositionState.
  at::Tensor state;
};
using LayerObserver = std::function<void(const LayerView& view)>;

// What attention of one layer is of.
struct Scored {
  // With keys as they are shared.
  encodings::ScoresInput scores;
  // What is mixed, v first, [B,*,S,*].
  std::vector<at::Tensor> values;
};

// What attention of all layers of a pass has in common.
struct Mixing {
  // Lives on with the graph of gradients.
  std::shared_ptr<const encodings::Encoding> encoding;
  // Those of the encoding, of all layers.
  std::vector<at::Tensor> parameters;
  std::shared_ptr<const Sight> sight;
  // sight->First().
  at::Tensor first_BHT;
  // Whether keys of earlier segments pass on no gradient.
  bool has_memory = false;
  // ForwardOptions::kernel and ForwardOptions::logits_at_once.
  std::string kernel;
  int64_t logits_at_once = kLogitsAtOnce;
  // ForwardOptions::kernels_taken, while the forward pass runs.
  std::set<std::string>* kernels_taken = nullptr;
  // ForwardOptions::on_layer, while the forward pass runs; null: nobody looks.
  const LayerObserver* observer = nullptr;
};

// What is mixed of each value, [B,H,T,*], by a kernel; empty where plain
// operations have to do it, and always where somebody looks: a kernel has no
// weights to show. Throws where a kernel is named that does not.
std::vector<at::Tensor> MixByKernel(const Scored& scored, const Mixing& mixing);

// The same in plain operations, in blocks of queries if there are more logits
// than may be made at once: the backward pass makes those of each block again.
// `memory`: the same with keys and values that pass on no gradient, which
// queries of later segments see; null: they see the same. Where somebody looks
// there is one block.
std::vector<at::Tensor> MixPlainly(const Scored& scored, const Scored* memory,
                                   const Mixing& mixing);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_MIXING_H_
