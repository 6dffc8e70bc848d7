#ifndef ORDO_MODEL_TRANSFORMER_BLOCKWISE_H_
#define ORDO_MODEL_TRANSFORMER_BLOCKWISE_H_

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/transformer/sight.h"

// A function of queries and keys in blocks of queries, with gradients in the
// memory of one block: the backward pass computes each block again.

namespace ordo::model::transformer {

// What the last axis but one of a tensor has a place for: each query, each key,
// or something that all blocks share.
enum class Axis { kShared, kQueries, kKeys };

// What a block has of it; a view.
at::Tensor PartOf(const at::Tensor& x, Axis axis, const Block& block);

struct BlockwiseInput {
  // Ascending, so that each query is in one.
  std::vector<Block> blocks;
  // What the function is of, and an axis for each.
  std::vector<at::Tensor> tensors;
  std::vector<Axis> axes;
  // Further leaves of the graph, which the function reads by itself.
  std::vector<at::Tensor> parameters;
  // Gives tensors [*,*,T,*] of the block's queries, always as many, from the
  // block's parts of the tensors. Is called again in the backward pass, so it
  // holds nothing that dies with the forward one, and no other tensors that
  // have gradients.
  std::function<std::vector<at::Tensor>(const Block& block,
                                        const std::vector<at::Tensor>& parts)>
      function;
};

// What the function gives, of all queries. Casts by autocast are those of this
// call in the backward pass, too.
std::vector<at::Tensor> InBlocks(BlockwiseInput input);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_BLOCKWISE_H_
