#include <algorithm>
#include <map>
#include <string>

#include "model/catalog/entries.h"
#include "model/catalog/pattern.h"

// What encodings add to the work of a pass: one function for each family.
//
// Operations on single values count one each: an addition, a product, a root,
// an exponential, a sine. Not counted are comparisons, tables' look-ups and
// what depends on parameters alone.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

// A layer's sizes, by the letters of the formulas.
struct Sizes {
  int64_t n = 0;  // tokens
  int64_t p = 0;  // pairs
  int64_t h = 0;  // heads
  int64_t g = 0;  // key heads
  int64_t d = 0;  // channels of a head
  int64_t c = 0;  // channels of the model
};

Sizes SizesOf(const ModelShape& shape, const CostQuery& query) {
  return {query.tokens,          query.pairs,        shape.heads,
          shape.num_key_heads(), shape.head_width(), shape.width};
}

// `flops` of single values, which table 3 of the TAPE paper leaves out.
ExtraCost Counted(const CostQuery& query, int64_t macs, int64_t flops) {
  return {macs, query.convention == CostConvention::kModel ? flops : 0, 0};
}

ExtraCost Nothing(const Component&, const ModelShape&, const CostQuery&) {
  return {};
}

// Rotary family.

int64_t Channels(const Component& component, const ModelShape& shape) {
  return TurningChannels(component.params(), shape.head_width());
}

// An angle, its sine and its cosine for each pair of channels.
ExtraCost Table(const Sizes& s, int64_t channels, const CostQuery& query) {
  return Counted(query, 0, s.n * (channels / 2) * 3);
}

// Two products and a sum for each channel of q and k.
ExtraCost Rotary(const Component& component, const ModelShape& shape,
                 const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  if (query.layer == kInputLayer) return Table(s, r, query);
  return Counted(query, 0, 3 * s.n * (s.h + s.g) * r);
}

// Factors are made once, and each channel takes one.
ExtraCost Xpos(const Component& component, const ModelShape& shape,
               const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  if (query.layer == kInputLayer) {
    return Counted(query, 0, s.n * (r / 2) * (3 + 2 * 2));
  }
  return Counted(query, 0, 4 * s.n * (s.h + s.g) * r);
}

// q and k are turned twice, k of all heads, and have two products.
ExtraCost ReRope(const Component& component, const ModelShape& shape,
                 const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  if (query.layer == kInputLayer) {
    return Counted(query, 0, 4 * s.n * (r / 2) * 3);
  }
  return Counted(query, s.p * s.h * s.d, 2 * 3 * s.n * 2 * s.h * r + s.p * s.h);
}

// Beside what is with it; rope where nothing else turns.
ExtraCost RopeBias(const Component& component, const ModelShape& shape,
                   const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  ExtraCost cost;
  bool turned = query.turned;
  for (const Component& other : component.with()) {
    turned = turned || IsRotary(other.name());
    const ExtraCost theirs = CountCost(other, shape, query);
    cost.macs += theirs.macs;
    cost.flops += theirs.flops;
    cost.state += theirs.state;
  }
  if (!turned) cost.flops += Rotary(component, shape, query).flops;
  if (query.layer == kInputLayer) return cost;
  cost.flops += Counted(query, 0, s.n * (s.h + s.g) * s.d).flops;
  return cost;
}

// Blocks of E channels: a matrix for each token, key head and block, its
// exponential left out, times the channels.
ExtraCost Liere(const Component& component, const ModelShape& shape,
                const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  const int64_t given = params.Integer("block");
  const int64_t block = given == 0 ? s.d : given;
  return Counted(query, 0,
                 2 * s.n * (s.h + s.g) * s.d * block +
                     params.Integer("axes") * s.n * s.g * s.d * block);
}

// Biases of the distance: `Flops` for each pair and head.
template <int kFlops>
ExtraCost PairBias(const Component&, const ModelShape& shape,
                   const CostQuery& query) {
  if (query.layer == kInputLayer) return {};
  return Counted(query, 0, kFlops * query.pairs * shape.heads);
}

// The sums are of all layers.
ExtraCost Sandwich(const Component& component, const ModelShape& shape,
                   const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  const int64_t width = Params(component.params()).Integer("width");
  if (query.layer == kInputLayer) {
    return Counted(query, s.p * width, s.n * (width / 2) * 3);
  }
  return Counted(query, 0, 2 * s.p * s.h);
}

// An MLP for each pair, with ReLU, of a ratio of two logarithms.
ExtraCost Fire(const Component& component, const ModelShape& shape,
               const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t inner = Params(component.params()).Integer("mlp_width");
  ExtraCost cost = Counted(query, s.p * inner * (1 + s.h),
                           4 * s.p + 3 * s.n + s.p * inner + 2 * s.p * s.h);
  // The activation counts in both conventions.
  cost.flops += s.p * inner;
  return cost;
}

// Of the content.

ExtraCost Shaw(const Component& component, const ModelShape& shape,
               const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  const int64_t k = params.Integer("max_distance");
  const int64_t rows = shape.causal ? k + 1 : 2 * k + 1;
  const int64_t terms = params.Bool("values") ? 2 : 1;
  return Counted(query, terms * s.n * s.h * rows * s.d,
                 2 * s.p * s.h + (terms - 1) * (s.p * s.h + s.n * s.h * s.d));
}

ExtraCost Huang(const Component& component, const ModelShape& shape,
                const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t rows =
      2 * Params(component.params()).Integer("max_distance") - 1;
  if (component.name() == "huang4") {
    return Counted(query, 2 * s.n * s.h * rows * s.d, 3 * s.p * s.h);
  }
  if (component.name() == "huang3") {
    // A product for each row but one, which the plain one stands for.
    const int64_t seen =
        std::min(rows, shape.causal ? s.n : int64_t{2} * s.n - 1);
    return Counted(query, (seen - 1) * s.p * s.h * s.d,
                   seen * (s.n * s.h * s.d + s.p * s.h));
  }
  return Counted(query, 0, s.p * s.h);
}

ExtraCost DaTransformer(const Component&, const ModelShape& shape,
                        const CostQuery& query) {
  if (query.layer == kInputLayer) return {};
  return Counted(query, 0, 8 * query.pairs * shape.heads);
}

// Sines and cosines of `width` / 2 frequencies at queries and keys, and their
// products with x: two of x's width for each token, one for each pair.
ExtraCost Waves(const Sizes& s, int64_t width, const CostQuery& query) {
  if (query.layer == kInputLayer) {
    return Counted(query, 0, 2 * s.n * (width / 2) * 3);
  }
  return Counted(query, s.p * s.h * width, 3 * s.n * s.h * width);
}

ExtraCost Tener(const Component&, const ModelShape& shape,
                const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  ExtraCost cost = Waves(s, s.d, query);
  if (query.layer == kInputLayer) return cost;
  const ExtraCost more = Counted(query, 0, 2 * s.n * s.h * s.d + s.p * s.h);
  return {cost.macs + more.macs, cost.flops + more.flops, 0};
}

ExtraCost TransformerXl(const Component&, const ModelShape& shape,
                        const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  ExtraCost cost = Waves(s, s.c, query);
  if (query.layer == kInputLayer) return cost;
  const ExtraCost more = Counted(query, s.n * s.h * s.d * (1 + s.c),
                                 s.n * s.h * s.d + 3 * s.p * s.h);
  return {cost.macs + more.macs, cost.flops + more.flops, 0};
}

ExtraCost Deberta(const Component& component, const ModelShape& shape,
                  const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t rows = 2 * Params(component.params()).Integer("max_distance");
  return Counted(query, 2 * rows * s.c * s.c + 2 * s.n * s.h * rows * s.d,
                 rows * s.c + 3 * s.p * s.h);
}

// The gates' own logits and keys.
ExtraCost CopeGates(const std::string& gates, const Sizes& s,
                    const CostQuery& query) {
  if (gates == "used") return {};
  ExtraCost cost = Counted(query, s.p * s.h * s.d, s.p * s.h);
  if (gates == "sep_keys") cost.macs += s.n * s.c * s.g * s.d;
  cost.state = s.g * s.d;
  return cost;
}

ExtraCost Cope(const Component& component, const ModelShape& shape,
               const CostQuery& query) {
  const Sizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  ExtraCost cost = CopeGates(params.String("gates"), s, query);
  // Gates by a sigmoid and their sums; the term is added.
  int64_t macs = 0, flops = (3 + 1 + 1) * s.p * s.h;
  if (params.Bool("divide_position")) flops += s.p * s.h;
  const std::string form = params.String("form");
  if (form == "alibi") {
    flops += 2 * s.p * s.h;
  } else if (form == "mlp" &&
             (query.layer == 0 || params.String("mlp_layers") == "all")) {
    const int64_t inner = params.Integer("mlp_width");
    macs = (s.n * s.d + s.p) * s.h * inner + s.n * s.h * s.d;
    flops += (3 * inner + 1) * s.p * s.h;
  } else {
    macs = s.n * s.h * params.Integer("max_position") * s.d;
    flops += 5 * s.p * s.h;
  }
  const ExtraCost more = Counted(query, macs, flops);
  cost.macs += more.macs;
  cost.flops += more.flops;
  return cost;
}

// Of the input.

// A vector is looked up for each token and added.
ExtraCost Added(const Component&, const ModelShape& shape,
                const CostQuery& query) {
  if (query.layer != kInputLayer) return {};
  return Counted(query, 0, query.tokens * shape.width);
}

// The vector is computed: half an angle and a wave for each channel.
ExtraCost AddedWaves(const Component&, const ModelShape& shape,
                     const CostQuery& query) {
  if (query.layer != kInputLayer) return {};
  const int64_t values = query.tokens * shape.width;
  return Counted(query, 0, values + values + values / 2);
}

// Of others.

ExtraCost PerLayer(const Component& component, const ModelShape& shape,
                   const CostQuery& query) {
  const Pattern pattern = PatternOf(component, shape.layers);
  if (query.layer != kInputLayer) {
    const int member = pattern.member_of_layer[query.layer];
    return CountCost(*pattern.members[member], shape, query);
  }
  ExtraCost all;
  for (const Component* member : pattern.members) {
    const ExtraCost cost = CountCost(*member, shape, query);
    all.macs += cost.macs;
    all.flops += cost.flops;
  }
  return all;
}

const std::map<std::string, CostCount>& Costs() {
  static const auto* const costs = new std::map<std::string, CostCount>{
      {"abacus", Added},
      {"alibi", PairBias<2>},
      {"axial", Added},
      {"cope", Cope},
      {"da_transformer", DaTransformer},
      {"deberta", Deberta},
      {"fire", Fire},
      {"grid_learned", Added},
      {"grid_sinusoidal", AddedWaves},
      {"huang1", Huang},
      {"huang2", Huang},
      {"huang3", Huang},
      {"huang4", Huang},
      {"kerple_log", PairBias<5>},
      {"kerple_power", PairBias<3>},
      {"leaky_rerope", ReRope},
      {"learned", Added},
      {"liere", Liere},
      {"none", Nothing},
      {"per_layer", PerLayer},
      {"random_learned", Added},
      {"random_positions", Nothing},
      {"random_rope", Rotary},
      {"random_sinusoidal", AddedWaves},
      {"rerope", ReRope},
      {"rope_bias", RopeBias},
      {"sandwich", Sandwich},
      {"shaw", Shaw},
      {"sinusoidal", AddedWaves},
      {"t5", PairBias<1>},
      {"tener", Tener},
      {"transformer_xl", TransformerXl},
      {"window_bias_2d", PairBias<1>},
      {"xpos", Xpos},
  };
  return *costs;
}

}  // namespace

void AddCosts(std::vector<Entry>* all) {
  for (Entry& entry : *all) {
    if (entry.kind != Kind::kEncoding) continue;
    const auto found = Costs().find(entry.name);
    if (found != Costs().end()) {
      entry.encoding.count_cost = found->second;
    } else if (IsRotary(entry.name)) {
      entry.encoding.count_cost = Rotary;
    }
  }
}

}  // namespace ordo::model::catalog
