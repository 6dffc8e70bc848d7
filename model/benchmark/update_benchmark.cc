#include "model/benchmark/update_benchmark.h"

#include <algorithm>
#include <functional>
#include <map>

#include "ATen/TensorOperators.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/randn.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/status.h"
#include "kernels/common/device_name.h"
#include "kernels/torch/launch.h"
#include "kernels/torch/update.h"
#include "kernels/update/table.h"
#include "model/benchmark/attention_case.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/meter.h"
#include "model/benchmark/spread.h"
#include "model/guard.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Device;
using kernels::Type;

// Random tensors of a shape, and both ways to change a state.
struct UpdateCase {
  UpdateCase(const UpdateShape& shape, Type type, c10::Device device)
      : shape(shape) {
    const auto numbers = [&](at::IntArrayRef sizes, c10::ScalarType scalar) {
      return at::randn(sizes).to(scalar).to(device).requires_grad_(true);
    };
    const c10::ScalarType scalar = kernels::torch::ScalarOf(type);
    const auto state = [&] {
      return numbers({shape.batch, shape.heads, shape.tokens, shape.width},
                     scalar);
    };
    state_BHTW = state();
    d_out_BHTW = state().detach();
    if (shape.inner == 0) {
      x_BHTW = state();
      mix_HH = numbers({shape.heads, shape.heads}, at::kFloat);
      return;
    }
    in_EH = numbers({shape.inner, shape.heads}, at::kFloat);
    out_HE = numbers({shape.heads, shape.inner}, at::kFloat);
    psi_BTE = numbers({shape.batch, shape.tokens, shape.inner}, scalar);
  }

  at::Tensor ByKernel() const {
    return shape.inner == 0
               ? kernels::torch::AddMixed(state_BHTW, x_BHTW, mix_HH)
               : kernels::torch::AddMixedByToken(state_BHTW, {in_EH, out_HE},
                                                 psi_BTE);
  }

  // The same in as few operations as LibTorch has for it; products of the
  // state's type.
  at::Tensor Plainly() const {
    const c10::ScalarType scalar = state_BHTW.scalar_type();
    const auto across = [&](const at::Tensor& map, const at::Tensor& x_BHTW) {
      // [B,T,*,W].
      return at::matmul(map.to(scalar), x_BHTW.transpose(1, 2));
    };
    if (shape.inner == 0) {
      return state_BHTW + across(mix_HH, x_BHTW).transpose(1, 2);
    }
    const at::Tensor inner_BTEW =
        across(in_EH, state_BHTW) * psi_BTE.unsqueeze(-1);
    return state_BHTW +
           at::matmul(out_HE.to(scalar), inner_BTEW).transpose(1, 2);
  }

  // All that gradients are for.
  void ForgetGradients() const {
    for (const at::Tensor& x :
         {state_BHTW, x_BHTW, mix_HH, in_EH, out_HE, psi_BTE}) {
      if (x.defined()) x.mutable_grad() = at::Tensor();
    }
  }

  const UpdateShape shape;
  at::Tensor state_BHTW;
  at::Tensor d_out_BHTW;
  // Of one map for all tokens.
  at::Tensor x_BHTW;
  at::Tensor mix_HH;
  // Of the map by token.
  at::Tensor in_EH;
  at::Tensor out_HE;
  at::Tensor psi_BTE;
};

// One forward and one backward pass; gradients are made anew, as the first
// micro-batch of a step does.
absl::Status RunOnce(const UpdateCase& tensors,
                     const std::function<at::Tensor()>& update, bool is_warm_up,
                     UpdateRow* row) {
  tensors.ForgetGradients();
  const Meter meter(tensors.state_BHTW.device());
  const int64_t before = meter.NowBytes();
  meter.Restart();
  at::Tensor out;
  ORDO_ASSIGN_OR_RETURN(const double forward_s, meter.Time([&] {
    out = update();
    return absl::OkStatus();
  }));
  ORDO_ASSIGN_OR_RETURN(const double backward_s, meter.Time([&] {
    out.backward(tensors.d_out_BHTW);
    return absl::OkStatus();
  }));
  row->peak_bytes = std::max(row->peak_bytes, meter.MostBytes() - before);
  if (is_warm_up) return absl::OkStatus();
  row->forward_s.push_back(forward_s);
  row->total_s.push_back(forward_s + backward_s);
  return absl::OkStatus();
}

// A state is read or written; psi is [B,T,E]. Forward: base and x, which are
// one by token, and out. Backward: the gradient of out, x and that of x; psi
// and its gradient. The gradient of base is that of out. Maps are small.
void CountBytes(UpdateRow* row) {
  const UpdateShape& shape = row->shape;
  const double number = row->type == Type::kFloat32 ? 4 : 2;
  const double tokens =
      number * static_cast<double>(shape.batch * shape.tokens);
  const double state = tokens * static_cast<double>(shape.heads * shape.width);
  const double psi = tokens * static_cast<double>(shape.inner);
  row->forward_bytes = (shape.inner == 0 ? 3 : 2) * state + psi;
  row->total_bytes = row->forward_bytes + 3 * state + 2 * psi;
}

absl::StatusOr<std::string> KernelOf(const UpdateShape& shape, Device device) {
  kernels::update::Problem problem;
  problem.device = device;
  problem.batch = shape.batch;
  problem.heads = shape.heads;
  problem.tokens = shape.tokens;
  problem.width = shape.width;
  problem.inner = shape.inner;
  ORDO_ASSIGN_OR_RETURN(const kernels::update::Kernel* const kernel,
                        kernels::update::Select(problem));
  return kernel->name;
}

absl::Status Measure(const UpdateOptions& options, const UpdateShape& shape,
                     Type type, std::vector<UpdateRow>* rows) {
  const UpdateCase tensors(shape, type, DeviceOf(options.device));
  UpdateRow plain, fused;
  for (UpdateRow* row : {&plain, &fused}) {
    row->shape = shape;
    row->type = type;
    CountBytes(row);
  }
  plain.kernel = kPlainUpdate;
  ORDO_ASSIGN_OR_RETURN(fused.kernel, KernelOf(shape, options.device));
  for (int round = -1; round < options.rounds; ++round) {
    ORDO_RETURN_IF_ERROR(RunOnce(
        tensors, [&] { return tensors.Plainly(); }, round < 0, &plain));
    ORDO_RETURN_IF_ERROR(RunOnce(
        tensors, [&] { return tensors.ByKernel(); }, round < 0, &fused));
    if (round < 0) continue;
    fused.forward_ratio.push_back(fused.forward_s.back() /
                                  plain.forward_s.back());
    fused.total_ratio.push_back(fused.total_s.back() / plain.total_s.back());
  }
  rows->push_back(std::move(fused));
  rows->push_back(std::move(plain));
  return absl::OkStatus();
}

std::string ShapeText(const UpdateRow& row) {
  const UpdateShape& shape = row.shape;
  return absl::StrCat(
      NameOf(row.type), " B=", shape.batch, " H=", shape.heads,
      " N=", shape.tokens, " d=", shape.width, " E=", shape.inner,
      shape.inner == 0 ? ", after attention\n" : ", after the MLP, by token\n");
}

}  // namespace

UpdateOptions UpdateOptions::For(Device device) {
  constexpr int64_t kInner = 48;
  UpdateOptions options;
  options.device = device;
  for (const int64_t inner : {int64_t{0}, kInner}) {
    if (device == Device::kCpu) {
      for (const int64_t tokens : {256, 1024, 4096}) {
        options.shapes.push_back({2, 12, tokens, 64, inner});
      }
    } else {
      options.shapes.push_back({32, 12, 1024, 64, inner});
      options.shapes.push_back({16, 32, 1024, 128, inner});
    }
  }
  if (device == Device::kCpu) return options;
  options.types = {Type::kBfloat16};
  options.copied_bytes = int64_t{1} << 30;
  return options;
}

UpdateOptions UpdateOptions::Quick() const {
  UpdateOptions options = *this;
  options.shapes = {{1, 4, 32, 16, 0}, {1, 4, 32, 16, 8}};
  options.rounds = 2;
  options.copied_bytes = int64_t{16} << 20;
  return options;
}

absl::StatusOr<UpdateResults> RunUpdate(const UpdateOptions& options) {
  UpdateResults results;
  results.device = options.device;
  results.gpu = options.gpu;
  results.threads = NumThreads();
  constexpr int64_t kAnySide = 64;
  ORDO_ASSIGN_OR_RETURN(const MachineRates rates,
                        MeasureMachine({options.device, Type::kFloat32,
                                        kAnySide, options.copied_bytes}));
  results.copy_bytes_per_s = rates.copy_bytes_per_s;
  for (const Type type : options.types) {
    for (const UpdateShape& shape : options.shapes) {
      ORDO_RETURN_IF_ERROR(model::Guard("change a state", [&] {
        return Measure(options, shape, type, &results.rows);
      }));
    }
  }
  return results;
}

std::vector<Measurement> MeasurementsOf(const UpdateResults& results) {
  std::vector<Measurement> out;
  Measurement machine;
  machine.benchmark = "update";
  machine.metric = "copy_byte_rate";
  machine.unit = "B/s";
  machine.params = {
      {"device", kernels::ToString({results.device, results.gpu})},
      {"threads", absl::StrCat(results.threads)}};
  out.push_back(MedianOf(machine, {results.copy_bytes_per_s}));
  for (const UpdateRow& row : results.rows) {
    Measurement about = machine;
    about.params.insert({{"encoding", "tape"},
                         {"kernel", row.kernel},
                         {"type", NameOf(row.type)},
                         {"B", absl::StrCat(row.shape.batch)},
                         {"H", absl::StrCat(row.shape.heads)},
                         {"N", absl::StrCat(row.shape.tokens)},
                         {"d", absl::StrCat(row.shape.width)},
                         {"E", absl::StrCat(row.shape.inner)}});
    const auto add = [&](const std::string& metric, const std::string& unit,
                         const std::string& reference,
                         const std::vector<double>& samples) {
      about.metric = metric;
      about.unit = unit;
      about.reference = reference;
      out.push_back(MedianOf(about, samples));
    };
    const auto rates = [](double bytes, const std::vector<double>& seconds) {
      std::vector<double> of_seconds;
      for (const double s : seconds) of_seconds.push_back(bytes / s);
      return of_seconds;
    };
    const double copy = results.copy_bytes_per_s;
    add("fwd_seconds", "s", "", row.forward_s);
    add("fwd_bwd_seconds", "s", "", row.total_s);
    if (!row.total_ratio.empty()) {
      add("fwd_ratio", "1", kPlainUpdate, row.forward_ratio);
      add("fwd_bwd_ratio", "1", kPlainUpdate, row.total_ratio);
    }
    add("fwd_byte_rate", "B/s", "", rates(row.forward_bytes, row.forward_s));
    add("fwd_byte_share", "1", "copy",
        rates(row.forward_bytes / copy, row.forward_s));
    add("fwd_bwd_byte_rate", "B/s", "", rates(row.total_bytes, row.total_s));
    add("fwd_bwd_byte_share", "1", "copy",
        rates(row.total_bytes / copy, row.total_s));
    add("peak_bytes", "B", "", {static_cast<double>(row.peak_bytes)});
  }
  return out;
}

std::string TableOf(const UpdateResults& results) {
  constexpr int kNameWidth = -22, kTimeWidth = 12, kRatioWidth = 11;
  constexpr int kRateWidth = 7, kShareWidth = 7;
  std::string text = absl::StrFormat(
      "copies %.1f GB/s (read and written), %s; medians, below them min..max\n",
      1e-9 * results.copy_bytes_per_s,
      results.device == Device::kCpu
          ? absl::StrCat(results.threads, " threads")
          : kernels::ToString({results.device, results.gpu}));
  LinePair head;
  head.Add(kNameWidth, "kernel");
  head.Add(kTimeWidth, "fwd ms");
  head.Add(kTimeWidth, "fwd+bwd ms");
  head.Add(kRatioWidth, "fwd_ratio");
  head.Add(kRatioWidth, "fwd_bwd_", "ratio");
  head.Add(kRateWidth, "fwd", "GB/s");
  head.Add(kShareWidth, "of", "copy");
  head.Add(kRateWidth, "fwd+bwd", "GB/s");
  head.Add(kShareWidth, "of", "copy");
  head.Add(kRateWidth, "peak", "MiB");
  text += head.text();
  std::string heading;
  for (const UpdateRow& row : results.rows) {
    const std::string shape = ShapeText(row);
    if (shape != heading) text += shape;
    heading = shape;
    LinePair lines;
    lines.Add(kNameWidth, row.kernel);
    lines.Add(kTimeWidth, SpreadOf(row.forward_s, 1000));
    lines.Add(kTimeWidth, SpreadOf(row.total_s, 1000));
    lines.Add(kRatioWidth, SpreadOf(row.forward_ratio, 1, 2));
    lines.Add(kRatioWidth, SpreadOf(row.total_ratio, 1, 2));
    const auto add_rate = [&](double bytes,
                              const std::vector<double>& seconds) {
      const double rate = bytes / Quantile(seconds, 0.5);
      lines.Add(kRateWidth, absl::StrFormat("%.1f", 1e-9 * rate));
      lines.Add(
          kShareWidth,
          absl::StrFormat("%.0f%%", 100 * rate / results.copy_bytes_per_s));
    };
    add_rate(row.forward_bytes, row.forward_s);
    add_rate(row.total_bytes, row.total_s);
    constexpr double kMebibyte = 1 << 20;
    lines.Add(kRateWidth,
              absl::StrFormat("%.1f",
                              static_cast<double>(row.peak_bytes) / kMebibyte));
    text += lines.text();
  }
  return text;
}

}  // namespace ordo::model::benchmark
