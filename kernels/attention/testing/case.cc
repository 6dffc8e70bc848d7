#include "kernels/attention/testing/case.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "base/random/random.h"

namespace ordo::kernels::attention::testing {
namespace {

// Elements between the rows of a tensor, and around it.
constexpr int64_t kGap = 3;
constexpr int64_t kMargin = 80;
constexpr uint8_t kCanary = 0xA5;

uint16_t ToBfloat16(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float FromBfloat16(uint16_t x) {
  const uint32_t bits = uint32_t{x} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A tensor [batch, heads, tokens, width] with tokens before heads in memory, as
// a projection leaves it, among canaries.
class Guarded {
 public:
  Guarded(std::string name, Type type, const Shape& shape)
      : name_(std::move(name)), type_(type), shape_(shape) {
    const int64_t row = shape.heads * shape.width + kGap;
    // So that no row begins where a vector would.
    view_ = {nullptr, shape.tokens * row, shape.width, row};
    bytes_.assign((shape.batch * shape.tokens * row + 2 * kMargin) * size(),
                  kCanary);
    view_.data = bytes_.data() + kMargin * size();
  }

  const View& view() const { return view_; }

  void Set(const std::vector<double>& values) {
    ForEach([&](int64_t i, uint8_t* at) {
      const float value = static_cast<float>(values[i]);
      const uint16_t half = ToBfloat16(value);
      std::memcpy(at,
                  type_ == Type::kFloat32 ? static_cast<const void*>(&value)
                                          : static_cast<const void*>(&half),
                  size());
    });
  }

  // The values; adds its name to `touched` if bytes between rows have changed.
  std::vector<double> Get(std::string* touched) {
    std::vector<double> values(shape_.batch * shape_.heads * shape_.tokens *
                               shape_.width);
    std::vector<bool> inside(bytes_.size());
    ForEach([&](int64_t i, uint8_t* at) {
      float value = 0;
      uint16_t half = 0;
      if (type_ == Type::kFloat32) {
        std::memcpy(&value, at, sizeof value);
      } else {
        std::memcpy(&half, at, sizeof half);
        value = FromBfloat16(half);
      }
      values[i] = value;
      for (int64_t b = 0; b < size(); ++b)
        inside[at - bytes_.data() + b] = true;
    });
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (inside[i] || bytes_[i] == kCanary) continue;
      *touched += name_ + " ";
      break;
    }
    return values;
  }

 private:
  int64_t size() const { return type_ == Type::kFloat32 ? 4 : 2; }

  template <typename Function>
  void ForEach(const Function& function) {
    int64_t i = 0;
    for (int64_t b = 0; b < shape_.batch; ++b) {
      for (int64_t h = 0; h < shape_.heads; ++h) {
        for (int64_t t = 0; t < shape_.tokens; ++t) {
          for (int64_t d = 0; d < shape_.width; ++d) {
            const int64_t at = b * view_.batch_stride + h * view_.head_stride +
                               t * view_.token_stride + d;
            function(i++, bytes_.data() + (kMargin + at) * size());
          }
        }
      }
    }
  }

  std::string name_;
  Type type_;
  Shape shape_;
  View view_;
  std::vector<uint8_t> bytes_;
};

std::vector<double> Normal(int64_t count, Type type,
                           base::RandomSequence* random) {
  std::vector<double> values(count);
  for (double& value : values) value = Rounded(type, random->Normal());
  return values;
}

}  // namespace

double Rounded(Type type, double x) {
  const float value = static_cast<float>(x);
  return type == Type::kFloat32 ? value : FromBfloat16(ToBfloat16(value));
}

double Epsilon(Type type) {
  return std::exp2(type == Type::kFloat32 ? -23 : -8);
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

void MakePositions(const Problem& p, base::RandomSequence* random, Tensors* x) {
  for (int64_t b = 0; b < p.batch; ++b) {
    int32_t position = static_cast<int32_t>(random->Int(5));
    for (int64_t j = 0; j < p.keys; ++j) {
      x->positions_BS.push_back(position);
      position += static_cast<int32_t>(random->Int(3));
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

// Knots, and offsets that make f continuous.
void MakePieces(const Problem& p, Tensors* x) {
  for (int64_t i = 0; i + 1 < p.pieces; ++i) {
    x->knots.push_back(-1.5 + 3.0 * static_cast<double>(i) /
                                  static_cast<double>(p.pieces));
  }
  for (int64_t h = 0; h < p.heads; ++h) {
    const double* const slope = &x->inputs[kSlope][h * p.pieces];
    double* const offset = &x->inputs[kOffset][h * p.pieces];
    for (int64_t i = 1; i < p.pieces; ++i) {
      offset[i] =
          Rounded(Type::kFloat32,
                  offset[i - 1] + (slope[i - 1] - slope[i]) * x->knots[i - 1]);
    }
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
  if (p.pieces > 0) MakePieces(p, &x);
  return x;
}

namespace {

// A problem's tensors as a kernel gets them.
class Memory {
 public:
  Memory(const Problem& p, const Tensors& x) : p_(p) {
    for (int i = 0; i < kNumInputs; ++i) {
      const Input input = static_cast<Input>(i);
      const std::string name = NameOf(input);
      inputs_.emplace_back(name, TypeOf(p, input), ShapeOf(p, input));
      d_inputs_.emplace_back("d " + name, TypeOf(p, input), ShapeOf(p, input));
      inputs_[i].Set(x.inputs[i]);
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      const Output output = static_cast<Output>(i);
      const std::string name = NameOf(output);
      outputs_.emplace_back(name, p.type, ShapeOf(p, output));
      d_outputs_.emplace_back("d " + name, p.type, ShapeOf(p, output));
      if (!x.d_outputs[i].empty()) d_outputs_[i].Set(x.d_outputs[i]);
    }
    knots_.assign(x.knots.begin(), x.knots.end());
  }

  // `x` outlives it.
  Call MakeCall(const Tensors& x) {
    Call call;
    call.problem = p_;
    if (p_.padded) call.facts.real_BS = x.real_BS.data();
    if (p_.positioned) call.facts.positions_BS = x.positions_BS.data();
    if (p_.bounded) {
      call.facts.first_BHT = x.first_BHT.data();
      call.facts.first_batch_stride = p_.heads * p_.queries;
      call.facts.first_head_stride = p_.queries;
    }
    if (p_.pieces > 0) call.facts.knots = knots_.data();
    for (int i = 0; i < kNumInputs; ++i) {
      if (x.inputs[i].empty()) continue;
      call.inputs[i] = inputs_[i].view();
      call.d_inputs[i] = d_inputs_[i].view();
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      if (ShapeOf(p_, static_cast<Output>(i)).width == 0) continue;
      call.outputs[i] = outputs_[i].view();
      if (!x.d_outputs[i].empty()) call.d_outputs[i] = d_outputs_[i].view();
    }
    call.lse_BHT = static_cast<float*>(lse_.view().data);
    return call;
  }

  // Fills in what a kernel gave; the return value is RunKernel's.
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
  std::vector<float> knots_;
  Guarded lse_{
      "lse", Type::kFloat32, {1, 1, 1, p_.batch* p_.heads* p_.queries}};
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

std::string RunKernel(const Problem& p, const Kernel& kernel, int threads,
                      Tensors* x) {
  Memory memory(p, *x);
  const Call call = memory.MakeCall(*x);
  const int64_t bytes = kernel.workspace_bytes(p, threads);
  std::vector<uint8_t> workspace(bytes + 64 + kMargin, kCanary);
  Resources resources;
  resources.workspace = workspace.data() + 64 -
                        reinterpret_cast<uintptr_t>(workspace.data()) % 64;
  resources.run = [&](int64_t count, const auto& task) {
    RunTasks(threads, count, task);
  };
  kernel.forward(call, resources);
  kernel.backward(call, resources);

  std::string touched = memory.Read(x);
  const uint8_t* const end = static_cast<uint8_t*>(resources.workspace) + bytes;
  if (std::any_of(
          end, static_cast<const uint8_t*>(workspace.data()) + workspace.size(),
          [](uint8_t byte) { return byte != kCanary; })) {
    touched += "workspace ";
  }
  return touched;
}

}  // namespace ordo::kernels::attention::testing
