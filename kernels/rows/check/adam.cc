#include "kernels/rows/check/adam.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/check/numbers.h"
#include "kernels/rows/reference.h"

namespace ordo::kernels::rows::check {
namespace {

using kernels::check::Guarded;
using kernels::check::Normals;
using kernels::check::Rounded;
using kernels::check::TestResources;

constexpr Type kSingle = Type::kFloat32;

AdamTensors NaiveAdam(const Adam& adam, const AdamTensors& given) {
  AdamTensors x = given;
  const auto single = [](double value) { return static_cast<float>(value); };
  for (size_t i = 0; i < x.gradient.size(); ++i) {
    const float g = single(x.gradient[i]) * adam.gradient_scale;
    const float m = single(x.m[i]) * adam.beta1 + g * adam.one_less_beta1;
    const float v = single(x.v[i]) * adam.beta2 + g * g * adam.one_less_beta2;
    x.m[i] = m;
    x.v[i] = v;
    x.parameter[i] = single(x.parameter[i]) * adam.keep -
                     adam.step * m / (std::sqrt(v) / adam.root + adam.epsilon);
  }
  return x;
}

AdamTensors AdamNumbers(int64_t count) {
  AdamTensors x = {Normals(count, "gradient", kSingle),
                   Normals(count, "parameter", kSingle),
                   Normals(count, "m", kSingle), Normals(count, "v", kSingle)};
  for (double& v : x.v) v = v * v;
  x.v[0] = x.gradient[0] = 0;
  for (double& v : x.v) v = Rounded(kSingle, v);
  return x;
}

// Parts of many lengths with numbers between them that are in none; where their
// gradients lie follows. The end of the last is returned.
int64_t AddParts(int64_t num_parts, std::vector<AdamPart>* parts) {
  int64_t end = 0;
  for (int64_t i = 0; i < num_parts; ++i) {
    const int64_t count = i % 3 == 1 ? 34000 / num_parts : 1 + i * 7 % 70;
    const int64_t first = (end + 3) / 4 * 4 + i % 2 * 4;
    parts->push_back({nullptr, first, count});
    end = first + count;
  }
  return end;
}

// What is in none of the parts as it was.
void KeepBetween(const std::vector<AdamPart>& parts, const AdamTensors& inputs,
                 AdamTensors* x) {
  const auto keep = [&](const Numbers& from, Numbers* to) {
    Numbers kept = from;
    for (const AdamPart& part : parts) {
      std::copy_n(to->begin() + part.first, part.count,
                  kept.begin() + part.first);
    }
    *to = kept;
  };
  keep(inputs.parameter, &x->parameter);
  keep(inputs.m, &x->m);
  keep(inputs.v, &x->v);
}

}  // namespace

Adam AdamOf(int64_t num_parts) {
  Adam adam;
  adam.num_parts = num_parts;
  adam.gradient_scale = 0.7F;
  adam.beta1 = 0.9F;
  adam.one_less_beta1 = 0.1F;
  adam.beta2 = 0.98F;
  adam.one_less_beta2 = 0.02F;
  adam.epsilon = 1e-8F;
  adam.keep = 0.999F;
  adam.step = 0.01F;
  adam.root = 0.3F;
  return adam;
}

int64_t CountOfAdam(const Adam& adam) {
  std::vector<AdamPart> parts;
  return AddParts(adam.num_parts, &parts);
}

void CheckAdam(const Kernel& kernel, const Adam& given, Ran* ran) {
  Adam adam = given;
  std::vector<AdamPart> parts;
  const AdamTensors inputs = AdamNumbers(AddParts(adam.num_parts, &parts));
  AdamTensors judge = inputs;
  ReferenceAdam(adam, &judge);
  AdamTensors naive = NaiveAdam(adam, inputs);
  KeepBetween(parts, inputs, &judge);
  KeepBetween(parts, inputs, &naive);
  const TestResources resources(0, 2);
  Guarded g(kSingle, inputs.gradient), p(kSingle, inputs.parameter),
      m(kSingle, inputs.m), v(kSingle, inputs.v);
  // Half of the gradients begin where four numbers may not.
  Numbers moved = inputs.gradient;
  moved.insert(moved.begin(), 0);
  Guarded other(kSingle, moved);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].gradient =
        (i % 2 == 0 ? g.floats() : other.floats() + 1) + parts[i].first;
  }
  adam.parts = parts.data();
  adam.parameter = p.floats();
  adam.m = m.floats();
  adam.v = v.floats();
  if (ran->LacksMemory()) return;
  ran->Expect(kernel.adam(adam, resources.get()));
  ran->ExpectKept(g);
  ran->ExpectKept(other);
  ran->ExpectNear({"parameter", kSingle, ran->ValuesOf(p), judge.parameter,
                   naive.parameter});
  ran->ExpectNear({"m", kSingle, ran->ValuesOf(m), judge.m, naive.m});
  ran->ExpectNear({"v", kSingle, ran->ValuesOf(v), judge.v, naive.v});
}

}  // namespace ordo::kernels::rows::check
