#include "model/benchmark/attention_case.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/linspace.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/mm.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/ones_like.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/softmax.h"
#include "base/status/status.h"
#include "kernels/common/resources.h"
#include "kernels/torch/launch.h"
#include "model/benchmark/libtorch_attention.h"
#include "model/benchmark/meter.h"
#include "model/guard.h"

// Legend: problem.h of kernels/attention.

namespace ordo::model::benchmark {
namespace {

using kernels::Resources;
using kernels::Type;
using kernels::attention::Call;
using kernels::attention::Input;
using kernels::attention::Kernel;
using kernels::attention::kK;
using kernels::attention::kNumInputs;
using kernels::attention::kNumOutputs;
using kernels::attention::kQ;
using kernels::attention::kValue;
using kernels::attention::Output;
using kernels::attention::Problem;
using kernels::attention::Shape;
using kernels::attention::View;

using kernels::torch::ScalarOf;

at::TensorOptions OptionsOf(const Problem& p, c10::ScalarType type) {
  return at::TensorOptions(type).device(DeviceOf(p.device));
}

View ViewOf(const at::Tensor& x_BHTD) {
  return {x_BHTD.data_ptr(), x_BHTD.stride(0), x_BHTD.stride(1),
          x_BHTD.stride(2)};
}

// Of the problem's type, tokens before heads in memory, as a projection leaves
// them.
at::Tensor EmptyByTokens(const Problem& p, const Shape& shape) {
  return at::empty({shape.batch, shape.tokens, shape.heads, shape.width},
                   OptionsOf(p, ScalarOf(p.type)))
      .transpose(1, 2);
}

at::Tensor Empty(const Problem& p, Input input) {
  const Shape shape = ShapeOf(p, input);
  if (!IsTable(input)) return EmptyByTokens(p, shape);
  return at::empty({shape.batch, shape.heads, shape.tokens, shape.width},
                   OptionsOf(p, at::kFloat));
}

// Numbers of about the size that they have in training: what FIRE's function is
// of rises from 0 to 1 over distances, multipliers are near 1, vectors of
// distances are small.
void Fill(Input input, at::Tensor* x) {
  switch (input) {
    case kernels::attention::kModDistance:
      x->copy_(at::linspace(1, 0, x->size(-1)));
      break;
    case kernels::attention::kModQuery:
      x->fill_(1);
      break;
    case kernels::attention::kMultiplier:
    case kernels::attention::kChannel:
      x->copy_(at::randn(x->sizes()) * 0.1 + 1);
      break;
    case kernels::attention::kQueryVector:
    case kernels::attention::kKeyVector:
      x->copy_(at::randn(x->sizes()) * 0.1);
      break;
    default:
      x->copy_(at::randn(x->sizes()));
  }
}

// A bias [1,H,1,L] of a class that has one.
at::Tensor BiasOf(const AttentionClass& about, const Problem& p) {
  at::Tensor bias = at::empty({1, p.heads, 1, p.distances()}, at::kFloat);
  auto* const numbers = bias.data_ptr<float>();
  for (int64_t head = 0; head < p.heads; ++head) {
    for (int64_t i = 0; i < p.distances(); ++i) {
      numbers[head * p.distances() + i] =
          static_cast<float>(about.bias(p, head, i - p.reach));
    }
  }
  return bias;
}

// The passes of one contender; without a backward one it is empty.
struct Passes {
  std::function<absl::Status()> forward;
  std::function<absl::Status()> backward;
};

// Runs the passes and counts the bytes that are there beyond those before.
absl::StatusOr<AttentionRun> Measure(const Problem& p, const Passes& passes) {
  const Meter meter(DeviceOf(p.device));
  const int64_t before = meter.NowBytes();
  meter.Restart();
  AttentionRun run;
  ORDO_ASSIGN_OR_RETURN(run.forward_s, meter.Time(passes.forward));
  if (passes.backward != nullptr) {
    ORDO_ASSIGN_OR_RETURN(run.backward_s, meter.Time(passes.backward));
  }
  run.peak_bytes = meter.MostBytes() - before;
  return run;
}

}  // namespace

struct AttentionCase::Tensors {
  Problem problem;
  // Undefined where the problem has none.
  at::Tensor inputs[kNumInputs];
  bool learned[kNumInputs] = {};
  at::Tensor d_outputs[kNumOutputs];
  at::Tensor knots;
  at::Tensor first_HT;
  // Of flash attention: as wide as the keys.
  at::Tensor v_BGSD;
  at::Tensor d_out_BHTD;

  Call CallOnInputs() const;
};

// It outlives none of the tensors.
Call AttentionCase::Tensors::CallOnInputs() const {
  Call call;
  call.problem = problem;
  for (int i = 0; i < kNumInputs; ++i) {
    if (inputs[i].defined()) call.inputs[i] = ViewOf(inputs[i]);
  }
  for (int i = 0; i < kNumOutputs; ++i) {
    if (d_outputs[i].defined()) call.d_outputs[i] = ViewOf(d_outputs[i]);
  }
  if (knots.defined()) call.facts.knots = knots.data_ptr<float>();
  if (first_HT.defined()) {
    call.facts.first_BHT = first_HT.data_ptr<int32_t>();
    call.facts.first_head_stride = problem.queries;
  }
  return call;
}

namespace {

// What one forward and one backward pass of a kernel give.
class KernelCall {
 public:
  KernelCall(const Kernel& kernel, Call call) : kernel_(kernel), call_(call) {}

  absl::Status Forward() {
    const Problem& p = call_.problem;
    for (int i = 0; i < kNumOutputs; ++i) {
      const Shape shape = ShapeOf(p, static_cast<Output>(i));
      if (shape.count() == 0) continue;
      outputs_[i] = EmptyByTokens(p, shape);
      call_.outputs[i] = ViewOf(outputs_[i]);
    }
    lse_BHT_ =
        at::empty({p.batch, p.heads, p.queries}, OptionsOf(p, at::kFloat));
    call_.lse_BHT = lse_BHT_.data_ptr<float>();
    return kernels::torch::RunPass(kernel_, kernels::Way::kForward, call_,
                                   lse_BHT_);
  }

  // `learned`: of the inputs, kNumInputs of them.
  absl::Status Backward(const bool* learned) {
    for (int i = 0; i < kNumInputs; ++i) {
      if (!learned[i]) continue;
      d_inputs_[i] = Empty(call_.problem, static_cast<Input>(i));
      call_.d_inputs[i] = ViewOf(d_inputs_[i]);
    }
    return kernels::torch::RunPass(kernel_, kernels::Way::kBackward, call_,
                                   lse_BHT_);
  }

  const at::Tensor& output(int i) const { return outputs_[i]; }
  const at::Tensor& d_input(int i) const { return d_inputs_[i]; }

 private:
  const Kernel& kernel_;
  Call call_;
  at::Tensor outputs_[kNumOutputs];
  at::Tensor lse_BHT_;
  at::Tensor d_inputs_[kNumInputs];
};

at::Tensor FirstKeys(const AttentionClass& about, const Problem& p) {
  at::Tensor first_HT = at::empty({p.heads, p.queries}, at::kInt);
  auto* const first = first_HT.data_ptr<int32_t>();
  for (int64_t head = 0; head < p.heads; ++head) {
    for (int64_t t = 0; t < p.queries; ++t) {
      first[head * p.queries + t] = static_cast<int32_t>(
          about.first_key(p, head, p.keys - p.queries + t));
    }
  }
  return first_HT.to(DeviceOf(p.device));
}

}  // namespace

AttentionCase::AttentionCase(std::unique_ptr<Tensors> tensors)
    : tensors_(std::move(tensors)) {}

AttentionCase::~AttentionCase() = default;

const Problem& AttentionCase::problem() const { return tensors_->problem; }

absl::StatusOr<std::unique_ptr<AttentionCase>> AttentionCase::Create(
    const AttentionClass& about, const AttentionShape& shape) {
  const Problem p = about.problem(shape);
  ORDO_RETURN_IF_ERROR(kernels::attention::CheckProblem(p));
  // Counts from the first tensor on.
  const Meter meter(DeviceOf(p.device));
  return model::Guard("make the tensors of attention", [&] {
    auto x = std::make_unique<Tensors>();
    x->problem = p;
    for (int i = 0; i < kNumInputs; ++i) {
      const auto input = static_cast<Input>(i);
      if (ShapeOf(p, input).count() == 0) continue;
      x->inputs[i] = Empty(p, input);
      if (input == kernels::attention::kBias && about.bias != nullptr) {
        x->inputs[i].copy_(BiasOf(about, p));
      } else {
        Fill(input, &x->inputs[i]);
      }
      x->learned[i] = IsLearned(about, input);
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      const Shape of_output = ShapeOf(p, static_cast<Output>(i));
      if (of_output.count() == 0) continue;
      x->d_outputs[i] = EmptyByTokens(p, of_output);
      x->d_outputs[i].copy_(at::randn(x->d_outputs[i].sizes()));
    }
    if (HasMod(p)) {
      x->knots = at::linspace(0, 1, p.pieces + 1)
                     .slice(0, 1, -1)
                     .clone()
                     .to(DeviceOf(p.device));
    }
    if (p.bounded) x->first_HT = FirstKeys(about, p);
    const bool plain = p.values[0].width == p.width;
    const Shape narrow = {p.batch, p.heads, p.keys, p.width};
    x->v_BGSD = plain ? x->inputs[kValue] : EmptyByTokens(p, narrow);
    x->d_out_BHTD = plain ? x->d_outputs[0] : EmptyByTokens(p, narrow);
    if (!plain) {
      x->v_BGSD.fill_(1);
      x->d_out_BHTD.fill_(1);
    }
    return std::unique_ptr<AttentionCase>(new AttentionCase(std::move(x)));
  });
}

absl::StatusOr<AttentionRun> AttentionCase::RunKernel(const Kernel& kernel,
                                                      bool backward) const {
  return model::Guard(kernel.name, [&] {
    KernelCall call(kernel, tensors_->CallOnInputs());
    Passes passes = {[&] { return call.Forward(); }, nullptr};
    if (backward) {
      passes.backward = [&] { return call.Backward(tensors_->learned); };
    }
    return Measure(tensors_->problem, passes);
  });
}

absl::StatusOr<AttentionRun> AttentionCase::RunLibTorch(bool cudnn,
                                                        bool backward) const {
  return model::Guard("LibTorch's attention", [&] {
    const Tensors& x = *tensors_;
    LibTorchAttention call(x.problem.scale, cudnn);
    Passes passes = {[&] {
                       call.Forward(x.inputs[kQ], x.inputs[kK], x.v_BGSD);
                       return absl::OkStatus();
                     },
                     nullptr};
    if (backward) {
      passes.backward = [&] {
        call.Backward(x.d_out_BHTD);
        return absl::OkStatus();
      };
    }
    return Measure(x.problem, passes);
  });
}

absl::StatusOr<double> AttentionCase::DistanceToFlash(
    const Kernel& kernel) const {
  return model::Guard(
      "compare with flash attention", [&]() -> absl::StatusOr<double> {
        const Tensors& x = *tensors_;
        KernelCall ours(kernel, x.CallOnInputs());
        ORDO_RETURN_IF_ERROR(ours.Forward());
        ORDO_RETURN_IF_ERROR(ours.Backward(x.learned));
        LibTorchAttention theirs(x.problem.scale, /*cudnn=*/false);
        theirs.Forward(x.inputs[kQ], x.inputs[kK], x.v_BGSD);
        theirs.Backward(x.d_out_BHTD);
        const auto distance = [](const at::Tensor& a, const at::Tensor& b) {
          return (a.to(at::kDouble) - b.to(at::kDouble))
              .abs()
              .max()
              .item<double>();
        };
        double largest = distance(ours.output(0), theirs.output());
        for (int i = 0; i < 3; ++i) {
          largest =
              std::max(largest, distance(ours.d_input(i), theirs.d_input(i)));
        }
        return largest;
      });
}

absl::StatusOr<AttentionRun> AttentionCase::RunMaterialised(
    bool backward) const {
  return model::Guard("attention over a materialised bias", [&] {
    const Tensors& x = *tensors_;
    const Problem& p = x.problem;
    const auto leaf = [](const at::Tensor& tensor) {
      return tensor.detach().requires_grad_(true);
    };
    const at::Tensor q = leaf(x.inputs[kQ]), k = leaf(x.inputs[kK]),
                     v = leaf(x.v_BGSD);
    const at::Tensor bias_HTS = leaf(at::randn({p.heads, p.queries, p.keys},
                                               OptionsOf(p, ScalarOf(p.type))));
    const at::Tensor hidden_TS =
        at::ones({p.queries, p.keys}, OptionsOf(p, at::kBool))
            .triu(p.keys - p.queries + 1);
    at::Tensor out_BHTD;
    Passes passes;
    passes.forward = [&] {
      at::Tensor logits = at::matmul(q * p.scale, k.transpose(2, 3));
      logits = logits.add_(bias_HTS).masked_fill_(hidden_TS, -INFINITY);
      out_BHTD = at::matmul(at::softmax(logits, -1), v);
      return absl::OkStatus();
    };
    if (backward) {
      passes.backward = [&] {
        out_BHTD.backward(x.d_out_BHTD);
        return absl::OkStatus();
      };
    }
    return Measure(p, passes);
  });
}

absl::StatusOr<MachineRates> MeasureMachine(const MachineWork& work) {
  return model::Guard(
      "measure the machine", [&]() -> absl::StatusOr<MachineRates> {
        constexpr int kTimes = 5;
        const c10::Device device = DeviceOf(work.device);
        const Meter meter(device);
        const int64_t side = work.gemm_side;
        const at::Tensor a =
            at::randn({side, side}).to(ScalarOf(work.type)).to(device);
        const at::Tensor from = at::ones(
            {work.copied_bytes}, at::TensorOptions(at::kByte).device(device));
        at::Tensor product = at::mm(a, a), to = at::ones_like(from);
        const auto cube = static_cast<double>(side * side * side);
        const auto bytes = static_cast<double>(work.copied_bytes);
        MachineRates best;
        for (int i = 0; i < kTimes; ++i) {
          ORDO_ASSIGN_OR_RETURN(const double gemm_s, meter.Time([&] {
            product = at::mm(a, a);
            return absl::OkStatus();
          }));
          ORDO_ASSIGN_OR_RETURN(const double copy_s, meter.Time([&] {
            to.copy_(from);
            return absl::OkStatus();
          }));
          best.gemm_flop_per_s =
              std::max(best.gemm_flop_per_s, 2 * cube / gemm_s);
          best.copy_bytes_per_s =
              std::max(best.copy_bytes_per_s, 2 * bytes / copy_s);
        }
        return best;
      });
}

int NumThreads() { return at::get_num_threads(); }

}  // namespace ordo::model::benchmark
