#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"

// Encodings that add a bias to the logits.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

Param PerLayer() {
  return Bool("per_layer", false,
              "Whether each layer has parameters of its own; otherwise all "
              "layers share them.");
}

// `values` for one layer, times the layers where each has its own.
int64_t ForLayers(const Component& component, const ModelShape& shape,
                  int64_t values) {
  return Params(component.params()).Bool("per_layer") ? shape.layers * values
                                                      : values;
}

// Of a bias that takes `kFlops` for each pair and head: made once where layers
// share it, and added in each.
template <int kFlops>
ExtraCost CostOfBias(const Component& component, const ModelShape& shape,
                     const CostQuery& query) {
  const auto own = component.params().find("per_layer");
  const bool shared =
      own == component.params().end() || !own->second.bool_value();
  const int64_t made =
      shared == (query.layer == kInputLayer) ? int64_t{kFlops} : 0;
  const int64_t added = query.layer == kInputLayer ? 0 : 1;
  return Counted(query, 0, (made + added) * query.pairs * shape.heads);
}

Entry Alibi() {
  Entry entry = EncodingEntry(
      "alibi",
      "ALiBi: a penalty that grows with the distance, by a slope for each "
      "head; for any number of heads.",
      "Press, Smith, Lewis 2022, arXiv:2108.12409");
  entry.encoding.formula =
      "s_ij = q_i . k_j / sqrt(d) - m_h |i - j|, m_h = 2^(-8h/H), h = 1..H; H "
      "not a power of two: the slopes of the next lower power, then every "
      "other one of the next higher";
  entry.encoding.beyond = "defined";
  entry.encoding.count_cost = CostOfBias<1>;
  return entry;
}

int64_t CountT5(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  return ForLayers(component, shape, params.Integer("buckets") * shape.heads);
}

void CheckT5(std::string_view field, const Component& component,
             const ModelShape& shape,
             std::vector<base::FieldViolation>* violations) {
  const Params params(component.params());
  const int64_t buckets = params.Integer("buckets");
  const int64_t parts = shape.causal ? 2 : 4;
  if (buckets % parts != 0) {
    violations->push_back(
        {ParamPath(field, "buckets"),
         absl::StrCat("must be a multiple of ", parts,
                      shape.causal ? "" : " where model.causal is false",
                      ", is ", buckets)});
    return;
  }
  const int64_t least = buckets / parts + 1;
  if (params.Integer("max_distance") < least) {
    violations->push_back(
        {ParamPath(field, "max_distance"),
         absl::StrCat("must be at least ", least, " with ", buckets,
                      " buckets, is ", params.Integer("max_distance"))});
  }
}

// Looked up. Without the division by sqrt(d), q is multiplied by it before.
ExtraCost CostOfT5(const Component& component, const ModelShape& shape,
                   const CostQuery& query) {
  const ExtraCost cost = CostOfBias<0>(component, shape, query);
  if (query.layer == kInputLayer ||
      Params(component.params()).String("scale") != "none") {
    return cost;
  }
  const CostSizes s = SizesOf(shape, query);
  return Sum(cost, Counted(query, 0, s.n * s.h * s.d));
}

Entry T5() {
  Entry entry = EncodingEntry(
      "t5",
      "T5's relative bias: a learned number for each head and each bucket of "
      "distances, far ones sharing buckets that widen geometrically.",
      "Raffel et al. 2020, arXiv:1910.10683");
  entry.params = {
      Integer("buckets", 32, {4, 4096, "buckets"},
              "Number of buckets; without the causal mask half of them are for "
              "keys after the query."),
      Integer("max_distance", 128, {2, 1e6, "tokens"},
              "Distance from which on all share the last bucket."),
      PerLayer(),
      Choice("scale", {"sqrt_d", "none"},
             "What q . k is divided by: the root of the head width, or nothing "
             "as in T5's own attention."),
      Choice("init", {"normal", "zero"},
             "How the table starts: normal values of standard deviation "
             "C^(-1/2), or zeros."),
  };
  entry.encoding.formula =
      "s_ij = q_i . k_j / sqrt(d) + table[bucket(i - j), h]; bucket(x) = x for "
      "x < E, else E + floor(ln(x / E) / ln(max_distance / E) (N - E)), at "
      "most N - 1; N = buckets, E = N / 2";
  entry.encoding.beyond = "defined: the last bucket";
  entry.encoding.parameters = "buckets H, times the layers with per_layer";
  entry.encoding.initial =
      "with init: normal, normal values of standard deviation C^(-1/2); "
      "otherwise 0";
  entry.encoding.count_parameters = CountT5;
  entry.encoding.check_shape = CheckT5;
  entry.encoding.count_cost = CostOfT5;
  return entry;
}

int64_t CountKerple(const Component& component, const ModelShape& shape) {
  return ForLayers(component, shape, int64_t{2} * shape.heads);
}

Entry Kerple(std::string name, std::string text, std::string formula) {
  Entry entry = EncodingEntry(std::move(name), std::move(text),
                              "Chi, Fan, Ramadge, Rudnicky 2022, "
                              "arXiv:2205.09921");
  entry.params = {PerLayer()};
  entry.encoding.formula = std::move(formula);
  entry.encoding.beyond = "defined";
  entry.encoding.parameters = "2 H, times the layers with per_layer";
  entry.encoding.count_parameters = CountKerple;
  return entry;
}

Entry KerpleLog() {
  Entry entry =
      Kerple("kerple_log",
             "KERPLE's logarithmic kernel: a penalty that grows with the "
             "logarithm of the distance, learned for each head.",
             "s_ij = q_i . k_j / sqrt(d) - r1_h ln(1 + r2_h |i - j|), r1 "
             "and r2 at least 0.01");
  entry.encoding.initial = "r1 uniform in 0..2, r2 in 0..1";
  entry.encoding.count_cost = CostOfBias<4>;
  return entry;
}

Entry KerplePower() {
  Entry entry =
      Kerple("kerple_power",
             "KERPLE's power kernel: a penalty that grows with a power of "
             "the distance, learned for each head.",
             "s_ij = q_i . k_j / sqrt(d) - r1_h |i - j|^(r2_h), r1 and r2 "
             "at least 0.01, r2 at most 2");
  entry.encoding.initial = "r1 uniform in 0..1, r2 in 0..2";
  entry.encoding.count_cost = CostOfBias<2>;
  return entry;
}

// An MLP for each pair, with ReLU, of a ratio of two logarithms: a product, a
// sum and a logarithm for each of both, the distance's divided by the query's,
// to which a small number is added.
ExtraCost CostOfFire(const Component& component, const ModelShape& shape,
                     const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t inner = Params(component.params()).Integer("mlp_width");
  ExtraCost cost = Counted(query, s.p * inner * (1 + s.h),
                           4 * s.p + 4 * s.n + s.p * inner + 2 * s.p * s.h);
  // The activation counts in both conventions.
  cost.flops += s.p * inner;
  return cost;
}

int64_t CountFire(const Component& component, const ModelShape& shape) {
  const int64_t inner = Params(component.params()).Integer("mlp_width");
  return shape.layers * (2 * inner + (inner + 1) * shape.heads + 2);
}

Entry Fire() {
  Entry entry = EncodingEntry(
      "fire",
      "FIRE: a learned function of the distance relative to the query's own "
      "position.",
      "Li et al. 2024, arXiv:2310.04418");
  entry.params = {
      Integer("mlp_width", 32, {1, 65536, "channels"},
              "Width of the hidden layer of the function f."),
      Number("length", 512.0, {1.0, 1e9, "tokens"},
             "Positions below it share one scale; a learned factor "
             "that starts at 1 multiplies it."),
      Number("initial_c", 0.1, {1e-6, 1e3, "1 per token"},
             "Start of c, which multiplies distances."),
  };
  entry.encoding.formula =
      "s_ij = q_i . k_j / sqrt(d) + f_h(psi(|i - j|) / (psi(max(i, L)) + "
      "1e-6)), psi(x) = ln(|c x| + 1), L = |l length|, f: 1 -> mlp_width -> H "
      "with ReLU";
  entry.encoding.beyond = "defined: ratios stay in the interval 0..1";
  entry.encoding.parameters =
      "2 mlp_width + (mlp_width + 1) H + 2 for each layer";
  entry.encoding.initial =
      "c as initial_c, l 1; the function's matrices and biases uniform within "
      "the root of one over their inputs";
  entry.encoding.count_parameters = CountFire;
  // Past L the scale depends on the query's position.
  entry.encoding.relative = false;
  entry.encoding.count_cost = CostOfFire;
  return entry;
}

void CheckSandwich(std::string_view field, const Component& component,
                   const ModelShape& /*shape*/,
                   std::vector<base::FieldViolation>* violations) {
  const int64_t width = Params(component.params()).Integer("width");
  if (width % 2 == 0) return;
  violations->push_back(
      {ParamPath(field, "width"), absl::StrCat("must be even, is ", width)});
}

// Waves at queries and at keys, their products and the division by each head's
// ratio are of all layers.
ExtraCost CostOfSandwich(const Component& component, const ModelShape& shape,
                         const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  const int64_t width = Params(component.params()).Integer("width");
  if (query.layer == kInputLayer) {
    return Counted(query, s.p * width, 2 * s.n * (width / 2) * 3 + s.p * s.h);
  }
  return Counted(query, 0, s.p * s.h);
}

Entry Sandwich() {
  Entry entry = EncodingEntry(
      "sandwich",
      "Sandwich: the product of two sinusoidal embeddings as a bias, weaker "
      "from head to head.",
      "Chi, Fan, Rudnicky, Ramadge 2023, arXiv:2212.10356");
  entry.params = {
      Number("base", 10000.0, {1.0, 1e9}, "Base of the frequencies."),
      Integer("width", 128, {2, 65536, "channels"},
              "Width W of the sinusoidal embeddings; even."),
  };
  entry.encoding.formula =
      "s_ij = q_i . k_j / sqrt(d) + H / (8h) sum_(f < W/2) cos((i - j) "
      "base^(-2f/W)), h = 1..H";
  entry.encoding.beyond = "defined";
  entry.encoding.check_shape = CheckSandwich;
  entry.encoding.count_cost = CostOfSandwich;
  return entry;
}

int64_t CountWindow(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const int64_t cells =
      (2 * params.Integer("rows") - 1) * (2 * params.Integer("columns") - 1);
  return ForLayers(component, shape, cells * shape.heads);
}

Entry WindowBias2d() {
  Entry entry = EncodingEntry(
      "window_bias_2d",
      "A learned number for each head and each pair of distances in rows and "
      "columns of a grid.",
      "Liu et al. 2021, arXiv:2103.14030");
  entry.params = GridSides();
  entry.params.push_back(PerLayer());
  entry.encoding.formula =
      "s_ij = q_i . k_j / sqrt(d) + table[row(i) - row(j), column(i) - "
      "column(j), h]; position p is row floor(p / columns), column p mod "
      "columns";
  entry.encoding.beyond = "an error: rows * columns positions";
  entry.encoding.parameters =
      "(2 rows - 1)(2 columns - 1) H, times the layers with per_layer";
  entry.encoding.initial = "normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountWindow;
  entry.encoding.limit_length = GridSize;
  // A shift of ids moves cells from one row to the next.
  entry.encoding.relative = false;
  entry.encoding.count_cost = CostOfBias<0>;
  return entry;
}

}  // namespace

std::vector<Entry> BiasEntries() {
  std::vector<Entry> entries = {Alibi(),       T5(),   KerpleLog(),
                                KerplePower(), Fire(), Sandwich()};
  // Biases b(i - j) are given for distances from 0 on; those of a grid for both
  // directions.
  for (Entry& entry : entries) {
    entry.encoding.biases_distances = true;
    entry.encoding.ordered_positions = true;
  }
  entries.push_back(WindowBias2d());
  return entries;
}

const std::vector<std::string>& BiasNames() {
  static const auto* const names = new std::vector<std::string>(NamesOf(
      BiasEntries(),
      [](const EncodingTraits& traits) { return traits.biases_distances; }));
  return *names;
}

}  // namespace ordo::model::catalog
