#ifndef ORDO_MODEL_TRANSFORMER_SIGHT_H_
#define ORDO_MODEL_TRANSFORMER_SIGHT_H_

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"
#include "model/transformer/attention.h"

// Which query sees which key in a pass, in the two forms that attention takes:
// the first key of each query, in memory linear in tokens, for kernels; masks
// of the pairs of a block, for the rest.
//
// Legend: B batch, H heads, T queries, S keys.

namespace ordo::model::transformer {

struct SightOptions {
  int64_t num_queries = 0;
  // Of which the last belong to the queries themselves.
  int64_t num_keys = 0;
  int64_t heads = 0;
  // Whether a query sees the keys up to its own only.
  bool causal = true;
  encodings::Segments segments = {};
  // A query sees keys less than so many tokens away; 0: all.
  int64_t sliding_window = 0;
  // Tokens of a group of shifted sparse attention; 0: none.
  int64_t shifted_sparse_group = 0;
  // The first key that each query sees, int64 [B,S], ascending along S, on the
  // device; undefined: the first. Causal, and of new tokens only.
  at::Tensor first_seen_BS = {};
};

// Queries that follow each other and keys that do, counted from 0 among the new
// tokens and among all.
struct Block {
  int64_t first_query = 0;
  int64_t num_queries = 0;
  int64_t first_key = 0;
  int64_t num_keys = 0;
};

// Used by one thread at a time.
class Sight {
 public:
  // `real` is bool [B,S], or undefined if all keys are real; `tensors` says
  // where and of what type masks are.
  Sight(const SightOptions& options, const at::Tensor& real,
        const at::TensorOptions& tensors);

  const at::Tensor& real() const { return real_; }
  bool causal() const { return options_.causal; }

  // Whether a query sees exactly the keys that are real, not before First()
  // and, if causal, not behind itself.
  bool IsByFirst() const;
  // int64 [1|B,1|H,T], ascending along T; undefined: the first of all.
  at::Tensor First() const;
  // Which keys a query sees, bool [1|B,S]; undefined: all. Groups aside.
  at::Tensor Seen() const;

  // All queries and keys.
  Block All() const { return {0, options_.num_queries, 0, options_.num_keys}; }
  // So many queries from number `first` on, and all keys that they may see.
  Block Of(int64_t first, int64_t count) const;

  // Of the pairs of a block.
  AttentionMask Mask(const Block& block) const;
  // The same without groups, which encodings do not see.
  AttentionMask MaskOfEncodings(const Block& block) const;
  // With segments, which query and key are of one, bool [1,1,T,S] or
  // [B,1,T,S].
  at::Tensor SameSegment(const Block& block) const;

 private:
  int64_t past() const { return options_.num_keys - options_.num_queries; }
  // Numbers of all tokens, counted from 0 over the real ones, [1,S] or [B,S].
  at::Tensor TokenNumbers() const;
  // The first number of the segment of each; those of a text begin with it.
  at::Tensor SegmentStarts(const at::Tensor& number) const;
  // Numbers of the groups of all tokens, shifted or not.
  at::Tensor GroupNumbers(bool shifted) const;
  // Of queries [1|B,T], of what is [1|B,S].
  at::Tensor OfQueries(const at::Tensor& x_BS) const;
  // Which query and key of the block are of one group, bool [1|B,H,T,S].
  at::Tensor SameGroup(const Block& block) const;
  AttentionMask MakeMask(const Block& block, bool with_groups) const;
  // Made once for all layers where the block is all.
  AttentionMask Kept(const Block& block, bool with_groups) const;

  const SightOptions options_;
  const at::Tensor real_;
  const at::TensorOptions tensors_;
  // By whether they have groups.
  mutable std::optional<AttentionMask> masks_[2];
};

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_SIGHT_H_
