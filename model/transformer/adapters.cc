#include "model/transformer/adapters.h"

#include <cmath>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/matmul.h"

namespace ordo::model::transformer {

void Adapters::Add(const ordo::training::v1::Lora& lora,
                   const std::string& name, LinearWeights* linear,
                   parameters::ParameterSet* parameters) {
  const int64_t rank = lora.rank();
  const int64_t out = linear->weight.size(0), in = linear->weight.size(1);
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  Adapter adapter;
  adapter.in = parameters->Add(name + ".lora_A.weight", {rank, in},
                               {0.0, -bound, 2.0 * bound});
  adapter.out = parameters->Add(name + ".lora_B.weight", {out, rank}, {});
  adapter.scale = lora.alpha() / static_cast<double>(rank);
  linear->adapter = adapter;
  entries_.push_back({linear, adapter, {}});
}

void Adapters::Merge() {
  const at::NoGradGuard no_grad;
  for (Entry& entry : entries_) {
    if (entry.plain.defined()) continue;
    entry.plain = entry.linear->weight.clone();
    entry.linear->weight.add_(at::matmul(entry.adapter.out, entry.adapter.in),
                              entry.adapter.scale);
    entry.linear->adapter = {};
  }
}

void Adapters::Unmerge() {
  const at::NoGradGuard no_grad;
  for (Entry& entry : entries_) {
    if (!entry.plain.defined()) continue;
    entry.linear->weight.copy_(entry.plain);
    entry.linear->adapter = entry.adapter;
    entry.plain = at::Tensor();
  }
}

}  // namespace ordo::model::transformer
