#ifndef ORDO_MODEL_BENCHMARK_LIBTORCH_ATTENTION_H_
#define ORDO_MODEL_BENCHMARK_LIBTORCH_ATTENTION_H_

#include <cstdint>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>

namespace ordo::model::benchmark {

// LibTorch's own causal attention of one value tensor, on the device of q: what
// kernels are compared with. One forward and one backward pass.
class LibTorchAttention {
 public:
  // `cudnn`: NVIDIA's library in the place of flash attention; on a GPU only.
  LibTorchAttention(double scale, bool cudnn) : scale_(scale), cudnn_(cudnn) {}

  // [B,H,N,d].
  void Forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    inputs_[0] = q;
    inputs_[1] = k;
    inputs_[2] = v;
    if (q.is_cpu()) {
      std::tie(output_, lse_) = at::_scaled_dot_product_flash_attention_for_cpu(
          q, k, v, kNoDropout, kCausal, /*attn_mask=*/{}, scale_);
    } else if (cudnn_) {
      Keep(at::_scaled_dot_product_cudnn_attention(
          q, k, v, /*attn_bias=*/{}, /*compute_log_sumexp=*/true, kNoDropout,
          kCausal, /*return_debug_mask=*/false, scale_));
    } else {
      Keep(at::_scaled_dot_product_flash_attention(
          q, k, v, kNoDropout, kCausal, /*return_debug_mask=*/false, scale_));
    }
  }

  void Backward(const at::Tensor& d_output) {
    const at::Tensor &q = inputs_[0], &k = inputs_[1], &v = inputs_[2];
    if (q.is_cpu()) {
      std::tie(d_inputs_[0], d_inputs_[1], d_inputs_[2]) =
          at::_scaled_dot_product_flash_attention_for_cpu_backward(
              d_output, q, k, v, output_, lse_, kNoDropout, kCausal,
              /*attn_mask=*/{}, scale_);
    } else if (cudnn_) {
      std::tie(d_inputs_[0], d_inputs_[1], d_inputs_[2]) =
          at::_scaled_dot_product_cudnn_attention_backward(
              d_output, q, k, v, output_, lse_, seed_, offset_,
              /*attn_bias=*/at::Tensor(), first_q_, first_k_, most_q_, most_k_,
              kNoDropout, kCausal, scale_);
    } else {
      std::tie(d_inputs_[0], d_inputs_[1], d_inputs_[2]) =
          at::_scaled_dot_product_flash_attention_backward(
              d_output, q, k, v, output_, lse_, first_q_, first_k_, most_q_,
              most_k_, kNoDropout, kCausal, seed_, offset_, scale_);
    }
  }

  const at::Tensor& output() const { return output_; }
  // Of q, k and v.
  const at::Tensor& d_input(int i) const { return d_inputs_[i]; }

 private:
  static constexpr double kNoDropout = 0;
  static constexpr bool kCausal = true;

  // Of what a GPU's forward pass gives, in the order of both.
  template <typename Results>
  void Keep(const Results& results) {
    output_ = std::get<0>(results);
    lse_ = std::get<1>(results);
    first_q_ = std::get<2>(results);
    first_k_ = std::get<3>(results);
    most_q_ = std::get<4>(results).expect_int();
    most_k_ = std::get<5>(results).expect_int();
    seed_ = std::get<6>(results);
    offset_ = std::get<7>(results);
  }

  const double scale_;
  const bool cudnn_;
  at::Tensor inputs_[3];
  at::Tensor output_;
  at::Tensor lse_;
  at::Tensor first_q_;
  at::Tensor first_k_;
  int64_t most_q_ = 0;
  int64_t most_k_ = 0;
  at::Tensor seed_;
  at::Tensor offset_;
  at::Tensor d_inputs_[3];
};

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_LIBTORCH_ATTENTION_H_
