#include "model/catalog/rotary_shape.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using Violations = std::vector<base::FieldViolation>;

// Of rope_bias beside an encoding that turns: what it says of its own rotation
// would not be read.
void CheckBiasBeside(const std::string& field, const Component& bias,
                     Violations* violations) {
  const Entry& entry = *Find(Kind::kEncoding, bias.name());
  for (const Param& param : entry.params) {
    if (bias.params().at(param.name).SerializeAsString() ==
        DefaultValue(param).SerializeAsString()) {
      continue;
    }
    violations->push_back(
        {ParamPath(field, param.name),
         "is that of the encoding which rope_bias stands with; set it there"});
  }
}

void CheckTurningChannels(std::string_view field, const Component& component,
                          const ModelShape& shape, Violations* violations) {
  // A pair for the row and one for the column, or a pair.
  const int multiple = component.name() == "rope_2d" ? 4 : 2;
  const int channels = TurningChannels(component.params(), shape.head_width());
  if (channels % multiple == 0) return;
  violations->push_back(
      {ParamPath(field, "partial"),
       absl::StrCat("gives ", channels, " of ", shape.head_width(),
                    " channels to turn; the number must be ",
                    multiple == 2 ? std::string("even")
                                  : absl::StrCat("a multiple of ", multiple))});
}

void CheckBeside(std::string_view field, const Component& component,
                 Violations* violations) {
  for (int i = 0; i < component.with_size(); ++i) {
    const Component& other = component.with(i);
    if (other.name() != "rope_bias") continue;
    CheckBiasBeside(absl::StrCat(std::string(field), ".with[", i, "]"), other,
                    violations);
  }
}

// A list of divisors has one for each pair of channels, or none.
void CheckDivisors(const std::string& path, size_t given, int pairs,
                   Violations* violations) {
  if (given == 0 || given == static_cast<size_t>(pairs)) return;
  violations->push_back(
      {path, absl::StrCat("has ", given, " numbers; needs ", pairs,
                          ", one for each pair of channels that turns, or "
                          "none")});
}

// Size of LieRE's blocks.
int LiereBlock(const Component& component, const ModelShape& shape) {
  const auto block =
      static_cast<int>(Params(component.params()).Integer("block"));
  return block == 0 ? shape.head_width() : block;
}

}  // namespace

void CheckRotary(std::string_view field, const Component& component,
                 const ModelShape& shape, Violations* violations) {
  CheckTurningChannels(field, component, shape, violations);
  CheckBeside(field, component, violations);
}

void CheckRopeBias(std::string_view field, const Component& component,
                   const ModelShape& shape, Violations* violations) {
  CheckTurningChannels(field, component, shape, violations);
  if (component.with_size() == 0 || !IsRotary(component.with(0).name())) return;
  Component alone = component;
  alone.clear_with();
  CheckBiasBeside(std::string(field), alone, violations);
}

// Ramps divide by ln(base).
void CheckRamps(std::string_view field, const Component& component,
                const ModelShape& shape, Violations* violations) {
  CheckRotary(field, component, shape, violations);
  const Params params(component.params());
  if (params.Number("base") <= 1.0) {
    violations->push_back(
        {ParamPath(field, "base"),
         absl::StrCat(component.name(), " needs a base above 1")});
  }
  for (const std::string prefix : {"beta", "gamma"}) {
    const std::string fast = prefix + "_fast", slow = prefix + "_slow";
    if (component.params().count(fast) == 0 ||
        params.Number(fast) >= params.Number(slow)) {
      continue;
    }
    violations->push_back(
        {ParamPath(field, fast),
         absl::StrCat("must be at least ", slow, ", is ", params.Number(fast),
                      " with ", params.Number(slow))});
  }
}

void CheckLlama3(std::string_view field, const Component& component,
                 const ModelShape& shape, Violations* violations) {
  CheckRotary(field, component, shape, violations);
  const Params params(component.params());
  const double low = params.Number("low_freq_factor");
  const double high = params.Number("high_freq_factor");
  if (low < high) return;
  violations->push_back({ParamPath(field, "high_freq_factor"),
                         absl::StrCat("must be above low_freq_factor, is ",
                                      high, " with ", low)});
}

void CheckLongRope(std::string_view field, const Component& component,
                   const ModelShape& shape, Violations* violations) {
  CheckRotary(field, component, shape, violations);
  const Params params(component.params());
  const int pairs = TurningChannels(component.params(), shape.head_width()) / 2;
  for (const std::string name : {"short_factors", "long_factors"}) {
    CheckDivisors(ParamPath(field, name), params.Numbers(name).size(), pairs,
                  violations);
  }
}

void CheckMixedBase(std::string_view field, const Component& component,
                    const ModelShape& shape, Violations* violations) {
  CheckRotary(field, component, shape, violations);
  CheckDivisors(ParamPath(field, "lambdas"),
                Params(component.params()).Numbers("lambdas").size(),
                TurningChannels(component.params(), shape.head_width()) / 2,
                violations);
}

int64_t LimitXpos(const Component& component) {
  const Params params(component.params());
  return params.Integer("centre") + XposReach(params.Number("scale_base")) + 1;
}

void CheckXpos(std::string_view field, const Component& component,
               const ModelShape& shape, Violations* violations) {
  CheckRotary(field, component, shape, violations);
  const Params params(component.params());
  const int64_t reach = XposReach(params.Number("scale_base"));
  if (params.Integer("centre") <= reach) return;
  violations->push_back(
      {ParamPath(field, "centre"),
       absl::StrCat("position 0 is ", params.Integer("centre"),
                    " away, and factors leave fp32 beyond ", reach,
                    "; lower it or raise scale_base")});
}

void CheckLiere(std::string_view field, const Component& component,
                const ModelShape& shape, Violations* violations) {
  CheckBeside(field, component, violations);
  const int block = LiereBlock(component, shape);
  if (block % 2 == 0 && shape.head_width() % block == 0) return;
  violations->push_back(
      {ParamPath(field, "block"),
       absl::StrCat("must be even and divide the head's ", shape.head_width(),
                    " channels, is ", block)});
}

int64_t CountLiere(const Component& component, const ModelShape& shape) {
  const int64_t block = LiereBlock(component, shape);
  const int64_t axes = Params(component.params()).Integer("axes");
  return shape.layers * axes * shape.num_key_heads() *
         (shape.head_width() / block) * (block * (block - 1) / 2);
}

int64_t CountRopeBias(const Component& component, const ModelShape& shape) {
  int64_t count = int64_t{shape.layers} *
                  (shape.heads + shape.num_key_heads()) * shape.head_width();
  for (const Component& other : component.with()) {
    count += CountParameters(other, shape);
  }
  return count;
}

int TurningChannels(const ParamMap& params, int head_width) {
  return static_cast<int>(Params(params).Number("partial") * head_width);
}

int64_t XposReach(double scale_base) {
  // The smallest zeta is zeta_0 = 0.4 / 1.4. exp(84) leaves fp32's range room
  // for values 100 times larger or smaller.
  return static_cast<int64_t>(84.0 * scale_base / std::log(3.5));
}

}  // namespace ordo::model::catalog
