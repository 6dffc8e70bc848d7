#include "model/training/gradient_sum.h"

#include <algorithm>
#include <utility>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/tensor.h"
#include "ATen/ops/zeros.h"
#include "base/check.h"
#include "base/status/status.h"
#include "model/guard.h"

namespace ordo::model::training {
namespace {

constexpr int64_t kNumWishes = 2;

}  // namespace

GradientSum::GradientSum(Collective* collective,
                         std::vector<at::Tensor> parameters, int64_t num_passes)
    : collective_(collective),
      parameters_(std::move(parameters)),
      num_passes_(num_passes) {
  ORDO_CHECK(!parameters_.empty());
  for (const at::Tensor& parameter : parameters_) {
    ORDO_CHECK(parameter.scalar_type() == at::kFloat);
    num_numbers_ += parameter.numel();
  }
  all_N_ = at::zeros({WishesAt() + kNumWishes},
                     parameters_[0].options().requires_grad(false));
}

int64_t GradientSum::LossesAt() const {
  return FlagsAt() + static_cast<int64_t>(parameters_.size());
}

absl::StatusOr<GradientSum::Result> GradientSum::Add(
    const std::vector<at::Tensor>& losses, const Wishes& wishes) {
  const at::NoGradGuard no_grad;
  ORDO_RETURN_IF_ERROR(
      Guard("gather the gradients", [&] { Fill(losses, wishes); }));
  ORDO_RETURN_IF_ERROR(collective_->AllReduceSum(Buckets()));
  return Guard("take the gradients", [&] { return Take(); });
}

void GradientSum::Fill(const std::vector<at::Tensor>& losses,
                       const Wishes& wishes) {
  std::vector<float> tail(all_N_.numel() - num_numbers_, 0.0f);
  int64_t first = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& gradient = parameters_[i].grad();
    const at::Tensor place = all_N_.narrow(0, first, parameters_[i].numel());
    first += parameters_[i].numel();
    if (gradient.defined()) {
      place.view(gradient.sizes()).copy_(gradient);
      tail[i] = 1;
    } else {
      place.zero_();
    }
  }
  tail[WishesAt() - num_numbers_] = wishes.stop ? 1 : 0;
  tail[WishesAt() - num_numbers_ + 1] = wishes.pause ? 1 : 0;
  all_N_.narrow(0, num_numbers_, all_N_.numel() - num_numbers_)
      .copy_(at::tensor(tail));
  int64_t pass = collective_->rank();
  for (const at::Tensor& loss : losses) {
    all_N_[LossesAt() + pass].copy_(loss);
    pass += collective_->ranks();
  }
}

std::vector<at::Tensor> GradientSum::Buckets() const {
  constexpr int64_t kBucket = kBucketBytes / int64_t{sizeof(float)};
  std::vector<at::Tensor> buckets;
  for (int64_t first = 0; first < all_N_.numel(); first += kBucket) {
    buckets.push_back(
        all_N_.narrow(0, first, std::min(kBucket, all_N_.numel() - first)));
  }
  return buckets;
}

GradientSum::Result GradientSum::Take() {
  const at::Tensor tail =
      all_N_.narrow(0, num_numbers_, all_N_.numel() - num_numbers_).cpu();
  const auto* counts = tail.const_data_ptr<float>();
  int64_t first = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i];
    if (counts[i] > 0) {
      parameter.mutable_grad() =
          all_N_.narrow(0, first, parameter.numel()).view(parameter.sizes());
    }
    first += parameter.numel();
  }
  Result result;
  for (int64_t pass = 0; pass < num_passes_; ++pass) {
    result.losses.push_back(all_N_[LossesAt() + pass]);
  }
  const float* const wishes = counts + (WishesAt() - num_numbers_);
  result.wishes.stop = wishes[0] > 0;
  result.wishes.pause = wishes[1] > 0;
  return result;
}

}  // namespace ordo::model::training
