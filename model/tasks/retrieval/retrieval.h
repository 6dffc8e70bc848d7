#ifndef ORDO_MODEL_TASKS_RETRIEVAL_RETRIEVAL_H_
#define ORDO_MODEL_TASKS_RETRIEVAL_RETRIEVAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/tasks/prompt_tokens.h"
#include "model/tasks/task.h"

// The questions of model/tasks/retrieval/items.h as rows of bytes, tokens of
// model/text/tokenizers/byte_tokenizer.h, or of an evaluation in the tokens of
// a file (fitted.h). A length is that of a prompt with the tokens that are
// decoded after it.

namespace ordo::model::tasks::retrieval {

struct RulerOptions {
  // Name of one of RulerKinds(), or "all" for each equally often.
  std::string task = "all";
  // Lengths are uniform. At least the min_length of each kind, and
  // min_length <= max_length.
  int64_t min_length = 2048;
  int64_t max_length = 4096;
};

// Rows of prompt, answer and end mark, of which the answer and the mark count
// in the loss. A row is as long as its length.
std::unique_ptr<TrainingTask> MakeRuler(const RulerOptions& options);

struct RulerTestsOptions {
  std::string task = "all";
  // As above; lengths go from the least on, each twice the one before.
  int64_t min_length = 4096;
  int64_t max_length = 16384;
  // Questions of each kind and length.
  int samples = 500;
  // Greatest length that the model was trained on, 0 when not known.
  int64_t trained_length = 0;
};

// Recall, the mean share of references that stand in what is decoded. Metrics:
// `score`, its mean over longer lengths than the trained one, `trained_mean`,
// over the others, each where there are such lengths, and `supported_length`,
// the greatest length up to which the mean of all kinds is at least 0.856, 0
// where there is none: as the authors say that a model supports a length, of a
// mean over all kinds. Table by kind and length. Generate fails with what
// FittedQuestion does, if there are `tokens`; without, prompts are bytes.
std::unique_ptr<EvaluationTask> MakeRulerTests(
    const RulerTestsOptions& options,
    std::optional<PromptTokens> tokens = std::nullopt);

struct NeedleOptions {
  // Lengths are uniform, and so are depths from 0 to 100 per cent.
  // kNeedleMinLength <= min_length <= max_length.
  int64_t min_length = 512;
  int64_t max_length = 4096;
};

// As MakeRuler; rows are up to as long as their length.
std::unique_ptr<TrainingTask> MakeNeedle(const NeedleOptions& options);

struct NeedleGridOptions {
  // As above. So many lengths, at even steps from the least to the greatest,
  // rounded; with one length, the greatest.
  int64_t min_length = 1000;
  int64_t max_length = 16000;
  int lengths = 35;
  // The same of depths from 0 to 100; with one depth, 100.
  int depths = 35;
  // Questions of each length and depth.
  int samples = 1;
  int64_t trained_length = 0;
};

// Recall of the fact's key words, with `score` and `trained_mean` as of
// MakeRulerTests. Table by depth and length. `tokens` as there.
std::unique_ptr<EvaluationTask> MakeNeedleGrid(
    const NeedleGridOptions& options,
    std::optional<PromptTokens> tokens = std::nullopt);

}  // namespace ordo::model::tasks::retrieval

#endif  // ORDO_MODEL_TASKS_RETRIEVAL_RETRIEVAL_H_
