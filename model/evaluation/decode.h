#ifndef ORDO_MODEL_EVALUATION_DECODE_H_
#define ORDO_MODEL_EVALUATION_DECODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "model/tasks/task.h"
#include "model/transformer/transformer.h"

namespace ordo::model::evaluation {

using Rows = std::vector<std::vector<int64_t>>;

struct DecodeOptions {
  // Tokens to produce per row, at least 1.
  int num_tokens = 1;
  // "fp32" or "bf16", as in Training.precision.
  std::string precision = "fp32";
  // As ForwardOptions::kernel.
  std::string kernel = {};
  // The token that ends a row; nothing: none does.
  std::optional<int64_t> end = tasks::kEnd;
  // Of how many of the likeliest tokens one is drawn (DrawToken), 0: of all; 1:
  // the likeliest is taken.
  int64_t top_k = 1;
  // Of rows, from the first on, what the token at each place is drawn with;
  // other rows take the likeliest.
  std::vector<base::RandomStream> streams = {};
  // Asked before each token; true ends decoding with what there is.
  std::function<bool()> should_stop = [] { return false; };
};

// The most likely continuation of each prompt, token by token, the lowest id
// among equals; or one that is drawn, which is the same whatever rows are
// decoded with it, but for rounding. Prompts are not empty and of one length. A
// row ends with options.end, if there is one, or after num_tokens. Each token
// costs one pass over the last one: keys, values and the encoding's state are
// cached; where rows become longer than the model's CachedLength, one over the
// whole row. Throws what LibTorch throws.
Rows Decode(const transformer::Transformer& model, const Rows& prompts,
            const DecodeOptions& options);

// What the model says at places of rows of one length, in one pass: produced[i]
// of a row is the most likely token after what stands up to places[i], the
// lowest id among equals. Of the options, precision and kernel count. Throws
// what LibTorch throws.
Rows PredictAt(const transformer::Transformer& model, const Rows& rows,
               const std::vector<std::vector<int>>& places,
               const DecodeOptions& options);

// Rows with what is asked of them.
struct Asked {
  Rows rows;
  // Of each row, and as many answers.
  std::vector<std::vector<int>> places;
  Rows answers;
};

// For each row -ln p of its answers, summed in double: of answers[i] after what
// stands up to places[i]. Otherwise as PredictAt.
std::vector<double> NatsAt(const transformer::Transformer& model,
                           const Asked& asked, const DecodeOptions& options);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_DECODE_H_
