#include "kernels/attention/testing/case.h"

#include <atomic>
#include <cmath>
#include <cstring>
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

struct Shape {
  int64_t batch;
  int64_t heads;
  int64_t tokens;
  int64_t width;
};

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

// Contiguous [rows, length] of fp32.
Guarded Table(const std::string& name, int64_t rows, int64_t length) {
  return Guarded(name, Type::kFloat32, {1, 1, 1, rows * length});
}

}  // namespace

double Rounded(Type type, double x) {
  const float value = static_cast<float>(x);
  return type == Type::kFloat32 ? value : FromBfloat16(ToBfloat16(value));
}

double Epsilon(Type type) {
  return std::exp2(type == Type::kFloat32 ? -23 : -8);
}

Tensors MakeTensors(const Problem& p, uint64_t seed) {
  base::RandomSequence random(seed, "data/attention");
  Tensors x;
  const int64_t of_queries = p.batch * p.heads * p.queries;
  x.q_BHTD = Normal(of_queries * p.width, p.type, &random);
  x.k_BGSD = Normal(p.batch * p.key_heads * p.keys * p.width, p.type, &random);
  for (int v = 0; v < p.num_values; ++v) {
    const ValueShape& value = p.values[v];
    x.values[v] =
        Normal(p.batch * value.heads * p.keys * value.width, p.type, &random);
    x.d_mixed[v] = Normal(of_queries * value.width, p.type, &random);
  }
  if (p.biased) {
    x.bias_HL = Normal(p.heads * p.bias_length(), Type::kFloat32, &random);
  }
  if (!p.padded) return x;
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t j = 0; j < p.keys; ++j) {
      const int64_t from_edge = b % 2 == 1 ? j : p.keys - 1 - j;
      x.real_BS.push_back(from_edge >= p.keys / 3 && b < 2 ? 1 : 0);
    }
  }
  return x;
}

std::string RunKernel(const Problem& p, const Kernel& kernel, int threads,
                      Tensors* x) {
  const Shape queries{p.batch, p.heads, p.queries, p.width};
  const Shape keys{p.batch, p.key_heads, p.keys, p.width};
  Guarded q("q", p.type, queries), dq("dq", p.type, queries);
  Guarded k("k", p.type, keys), dk("dk", p.type, keys);
  Guarded lse = Table("lse", p.batch * p.heads, p.queries);
  Guarded bias = Table("bias", p.heads, p.bias_length());
  Guarded d_bias = Table("d_bias", p.heads, p.bias_length());
  std::vector<Guarded> values, mixed, d_values, d_mixed;
  for (int v = 0; v < p.num_values; ++v) {
    const ValueShape& value = p.values[v];
    const Shape in{p.batch, value.heads, p.keys, value.width};
    const Shape out{p.batch, p.heads, p.queries, value.width};
    values.emplace_back("value", p.type, in);
    d_values.emplace_back("d_value", p.type, in);
    mixed.emplace_back("mixed", p.type, out);
    d_mixed.emplace_back("d_mixed", p.type, out);
    values[v].Set(x->values[v]);
    if (!x->d_mixed[v].empty()) d_mixed[v].Set(x->d_mixed[v]);
  }
  q.Set(x->q_BHTD);
  k.Set(x->k_BGSD);
  if (p.biased) bias.Set(x->bias_HL);

  Call call{p,
            {q.view(), k.view(), {}, nullptr, nullptr},
            {{}, static_cast<float*>(lse.view().data)},
            {{}, dq.view(), dk.view(), {}, nullptr}};
  for (int v = 0; v < p.num_values; ++v) {
    call.inputs.values[v] = values[v].view();
    call.outputs.mixed[v] = mixed[v].view();
    if (!x->d_mixed[v].empty()) call.gradients.d_mixed[v] = d_mixed[v].view();
    call.gradients.d_values[v] = d_values[v].view();
  }
  if (p.padded) call.inputs.real_BS = x->real_BS.data();
  if (p.biased) {
    call.inputs.bias_HL = static_cast<const float*>(bias.view().data);
    call.gradients.d_bias_HL = static_cast<float*>(d_bias.view().data);
  }
  const int64_t bytes = kernel.workspace_bytes(p, threads);
  std::vector<uint8_t> memory(bytes + 64 + kMargin, kCanary);
  Resources resources;
  resources.workspace =
      memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
  resources.run = [&](int64_t count, const auto& task) {
    std::atomic<int64_t> next{0};
    std::vector<std::thread> pool;
    for (int thread = 0; thread < threads; ++thread) {
      pool.emplace_back([&, thread] {
        for (int64_t i = next++; i < count; i = next++) task(i, thread);
      });
    }
    for (std::thread& thread : pool) thread.join();
  };
  kernel.forward(call, resources);
  kernel.backward(call, resources);

  std::string touched;
  for (uint8_t* end = static_cast<uint8_t*>(resources.workspace) + bytes;
       end != memory.data() + memory.size(); ++end) {
    if (*end == kCanary) continue;
    touched += "workspace ";
    break;
  }
  x->lse_BHT = lse.Get(&touched);
  x->dq_BHTD = dq.Get(&touched);
  x->dk_BGSD = dk.Get(&touched);
  for (int v = 0; v < p.num_values; ++v) {
    x->mixed[v] = mixed[v].Get(&touched);
    x->d_values[v] = d_values[v].Get(&touched);
  }
  if (p.biased) x->d_bias_HL = d_bias.Get(&touched);
  return touched;
}

}  // namespace ordo::kernels::attention::testing
