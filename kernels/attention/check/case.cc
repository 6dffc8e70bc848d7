#include "kernels/attention/check/case.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "base/random/random.h"
#include "kernels/attention/check/memory.h"
#include "kernels/common/check/numbers.h"

namespace ordo::kernels::attention::check {
namespace {

std::vector<double> Normal(int64_t count, Type type,
                           base::RandomSequence* random) {
  std::vector<double> values(count);
  for (double& value : values) value = Rounded(type, random->Normal());
  return values;
}

}  // namespace

double Rounded(Type type, double x) { return kernels::check::Rounded(type, x); }

double Epsilon(Type type) {
  if (type == Type::kFloat32) return std::exp2(-23);
  return std::exp2(type == Type::kFloat16 ? -11 : -8);
}

double Largest(const std::vector<double>& x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

namespace {

Type TypeOf(const Problem& p, Input input) {
  return IsTable(input) ? Type::kFloat32 : p.type;
}

void MakePadding(const Problem& p, Tensors* x) {
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t j = 0; j < p.keys; ++j) {
      const int64_t from_edge = b % 2 == 1 ? j : p.keys - 1 - j;
      x->real_BS.push_back(from_edge >= p.keys / 3 && b < 2 ? 1 : 0);
    }
  }
}

// With gaps and repeats in even rows; one by one, with a leap, in odd ones.
void MakePositions(const Problem& p, base::RandomSequence* random, Tensors* x) {
  for (int64_t b = 0; b < p.batch; ++b) {
    int32_t position = static_cast<int32_t>(random->Int(5));
    for (int64_t j = 0; j < p.keys; ++j) {
      x->positions_BS.push_back(position);
      const int64_t leap = j == p.keys / 3 ? 9 : 1;
      position += static_cast<int32_t>(b % 2 == 0 ? random->Int(3) : leap);
    }
  }
}

// Documents and windows of growing lengths.
void MakeFirst(const Problem& p, Tensors* x) {
  for (int64_t i = 0; i < p.batch * p.heads * p.queries; ++i) {
    const int64_t token = p.keys - p.queries + i % p.queries;
    const int64_t length = 3 + 20 * (i / p.queries);
    const int64_t first = i / p.queries % 2 == 0
                              ? token / length * length
                              : std::max<int64_t>(token - length, 0);
    x->first_BHT.push_back(static_cast<int32_t>(first));
  }
}

// All numbers t r that there are, ascending.
std::vector<double> NumbersOfMod(const Tensors& x) {
  std::vector<double> numbers;
  for (const double t : x.inputs[kModDistance]) {
    for (const double r : x.inputs[kModQuery]) numbers.push_back(t * r);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Knots from -1.5 to 1.5. At a knot f leaps: each lies in the middle of the
// widest gap nearby, so that no rounding takes a number to another piece.
void MakeKnots(const Problem& p, Tensors* x) {
  constexpr double kNearby = 0.1;
  if (p.pieces == 1) return;
  const std::vector<double> numbers = NumbersOfMod(*x);
  for (int64_t i = 0; i + 1 < p.pieces; ++i) {
    const double wanted =
        -1.5 + 3.0 * static_cast<double>(i) / static_cast<double>(p.pieces);
    double knot = wanted, widest = 0;
    auto at =
        std::lower_bound(numbers.begin(), numbers.end(), wanted - kNearby);
    for (; at != numbers.end() && at + 1 != numbers.end(); ++at) {
      if (*at > wanted + kNearby) break;
      const double middle = (at[0] + at[1]) / 2;
      if (std::abs(middle - wanted) > kNearby || at[1] - at[0] < widest) {
        continue;
      }
      widest = at[1] - at[0];
      knot = middle;
    }
    x->knots.push_back(Rounded(Type::kFloat32, knot));
  }
}

}  // namespace

Tensors MakeTensors(const Problem& p, uint64_t seed) {
  base::RandomSequence random(seed, "data/attention");
  Tensors x;
  for (int i = 0; i < kNumInputs; ++i) {
    const Input input = static_cast<Input>(i);
    x.inputs[i] = Normal(ShapeOf(p, input).count(), TypeOf(p, input), &random);
  }
  for (int i = 0; i < kNumOutputs; ++i) {
    x.d_outputs[i] =
        Normal(ShapeOf(p, static_cast<Output>(i)).count(), p.type, &random);
  }
  if (p.padded) MakePadding(p, &x);
  if (p.positioned) MakePositions(p, &random, &x);
  if (p.bounded) MakeFirst(p, &x);
  if (HasMod(p)) MakeKnots(p, &x);
  return x;
}

namespace {

// A problem's tensors as a kernel gets them.
class Memory {
 public:
  Memory(const Problem& p, int64_t gap, const Tensors& x)
      : p_(p),
        real_BS_(x.real_BS),
        positions_BS_(x.positions_BS),
        first_BHT_(x.first_BHT) {
    for (int i = 0; i < kNumInputs; ++i) {
      const Input input = static_cast<Input>(i);
      const std::string name = NameOf(input);
      const Type type = TypeOf(p, input);
      inputs_.emplace_back(name, type, ShapeOf(p, input), gap);
      d_inputs_.emplace_back("d " + name, type, ShapeOf(p, input), gap);
      inputs_[i].Set(x.inputs[i]);
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      const Output output = static_cast<Output>(i);
      const std::string name = NameOf(output);
      outputs_.emplace_back(name, p.type, ShapeOf(p, output), gap);
      d_outputs_.emplace_back("d " + name, p.type, ShapeOf(p, output), gap);
      if (!x.d_outputs[i].empty()) d_outputs_[i].Set(x.d_outputs[i]);
    }
    knots_.assign(x.knots.begin(), x.knots.end());
  }

  Call MakeCall(const Tensors& x, Copies* copies) {
    Call call;
    call.problem = p_;
    if (p_.padded) call.facts.real_BS = copies->Place(&real_BS_);
    if (p_.positioned) call.facts.positions_BS = copies->Place(&positions_BS_);
    if (p_.bounded) {
      call.facts.first_BHT = copies->Place(&first_BHT_);
      call.facts.first_batch_stride = p_.heads * p_.queries;
      call.facts.first_head_stride = p_.queries;
    }
    if (HasMod(p_)) call.facts.knots = copies->Place(&knots_);
    for (int i = 0; i < kNumInputs; ++i) {
      if (x.inputs[i].empty()) continue;
      call.inputs[i] = inputs_[i].Place(copies);
      call.d_inputs[i] = d_inputs_[i].Place(copies);
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      if (ShapeOf(p_, static_cast<Output>(i)).width == 0) continue;
      call.outputs[i] = outputs_[i].Place(copies);
      if (!x.d_outputs[i].empty())
        call.d_outputs[i] = d_outputs_[i].Place(copies);
    }
    call.lse_BHT = static_cast<float*>(lse_.Place(copies).data);
    return call;
  }

  // Names inputs, and gradients of outputs, that have changed; x is what they
  // were made of.
  std::string Changed(const Tensors& x) {
    std::string changed;
    for (Guarded& input : inputs_) input.AddIfChanged(&changed);
    for (Guarded& d_output : d_outputs_) d_output.AddIfChanged(&changed);
    if (real_BS_ != x.real_BS) changed += "padding ";
    if (positions_BS_ != x.positions_BS) changed += "position ids ";
    if (first_BHT_ != x.first_BHT) changed += "first keys ";
    const auto same = [](float knot, double of) {
      return knot == static_cast<float>(of);
    };
    if (!std::equal(knots_.begin(), knots_.end(), x.knots.begin(), same)) {
      changed += "knots ";
    }
    return changed;
  }

  // Fills in what a kernel gave; names tensors with canaries that it touched.
  std::string Read(Tensors* x) {
    std::string touched;
    x->lse_BHT = lse_.Get(&touched);
    for (int i = 0; i < kNumInputs; ++i) {
      x->d_inputs[i] = d_inputs_[i].Get(&touched);
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      x->outputs[i] = outputs_[i].Get(&touched);
    }
    return touched;
  }

 private:
  const Problem& p_;
  std::vector<Guarded> inputs_;
  std::vector<Guarded> d_inputs_;
  std::vector<Guarded> outputs_;
  std::vector<Guarded> d_outputs_;
  std::vector<uint8_t> real_BS_;
  std::vector<int32_t> positions_BS_;
  std::vector<int32_t> first_BHT_;
  std::vector<float> knots_;
  Guarded lse_{
      "lse", Type::kFloat32, {1, 1, 1, p_.batch* p_.heads* p_.queries}, 0};
};

// At most `threads` tasks at a time.
void RunTasks(int threads, int64_t count,
              const std::function<void(int64_t i, int thread)>& task) {
  std::atomic<int64_t> next{0};
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread) {
    pool.emplace_back([&, thread] {
      for (int64_t i = next++; i < count; i = next++) task(i, thread);
    });
  }
  for (std::thread& thread : pool) thread.join();
}

}  // namespace

std::string RunKernel(const Problem& p, const Kernel& kernel,
                      const RunOptions& options, Tensors* x) {
  Memory memory(p, options.gap, *x);
  Copies copies(options.memory);
  const Call call = memory.MakeCall(*x, &copies);
  WorkMemory forward(kernel.workspace_bytes(p, Way::kForward, options.threads));
  WorkMemory backward(
      kernel.workspace_bytes(p, Way::kBackward, options.threads));
  Resources resources;
  resources.run = [&](int64_t count, const auto& task) {
    RunTasks(options.threads, count, task);
  };
  resources.workspace = forward.Place(&copies);
  void* const of_backward = backward.Place(&copies);
  // Without memory no kernel may run.
  if (!copies.error().empty()) return copies.error();
  absl::Status status = kernel.forward(call, resources);
  resources.workspace = of_backward;
  if (status.ok()) status = kernel.backward(call, resources);
  if (!status.ok()) return std::string(status.message());

  std::string error = copies.Fetch();
  if (!error.empty()) return error;
  const std::string changed = memory.Changed(*x);
  if (!changed.empty())
    return "what is only to be read has changed: " + changed;
  std::string touched = memory.Read(x);
  if (!forward.IsIntact()) touched += "the forward pass' workspace ";
  if (!backward.IsIntact()) touched += "the backward pass' workspace ";
  return touched.empty() ? "" : "memory is overwritten around: " + touched;
}

}  // namespace ordo::kernels::attention::check
