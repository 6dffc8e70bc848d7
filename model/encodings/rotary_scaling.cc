#include "model/encodings/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "model/catalog/catalog.h"

namespace ordo::model::encodings {
namespace {

constexpr double kPi = 3.14159265358979323846;

// What a formula reads.
struct Input {
  const catalog::Params params;
  int64_t channels = 0;
  int64_t length = 0;

  double base() const { return params.Number("base"); }
  double factor() const { return params.Number("factor"); }
  double trained() const {
    return static_cast<double>(params.Integer("trained_length"));
  }
  // theta_f.
  std::vector<double> Plain() const {
    return GeometricFrequencies(base(), channels);
  }
};

using Formula = Rotation (*)(const Input& input);

std::vector<double> Times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

// The base at which the slowest of R/2 frequencies falls by `factor` and the
// fastest stays (bloc97 2023). With one pair there is none slower, and the
// infinite exponent does no harm: its frequency is base^0.
double StretchedBase(double base, double factor, int64_t channels) {
  const auto width = static_cast<double>(channels);
  return base * std::pow(factor, width / (width - 2.0));
}

Rotation Plain(const Input& input) { return {input.Plain()}; }

// Chen et al. 2023, arXiv:2306.15595: positions divided by s.
Rotation Linear(const Input& input) {
  return {Times(input.Plain(), 1.0 / input.factor())};
}

Rotation Ntk(const Input& input) {
  return {GeometricFrequencies(
      StretchedBase(input.base(), input.factor(), input.channels),
      input.channels)};
}

Rotation DynamicLinear(const Input& input) {
  const double trained = input.trained();
  const double seen = std::max(static_cast<double>(input.length), trained);
  return {Times(input.Plain(), trained / seen)};
}

Rotation DynamicNtk(const Input& input) {
  const double trained = input.trained(), factor = input.factor();
  const auto seen = static_cast<double>(input.length);
  if (seen <= trained) return Plain(input);
  const double stretch = factor * seen / trained - (factor - 1.0);
  return {GeometricFrequencies(
      StretchedBase(input.base(), stretch, input.channels), input.channels)};
}

// The pair, a fraction, that turns `rotations` times within the trained length:
// theta_f L = 2 pi rotations solved for f.
double PairOfRotations(const Input& input, double rotations) {
  return static_cast<double>(input.channels) *
         std::log(input.trained() / (rotations * 2.0 * kPi)) /
         (2.0 * std::log(input.base()));
}

// From 0 at the pair that turns `fast` times to 1 at the one that turns `slow`
// times.
std::vector<double> Ramp(const Input& input, double fast, double slow,
                         bool truncate) {
  double low = PairOfRotations(input, fast);
  double high = PairOfRotations(input, slow);
  if (truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  const double last = static_cast<double>(input.channels) - 1.0;
  low = std::min(std::max(low, 0.0), last);
  high = std::min(std::max(high, 0.0), last);
  if (low == high) high += 0.001;
  std::vector<double> ramp(input.channels / 2);
  for (size_t f = 0; f < ramp.size(); ++f) {
    const double at = (static_cast<double>(f) - low) / (high - low);
    ramp[f] = std::min(std::max(at, 0.0), 1.0);
  }
  return ramp;
}

// (1 - share_f) from_f + share_f to_f.
std::vector<double> Blend(const std::vector<double>& from,
                          const std::vector<double>& to,
                          const std::vector<double>& share) {
  std::vector<double> blend(from.size());
  for (size_t f = 0; f < blend.size(); ++f) {
    blend[f] = (1.0 - share[f]) * from[f] + share[f] * to[f];
  }
  return blend;
}

// (1 - ramp_f) * factor: the share of what is kept before the ramp.
std::vector<double> Kept(std::vector<double> ramp, double factor) {
  for (double& value : ramp) value = (1.0 - value) * factor;
  return ramp;
}

// NTK by parts (bloc97 2023): slow pairs linear, middle ones NTK, fast ones
// unscaled.
Rotation PartialNtk(const Input& input) {
  const catalog::Params& params = input.params;
  const std::vector<double> plain = input.Plain();
  const std::vector<double> ntk_share =
      Kept(Ramp(input, params.Number("beta_fast"), params.Number("beta_slow"),
                /*truncate=*/true),
           params.Number("ntk_factor"));
  const std::vector<double> plain_share =
      Kept(Ramp(input, params.Number("gamma_fast"), params.Number("gamma_slow"),
                /*truncate=*/true),
           params.Number("extrapolation_factor"));
  const std::vector<double> slow =
      Blend(Linear(input).frequencies, Ntk(input).frequencies, ntk_share);
  return {Blend(slow, plain, plain_share)};
}

// Peng et al. 2023, arXiv:2309.00071, section 3.4.
double YarnScale(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

double YarnAttentionFactor(const Input& input) {
  const double given = input.params.Number("attention_factor");
  if (given > 0.0) return given;
  const double mscale = input.params.Number("mscale");
  const double all = input.params.Number("mscale_all_dim");
  const double factor = input.factor();
  if (mscale > 0.0 && all > 0.0) {
    return YarnScale(factor, mscale) / YarnScale(factor, all);
  }
  return YarnScale(factor, 1.0);
}

// Peng et al. 2023, section 3.2: NTK by parts between unscaled and linear.
Rotation Yarn(const Input& input) {
  const catalog::Params& params = input.params;
  return {Blend(input.Plain(), Linear(input).frequencies,
                Ramp(input, params.Number("beta_fast"),
                     params.Number("beta_slow"), params.Bool("truncate"))),
          YarnAttentionFactor(input)};
}

// Ding et al. 2024, arXiv:2402.13753.
Rotation LongRope(const Input& input) {
  const catalog::Params& params = input.params;
  const bool is_long = static_cast<double>(input.length) > input.trained();
  const std::vector<double> divisors =
      params.Numbers(is_long ? "long_factors" : "short_factors");
  Rotation rotation = Plain(input);
  for (size_t f = 0; f < divisors.size(); ++f) {
    rotation.frequencies[f] /= divisors[f];
  }
  rotation.attention_factor = params.Number("attention_factor");
  if (rotation.attention_factor > 0.0) return rotation;
  const double factor = input.factor();
  rotation.attention_factor =
      factor <= 1.0
          ? 1.0
          : std::sqrt(1.0 + std::log(factor) / std::log(input.trained()));
  return rotation;
}

// Llama 3.1 (Grattafiori et al. 2024, arXiv:2407.21783): by how often a pair
// turns within the trained length, L / wavelength.
Rotation Llama3(const Input& input) {
  const double low = input.params.Number("low_freq_factor");
  const double high = input.params.Number("high_freq_factor");
  Rotation rotation = Plain(input);
  for (double& frequency : rotation.frequencies) {
    const double turns = input.trained() * frequency / (2.0 * kPi);
    const double share =
        std::min(std::max((turns - low) / (high - low), 0.0), 1.0);
    frequency = (1.0 - share) * frequency / input.factor() + share * frequency;
  }
  return rotation;
}

// The position as digits of several bases (Su 2023, kexue.fm/archives/9706):
// theta_f over the product of lambda_0 .. lambda_f.
Rotation MixedBase(const Input& input) {
  Rotation rotation = Plain(input);
  const std::vector<double> lambdas = input.params.Numbers("lambdas");
  double product = 1.0;
  for (size_t f = 0; f < lambdas.size(); ++f) {
    product *= lambdas[f];
    rotation.frequencies[f] /= product;
  }
  if (!lambdas.empty()) return rotation;
  const double exponent = input.params.Number("exponent");
  const double pairs = static_cast<double>(input.channels) / 2.0;
  const double a = std::log(input.factor()) / std::pow(pairs, exponent);
  for (size_t f = 0; f < rotation.frequencies.size(); ++f) {
    rotation.frequencies[f] *=
        std::exp(-a * std::pow(static_cast<double>(f) + 1.0, exponent));
  }
  return rotation;
}

struct Row {
  Formula formula = nullptr;
  bool by_length = false;
};

const std::map<std::string, Row, std::less<>>& Rows() {
  static const auto* const rows = new std::map<std::string, Row, std::less<>>{
      {"dynamic_linear", {DynamicLinear, true}},
      {"dynamic_ntk", {DynamicNtk, true}},
      {"leaky_rerope", {Plain}},
      {"linear", {Linear}},
      {"llama3", {Llama3}},
      {"longrope", {LongRope, true}},
      {"ntk", {Ntk}},
      {"partial_ntk", {PartialNtk}},
      {"rerope", {Plain}},
      {"rope", {Plain}},
      {"rope_mixed_base", {MixedBase}},
      {"theta", {Plain}},
      {"xpos", {Plain}},
      {"yarn", {Yarn}},
  };
  return *rows;
}

const Row& RowOf(std::string_view name) {
  const auto row = Rows().find(name);
  ORDO_CHECK(row != Rows().end()) << std::string(name) << " does not rotate";
  return row->second;
}

}  // namespace

std::vector<std::string> RotationNames() {
  std::vector<std::string> names;
  for (const auto& [name, row] : Rows()) names.push_back(name);
  return names;
}

bool RotatesByLength(std::string_view name) { return RowOf(name).by_length; }

std::vector<double> GeometricFrequencies(double base, int64_t channels) {
  std::vector<double> frequencies(channels / 2);
  for (size_t f = 0; f < frequencies.size(); ++f) {
    frequencies[f] = std::pow(
        base, -2.0 * static_cast<double>(f) / static_cast<double>(channels));
  }
  return frequencies;
}

Rotation RotationOf(const ordo::training::v1::Component& component,
                    int64_t channels, int64_t length) {
  return RowOf(component.name())
      .formula({catalog::Params(component.params()), channels, length});
}

}  // namespace ordo::model::encodings
