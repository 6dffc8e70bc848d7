#include "model/evaluation/decode.h"

#include <algorithm>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/argmax.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/empty.h"
#include "base/check.h"
#include "model/evaluation/draw.h"
#include "model/training/autocast.h"

namespace ordo::model::evaluation {
namespace {

at::Tensor ToTensor(const Rows& rows) {
  const int64_t length = static_cast<int64_t>(rows.front().size());
  at::Tensor tokens_BT = at::empty({static_cast<int64_t>(rows.size()), length},
                                   at::TensorOptions().dtype(at::kLong));
  int64_t* out = tokens_BT.data_ptr<int64_t>();
  for (const auto& row : rows) {
    ORDO_CHECK(static_cast<int64_t>(row.size()) == length)
        << "prompts of one batch have one length";
    out = std::copy(row.begin(), row.end(), out);
  }
  return tokens_BT;
}

// The token at place `n` behind each prompt, shape [B, 1], on the CPU.
at::Tensor NextTokens(const at::Tensor& logits_BV, int n,
                      const DecodeOptions& options) {
  const at::Tensor likeliest_B1 =
      at::argmax(logits_BV, 1).unsqueeze(1).cpu().contiguous();
  if (options.top_k == 1) return likeliest_B1;
  const at::Tensor on_cpu_BV = logits_BV.cpu().contiguous();
  const float* logits = on_cpu_BV.const_data_ptr<float>();
  const int64_t count = on_cpu_BV.size(1);
  int64_t* next = likeliest_B1.data_ptr<int64_t>();
  for (size_t row = 0; row < options.streams.size(); ++row) {
    const double uniform =
        options.streams[row].Double(static_cast<uint64_t>(n));
    next[row] = DrawToken(logits, count, options.top_k, uniform);
    logits += count;
  }
  return likeliest_B1;
}

}  // namespace

Rows Decode(const transformer::Transformer& model, const Rows& prompts,
            const DecodeOptions& options) {
  ORDO_CHECK(options.streams.size() <= prompts.size()) << "streams of rows";
  const c10::InferenceMode inference;
  const training::AutocastScope autocast(options.precision,
                                         model.device().type());
  Rows produced(prompts.size());
  std::vector<bool> ended(prompts.size(), false);
  size_t num_open = prompts.size();
  transformer::Cache cache;
  transformer::ForwardOptions forward;
  forward.kernel = options.kernel;
  at::Tensor tokens_BT = ToTensor(prompts);
  forward.final_length = tokens_BT.size(1) + options.num_tokens;
  const bool cached = forward.final_length <= model.CachedLength();
  if (cached) forward.cache = &cache;
  for (int n = 0; n < options.num_tokens && num_open > 0; ++n) {
    if (options.should_stop()) break;
    const at::Tensor logits_BV =
        model.Forward(tokens_BT, forward).select(1, -1).to(at::kFloat);
    const at::Tensor next_B1 = NextTokens(logits_BV, n, options);
    tokens_BT = cached ? next_B1 : at::cat({tokens_BT, next_B1}, 1);
    const int64_t* next = next_B1.const_data_ptr<int64_t>();
    for (size_t row = 0; row < prompts.size(); ++row) {
      if (ended[row]) continue;
      produced[row].push_back(next[row]);
      if (options.end == next[row]) {
        ended[row] = true;
        --num_open;
      }
    }
  }
  return produced;
}

Rows PredictAt(const transformer::Transformer& model, const Rows& rows,
               const std::vector<std::vector<int>>& places,
               const DecodeOptions& options) {
  const c10::InferenceMode inference;
  const training::AutocastScope autocast(options.precision,
                                         model.device().type());
  transformer::ForwardOptions forward;
  forward.kernel = options.kernel;
  const at::Tensor tokens_BT = ToTensor(rows);
  const at::Tensor logits_BTV = model.Forward(tokens_BT, forward);
  const at::Tensor said_BT =
      at::argmax(logits_BTV.to(at::kFloat), 2).cpu().contiguous();
  const int64_t* said = said_BT.const_data_ptr<int64_t>();
  Rows produced(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const int place : places[row]) {
      ORDO_CHECK(place >= 0 && place < tokens_BT.size(1));
      produced[row].push_back(said[place]);
    }
    said += tokens_BT.size(1);
  }
  return produced;
}

std::vector<double> NatsAt(const transformer::Transformer& model,
                           const Asked& asked, const DecodeOptions& options) {
  const c10::InferenceMode inference;
  const training::AutocastScope autocast(options.precision,
                                         model.device().type());
  transformer::ForwardOptions forward;
  forward.kernel = options.kernel;
  const at::Tensor tokens_BT = ToTensor(asked.rows);
  const int64_t length = tokens_BT.size(1);
  std::vector<int64_t> places;
  std::vector<int64_t> targets;
  for (size_t row = 0; row < asked.rows.size(); ++row) {
    const std::vector<int>& of_row = asked.places[row];
    ORDO_CHECK(of_row.size() == asked.answers[row].size());
    for (size_t i = 0; i < of_row.size(); ++i) {
      ORDO_CHECK(of_row[i] >= 0 && of_row[i] < length);
      places.push_back(static_cast<int64_t>(row) * length + of_row[i]);
      targets.push_back(asked.answers[row][i]);
    }
  }
  const at::Tensor losses_N = model
                                  .Losses(tokens_BT,
                                          {ToTensor({targets}).squeeze(0),
                                           ToTensor({places}).squeeze(0), 1},
                                          forward)
                                  .cpu()
                                  .contiguous();
  const float* loss = losses_N.const_data_ptr<float>();
  std::vector<double> nats(asked.rows.size(), 0);
  for (size_t row = 0; row < asked.rows.size(); ++row) {
    for (size_t i = 0; i < asked.places[row].size(); ++i) nats[row] += *loss++;
  }
  return nats;
}

}  // namespace ordo::model::evaluation
