#include "kernels/update/check/case.h"

#include <utility>

namespace ordo::kernels::update::check {
namespace {

using kernels::check::Guarded;
using kernels::check::Normals;
using kernels::check::TestResources;

// [B,H,T,W] as [B,T,H,W], or back.
std::vector<double> Moved(const Problem& p, const std::vector<double>& x,
                          bool back) {
  std::vector<double> moved(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t w = i % p.width, t = i / p.width % p.tokens;
    const int64_t h = i / p.width / p.tokens % p.heads;
    const int64_t b = i / p.width / p.tokens / p.heads;
    const int64_t j = ((b * p.tokens + t) * p.heads + h) * p.width + w;
    moved[back ? i : j] = x[back ? j : i];
  }
  return moved;
}

}  // namespace

int64_t CountOf(const Problem& p) {
  return p.batch * p.heads * p.tokens * p.width;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

std::vector<Case> Cases(Device device) {
  const std::vector<std::pair<std::string, Problem>> shapes = {
      {"usual", {1, 12, 33, 64, 48}}, {"one", {1, 1, 1, 1, 1}},
      {"tails", {1, 3, 5, 7, 9}},     {"many_heads", {1, 33, 3, 20, 5}},
      {"wide", {1, 4, 2, 130, 16}},   {"blocks", {3, 2, 31, 16, 130}},
      {"long", {1, 2, 4400, 4, 3}},
  };
  std::vector<Case> cases;
  for (const auto& [label, shape] : shapes) {
    for (const bool by_token : {false, true}) {
      Case c{label + (by_token ? "_by_token" : ""), shape};
      if (!by_token) c.problem.inner = 0;
      cases.push_back(c);
      c.by_tokens = true;
      c.type = c.other = Type::kBfloat16;
      cases.push_back(c);
      cases.back().label += "_bf16";
      c.type = Type::kFloat32;
      cases.push_back(c);
      cases.back().label += "_mixed";
      if (device == Device::kCpu || (label != "usual" && label != "tails")) {
        continue;
      }
      c.other = Type::kFloat16;
      cases.push_back(c);
      cases.back().label += "_mixed_fp16";
      c.type = Type::kFloat16;
      cases.push_back(c);
      cases.back().label += "_fp16";
    }
  }
  return cases;
}

Tensors MakeTensors(const Case& c) {
  const Problem& p = c.problem;
  Tensors x;
  const auto state = [&](const std::string& name, Type type) {
    return Normals(CountOf(p), name, type);
  };
  // By token, x is the state.
  x.x_BHTW = state("x", p.by_token() ? c.type : c.other);
  x.d_out_BHTW = state("d_out", c.type);
  if (p.by_token()) {
    x.in_EH = Normals(p.inner * p.heads, "in", Type::kFloat32);
    x.out_HE = Normals(p.inner * p.heads, "out", Type::kFloat32);
    x.psi_BTE = Normals(p.batch * p.tokens * p.inner, "psi", c.other);
  } else {
    x.base_BHTW = state("base", c.type);
    x.mix_HH = Normals(p.heads * p.heads, "mix", Type::kFloat32);
  }
  return x;
}

State::State(const Case& c, Type type, const std::vector<double>& x)
    : case_(c),
      type_(type),
      guarded_(type, c.by_tokens ? Moved(c.problem, x, false) : x) {}

State::State(const Case& c, Type type)
    : case_(c), type_(type), guarded_(type, CountOf(c.problem)) {}

View State::view() {
  const Problem& p = case_.problem;
  const int64_t row = p.heads * p.tokens * p.width;
  if (case_.by_tokens) {
    return {guarded_.data(), type_, row, p.width, p.heads * p.width};
  }
  return {guarded_.data(), type_, row, p.tokens * p.width, p.width};
}

std::vector<double> State::Values() const {
  const std::vector<double> x = guarded_.Values();
  return case_.by_tokens ? Moved(case_.problem, x, true) : x;
}

Ran RunKernel(const Case& c, const Kernel& kernel, int threads,
              const Tensors& inputs) {
  Ran ran{inputs, ""};
  Tensors& x = ran.tensors;
  const Problem& p = c.problem;
  const TestResources forward(kernel.workspace_bytes(p, Way::kForward, threads),
                              threads);
  const TestResources backward(
      kernel.workspace_bytes(p, Way::kBackward, threads), threads);
  const Type x_type = p.by_token() ? c.type : c.other;
  State base(c, c.type, p.by_token() ? x.x_BHTW : x.base_BHTW),
      in(c, x_type, x.x_BHTW), out(c, c.type), d_out(c, c.type, x.d_out_BHTW),
      d_x(c, x_type);
  Guarded mix(Type::kFloat32, x.mix_HH), w1(Type::kFloat32, x.in_EH),
      w2(Type::kFloat32, x.out_HE), psi(c.other, x.psi_BTE);
  const auto wanted = [](Type type, const std::vector<double>& like) {
    return Guarded(type, static_cast<int64_t>(like.size()));
  };
  Guarded d_mix = wanted(Type::kFloat32, x.mix_HH),
          d_w1 = wanted(Type::kFloat32, x.in_EH),
          d_w2 = wanted(Type::kFloat32, x.out_HE),
          d_psi = wanted(c.other, x.psi_BTE);
  Call call;
  call.problem = p;
  call.inputs = {base.view(), in.view(),  mix.floats(), w1.floats(),
                 w2.floats(), psi.data(), c.other};
  call.out = out.view();
  if (kernels::check::LacksMemory()) {
    ran.trouble = kernels::check::kNoMemory;
    return ran;
  }
  absl::Status status = kernel.forward(call, forward.get());
  call.gradients = {d_out.view(),  d_x.view(),    d_mix.floats(),
                    d_w1.floats(), d_w2.floats(), d_psi.data()};
  if (status.ok()) status = kernel.backward(call, backward.get());
  ran.trouble = std::string(status.message());
  if (!status.ok()) return ran;
  x.out_BHTW = out.Values();
  x.d_x_BHTW = d_x.Values();
  x.d_mix_HH = d_mix.Values();
  x.d_in_EH = d_w1.Values();
  x.d_out_HE = d_w2.Values();
  x.d_psi_BTE = d_psi.Values();
  const bool intact = out.IsIntact() && d_x.IsIntact() && d_mix.IsIntact() &&
                      d_w1.IsIntact() && d_w2.IsIntact() && d_psi.IsIntact() &&
                      forward.IsIntact() && backward.IsIntact();
  if (!intact) ran.trouble = "memory around a result is overwritten";
  const bool kept = base.IsAsMade() && in.IsAsMade() && d_out.IsAsMade() &&
                    mix.IsAsMade() && w1.IsAsMade() && w2.IsAsMade() &&
                    psi.IsAsMade();
  if (!kept) ran.trouble = "an input is overwritten";
  return ran;
}

}  // namespace ordo::kernels::update::check
