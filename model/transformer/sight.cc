#include "model/transformer/sight.h"

#include <algorithm>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/maximum.h"
#include "ATen/ops/searchsorted.h"

namespace ordo::model::transformer {
namespace {

// Of [1|B,S] the keys of a block as they stand beside queries, [1|B,1,1,S], and
// of [1|B,T] the queries as they stand beside keys, [1|B,1,T,1].
at::Tensor KeysOf(const Block& block, const at::Tensor& x_BS) {
  return x_BS.narrow(1, block.first_key, block.num_keys)
      .unsqueeze(1)
      .unsqueeze(1);
}
at::Tensor QueriesOf(const Block& block, const at::Tensor& x_BT) {
  return x_BT.narrow(1, block.first_query, block.num_queries)
      .unsqueeze(1)
      .unsqueeze(-1);
}

// The first of `ascending` [1|B,S] that is at least `least` [1|B,T]: int64
// [1|B,1,T].
at::Tensor FirstOf(const at::Tensor& ascending, const at::Tensor& least) {
  return at::searchsorted(ascending.contiguous(), least.contiguous())
      .unsqueeze(1);
}

// LongLoRA's shifted sparse attention (Chen et al. 2023, arXiv:2309.12307)
// without its roll, which would join the last tokens and the first: groups of
// the first half of the heads begin at multiples of the group's length, those
// of the others half a group later.
template <typename OfGroups>
at::Tensor ByHead(int64_t heads, const OfGroups& of_groups) {
  const auto expanded = [&](bool shifted, int64_t count) {
    const at::Tensor one = of_groups(shifted);
    std::vector<int64_t> sizes = one.sizes().vec();
    sizes[1] = count;
    return one.expand(sizes);
  };
  const int64_t half = heads / 2;
  return at::cat({expanded(false, half), expanded(true, heads - half)}, 1);
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
  at::Tensor in_text = number;
  if (options_.first_seen_BS.defined()) {
    const at::Tensor& first = options_.first_seen_BS;
    in_text = number - number.expand_as(first).gather(1, first);
  }
  return number - in_text.remainder(options_.segments.length);
}

bool Sight::IsByFirst() const {
  return options_.causal ||
         (options_.sliding_window == 0 && options_.shifted_sparse_group == 0);
}

at::Tensor Sight::First() const {
  at::Tensor first;
  if (options_.segments.length > 0) {
    const at::Tensor start = SegmentStarts(TokenNumbers());
    const at::Tensor number = TokenNumbers().expand_as(start);
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
  if (options_.first_seen_BS.defined()) {
    Raise(options_.first_seen_BS.unsqueeze(1), &first);
  }
  if (options_.shifted_sparse_group > 0) {
    Raise(ByHead(options_.heads,
                 [&](bool shifted) {
                   const at::Tensor number = GroupNumbers(shifted);
                   return FirstOf(number, OfQueries(number));
                 }),
          &first);
  }
  return first;
}

at::Tensor Sight::Seen() const {
  // A new token that is real sees itself.
  if (past() == 0) return real_;
  at::Tensor seen = real_;
  SightOptions plain = options_;
  plain.shifted_sparse_group = 0;
  const at::Tensor first = Sight(plain, real_, tensors_).First();
  if (first.defined()) {
    // The first query's is the least.
    const at::Tensor is_behind =
        at::arange(options_.num_keys, tensors_.dtype(at::kLong))
            .ge(first.squeeze(1).narrow(1, 0, 1));
    seen = seen.defined() ? seen.logical_and(is_behind) : is_behind;
  }
  return seen;
}

Block Sight::Of(int64_t first, int64_t count) const {
  // Numbers among all tokens of the first query and of the one past the last.
  const int64_t begin = past() + first, end = begin + count;
  int64_t first_key = 0;
  int64_t end_key = options_.causal ? end : options_.num_keys;
  if (options_.sliding_window > 0) {
    const int64_t reach = options_.sliding_window - 1;
    first_key = std::max(begin - reach, int64_t{0});
    end_key = std::min(end + reach, end_key);
  }
  return {first, count, first_key, end_key - first_key};
}

at::Tensor Sight::SameSegment(const Block& block) const {
  const at::Tensor start = SegmentStarts(TokenNumbers());
  return QueriesOf(block, OfQueries(start)).eq(KeysOf(block, start));
}

at::Tensor Sight::SameGroup(const Block& block) const {
  return ByHead(options_.heads, [&](bool shifted) {
    const at::Tensor number = GroupNumbers(shifted);
    return QueriesOf(block, OfQueries(number)).eq(KeysOf(block, number));
  });
}

AttentionMask Sight::MakeMask(const Block& block, bool with_groups) const {
  // Of a causal block the last keys are the queries' own.
  MaskOptions options{block.num_queries, block.num_keys, options_.causal};
  if (options_.segments.length > 0) {
    const at::Tensor number = TokenNumbers();
    const at::Tensor start = SegmentStarts(number);
    Restrict(
        KeysOf(block, number)
            .ge(QueriesOf(block, OfQueries(start)) - options_.segments.memory),
        &options);
  }
  if (options_.sliding_window > 0) {
    const at::Tensor token =
        at::arange(options_.num_keys, tensors_.dtype(at::kLong)).unsqueeze(0);
    Restrict((QueriesOf(block, OfQueries(token)) - KeysOf(block, token))
                 .abs()
                 .lt(options_.sliding_window),
             &options);
  }
  if (options_.first_seen_BS.defined()) {
    const at::Tensor token =
        at::arange(options_.num_keys, tensors_.dtype(at::kLong)).unsqueeze(0);
    Restrict(KeysOf(block, token).ge(QueriesOf(block, options_.first_seen_BS)),
             &options);
  }
  if (with_groups) Restrict(SameGroup(block), &options);
  const at::Tensor real = real_.defined()
                              ? real_.narrow(1, block.first_key, block.num_keys)
                              : real_;
  return AttentionMask(options, real, tensors_);
}

AttentionMask Sight::Kept(const Block& block, bool with_groups) const {
  const bool is_all = block.num_queries == options_.num_queries &&
                      block.num_keys == options_.num_keys;
  if (!is_all) return MakeMask(block, with_groups);
  std::optional<AttentionMask>& mask = masks_[with_groups ? 1 : 0];
  if (!mask.has_value()) mask = MakeMask(block, with_groups);
  return *mask;
}

AttentionMask Sight::Mask(const Block& block) const {
  return Kept(block, options_.shifted_sparse_group > 0);
}

AttentionMask Sight::MaskOfEncodings(const Block& block) const {
  return Kept(block, /*with_groups=*/false);
}

}  // namespace ordo::model::transformer
