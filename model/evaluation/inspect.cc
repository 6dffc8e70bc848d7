#include "model/evaluation/inspect.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/outer.h"
#include "ATen/ops/zeros.h"
#include "model/training/autocast.h"

// Legend: H heads, T tokens, W width of a position's state.

namespace ordo::model::evaluation {
namespace {

using tasks::Inside;
using tasks::InsideQuery;
using Kind = InsideQuery::Kind;
using transformer::Transformer;

// What attention of a layer showed, on the host; undefined what it has not.
struct Shown {
  at::Tensor weights_HTT;
  at::Tensor of_bias_HTT;
  // One head where all have the same.
  at::Tensor state_HTW;
};
// By number of the layer, from 1.
using Layers = std::map<int, Shown>;

// A pass.
struct Reading {
  std::vector<int64_t> tokens;
  // Position id of the first.
  int64_t first = 0;
};

// The only row of a batch, in fp32 at least.
at::Tensor OnHost(const at::Tensor& x) {
  if (!x.defined()) return x;
  const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return x.select(0, 0).to(at::kCPU).to(wide);
}

Layers Look(const Transformer& model, const Reading& reading,
            const std::set<int>& layers, const std::string& precision) {
  const training::AutocastScope autocast(precision, model.device().type());
  const auto length = static_cast<int64_t>(reading.tokens.size());
  Layers shown;
  transformer::ForwardOptions options;
  options.positions =
      at::arange(reading.first, reading.first + length, at::kLong).unsqueeze(0);
  options.on_layer = [&](const transformer::LayerView& view) {
    const int layer = view.layer + 1;
    if (layers.count(layer) == 0) return;
    shown[layer] = {OnHost(view.weights_BHTS), OnHost(view.of_bias_BHTS),
                    OnHost(view.state)};
  };
  std::vector<int64_t> tokens = reading.tokens;
  model.Forward(at::from_blob(tokens.data(), {1, length}, at::kLong).clone(),
                options);
  return shown;
}

// The layers that the model has of those asked for.
std::set<int> LayersOf(const InsideQuery& query, int num_layers) {
  std::vector<int> wanted = query.layers;
  if (wanted.empty()) {
    switch (query.kind) {
      case Kind::kShifts:
        wanted = {1, 2, 4, 8};
        break;
      case Kind::kAttention:
        wanted = {num_layers};
        break;
      case Kind::kPositions:
        for (int layer = 1; layer <= num_layers; ++layer) {
          wanted.push_back(layer);
        }
        break;
    }
  }
  std::set<int> layers;
  for (const int layer : wanted) {
    if (layer >= 1 && layer <= num_layers) layers.insert(layer);
  }
  return layers;
}

std::string Of(const std::string& what, int layer) {
  return what + "_l" + std::to_string(layer);
}

double Value(const at::Tensor& x) { return x.item<double>(); }

// Pairs of a query and a key that it sees.
double NumPairs(int64_t length, bool causal) {
  const auto n = static_cast<double>(length);
  return causal ? n * (n + 1) / 2 : n * n;
}

// p_ij of one head, [T,T] in fp64; 0 for keys that the query does not see.
at::Tensor Products(const at::Tensor& state_TW, bool causal) {
  const at::Tensor wide = state_TW.to(at::kDouble);
  const at::Tensor products = at::matmul(wide, wide.t());
  return causal ? products.tril() : products;
}

// The sum of |p'_ij - p_ij| over heads and pairs, over that of |p_ij|. Heads
// are not added up at once: all their pairs are many.
double RelativeChange(const at::Tensor& before_HTW, const at::Tensor& after_HTW,
                      bool causal) {
  double change = 0, size = 0;
  for (int64_t head = 0; head < before_HTW.size(0); ++head) {
    const at::Tensor before = Products(before_HTW[head], causal);
    const at::Tensor after = Products(after_HTW[head], causal);
    change += Value((after - before).abs().sum());
    size += Value(before.abs().sum());
  }
  return change / size;
}

// The same without `count` tokens in front.
Shown Without(int64_t count, const Shown& shown) {
  const auto cut = [count](const at::Tensor& x, int64_t dim) {
    return x.narrow(dim, count, x.size(dim) - count);
  };
  Shown rest;
  rest.weights_HTT = cut(cut(shown.weights_HTT, 1), 2);
  if (shown.state_HTW.defined()) rest.state_HTW = cut(shown.state_HTW, 1);
  return rest;
}

// Two passes over the same tokens.
struct Passes {
  // Of the numbers' names.
  const char* name;
  const Layers& before;
  const Layers& after;
};

void AddChanges(const Passes& passes, bool causal, Inside* inside) {
  const std::string name = passes.name;
  for (const auto& [layer, shown] : passes.before) {
    const Shown& other = passes.after.at(layer);
    const int64_t heads = shown.weights_HTT.size(0);
    const int64_t length = shown.weights_HTT.size(1);
    double sum = 0;
    for (int64_t head = 0; head < heads; ++head) {
      sum += Value((other.weights_HTT[head].to(at::kDouble) -
                    shown.weights_HTT[head].to(at::kDouble))
                       .abs()
                       .sum());
    }
    const auto num_heads = static_cast<double>(heads);
    inside->numbers[Of(name + "_attention", layer)] =
        sum / num_heads / NumPairs(length, causal);
    inside->numbers[Of(name + "_variation", layer)] =
        sum / 2 / num_heads / static_cast<double>(length);
    if (!shown.state_HTW.defined()) continue;
    inside->numbers[Of(name + "_positions", layer)] =
        RelativeChange(shown.state_HTW, other.state_HTW, causal);
  }
}

Inside InspectShifts(const Transformer& model, const InsideQuery& query,
                     const std::vector<int64_t>& row) {
  const bool causal = model.model().causal();
  const std::set<int> layers = LayersOf(query, model.model().layers());
  const Layers plain = Look(model, {row, 0}, layers, query.precision);
  Inside inside;
  const Layers shifted =
      Look(model, {row, query.shift}, layers, query.precision);
  AddChanges({"shift", plain, shifted}, causal, &inside);
  for (const auto& [name, value] : inside.numbers) {
    if (name.rfind("shift_attention", 0) == 0) {
      inside.score -= value / static_cast<double>(layers.size());
    }
  }
  if (!query.begin.has_value()) return inside;
  Reading longer;
  longer.tokens.assign(query.shift, *query.begin);
  longer.tokens.insert(longer.tokens.end(), row.begin(), row.end());
  Layers added = Look(model, longer, layers, query.precision);
  for (auto& [layer, shown] : added) shown = Without(query.shift, shown);
  AddChanges({"add", plain, added}, causal, &inside);
  return inside;
}

tasks::InsideMap MapOf(const std::string& source, int layer,
                       const at::Tensor& values_TT) {
  tasks::InsideMap map;
  map.source = source;
  map.layer = layer;
  map.size = static_cast<int>(values_TT.size(0));
  const at::Tensor flat = values_TT.to(at::kFloat).contiguous();
  const float* values = flat.const_data_ptr<float>();
  map.values.assign(values, values + flat.numel());
  return map;
}

// The mean of a_ii over heads and queries but the first.
double Diagonal(const at::Tensor& weights_HTT) {
  const at::Tensor diagonal_HT = weights_HTT.diagonal(0, 1, 2).to(at::kDouble);
  return Value(diagonal_HT.narrow(1, 1, diagonal_HT.size(1) - 1).mean());
}

Inside InspectAttention(const Transformer& model, const InsideQuery& query,
                        const std::vector<int64_t>& row, bool with_maps) {
  Inside inside;
  const Layers layers =
      Look(model, {row, 0}, LayersOf(query, model.model().layers()),
           query.precision);
  for (const auto& [layer, shown] : layers) {
    const std::pair<const char*, const at::Tensor&> sources[] = {
        {"full", shown.weights_HTT}, {"position_only", shown.of_bias_HTT}};
    for (const auto& [source, weights_HTT] : sources) {
      if (!weights_HTT.defined()) continue;
      const bool full = &weights_HTT == &shown.weights_HTT;
      if (row.size() > 1) {
        const double diagonal = Diagonal(weights_HTT);
        inside.numbers[Of(full ? "diagonal" : "position_diagonal", layer)] =
            diagonal;
        if (full) inside.score = diagonal;
      }
      if (!with_maps) continue;
      inside.maps.push_back(MapOf(source, layer, weights_HTT.mean(0)));
      for (const int head : query.heads) {
        if (head > weights_HTT.size(0)) continue;
        inside.maps.push_back(MapOf(source, layer, weights_HTT[head - 1]));
        inside.maps.back().head = head;
      }
    }
  }
  return inside;
}

// The mean over heads of p_ij / (|e_i| |e_j|), of all pairs: [T,T] in fp64.
at::Tensor Cosines(const at::Tensor& state_HTW) {
  const int64_t heads = state_HTW.size(0), length = state_HTW.size(1);
  at::Tensor sum = at::zeros({length, length}, at::kDouble);
  for (int64_t head = 0; head < heads; ++head) {
    const at::Tensor norms_T =
        state_HTW[head].to(at::kDouble).square().sum(-1).sqrt();
    sum += Products(state_HTW[head], /*causal=*/false) /
           at::outer(norms_T, norms_T);
  }
  return sum / static_cast<double>(heads);
}

// The sum of |e_i| over heads and positions.
double NormOf(const at::Tensor& state_HTW) {
  return Value(state_HTW.to(at::kDouble).square().sum(-1).sqrt().sum());
}

Inside InspectPositions(const Transformer& model, const InsideQuery& query,
                        const std::vector<int64_t>& row, bool with_maps) {
  Inside inside;
  const std::set<int> wanted = LayersOf(query, model.model().layers());
  std::set<int> looked = wanted;
  looked.insert(1);
  const Layers layers = Look(model, {row, 0}, looked, query.precision);
  const at::Tensor& first_HTW = layers.at(1).state_HTW;
  if (!first_HTW.defined()) return inside;
  for (const int layer : wanted) {
    const at::Tensor& state_HTW = layers.at(layer).state_HTW;
    if (!state_HTW.defined()) continue;
    const double change =
        RelativeChange(first_HTW, state_HTW, model.model().causal());
    inside.numbers[Of("state_change", layer)] = change;
    inside.numbers[Of("state_norm", layer)] =
        NormOf(state_HTW) / NormOf(first_HTW);
    inside.score -= change / static_cast<double>(wanted.size());
    const at::Tensor cosines_TT = Cosines(state_HTW);
    tasks::InsideCurve curve;
    curve.layer = layer;
    for (int64_t distance = 0; distance < cosines_TT.size(0); ++distance) {
      curve.values.push_back(Value(cosines_TT.diagonal(-distance).mean()));
    }
    inside.curves.push_back(std::move(curve));
    if (!with_maps) continue;
    const int64_t size =
        std::min<int64_t>(cosines_TT.size(0), kMaxMapPositions);
    inside.maps.push_back(MapOf(
        "similarity", layer, cosines_TT.narrow(0, 0, size).narrow(1, 0, size)));
  }
  return inside;
}

}  // namespace

Inside Inspect(const Transformer& model, const InsideQuery& query,
               const std::vector<int64_t>& row, bool with_maps) {
  const at::NoGradGuard no_grad;
  switch (query.kind) {
    case Kind::kShifts:
      return InspectShifts(model, query, row);
    case Kind::kAttention:
      return InspectAttention(model, query, row, with_maps);
    case Kind::kPositions:
      return InspectPositions(model, query, row, with_maps);
  }
  return {};
}

}  // namespace ordo::model::evaluation
