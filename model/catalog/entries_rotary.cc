#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"
#include "model/catalog/rotary_shape.h"

// Encodings that turn q and k. What stands `with` one adds to q and k before
// they turn (rope_bias) or to the logits.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

Param Base(double value) {
  return Number("base", value, {1.0, 1e9},
                "Base of the frequencies: pair f of r channels turns by "
                "position * base^(-2f/r).");
}

Param Partial() {
  return Number("partial", 1.0, {0.0, 1.0},
                "Share of each head's channels that turn; the rest stay as "
                "they are.");
}

Param Layout() {
  return Choice("layout", {"half_split", "interleaved"},
                "Which channels make a pair: (f, f + r/2) as in Hugging "
                "Face's Llama, or (2f, 2f + 1) as in the original.");
}

Param Factor(double value, std::string text) {
  return Number("factor", value, {1.0, 1e6}, std::move(text));
}

Param Factor(double value) {
  return Factor(value, "Scale s: how many times the trained length is wanted.");
}

Param TrainedLength(int64_t value) {
  return Integer("trained_length", value, {2, 1e9, "tokens"},
                 "Number of tokens L that the frequencies were trained for.");
}

Param Columns() {
  return Integer("columns", 16, {1, 1e9, "columns"},
                 "Number of columns of the grid: position p is row p / "
                 "columns, column p mod columns.");
}

// Overrides the factor that a formula gives.
Param AttentionFactor() {
  return Number("attention_factor", 0.0, {0.0, 1e3},
                "Factor of q and of k; 0: that of the formula.");
}

// What may stand beside the rotary family.
std::vector<std::string> Beside() {
  std::vector<std::string> names = BiasNames();
  names.insert(names.end(), {"cope", "none", "rope_bias"});
  std::sort(names.begin(), names.end());
  return names;
}

int64_t Channels(const Component& component, const ModelShape& shape) {
  return TurningChannels(component.params(), shape.head_width());
}

// What a pair of channels takes of a table: an angle, its sine and its cosine;
// with a factor of q and k, a product for each of the two besides.
constexpr int kTurn = 3;
constexpr int kTurnWithFactor = 5;

// Two products and a sum for each channel of so many heads.
ExtraCost Turning(const CostSizes& s, int64_t heads, int64_t channels,
                  const CostQuery& query) {
  return Counted(query, 0, 3 * s.n * heads * channels);
}

// A table, and q and k turned by it.
template <int kOfPair>
ExtraCost CostOfRotary(const Component& component, const ModelShape& shape,
                       const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  if (query.layer == kInputLayer) {
    return Counted(query, 0, kOfPair * s.n * (r / 2));
  }
  return Turning(s, s.h + s.g, r, query);
}

// Keys turn with their queries: tables of both, and the keys of all heads.
template <int kOfPair>
ExtraCost CostByLength(const Component& component, const ModelShape& shape,
                       const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  if (query.layer == kInputLayer) {
    return Counted(query, 0, 2 * kOfPair * s.n * (r / 2));
  }
  return Turning(s, 2 * s.h, r, query);
}

struct Text {
  std::string text;
  std::string source;
  // The angle of pair f at position p, or more.
  std::string formula;
  std::string beyond;
};

// With rope's parameters and the given ones.
Entry RotaryEntry(std::string name, Text text, std::vector<Param> more,
                  ShapeCheck check = CheckRotary) {
  Entry entry = EncodingEntry(std::move(name), std::move(text.text),
                              std::move(text.source));
  entry.params = {Base(10000.0), Partial(), Layout()};
  for (Param& param : more) entry.params.push_back(std::move(param));
  entry.with = Beside();
  entry.max_with = 1;
  entry.encoding.formula =
      absl::StrCat("s_ij = (R(i) q_i) . (R(j) k_j) / sqrt(d); ", text.formula);
  entry.encoding.beyond = std::move(text.beyond);
  entry.encoding.rotates = true;
  entry.encoding.sums_with = true;
  entry.encoding.count_cost = CostOfRotary<kTurn>;
  entry.encoding.check_shape = check;
  return entry;
}

// The same with another default base.
Entry WithBase(Entry entry, double base) {
  entry.params[0] = Base(base);
  return entry;
}

// Its frequencies depend on the number of tokens.
Entry ByLength(Entry entry) {
  entry.encoding.decoding = Decoding::kLastRow;
  entry.encoding.steady_length = [](const Component& component) {
    return Params(component.params()).Integer("trained_length");
  };
  entry.encoding.relative = false;
  entry.encoding.count_cost = CostByLength<kTurn>;
  return entry;
}

Entry Rope() {
  return RotaryEntry(
      "rope",
      {"Rotary encoding: pairs of channels of q and k turn by angles that grow "
       "with the position.",
       "Su et al. 2021, arXiv:2104.09864", "angle p base^(-2f/r)",
       "defined; angles that training has not seen"},
      {});
}

Entry Theta() {
  return WithBase(
      RotaryEntry(
          "theta",
          {"Theta scaling: rope with a larger base, which a trained model is "
           "tuned to.",
           "Roziere et al. 2023, arXiv:2308.12950", "angle p base^(-2f/r)",
           "defined; the larger base turns slower"},
          {}),
      500000.0);
}

Entry Linear() {
  return RotaryEntry(
      "linear",
      {"Position interpolation: rope at positions divided by the scale.",
       "Chen et al. 2023, arXiv:2306.15595", "angle (p / s) base^(-2f/r)",
       "as rope, s times as far"},
      {Factor(2.0)});
}

Entry Ntk() {
  return RotaryEntry(
      "ntk",
      {"NTK-aware scaling: a base at which the slowest pair turns s times "
       "slower and the fastest as before.",
       "bloc97 2023; Peng et al. 2023, arXiv:2309.00071, definition 1",
       "angle p (base s^(r/(r-2)))^(-2f/r)", "as rope, s times as far"},
      {Factor(2.0)});
}

Entry DynamicLinear() {
  return ByLength(RotaryEntry(
      "dynamic_linear",
      {"Position interpolation by the number of tokens n, once it is past the "
       "trained length.",
       "Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, "
       "arXiv:2309.00071, section 3.3",
       "angle p L / max(n, L) base^(-2f/r)",
       "positions are squeezed into the trained length"},
      {TrainedLength(1024)}));
}

Entry DynamicNtk() {
  return ByLength(RotaryEntry(
      "dynamic_ntk",
      {"NTK-aware scaling by the number of tokens n, once it is past the "
       "trained length.",
       "emozilla 2023; Peng et al. 2023, arXiv:2309.00071, section 3.3",
       "n > L: base (s n / L - (s - 1))^(r/(r-2)) in place of base",
       "the base grows with n"},
      {TrainedLength(1024),
       Factor(1.0, "Scale s (alpha): how fast the base grows with n.")}));
}

Entry PartialNtk() {
  const Range rotations{1e-6, 1e6, "turns"};
  const Range share{0.0, 1.0};
  return RotaryEntry(
      "partial_ntk",
      {"NTK by parts: slow pairs interpolate, middle ones scale as ntk, fast "
       "ones stay, with a ramp between each.",
       "bloc97 2023, scaled-rope",
       "ramps over f from linear to ntk (beta) to rope (gamma)",
       "as rope, s times as far"},
      {Factor(2.0), TrainedLength(1024),
       Number("beta_fast", 1.25, rotations,
              "Turns within L of the pair at which ntk's share is whole."),
       Number("beta_slow", 0.75, rotations,
              "Turns within L of the pair at which ntk's share ends."),
       Number("gamma_fast", 16.0, rotations,
              "Turns within L of the pair at which rope's share is whole."),
       Number("gamma_slow", 2.0, rotations,
              "Turns within L of the pair at which rope's share ends."),
       Number("ntk_factor", 1.0, share, "Largest share of ntk."),
       Number("extrapolation_factor", 1.0, share, "Largest share of rope.")},
      CheckRamps);
}

Entry Yarn() {
  const Range rotations{1e-6, 1e6, "turns"};
  Entry entry = RotaryEntry(
      "yarn",
      {"YaRN: slow pairs interpolate, fast ones stay, and q and k grow with "
       "the logarithm of the scale.",
       "Peng et al. 2023, arXiv:2309.00071",
       "ramp over f from rope (beta_fast) to linear (beta_slow); q and k times "
       "0.1 ln(s) + 1",
       "as rope, s times as far"},
      {Factor(2.0), TrainedLength(1024),
       Number("beta_fast", 32.0, rotations,
              "Turns within L of the pair at which the ramp starts."),
       Number("beta_slow", 1.0, rotations,
              "Turns within L of the pair at which the ramp ends."),
       Bool("truncate", true, "Whether the ramp starts and ends at pairs."),
       AttentionFactor(),
       Number("mscale", 0.0, {0.0, 1e3},
              "With mscale_all_dim, the factor of q and k is the ratio of "
              "0.1 m ln(s) + 1 for both; 0: not given."),
       Number("mscale_all_dim", 0.0, {0.0, 1e3},
              "The divisor's m; 0: not given.")},
      CheckRamps);
  entry.encoding.count_cost = CostOfRotary<kTurnWithFactor>;
  return entry;
}

Entry LongRope() {
  const Range divisor{1e-6, 1e6};
  Entry entry = ByLength(RotaryEntry(
      "longrope",
      {"LongRoPE: each pair's frequency is divided by a number of its own, "
       "searched for short and for long inputs.",
       "Ding et al. 2024, arXiv:2402.13753",
       "angle p base^(-2f/r) / lambda_f, the long list where n > L; q and k "
       "times sqrt(1 + ln(s) / ln(L))",
       "the long list"},
      {Factor(1.0), TrainedLength(1024),
       Numbers("short_factors", divisor,
               "Divisors of each pair up to L tokens; none: all 1."),
       Numbers("long_factors", divisor,
               "Divisors of each pair past L tokens; none: all 1."),
       AttentionFactor()},
      CheckLongRope));
  entry.encoding.count_cost = CostByLength<kTurnWithFactor>;
  return entry;
}

Entry Llama3() {
  const Range turns{1e-6, 1e6, "turns"};
  return WithBase(
      RotaryEntry(
          "llama3",
          {"Llama 3.1's scaling: by how often a pair turns within the trained "
           "length, slow ones interpolate and fast ones stay.",
           "Grattafiori et al. 2024, arXiv:2407.21783",
           "L / wavelength < low: angle / s; > high: as rope; a blend between",
           "as rope, s times as far"},
          {Factor(8.0), TrainedLength(8192),
           Number("low_freq_factor", 1.0, turns,
                  "Turns within L below which a pair interpolates."),
           Number("high_freq_factor", 4.0, turns,
                  "Turns within L above which a pair stays.")},
          CheckLlama3),
      500000.0);
}

Entry MixedBase() {
  return RotaryEntry(
      "rope_mixed_base",
      {"The position as digits of a base that differs from digit to digit.",
       "Su 2023, kexue.fm/archives/9706",
       "angle p base^(-2f/r) exp(-a (f + 1)^b), a = ln(s) / (r/2)^b",
       "as rope, s times as far"},
      {Factor(2.0),
       Number("exponent", 0.625, {0.0, 1.0},
              "Exponent b; at 1 all digits have the same base."),
       Numbers("lambdas", {1e-6, 1e6},
               "Base of each digit over rope's, one for each pair: pair f is "
               "divided by the product of the first f + 1; none: of factor and "
               "exponent.")},
      CheckMixedBase);
}

// A pair's factor is a product and an exponential; its two values are
// multiplied by it for q and divided for k.
constexpr int kTurnOfXpos = kTurn + 2 + 2 * 2;

Entry Xpos() {
  Entry entry = RotaryEntry(
      "xpos",
      {"Rope whose products decay with the distance, each pair at its own "
       "rate.",
       "Sun et al. 2022, arXiv:2212.10554",
       "q_i times z_f^((i-c)/b), k_j divided by z_f^((j-c)/b), z_f = (2f + "
       "0.4r) / (1.4r)",
       "decays; an error where a factor leaves fp32, about 67 scale_base from "
       "the centre"},
      {Number("scale_base", 512.0, {1.0, 1e6, "tokens"},
              "Distance b at which a pair decays by z_f."),
       Integer("centre", 0, {0, 1e9, "positions"},
               "Position c at which q and k keep their size.")},
      CheckXpos);
  entry.encoding.limit_length = LimitXpos;
  entry.encoding.count_cost = CostOfRotary<kTurnOfXpos>;
  return entry;
}

// q and the keys of all heads turn within the window and past it, and have a
// product for each, of which all but one are divided by sqrt(d) here. Without
// the causal mask, a row longer than the window has keys as far after the
// query. Positions past the window are a product, q's also a sum.
ExtraCost CostOfReRope(const Component& component, const ModelShape& shape,
                       const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  const int64_t r = Channels(component, shape);
  const bool ahead =
      !shape.causal && s.n > Params(component.params()).Integer("window");
  if (query.layer == kInputLayer) {
    const int64_t tables = ahead ? 5 : 4, places = ahead ? 5 : 3;
    return Counted(query, 0, s.n * (tables * kTurn * (r / 2) + places));
  }
  const int64_t more = ahead ? 2 : 1;
  return Sum(Counted(query, more * s.p * s.h * s.d, more * s.p * s.h),
             Turning(s, (1 + more) * 2 * s.h, r, query));
}

Entry ReRope() {
  Entry entry = RotaryEntry(
      "rerope",
      {"ReRoPE: rope over the distance, which stays at the window where it "
       "would pass it.",
       "Su 2023, kexue.fm/archives/9708",
       "angle min(i - j, w) base^(-2f/r) between q_i and k_j",
       "no distance past the window appears"},
      {Integer("window", 512, {1, 1e9, "tokens"}, "Largest distance w.")});
  entry.encoding.count_cost = CostOfReRope;
  return entry;
}

Entry LeakyReRope() {
  Entry entry = RotaryEntry(
      "leaky_rerope",
      {"Leaky ReRoPE: rope over the distance, which grows slower past the "
       "window.",
       "Su 2023, kexue.fm/archives/9708",
       "angle d base^(-2f/r), d = i - j below w, else w + (i - j - w) / k",
       "distances grow k times slower than the text"},
      {Integer("window", 512, {1, 1e9, "tokens"},
               "Distance w from which it grows slower."),
       Number("leak", 16.0, {1.0, 1e6},
              "How many times slower, k; 1 is rope.")});
  entry.encoding.count_cost = CostOfReRope;
  return entry;
}

Entry Rope2d() {
  Entry entry = RotaryEntry(
      "rope_2d",
      {"Rope over a grid: half of the channels turn by the row, half by the "
       "column.",
       "Fang et al. 2023, arXiv:2303.11331; Heo et al. 2024, "
       "arXiv:2403.13298",
       "angle row base^(-4f/r) in the first half, column base^(-4f/r) in the "
       "second",
       "defined"},
      {Columns()});
  // A shift of a cell's number is not one of the grid.
  entry.encoding.relative = false;
  return entry;
}

// Beside what is with it; rope where nothing else turns.
ExtraCost CostOfRopeBias(const Component& component, const ModelShape& shape,
                         const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  ExtraCost cost;
  CostQuery beside = query;
  beside.turned = true;
  bool turned = query.turned;
  for (const Component& other : component.with()) {
    turned = turned || IsRotary(other.name());
    cost = Sum(cost, CountCost(other, shape, beside));
  }
  if (!turned) cost = Sum(cost, CostOfRotary<kTurn>(component, shape, query));
  if (query.layer == kInputLayer) return cost;
  return Sum(cost, Counted(query, 0, s.n * (s.h + s.g) * s.d));
}

Entry RopeBias() {
  Entry entry = RotaryEntry(
      "rope_bias",
      {"Learned biases on q and k before they turn.",
       "Su 2023, kexue.fm/archives/9577",
       "q_i + a in place of q_i, k_j + b of k_j", "as the rotation"},
      {}, CheckRopeBias);
  // It leaves the turning to another, which RotaryEntries puts with it.
  entry.encoding.rotates = false;
  const auto itself =
      std::find(entry.with.begin(), entry.with.end(), entry.name);
  ORDO_CHECK(itself != entry.with.end()) << "not beside the rotary family";
  entry.with.erase(itself);
  // It is made as what turns, with itself beside.
  entry.encoding.sums_with = false;
  entry.encoding.parameters = "(H + H_kv) d per layer";
  entry.encoding.initial = "0";
  entry.encoding.count_parameters = CountRopeBias;
  entry.encoding.count_cost = CostOfRopeBias;
  return entry;
}

// Blocks of E channels: a matrix for each token, key head and block, the sum of
// its axes' multiples, its exponential left out; it meets the block's channels.
ExtraCost CostOfLiere(const Component& component, const ModelShape& shape,
                      const CostQuery& query) {
  const CostSizes s = SizesOf(shape, query);
  if (query.layer == kInputLayer) return {};
  const Params params(component.params());
  const int64_t given = params.Integer("block");
  const int64_t block = given == 0 ? s.d : given;
  return Counted(
      query, 0,
      2 * s.n * (s.h + s.g) * s.d * block +
          (2 * params.Integer("axes") - 1) * s.n * s.g * s.d * block);
}

Entry Liere() {
  Entry entry = RotaryEntry(
      "liere",
      {"LieRE: q and k turn by the exponential of learned skew-symmetric "
       "matrices.",
       "Ostmeier et al. 2024, arXiv:2406.10322",
       "R(p) = exp(sum over axes of p_a A_a), A_a skew-symmetric in blocks on "
       "the diagonal",
       "defined"},
      {Integer("axes", 1, {1, 2, "axes"},
               "What turns q and k: 1 the position; 2 its row and column in a "
               "grid."),
       Columns(),
       Integer("block", 0, {0, 4096, "channels"},
               "Size of the blocks, even; 0: the whole head.")},
      CheckLiere);
  // All channels turn, and pairs are (2f, 2f + 1).
  entry.params.erase(std::remove_if(entry.params.begin(), entry.params.end(),
                                    [](const Param& param) {
                                      return param.name == "partial" ||
                                             param.name == "layout";
                                    }),
                     entry.params.end());
  entry.params[0].text =
      "Base of the frequencies that the matrices start with.";
  // A shift of a cell's number is not one of the grid.
  entry.encoding.is_relative = [](const Component& component) {
    return Params(component.params()).Integer("axes") == 1;
  };
  entry.encoding.parameters =
      "axes H_kv (d / block) block (block - 1) / 2 per layer";
  entry.encoding.initial =
      "as rope: in each block, rotations by its frequencies";
  entry.encoding.count_parameters = CountLiere;
  entry.encoding.count_cost = CostOfLiere;
  return entry;
}

}  // namespace

const std::vector<std::string>& RotaryNames() {
  static const auto* const names = new std::vector<std::string>(
      NamesOf(RotaryEntries(),
              [](const EncodingTraits& traits) { return traits.rotates; }));
  return *names;
}

bool IsRotary(std::string_view name) {
  const Entry* entry = Find(Kind::kEncoding, name);
  return entry != nullptr && entry->encoding.rotates;
}

std::vector<Entry> RotaryEntries() {
  std::vector<Entry> entries = {
      DynamicLinear(), DynamicNtk(), LeakyReRope(), Liere(),
      Linear(),        Llama3(),     LongRope(),    Ntk(),
      PartialNtk(),    ReRope(),     Rope(),        Rope2d(),
      MixedBase(),     Theta(),      Xpos(),        Yarn()};
  Entry bias = RopeBias();
  for (const Entry& entry : entries) bias.with.push_back(entry.name);
  std::sort(bias.with.begin(), bias.with.end());
  entries.push_back(std::move(bias));
  return entries;
}

}  // namespace ordo::model::catalog
