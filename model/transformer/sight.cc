#include "model/transformer/sight.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/maximum.h"
#include "ATen/ops/searchsorted.h"

namespace ordo::model::transformer {
namespace {

// [B,S] as it stands beside queries, and [B,T] beside keys.
at::Tensor OfKeys(const at::Tensor& x_BS) {
  return x_BS.unsqueeze(1).unsqueeze(1);
}
at::Tensor BesideKeys(const at::Tensor& x_BT) {
  return x_BT.unsqueeze(1).unsqueeze(-1);
}

// The first of `ascending` [1|B,S] that is at least `least` [1|B,T]: int64
// [1|B,1,T].
at::Tensor FirstOf(const at::Tensor& ascending, const at::Tensor& least) {
  return at::searchsorted(ascending.contiguous(), least.contiguous())
      .unsqueeze(1);
}

void Restrict(const at::Tensor& allowed, MaskOptions* options) {
  options->allowed = options->allowed.defined()
                         ? options->allowed.logical_and(allowed)
                         : allowed;
}

void Raise(const at::Tensor& least, at::Tensor* first) {
  *first = first->defined() ? at::maximum(*first, least) : least;
}

}  // namespace

Sight::Sight(const SightOptions& options, const at::Tensor& real,
             const at::TensorOptions& tensors)
    : options_(options), real_(real), tensors_(tensors) {}

at::Tensor Sight::TokenNumbers() const {
  return real_.defined()
             ? (real_.cumsum(1) - 1).clamp_min(0)
             : at::arange(options_.num_keys, tensors_.dtype(at::kLong))
                   .unsqueeze(0);
}

at::Tensor Sight::GroupNumbers(bool shifted) const {
  const int64_t group = options_.shifted_sparse_group;
  return (TokenNumbers() + (shifted ? group / 2 : 0)).floor_divide(group);
}

at::Tensor Sight::OfQueries(const at::Tensor& x_BS) const {
  return x_BS.narrow(1, past(), options_.num_queries);
}

at::Tensor Sight::SegmentStarts(const at::Tensor& number) const {
  return number - number.remainder(options_.segments.length);
}

bool Sight::IsByFirst() const {
  return options_.causal ||
         (options_.sliding_window == 0 && options_.shifted_sparse_group == 0);
}

at::Tensor Sight::First() const {
  at::Tensor first;
  if (options_.segments.length > 0) {
    const at::Tensor number = TokenNumbers();
    const at::Tensor start = SegmentStarts(number);
    Raise(FirstOf(number, OfQueries(start) - options_.segments.memory), &first);
  }
  if (options_.sliding_window > 0) {
    const at::Tensor token =
        at::arange(past(), options_.num_keys, tensors_.dtype(at::kLong));
    Raise((token - (options_.sliding_window - 1))
              .clamp_min(0)
              .unsqueeze(0)
              .unsqueeze(0),
          &first);
  }
  if (options_.shifted_sparse_group > 0) {
    const auto of_heads = [&](bool shifted, int64_t heads) {
      const at::Tensor number = GroupNumbers(shifted);
      return FirstOf(number, OfQueries(number)).expand({-1, heads, -1});
    };
    const int64_t half = options_.heads / 2;
    Raise(
        at::cat({of_heads(false, half), of_heads(true, options_.heads - half)},
                1),
        &first);
  }
  return first;
}

at::Tensor Sight::SameSegment() const {
  const at::Tensor number = TokenNumbers();
  const at::Tensor start = SegmentStarts(number);
  return BesideKeys(OfQueries(start)).eq(OfKeys(start));
}

AttentionMask Sight::MakeMask(bool with_groups) const {
  MaskOptions options{options_.num_queries, options_.num_keys, options_.causal};
  if (options_.segments.length > 0) {
    const at::Tensor number = TokenNumbers();
    const at::Tensor start = SegmentStarts(number);
    Restrict(OfKeys(number).ge(BesideKeys(OfQueries(start)) -
                               options_.segments.memory),
             &options);
  }
  if (options_.sliding_window > 0) {
    const at::Tensor token =
        at::arange(options_.num_keys, tensors_.dtype(at::kLong)).unsqueeze(0);
    Restrict((BesideKeys(OfQueries(token)) - OfKeys(token))
                 .abs()
                 .lt(options_.sliding_window),
             &options);
  }
  if (with_groups) {
    Restrict(InShiftedGroups(TokenNumbers(), options_.heads,
                             options_.shifted_sparse_group),
             &options);
  }
  return AttentionMask(options, real_, tensors_);
}

const AttentionMask& Sight::Mask() const {
  if (options_.shifted_sparse_group == 0) return MaskOfEncodings();
  if (!mask_.has_value()) mask_ = MakeMask(/*with_groups=*/true);
  return *mask_;
}

const AttentionMask& Sight::MaskOfEncodings() const {
  if (!mask_of_encodings_.has_value()) {
    mask_of_encodings_ = MakeMask(/*with_groups=*/false);
  }
  return *mask_of_encodings_;
}

}  // namespace ordo::model::transformer
