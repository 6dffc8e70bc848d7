#include "kernels/attention/check/case.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "base/random/random.h"
#include "kernels/common/check/numbers.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace ordo::kernels::attention::check {
namespace {

// Elements around a tensor.
constexpr int64_t kMargin = 80;
constexpr uint8_t kCanary = 0xA5;
// Not a number in any type: what is to be written first.
constexpr uint8_t kUnset = 0xFF;

using kernels::check::FromHalfBits;
using kernels::check::HalfBits;

// Copies of buffers on a device, if there is one.
class Copies {
 public:
  explicit Copies(const DeviceMemory* device) : device_(device) {}
  ~Copies() {
    for (const Copy& copy : copies_) device_->release(copy.there);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Where the device sees the buffer.
  void* Place(void* here, size_t bytes) {
    if (device_ == nullptr) return here;
    void* const there = device_->allocate(static_cast<int64_t>(bytes));
    if (there == nullptr) {
      Note(kernels::check::kNoMemory);
      return here;
    }
    copies_.push_back({here, there, static_cast<int64_t>(bytes)});
    Note(device_->copy(there, here, copies_.back().bytes));
    return there;
  }
  template <typename Element>
  Element* Place(std::vector<Element>* here) {
    return static_cast<Element*>(
        Place(here->data(), here->size() * sizeof(Element)));
  }

  // What went wrong.
  const std::string& error() const { return error_; }

  // Brings all buffers back. What went wrong.
  std::string Fetch() {
    for (const Copy& copy : copies_) {
      Note(device_->copy(copy.here, copy.there, copy.bytes));
    }
    return error_;
  }

 private:
  struct Copy {
    void* here;
    void* there;
    int64_t bytes;
  };

  void Note(const char* error) {
    if (error != nullptr && error_.empty()) error_ = error;
  }

  const DeviceMemory* device_;
  std::vector<Copy> copies_;
  std::string error_;
};

// A tensor [batch, heads, tokens, width] with tokens before heads in memory, as
// a projection leaves it, among canaries.
class Guarded {
 public:
  Guarded(std::string name, Type type, const Shape& shape, int64_t gap)
      : name_(std::move(name)), type_(type), shape_(shape), gap_(gap) {
    const int64_t row = shape.heads * shape.width + gap;
    view_ = {nullptr, shape.tokens * row, shape.width, row};
    bytes_.assign((shape.batch * shape.tokens * row + 2 * kMargin) * size(),
                  kCanary);
    ForEach([&](int64_t, uint8_t* at) { std::fill_n(at, size(), kUnset); });
  }

  ~Guarded() { Allow(); }
  Guarded(Guarded&&) = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // As the device sees it. The address sanitizer does not let anybody read what
  // is before and behind it.
  View Place(Copies* copies) {
    View view = view_;
    view.data = copies->Place(&bytes_) + kMargin * size();
    if (!bytes_.empty()) {
      const int64_t margin = kMargin * size();
      ASAN_POISON_MEMORY_REGION(bytes_.data(), margin);
      const int64_t behind = margin + gap_ * size();
      ASAN_POISON_MEMORY_REGION(&bytes_.back() + 1 - behind, behind);
    }
    return view;
  }

  void Set(const std::vector<double>& values) {
    ForEach([&](int64_t i, uint8_t* at) {
      const float value = static_cast<float>(values[i]);
      const uint16_t half = HalfBits(type_, value);
      std::memcpy(at,
                  type_ == Type::kFloat32 ? static_cast<const void*>(&value)
                                          : static_cast<const void*>(&half),
                  size());
    });
  }

  // The values; adds its name to `touched` if bytes between rows have changed.
  std::vector<double> Get(std::string* touched) {
    Allow();
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
        value = FromHalfBits(type_, half);
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

  void Allow() { ASAN_UNPOISON_MEMORY_REGION(bytes_.data(), bytes_.size()); }

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
  // Elements between rows.
  int64_t gap_;
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
    if (p_.pieces > 0) call.facts.knots = copies->Place(&knots_);
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
  std::vector<uint8_t> real_BS_;
  std::vector<int32_t> positions_BS_;
  std::vector<int32_t> first_BHT_;
  std::vector<float> knots_;
  Guarded lse_{
      "lse", Type::kFloat32, {1, 1, 1, p_.batch* p_.heads* p_.queries}, 0};
};

// A workspace, with canaries behind it.
class WorkMemory {
 public:
  explicit WorkMemory(int64_t bytes)
      : bytes_(bytes), memory_(bytes + 64 + kMargin, kCanary) {
    std::fill_n(begin(), bytes_, kUnset);
  }

  void* Place(Copies* copies) {
    return copies->Place(begin(), bytes_ + kMargin);
  }
  bool IsIntact() {
    const uint8_t* const end = begin() + bytes_;
    return std::all_of(end, end + kMargin,
                       [](uint8_t byte) { return byte == kCanary; });
  }

 private:
  // At a multiple of 64 bytes.
  uint8_t* begin() {
    return memory_.data() + 64 -
           reinterpret_cast<uintptr_t>(memory_.data()) % 64;
  }

  const int64_t bytes_;
  std::vector<uint8_t> memory_;
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
  std::string touched = memory.Read(x);
  if (!forward.IsIntact()) touched += "the forward pass' workspace ";
  if (!backward.IsIntact()) touched += "the backward pass' workspace ";
  return touched.empty() ? "" : "memory is overwritten around: " + touched;
}

}  // namespace ordo::kernels::attention::check
