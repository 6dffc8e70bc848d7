#include "kernels/rows/check/compare.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/check/numbers.h"
#include "kernels/rows/check/adam.h"
#include "kernels/rows/check/ran.h"
#include "kernels/rows/check/turn.h"
#include "kernels/rows/problem.h"
#include "kernels/rows/reference.h"

namespace ordo::kernels::rows::check {
namespace {

using kernels::check::BytesOf;
using kernels::check::Epsilon;
using kernels::check::Guarded;
using kernels::check::Largest;
using kernels::check::Normals;
using kernels::check::Placed;
using kernels::check::Rounded;
using kernels::check::TestResources;

constexpr Type kSingle = Type::kFloat32;
// That all kernels read.
constexpr Type kTypes[] = {Type::kFloat32, Type::kBfloat16};
// Around whole vectors of each size, and beyond a unit of work.
constexpr int64_t kWidths[] = {1, 3, 16, 31, 64, 65, 130, 17000};

struct Run {
  const Kernel& kernel;
  int threads;
  Ran* ran;
};

NormTensors NaiveNorm(const Norm& norm, const NormTensors& given) {
  NormTensors x = given;
  x.y_NC = x.d_x_NC = x.x_NC;
  x.d_weight_C.assign(norm.width, 0);
  const auto width = static_cast<float>(norm.width);
  for (int64_t n = 0; n < norm.rows; ++n) {
    float squares = 0, along = 0;
    const int64_t at = n * norm.width;
    const auto in = [&](int64_t c) {
      return static_cast<float>(x.x_NC[at + c]);
    };
    const auto g = [&](int64_t c) {
      return static_cast<float>(x.d_y_NC[at + c] * x.weight_C[c]);
    };
    for (int64_t c = 0; c < norm.width; ++c) {
      squares += in(c)*in(c);
      along += g(c) * in(c);
    }
    const float scale = 1 / std::sqrt(squares / width + norm.epsilon);
    const float back = along / width * scale * scale * scale;
    for (int64_t c = 0; c < norm.width; ++c) {
      const double unit = Rounded(norm.type, in(c)*scale);
      x.y_NC[at + c] = Rounded(norm.type, unit * x.weight_C[c]);
      x.d_x_NC[at + c] = Rounded(norm.type, Rounded(norm.type, g(c) * scale) -
                                                Rounded(norm.type, in(c)*back));
      x.d_weight_C[c] =
          static_cast<float>(x.d_weight_C[c] + x.d_y_NC[at + c] * unit);
    }
  }
  return x;
}

NormTensors RunNorm(const Run& run, Norm norm, const NormTensors& given) {
  const Kernel& kernel = run.kernel;
  NormTensors result = given;
  const TestResources resources(kernel.norm_workspace_bytes(norm), run.threads);
  const int64_t count = norm.rows * norm.width;
  Guarded x(norm.type, given.x_NC), weight(kSingle, given.weight_C),
      d_y(norm.type, given.d_y_NC), y(norm.type, count), d_x(norm.type, count),
      scale(kSingle, norm.rows), d_weight(kSingle, norm.width);
  norm.x_NC = x.data();
  norm.weight_C = weight.floats();
  norm.y_NC = y.data();
  norm.scale_N = scale.floats();
  norm.d_y_NC = d_y.data();
  norm.d_x_NC = d_x.data();
  norm.d_weight_C = d_weight.floats();
  if (run.ran->LacksMemory()) return result;
  run.ran->Expect(kernel.norm(norm, resources.get()));
  run.ran->Expect(kernel.norm_backward(norm, resources.get()));
  run.ran->ExpectIntact(resources.IsIntact());
  run.ran->ExpectIntact(scale.IsIntact());
  for (const Guarded* input : {&x, &weight, &d_y}) run.ran->ExpectKept(*input);
  result.y_NC = run.ran->ValuesOf(y);
  result.d_x_NC = run.ran->ValuesOf(d_x);
  result.d_weight_C = run.ran->ValuesOf(d_weight);
  return result;
}

NormTensors NormNumbers(const Norm& norm) {
  const int64_t count = norm.rows * norm.width;
  return {Normals(count, "x", norm.type),
          Normals(norm.width, "w", kSingle),
          {},
          Normals(count, "d", norm.type),
          {},
          {}};
}

void CheckNorm(const Kernel& kernel, const Norm& norm, Ran* ran) {
  const NormTensors inputs = NormNumbers(norm);
  NormTensors judge = inputs;
  ReferenceNorm(norm, &judge);
  const NormTensors naive = NaiveNorm(norm, inputs);
  const NormTensors found = RunNorm({kernel, 2, ran}, norm, inputs);
  ran->ExpectNear({"y", norm.type, found.y_NC, judge.y_NC, naive.y_NC});
  ran->ExpectNear({"d_x", norm.type, found.d_x_NC, judge.d_x_NC, naive.d_x_NC});
  ran->ExpectNear({"d_weight", norm.type, found.d_weight_C, judge.d_weight_C,
                   naive.d_weight_C});
  const NormTensors one = RunNorm({kernel, 1, ran}, norm, inputs);
  ran->ExpectSame("d_weight", one.d_weight_C, found.d_weight_C);
  ran->ExpectSame("d_x", one.d_x_NC, found.d_x_NC);
}

GateTensors NaiveGate(const Gate& gate, const GateTensors& given) {
  GateTensors x = given;
  x.y_NC = x.d_gate_NC = x.d_up_NC = x.gate_NC;
  const auto round = [&](double value) { return Rounded(gate.type, value); };
  for (size_t i = 0; i < x.y_NC.size(); ++i) {
    const auto g = static_cast<float>(x.gate_NC[i]);
    const double u = x.up_NC[i], d = x.d_y_NC[i];
    const float open = 1 / (1 + std::exp(-g));
    const double silu = round(g * open);
    x.y_NC[i] = round(silu * u);
    x.d_up_NC[i] = round(d * silu);
    const auto d_silu = static_cast<float>(round(d * u));
    x.d_gate_NC[i] = round(d_silu * (open * (1 + g * (1 - open))));
  }
  return x;
}

GateTensors GateNumbers(const Gate& gate) {
  const int64_t count = gate.rows * gate.width;
  GateTensors x;
  x.gate_NC = Normals(count, "gate", gate.type);
  // Far from zero on both sides too.
  for (size_t i = 0; i < x.gate_NC.size(); i += 7) {
    x.gate_NC[i] = Rounded(gate.type, x.gate_NC[i] * 40);
  }
  x.up_NC = Normals(count, "up", gate.type);
  x.d_y_NC = Normals(count, "d_y", gate.type);
  return x;
}

void CheckGate(const Kernel& kernel, const Gate& given, Ran* ran) {
  Gate gate = given;
  const Type type = gate.type;
  const int64_t count = gate.rows * gate.width;
  const GateTensors inputs = GateNumbers(gate);
  GateTensors judge = inputs;
  ReferenceGate(gate, &judge);
  const GateTensors naive = NaiveGate(gate, inputs);
  const TestResources resources(0, 2);
  Guarded g(type, inputs.gate_NC), u(type, inputs.up_NC),
      d(type, inputs.d_y_NC), y(type, count), d_g(type, count),
      d_u(type, count);
  gate.gate_NC = g.data();
  gate.up_NC = u.data();
  gate.y_NC = y.data();
  gate.d_y_NC = d.data();
  gate.d_gate_NC = d_g.data();
  gate.d_up_NC = d_u.data();
  if (ran->LacksMemory()) return;
  ran->Expect(kernel.gate(gate, resources.get()));
  ran->Expect(kernel.gate_backward(gate, resources.get()));
  for (const Guarded* input : {&g, &u, &d}) ran->ExpectKept(*input);
  ran->ExpectNear({"y", type, ran->ValuesOf(y), judge.y_NC, naive.y_NC});
  ran->ExpectNear(
      {"d_gate", type, ran->ValuesOf(d_g), judge.d_gate_NC, naive.d_gate_NC});
  ran->ExpectNear(
      {"d_up", type, ran->ValuesOf(d_u), judge.d_up_NC, naive.d_up_NC});
}

LossTensors NaiveLoss(const Loss& loss, const LossTensors& given) {
  LossTensors x = given;
  x.loss_N = x.log_sum_N = Numbers(loss.rows);
  x.d_logits_NC = x.logits_NC;
  for (int64_t n = 0; n < loss.rows; ++n) {
    const int64_t at = n * loss.width;
    const auto logit = [&](int64_t c) {
      return static_cast<float>(x.logits_NC[at + c]);
    };
    float largest = logit(0), sum = 0;
    for (int64_t c = 0; c < loss.width; ++c) {
      largest = std::max(largest, logit(c));
    }
    for (int64_t c = 0; c < loss.width; ++c) {
      sum += std::exp(logit(c) - largest);
    }
    const float log_sum = largest + std::log(sum);
    x.log_sum_N[n] = log_sum;
    x.loss_N[n] = log_sum - logit(x.targets_N[n]);
    for (int64_t c = 0; c < loss.width; ++c) {
      const float right = c == x.targets_N[n] ? 1 : 0;
      x.d_logits_NC[at + c] =
          loss.factor * (std::exp(logit(c) - log_sum) - right);
    }
  }
  return x;
}

LossTensors LossNumbers(const Loss& loss) {
  LossTensors x;
  x.logits_NC = Normals(loss.rows * loss.width, "logits", kSingle);
  for (double& logit : x.logits_NC) logit = Rounded(kSingle, logit * 8);
  for (int64_t n = 0; n < loss.rows; ++n) {
    x.targets_N.push_back(n * 7 % loss.width);
  }
  return x;
}

void CheckLoss(const Kernel& kernel, const Loss& given, Ran* ran) {
  Loss loss = given;
  const LossTensors inputs = LossNumbers(loss);
  LossTensors judge = inputs;
  ReferenceLoss(loss, &judge);
  const LossTensors naive = NaiveLoss(loss, inputs);
  const TestResources resources(0, 2);
  Guarded logits(kSingle, inputs.logits_NC), sums(kSingle, loss.rows),
      losses(kSingle, loss.rows);
  loss.logits_NC = logits.floats();
  Placed targets(BytesOf(inputs.targets_N));
  loss.targets_N = reinterpret_cast<const int64_t*>(targets.data());
  loss.loss_N = losses.floats();
  loss.log_sum_N = sums.floats();
  if (ran->LacksMemory()) return;
  ran->Expect(kernel.loss(loss, resources.get()));
  ran->ExpectSame("logits", ran->ValuesOf(logits), inputs.logits_NC);
  ran->Expect(kernel.loss_backward(loss, resources.get()));
  ran->ExpectIntact(targets.Fetch() == BytesOf(inputs.targets_N));
  ran->ExpectNear(
      {"loss", kSingle, ran->ValuesOf(losses), judge.loss_N, naive.loss_N});
  ran->ExpectNear({"log_sum", kSingle, ran->ValuesOf(sums), judge.log_sum_N,
                   naive.log_sum_N});
  // Logits are rounded in the differences that exponents are of.
  const double rounding =
      Epsilon(kSingle) * Largest(inputs.logits_NC) * loss.factor;
  ran->ExpectNear({"d_logits", kSingle, ran->ValuesOf(logits),
                   judge.d_logits_NC, naive.d_logits_NC},
                  rounding);
}

int64_t CountOf(const Rotation& r) {
  return r.batch * r.heads * r.tokens * r.width;
}
int64_t CountOf(const Adam& adam) { return CountOfAdam(adam); }
// Of what has rows.
template <typename Problem>
int64_t CountOf(const Problem& problem) {
  return problem.rows * problem.width;
}

template <typename Problem>
Case Make(std::string label, const Problem& problem,
          void (*check)(const Kernel&, const Problem&, Ran*)) {
  return {std::move(label), CountOf(problem),
          [problem, check](const Kernel& kernel) {
            Ran ran;
            check(kernel, problem, &ran);
            return ran.misses();
          }};
}

std::string NameOf(Type type) {
  if (type == Type::kFloat32) return "";
  return type == Type::kBfloat16 ? "_bf16" : "_fp16";
}

void AddTurn(const TurnCase& c, Type type, std::vector<Case>* cases) {
  for (const bool interleaved : {false, true}) {
    cases->push_back(Make<Rotation>(
        "turn_" + c.label + (interleaved ? "_interleaved" : "") + NameOf(type),
        RotationOf(c, type, interleaved), CheckTurn));
  }
}

void AddTurns(Device device, std::vector<Case>* cases) {
  const TurnCase turns[] = {{"usual", 70, 64, 64},
                            {"partial", 5, 80, 48},
                            {"tails", 3, 77, 70},
                            {"one_pair", 2, 2, 2},
                            {"wide", 300, 128, 128}};
  for (const TurnCase& c : turns) {
    for (const Type type : kTypes) AddTurn(c, type, cases);
  }
  if (device == Device::kCuda) AddTurn(turns[1], Type::kFloat16, cases);
}

void AddTyped(int64_t width, Type type, std::vector<Case>* cases) {
  const std::string label = std::to_string(width) + NameOf(type);
  Norm norm;
  norm.type = type;
  norm.rows = width > 1000 ? 3 : 1100;
  norm.width = width;
  norm.epsilon = 1e-5F;
  cases->push_back(Make<Norm>("norm_" + label, norm, CheckNorm));
  Gate gate;
  gate.type = type;
  gate.rows = 3;
  gate.width = width;
  cases->push_back(Make<Gate>("gate_" + label, gate, CheckGate));
}

}  // namespace

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

std::vector<Case> Cases(Device device) {
  std::vector<Case> cases;
  AddTurns(device, &cases);
  // One launch of a GPU takes 160.
  for (const int64_t num_parts : {1, 2, 70, 161}) {
    cases.push_back(Make<Adam>("adam_" + std::to_string(num_parts),
                               AdamOf(num_parts), CheckAdam));
  }
  for (const int64_t width : kWidths) {
    for (const Type type : kTypes) AddTyped(width, type, &cases);
    if (device == Device::kCuda && width > 1 && width < 100) {
      AddTyped(width, Type::kFloat16, &cases);
    }
    const std::string label = std::to_string(width);
    Loss loss;
    loss.rows = 5;
    loss.width = width;
    loss.factor = 0.3F;
    cases.push_back(Make<Loss>("loss_" + label, loss, CheckLoss));
  }
  return cases;
}

}  // namespace ordo::kernels::rows::check
