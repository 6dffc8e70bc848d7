#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"

// Encodings whose logits depend on the content of q or k and on the distance.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

constexpr double kMaxDistance = 1 << 20;

Param Share() {
  return Choice("share", {"layer", "model"},
                "Whether each layer has a table of its own or all share one.");
}

// Tables of `share`.
int64_t NumTables(const Params& params, const ModelShape& shape) {
  return params.String("share") == "model" ? 1 : shape.layers;
}

// Channels of all heads together.
int64_t Projected(const ModelShape& shape) {
  return int64_t{shape.heads} * shape.head_width();
}

int64_t CountShaw(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const int64_t k = params.Integer("max_distance");
  const int64_t rows = shape.causal ? k + 1 : 2 * k + 1;
  return NumTables(params, shape) * rows * shape.head_width() *
         (params.Bool("values") ? 2 : 1);
}

ExtraCost CostOfShaw(const Component& component, const ModelShape& shape,
                     const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  const int64_t k = params.Integer("max_distance");
  const int64_t rows = shape.causal ? k + 1 : 2 * k + 1;
  const int64_t terms = params.Bool("values") ? 2 : 1;
  // Pairs whose distance has no row are multiplied by 0, the others by 1.
  const int64_t dropped = params.String("unseen") == "none" ? terms : 0;
  return Counted(
      query, terms * s.n * s.h * rows * s.d,
      (2 + dropped) * s.p * s.h + (terms - 1) * (s.p * s.h + s.n * s.h * s.d));
}

Entry Shaw() {
  Entry entry = EncodingEntry(
      "shaw",
      "Relative representations: a learned vector for each clipped distance "
      "is added to the key, and optionally to the value.",
      "Shaw et al. 2018, arXiv:1803.02155");
  entry.params = {
      Integer("max_distance", 16, {1, kMaxDistance, "tokens"},
              "Largest distance K with a vector of its own."),
      Bool("values", false, "Whether values get vectors of distances too."),
      Share(),
      Choice("unseen", {"last", "none"},
             "Distances past K take the last vector or add nothing."),
  };
  entry.encoding.formula = "s_ij = q_i . (k_j + w_clip(i-j)) / sqrt(d)";
  entry.encoding.beyond = "defined: the last vector, or none";
  entry.encoding.parameters =
      "(K + 1) d, or (2K + 1) d without the causal mask, per layer or once; "
      "twice with values";
  entry.encoding.initial = "normal values of standard deviation d^(-1/2)";
  entry.encoding.count_parameters = CountShaw;
  entry.encoding.ordered_positions = true;
  entry.encoding.count_cost = CostOfShaw;
  return entry;
}

int64_t CountHuang(const Component& component, const ModelShape& shape) {
  const int64_t k = Params(component.params()).Integer("max_distance");
  const bool vectors =
      component.name() == "huang3" || component.name() == "huang4";
  return shape.layers * (component.name() == "huang1" ? k : 2 * k - 1) *
         (vectors ? shape.head_width() : 1);
}

ExtraCost CostOfHuang(const Component& component, const ModelShape& shape,
                      const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t k = Params(component.params()).Integer("max_distance");
  const int64_t rows = 2 * k - 1;
  if (component.name() == "huang4") {
    return Counted(query, 2 * s.n * s.h * rows * s.d, 3 * s.p * s.h);
  }
  if (component.name() == "huang3") {
    // A product for each row that a seen pair takes; the first is in the place
    // of the plain one, the others are added to it.
    const int64_t taken =
        shape.causal ? std::min(k, s.n) : std::min(rows, int64_t{2} * s.n - 1);
    return Counted(query, (taken - 1) * s.p * s.h * s.d,
                   taken * s.n * s.h * s.d + (taken - 1) * s.p * s.h);
  }
  return Counted(query, 0, s.p * s.h);
}

Entry Huang(int method, std::string text, std::string formula) {
  Entry entry = EncodingEntry(
      absl::StrCat("huang", method), std::move(text),
      absl::StrCat("Huang et al. 2020, arXiv:2009.13658, method ", method));
  entry.params = {
      Integer("max_distance", 16, {1, kMaxDistance, "tokens"},
              "Distances are clipped to K - 1 in either direction.")};
  entry.encoding.formula = std::move(formula);
  entry.encoding.beyond = "defined: the last distance";
  entry.encoding.parameters = method == 1   ? "K per layer"
                              : method == 2 ? "2K - 1 per layer"
                                            : "(2K - 1) d per layer";
  entry.encoding.initial =
      method == 4 ? "normal values of standard deviation 0.02" : "1";
  entry.encoding.count_parameters = CountHuang;
  entry.encoding.count_cost = CostOfHuang;
  return entry;
}

std::vector<Entry> Huangs() {
  return {
      Huang(1,
            "A learned number for each clipped distance, whatever its "
            "direction, multiplies the product of q and k.",
            "s_ij = (q_i . k_j) w_|i-j| / sqrt(d)"),
      Huang(2,
            "A learned number for each clipped distance multiplies the "
            "product of q and k.",
            "s_ij = (q_i . k_j) w_(i-j) / sqrt(d)"),
      Huang(3,
            "A learned vector for each clipped distance weighs the channels "
            "of the product of q and k.",
            "s_ij = sum_c q_ic k_jc w_(i-j),c / sqrt(d)"),
      Huang(4, "A learned vector for each clipped distance meets both q and k.",
            "s_ij = (q_i . k_j + q_i . w_(i-j) + k_j . w_(i-j)) / sqrt(d)"),
  };
}

int64_t CountDaTransformer(const Component& /*component*/,
                           const ModelShape& shape) {
  return int64_t{2} * shape.layers * shape.heads;
}

// A product, a difference, a softplus of three, another difference and an
// exponential make the weight; what is positive of the logit is times it.
ExtraCost CostOfDaTransformer(const Component&, const ModelShape& shape,
                              const CostQuery& query) {
  if (query.layer == kInputLayer) return {};
  return Counted(query, 0, (7 + 2) * query.pairs * shape.heads);
}

Entry DaTransformer() {
  Entry entry = EncodingEntry(
      "da_transformer",
      "A learned sigmoid of the distance scales what is positive of the "
      "product of q and k.",
      "Wu et al. 2021, arXiv:2010.06925");
  entry.encoding.formula =
      "s_ij = relu(q_i . k_j) (1 + e^v_h) / (1 + e^(v_h - w_h |i-j|)) / "
      "sqrt(d)";
  entry.encoding.beyond = "defined";
  entry.encoding.parameters = "2 H per layer";
  entry.encoding.initial = "normal values of standard deviation 0.1";
  entry.encoding.count_parameters = CountDaTransformer;
  entry.encoding.count_cost = CostOfDaTransformer;
  return entry;
}

// Sines and cosines of `width` / 2 frequencies at queries and keys, and their
// products with x: two of x's width for each token, one for each pair.
ExtraCost Waves(const CostSizes& s, int64_t width, const CostQuery& query) {
  if (query.layer == kInputLayer) {
    return Counted(query, 0, 2 * s.n * (width / 2) * 3);
  }
  return Counted(query, s.p * s.h * width, 3 * s.n * s.h * width);
}

int64_t CountTener(const Component& /*component*/, const ModelShape& shape) {
  return int64_t{2} * shape.layers * Projected(shape);
}

void CheckTener(std::string_view field, const Component& component,
                const ModelShape& shape,
                std::vector<base::FieldViolation>* violations) {
  if (shape.head_width() < 4) {
    violations->push_back(
        {absl::StrCat(std::string(field), ".name"),
         absl::StrCat("tener needs heads of at least 4 channels, not ",
                      shape.head_width(), "; lower model.heads")});
  }
  if (Params(component.params()).Bool("project_keys")) return;
  if (shape.num_key_heads() != shape.heads) {
    violations->push_back(
        {ParamPath(field, "project_keys"),
         "false needs as many heads of keys as of queries; leave out "
         "model.key_value_heads"});
  }
  if (Projected(shape) != shape.width) {
    violations->push_back(
        {ParamPath(field, "project_keys"),
         absl::StrCat("false splits the model's ", shape.width,
                      " channels into ", shape.heads, " heads of ",
                      shape.head_width(), "; leave out model.head_width")});
  }
}

ExtraCost CostOfTener(const Component&, const ModelShape& shape,
                      const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  ExtraCost cost = Waves(s, s.d, query);
  if (query.layer == kInputLayer) return cost;
  const ExtraCost more = Counted(query, 0, 2 * s.n * s.h * s.d + s.p * s.h);
  return Sum(cost, more);
}

Entry Tener() {
  Entry entry = EncodingEntry(
      "tener",
      "Sinusoids of the signed distance meet q and a learned vector; k meets "
      "another.",
      "Yan et al. 2019, arXiv:1911.04474");
  entry.params = {
      Bool("project_keys", true,
           "Whether keys are projected; the original takes the layer's input "
           "itself."),
      Bool("scale", false,
           "Whether logits are divided by sqrt(d); the original's are not."),
  };
  entry.encoding.formula =
      "s_ij = q_i . k_j + q_i . R_(i-j) + u . k_j + v . R_(i-j), "
      "R_t = [sin(w_f t) | cos(w_f t)], w_f = 10000^(-f/(d/2-1))";
  entry.encoding.beyond = "defined";
  entry.encoding.parameters = "2 H d per layer";
  entry.encoding.initial =
      "normal values of standard deviation (2 / (H + d))^(1/2) (Xavier)";
  entry.encoding.count_parameters = CountTener;
  entry.encoding.check_shape = CheckTener;
  entry.encoding.count_cost = CostOfTener;
  return entry;
}

int64_t CountDeberta(const Component& component, const ModelShape& shape) {
  const int64_t k = Params(component.params()).Integer("max_distance");
  const int64_t width = shape.width, projected = Projected(shape);
  return 2 * k * width + shape.layers * (2 * projected * width + projected);
}

ExtraCost CostOfDeberta(const Component& component, const ModelShape& shape,
                        const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const int64_t rows = 2 * Params(component.params()).Integer("max_distance");
  return Counted(query, 2 * s.h * rows * s.d * (s.c + s.n),
                 rows * s.h * s.d + 3 * s.p * s.h);
}

Entry Deberta() {
  Entry entry = EncodingEntry(
      "deberta",
      "Disentangled attention: content meets the other token's relative "
      "position, in both directions.",
      "He et al. 2021, arXiv:2006.03654");
  entry.params = {
      Integer("max_distance", 64, {1, kMaxDistance, "tokens"},
              "Distances are clipped to -K .. K - 1."),
      Choice("index", {"code", "paper"},
             "Which row of the table the key meets: that of (i, j) as in the "
             "authors' code and weights, or that of (j, i) as printed."),
  };
  entry.encoding.formula =
      "s_ij = (q_i . k_j + q_i . kr_rho(i,j) + k_j . qr_rho(i,j)) / sqrt(3d)";
  entry.encoding.beyond = "defined: the last row";
  entry.encoding.parameters = "2K C once; 2 H d C + H d per layer";
  entry.encoding.initial = "normal values of standard deviation 0.02; biases 0";
  entry.encoding.count_parameters = CountDeberta;
  entry.encoding.count_cost = CostOfDeberta;
  return entry;
}

int64_t CountTransformerXl(const Component& /*component*/,
                           const ModelShape& shape) {
  const int64_t projected = Projected(shape);
  return 2 * projected + shape.layers * projected * shape.width;
}

void CheckTransformerXl(std::string_view field, const Component& component,
                        const ModelShape& shape,
                        std::vector<base::FieldViolation>* violations) {
  CheckEvenWidth(field, component, shape, violations);
  const Params params(component.params());
  const bool segments = params.Integer("segment_length") > 0;
  if (params.Integer("memory_length") > 0 && !segments) {
    violations->push_back({ParamPath(field, "memory_length"),
                           "needs segments; give segment_length"});
  }
  if (segments && !shape.causal) {
    violations->push_back({ParamPath(field, "segment_length"),
                           "needs the causal mask; leave out model.causal"});
  }
}

ExtraCost CostOfTransformerXl(const Component& component,
                              const ModelShape& shape, const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  ExtraCost cost = Waves(s, s.c, query);
  if (query.layer == kInputLayer) return cost;
  const ExtraCost more = Counted(query, s.n * s.h * s.d * (1 + s.c),
                                 s.n * s.h * s.d + 3 * s.p * s.h);
  // The wave at the clamp meets what each token has of it; without the causal
  // mask on either side.
  const bool clamped = Params(component.params()).Integer("clamp_length") > 0;
  const int64_t clamps = clamped ? (shape.causal ? 1 : 2) : 0;
  return Sum(cost, Sum(more, Counted(query, clamps * s.n * s.h * s.c, 0)));
}

Entry TransformerXl() {
  Entry entry = EncodingEntry(
      "transformer_xl",
      "Projected sinusoids of the distance meet q and a learned vector; "
      "another learned vector meets k; optionally with a memory of earlier "
      "segments.",
      "Dai et al. 2019, arXiv:1901.02860");
  entry.params = {
      Integer("clamp_length", 0, {0, kMaxDistance, "tokens"},
              "Distances beyond it count as it; 0: none do."),
      Integer("segment_length", 0, {0, kMaxDistance, "tokens"},
              "Tokens of a segment; a query sees its own and the memory; 0: "
              "one segment."),
      Integer("memory_length", 0, {0, kMaxDistance, "tokens"},
              "Tokens before a segment that its queries see, without "
              "gradient."),
  };
  entry.encoding.formula =
      "s_ij = ((q_i + u) . k_j + (q_i + v) . W_r R_(i-j)) / sqrt(d)";
  entry.encoding.beyond = "defined";
  entry.encoding.parameters = "2 H d once; H d C per layer";
  entry.encoding.initial =
      "u and v 0; W_r normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountTransformerXl;
  entry.encoding.check_shape = CheckTransformerXl;
  entry.encoding.count_cost = CostOfTransformerXl;
  return entry;
}

// Whether the forms of CoPE that `params` name include a table and an MLP.
struct CopeForms {
  int64_t tables = 0;
  int64_t mlps = 0;
  int64_t slopes = 0;
};

CopeForms FormsOf(const Params& params, const ModelShape& shape) {
  const std::string form = params.String("form");
  const int64_t places = NumTables(params, shape);
  if (form == "table") return {places, 0, 0};
  if (form == "alibi")
    return {0, 0, params.Bool("learned_slopes") ? places : 0};
  if (params.String("mlp_layers") == "all") return {0, places, 0};
  return {places - 1, 1, 0};
}

int64_t CountCope(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const CopeForms forms = FormsOf(params, shape);
  const int64_t d = shape.head_width(), n = params.Integer("mlp_width");
  const int64_t gate =
      params.String("gates") == "sep_keys"
          ? int64_t{shape.layers} * shape.num_key_heads() * d * shape.width
          : 0;
  return forms.tables * params.Integer("max_position") * d +
         forms.mlps * (2 * n + n * d + d) + forms.slopes * shape.heads + gate;
}

void CheckCope(std::string_view field, const Component& component,
               const ModelShape& /*shape*/,
               std::vector<base::FieldViolation>* violations) {
  const Params params(component.params());
  if (params.String("form") == "mlp" && params.String("share") == "model" &&
      params.String("mlp_layers") == "first") {
    violations->push_back({ParamPath(field, "share"),
                           "model needs one form for all layers; take "
                           "mlp_layers: all or share: layer"});
  }
}

// The gates' own logits and keys.
ExtraCost CostOfCopeGates(const std::string& gates, const CostSizes& s,
                          const CostQuery& query) {
  if (gates == "used") return {};
  ExtraCost cost = Counted(query, s.p * s.h * s.d, s.p * s.h);
  if (gates == "sep_keys") cost.macs += s.n * s.c * s.g * s.d;
  cost.state = s.g * s.d;
  return cost;
}

ExtraCost CostOfCope(const Component& component, const ModelShape& shape,
                     const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  const ExtraCost gates = CostOfCopeGates(params.String("gates"), s, query);
  // Gates by a sigmoid and their sums; the term is added.
  int64_t macs = 0, flops = (3 + 1 + 1) * s.p * s.h;
  const std::string form = params.String("form");
  if (params.Bool("divide_position") && form != "alibi") flops += s.p * s.h;
  if (form == "alibi") {
    flops += 2 * s.p * s.h;
  } else if (form == "mlp" && (query.layer == query.first_layer ||
                               params.String("mlp_layers") == "all")) {
    const int64_t inner = params.Integer("mlp_width");
    macs = (s.n * s.d + s.p) * s.h * inner + s.n * s.h * s.d;
    flops += (3 * inner + 1) * s.p * s.h;
  } else {
    macs = s.n * s.h * params.Integer("max_position") * s.d;
    flops += 5 * s.p * s.h;
  }
  return Sum(gates, Counted(query, macs, flops));
}

Entry Cope() {
  Entry entry = EncodingEntry(
      "cope",
      "Contextual positions: gates decide which tokens count, and a key's "
      "position is the number of those from it to the query.",
      "Golovneva et al. 2024, arXiv:2405.18719");
  entry.params = {
      Integer("max_position", 64, {1, kMaxDistance, "positions"},
              "Positions with an embedding; larger ones count as the last. The "
              "whole context of T tokens needs T + 1."),
      Choice("gates", {"used", "plain", "sep_keys", "values"},
             "What opens gates: the logits as used, those before rotation, "
             "keys of their own, or values."),
      Choice("form", {"table", "mlp", "alibi"},
             "What a position adds: its embedding times q, that of an MLP of "
             "the position, or a slope times the position."),
      Bool("divide_position", false,
           "Whether the positions' term is divided by sqrt(d) as the product "
           "is; not in the paper's Listing 1, but in the public code."),
      Share(),
      Integer("mlp_width", 32, {1, 65536, "channels"},
              "Inner width of the MLP of form: mlp."),
      Choice("mlp_layers", {"all", "first"},
             "Layers with the MLP of form: mlp; the others have tables."),
      Integer("slope_exponent", 0, {0, 64},
              "The slopes of form: alibi are 2^-(e + 4h/H), h = 0 .. H - 1."),
      Bool("learned_slopes", false,
           "Whether the slopes of form: alibi are learned, from 0."),
      Choice("sign", {"minus", "plus"},
             "Sign of the term of form: alibi; the paper prints plus, which "
             "favours far tokens."),
  };
  entry.with = RotaryNames();
  entry.with.insert(entry.with.end(), {"rope_bias", "shaw"});
  std::sort(entry.with.begin(), entry.with.end());
  entry.max_with = 1;
  entry.encoding.sums_with = true;
  entry.encoding.formula =
      "g_ij = sigmoid(q_i . k_j / sqrt(d)), p_ij = sum_(t=j..i) g_it, "
      "s_ij = q_i . k_j / sqrt(d) + (1-w) q_i . e[floor p] + w q_i . e[ceil p]";
  entry.encoding.beyond = "defined: the last position";
  entry.encoding.parameters =
      "max_position d per layer or once; MLP 2n + nd + d; slopes H; own keys "
      "G d C per layer";
  entry.encoding.initial =
      "embeddings and slopes 0; MLPs uniform within the root of one over their "
      "inputs; own keys normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountCope;
  entry.encoding.causal_only = true;
  entry.encoding.takes_positions = false;
  entry.encoding.check_shape = CheckCope;
  entry.encoding.count_cost = CostOfCope;
  return entry;
}

}  // namespace

std::vector<Entry> ContentEntries() {
  std::vector<Entry> entries = Huangs();
  for (const auto make :
       {Cope, DaTransformer, Deberta, Shaw, Tener, TransformerXl}) {
    entries.push_back(make());
  }
  return entries;
}

}  // namespace ordo::model::catalog
