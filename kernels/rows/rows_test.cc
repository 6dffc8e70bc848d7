// The one numeric test of the kernels for rows: table x problems.

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"
#include "kernels/rows/reference.h"
#include "kernels/rows/table.h"

namespace ordo::kernels::rows {
namespace {

using kernels::check::Distance;
using kernels::check::Epsilon;
using kernels::check::Guarded;
using kernels::check::Largest;
using kernels::check::Normals;
using kernels::check::Rounded;
using kernels::check::TestResources;

constexpr Type kSingle = Type::kFloat32;
constexpr Type kTypes[] = {Type::kFloat32, Type::kBfloat16};
// Around whole vectors of each size, and beyond a unit of work.
constexpr int64_t kWidths[] = {1, 3, 16, 31, 64, 65, 130, 17000};

// One result as the kernel, the judge and naive code have it.
struct Result {
  std::string name;
  Type type;
  Numbers found, judge, naive;
};

// At most twice the naive computation's error and one rounding.
void ExpectNear(const std::vector<Result>& results, const std::string& label) {
  for (const Result& result : results) {
    const double bound = 2 * Distance(result.naive, result.judge) +
                         Epsilon(result.type) * Largest(result.judge);
    EXPECT_LE(Distance(result.found, result.judge), bound)
        << label << ": " << result.name;
  }
}

Numbers ValuesOf(const Guarded& guarded) {
  EXPECT_TRUE(guarded.IsIntact());
  return guarded.Values();
}

class RowsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == GetParam()) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    const absl::Status supported = kernel_->supports();
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }

  const Kernel* kernel_ = nullptr;
  const TestResources two_{0, 2};
};

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Kernel& kernel : Kernels()) names.push_back(kernel.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, RowsTest, ::testing::ValuesIn(KernelNames()),
                         [](const auto& info) { return info.param; });

struct TurnCase {
  std::string label;
  int64_t tokens;
  int64_t width;
  int64_t channels;
};

constexpr int64_t kBatch = 2, kHeads = 3;

Rotation RotationOf(const TurnCase& c, Type type, bool interleaved) {
  Rotation r;
  r.type = type;
  r.batch = kBatch;
  r.heads = kHeads;
  r.tokens = c.tokens;
  r.width = c.width;
  r.channels = c.channels;
  r.interleaved = interleaved;
  return r;
}

View Contiguous(Guarded* x, const Rotation& r, int64_t width) {
  return {x->data(), r.heads * r.tokens * width, r.tokens * width, width};
}

// As separate products in fp32.
RotationTensors NaiveTurn(const Rotation& r, const RotationTensors& given) {
  RotationTensors x = given;
  x.y = x.x;
  x.d_x = x.d_y;
  x.d_table = x.table;
  const auto sum = [](Type type, double a, double b, double c, double d) {
    const auto first = static_cast<float>(a * b);
    return Rounded(type, first + static_cast<float>(c * d));
  };
  const int64_t half = r.channels / 2;
  for (int64_t row = 0; row < r.batch * r.heads * r.tokens; ++row) {
    for (int64_t f = 0; f < half; ++f) {
      const int64_t table = row * r.channels, at = row * r.width;
      const double c = x.table[table + f], s = x.table[table + half + f];
      const int64_t i = at + (r.interleaved ? 2 * f : f);
      const int64_t j = at + (r.interleaved ? 2 * f + 1 : f + half);
      const double a = x.x[i], b = x.x[j];
      const double d_a = x.d_y[at + f], d_b = x.d_y[at + f + half];
      x.y[at + f] = sum(r.type, a, c, -b, s);
      x.y[at + half + f] = sum(r.type, b, c, a, s);
      x.d_x[i] = sum(r.type, d_a, c, d_b, s);
      x.d_x[j] = sum(r.type, d_b, c, -d_a, s);
      x.d_table[table + f] = sum(kSingle, d_a, a, d_b, b);
      x.d_table[table + half + f] = sum(kSingle, d_b, a, -d_a, b);
    }
  }
  return x;
}

RotationTensors RunTurn(const Kernel& kernel, const Resources& resources,
                        Rotation r, const RotationTensors& given) {
  RotationTensors result = given;
  const auto like = [](Type type, const Numbers& x) {
    return Guarded(type, static_cast<int64_t>(x.size()));
  };
  Guarded x(r.type, given.x), table(kSingle, given.table),
      d_y(r.type, given.d_y);
  Guarded y = like(r.type, given.x), d_x = like(r.type, given.x),
          d_table = like(kSingle, given.table);
  r.table_BHTR = Contiguous(&table, r, r.channels);
  r.d_table_BHTR = Contiguous(&d_table, r, r.channels);
  r.turned[0] = {r.heads, Contiguous(&x, r, r.width),
                 Contiguous(&y, r, r.width), Contiguous(&d_y, r, r.width),
                 Contiguous(&d_x, r, r.width)};
  EXPECT_TRUE(kernel.turn(r, resources).ok());
  EXPECT_TRUE(kernel.turn_backward(r, resources).ok());
  result.y = ValuesOf(y);
  result.d_x = ValuesOf(d_x);
  result.d_table = ValuesOf(d_table);
  return result;
}

RotationTensors RotationNumbers(const Rotation& r) {
  const int64_t rows = r.batch * r.heads * r.tokens;
  RotationTensors x;
  x.x = Normals(rows * r.width, "x", r.type);
  x.d_y = Normals(rows * r.width, "d_y", r.type);
  x.table = Normals(rows * r.channels, "table", kSingle);
  return x;
}

TEST_P(RowsTest, TurnsAreNearTheReference) {
  const std::vector<TurnCase> cases = {{"usual", 70, 64, 64},
                                       {"partial", 5, 80, 48},
                                       {"tails", 3, 77, 70},
                                       {"one_pair", 2, 2, 2},
                                       {"wide", 300, 128, 128}};
  for (const TurnCase& c : cases) {
    for (const Type type : kTypes) {
      for (const bool interleaved : {false, true}) {
        const Rotation r = RotationOf(c, type, interleaved);
        const RotationTensors inputs = RotationNumbers(r);
        RotationTensors judge = inputs;
        ReferenceTurn(r, &judge);
        const RotationTensors naive = NaiveTurn(r, inputs);
        const RotationTensors found = RunTurn(*kernel_, two_.get(), r, inputs);
        ExpectNear(
            {{"y", type, found.y, judge.y, naive.y},
             {"d_x", type, found.d_x, judge.d_x, naive.d_x},
             {"d_table", kSingle, found.d_table, judge.d_table, naive.d_table}},
            c.label);
      }
    }
  }
}

// q and k of one state, and q with fewer keys and a table that all share.
TEST_P(RowsTest, TwoAreTurnedAsEachAlone) {
  Rotation r = RotationOf({"", 20, 32, 24}, kSingle, false);
  const RotationTensors q = RotationNumbers(r);
  RotationTensors k = q;
  std::swap(k.x, k.d_y);
  const RotationTensors of_q = RunTurn(*kernel_, two_.get(), r, q);
  const RotationTensors of_k = RunTurn(*kernel_, two_.get(), r, k);
  const auto size = static_cast<int64_t>(q.x.size());
  Guarded table(kSingle, q.table), x(kSingle, q.x), d(kSingle, q.d_y);
  Guarded d_table(kSingle, static_cast<int64_t>(q.table.size()));
  Guarded y[2] = {{kSingle, size}, {kSingle, size}};
  Guarded d_x[2] = {{kSingle, size}, {kSingle, size}};
  r.table_BHTR = Contiguous(&table, r, r.channels);
  r.d_table_BHTR = Contiguous(&d_table, r, r.channels);
  r.num_turned = 2;
  for (int i = 0; i < 2; ++i) {
    r.turned[i] = {kHeads, Contiguous(i == 0 ? &x : &d, r, r.width),
                   Contiguous(&y[i], r, r.width),
                   Contiguous(i == 0 ? &d : &x, r, r.width),
                   Contiguous(&d_x[i], r, r.width)};
  }
  EXPECT_TRUE(kernel_->turn(r, two_.get()).ok());
  EXPECT_TRUE(kernel_->turn_backward(r, two_.get()).ok());
  EXPECT_EQ(ValuesOf(y[0]), of_q.y);
  EXPECT_EQ(ValuesOf(y[1]), of_k.y);
  EXPECT_EQ(ValuesOf(d_x[0]), of_q.d_x);
  EXPECT_EQ(ValuesOf(d_x[1]), of_k.d_x);
  Numbers sum = of_q.d_table;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += of_k.d_table[i];
  EXPECT_LT(Distance(ValuesOf(d_table), sum), 1e-5);

  // One table for all heads and rows of the batch, one head of keys.
  r.table_BHTR.batch_stride = r.table_BHTR.head_stride = 0;
  r.d_table_BHTR = {};
  r.turned[1].heads = 1;
  r.turned[1].y_BHTD.batch_stride = r.tokens * r.width;
  const Numbers before = y[1].Values();
  EXPECT_TRUE(kernel_->turn(r, two_.get()).ok());
  RotationTensors shared = q;
  const int64_t row = r.tokens * r.channels;
  for (int64_t i = 0; i < static_cast<int64_t>(q.table.size()); ++i) {
    shared.table[i] = q.table[i % row];
  }
  EXPECT_EQ(ValuesOf(y[0]), RunTurn(*kernel_, two_.get(), r, shared).y);
  const Numbers after = ValuesOf(y[1]);
  const int64_t written = kBatch * r.tokens * r.width;
  EXPECT_EQ(Numbers(after.begin() + written, after.end()),
            Numbers(before.begin() + written, before.end()));
}

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

NormTensors RunNorm(const Kernel& kernel, int threads, Norm norm,
                    const NormTensors& given) {
  NormTensors result = given;
  const TestResources resources(kernel.norm_workspace_bytes(norm), threads);
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
  EXPECT_TRUE(kernel.norm(norm, resources.get()).ok());
  EXPECT_TRUE(kernel.norm_backward(norm, resources.get()).ok());
  EXPECT_TRUE(resources.IsIntact());
  EXPECT_TRUE(scale.IsIntact());
  result.y_NC = ValuesOf(y);
  result.d_x_NC = ValuesOf(d_x);
  result.d_weight_C = ValuesOf(d_weight);
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

TEST_P(RowsTest, NormsAreNearTheReference) {
  for (const int64_t width : kWidths) {
    for (const Type type : kTypes) {
      Norm norm;
      norm.type = type;
      norm.rows = width > 1000 ? 3 : 1100;
      norm.width = width;
      norm.epsilon = 1e-5F;
      const NormTensors inputs = NormNumbers(norm);
      NormTensors judge = inputs;
      ReferenceNorm(norm, &judge);
      const NormTensors naive = NaiveNorm(norm, inputs);
      const NormTensors found = RunNorm(*kernel_, 2, norm, inputs);
      ExpectNear({{"y", type, found.y_NC, judge.y_NC, naive.y_NC},
                  {"d_x", type, found.d_x_NC, judge.d_x_NC, naive.d_x_NC},
                  {"d_weight", type, found.d_weight_C, judge.d_weight_C,
                   naive.d_weight_C}},
                 "width " + std::to_string(width));
      const NormTensors one = RunNorm(*kernel_, 1, norm, inputs);
      EXPECT_EQ(one.d_weight_C, found.d_weight_C);
      EXPECT_EQ(one.d_x_NC, found.d_x_NC);
    }
  }
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

TEST_P(RowsTest, GatesAreNearTheReference) {
  for (const int64_t width : kWidths) {
    for (const Type type : kTypes) {
      Gate gate;
      gate.type = type;
      gate.rows = 3;
      gate.width = width;
      const int64_t count = gate.rows * width;
      GateTensors inputs;
      inputs.gate_NC = Normals(count, "gate", type);
      // Far from zero on both sides too.
      for (size_t i = 0; i < inputs.gate_NC.size(); i += 7) {
        inputs.gate_NC[i] = Rounded(type, inputs.gate_NC[i] * 40);
      }
      inputs.up_NC = Normals(count, "up", type);
      inputs.d_y_NC = Normals(count, "d_y", type);
      GateTensors judge = inputs;
      ReferenceGate(gate, &judge);
      const GateTensors naive = NaiveGate(gate, inputs);
      Guarded g(type, inputs.gate_NC), u(type, inputs.up_NC),
          d(type, inputs.d_y_NC), y(type, count), d_g(type, count),
          d_u(type, count);
      gate.gate_NC = g.data();
      gate.up_NC = u.data();
      gate.y_NC = y.data();
      gate.d_y_NC = d.data();
      gate.d_gate_NC = d_g.data();
      gate.d_up_NC = d_u.data();
      EXPECT_TRUE(kernel_->gate(gate, two_.get()).ok());
      EXPECT_TRUE(kernel_->gate_backward(gate, two_.get()).ok());
      ExpectNear(
          {{"y", type, ValuesOf(y), judge.y_NC, naive.y_NC},
           {"d_gate", type, ValuesOf(d_g), judge.d_gate_NC, naive.d_gate_NC},
           {"d_up", type, ValuesOf(d_u), judge.d_up_NC, naive.d_up_NC}},
          "width " + std::to_string(width));
    }
  }
}

Adam StepOf(int64_t count) {
  Adam adam;
  adam.count = count;
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

AdamTensors NaiveAdam(const Adam& adam, const AdamTensors& given) {
  AdamTensors x = given;
  const auto single = [](double value) { return static_cast<float>(value); };
  for (int64_t i = 0; i < adam.count; ++i) {
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

TEST_P(RowsTest, StepsOfAdamAreNearTheReference) {
  for (const int64_t width : kWidths) {
    Adam adam = StepOf(width * 3);
    AdamTensors inputs = {Normals(adam.count, "gradient", kSingle),
                          Normals(adam.count, "parameter", kSingle),
                          Normals(adam.count, "m", kSingle),
                          Normals(adam.count, "v", kSingle)};
    for (double& v : inputs.v) v = v * v;
    inputs.v[0] = inputs.gradient[0] = 0;
    for (double& v : inputs.v) v = Rounded(kSingle, v);
    AdamTensors judge = inputs;
    ReferenceAdam(adam, &judge);
    const AdamTensors naive = NaiveAdam(adam, inputs);
    Guarded g(kSingle, inputs.gradient), p(kSingle, inputs.parameter),
        m(kSingle, inputs.m), v(kSingle, inputs.v);
    adam.gradient = g.floats();
    adam.parameter = p.floats();
    adam.m = m.floats();
    adam.v = v.floats();
    EXPECT_TRUE(kernel_->adam(adam, two_.get()).ok());
    EXPECT_EQ(ValuesOf(g), inputs.gradient);
    ExpectNear({{"p", kSingle, ValuesOf(p), judge.parameter, naive.parameter},
                {"m", kSingle, ValuesOf(m), judge.m, naive.m},
                {"v", kSingle, ValuesOf(v), judge.v, naive.v}},
               std::to_string(adam.count));
  }
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

TEST_P(RowsTest, LossesAreNearTheReference) {
  for (const int64_t width : kWidths) {
    Loss loss;
    loss.rows = 5;
    loss.width = width;
    loss.factor = 0.3F;
    LossTensors inputs;
    inputs.logits_NC = Normals(loss.rows * width, "logits", kSingle);
    for (double& logit : inputs.logits_NC) logit = Rounded(kSingle, logit * 8);
    for (int64_t n = 0; n < loss.rows; ++n) {
      inputs.targets_N.push_back(n * 7 % width);
    }
    LossTensors judge = inputs;
    ReferenceLoss(loss, &judge);
    const LossTensors naive = NaiveLoss(loss, inputs);
    Guarded logits(kSingle, inputs.logits_NC), sums(kSingle, loss.rows),
        losses(kSingle, loss.rows);
    loss.logits_NC = logits.floats();
    loss.targets_N = inputs.targets_N.data();
    loss.loss_N = losses.floats();
    loss.log_sum_N = sums.floats();
    EXPECT_TRUE(kernel_->loss(loss, two_.get()).ok());
    EXPECT_EQ(ValuesOf(logits), inputs.logits_NC);
    EXPECT_TRUE(kernel_->loss_backward(loss, two_.get()).ok());
    // Logits are rounded in the differences that exponents are of.
    const std::vector<Result> results = {
        {"loss", kSingle, ValuesOf(losses), judge.loss_N, naive.loss_N},
        {"log_sum", kSingle, ValuesOf(sums), judge.log_sum_N, naive.log_sum_N}};
    ExpectNear(results, "width " + std::to_string(width));
    const double rounding =
        Epsilon(kSingle) * Largest(inputs.logits_NC) * loss.factor;
    EXPECT_LE(Distance(ValuesOf(logits), judge.d_logits_NC),
              2 * Distance(naive.d_logits_NC, judge.d_logits_NC) + rounding);
  }
}

TEST_P(RowsTest, ALogitThatIsNoNumberMakesTheLossNone) {
  for (const size_t at : {0, 5, 69}) {
    Loss loss;
    loss.rows = 1;
    loss.width = 70;
    std::vector<float> logits(70, 1);
    logits[at] = std::nanf("");
    float found = 0, log_sum = 0;
    const int64_t target = 7;
    loss.logits_NC = logits.data();
    loss.targets_N = &target;
    loss.loss_N = &found;
    loss.log_sum_N = &log_sum;
    EXPECT_TRUE(kernel_->loss(loss, two_.get()).ok());
    EXPECT_TRUE(std::isnan(found)) << at;
  }
}

}  // namespace
}  // namespace ordo::kernels::rows
