#ifndef ORDO_MODEL_TASKS_PASSKEY_PASSKEY_H_
#define ORDO_MODEL_TASKS_PASSKEY_PASSKEY_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/tasks/prompt_tokens.h"
#include "model/tasks/task.h"

// The prompts of model/tasks/passkey/prompt.h as rows of bytes, in the tokens
// of model/text/tokenizers/byte_tokenizer.h, or of an evaluation in those of a
// file. The answer is a blank and the key.

namespace ordo::model::tasks::passkey {

// Characters of filler at a length: as many of `unit`, or, where that is 0, the
// benchmark's for so many thousand tokens of Llama.
int64_t FillerAt(int64_t length, int64_t unit);

struct PasskeyOptions {
  // Filler is uniform in 1..max_filler, and so is the key's place in it.
  int64_t max_filler = 1024;
};

// The answer and the end mark count in the loss. Rows come from base/random,
// not from the benchmark's generator: none is a question but by chance.
std::unique_ptr<TrainingTask> MakePasskey(const PasskeyOptions& options);

struct PasskeyTestsOptions {
  // 1 <= min_length <= max_length; unit as that of FillerAt.
  int64_t min_length = 1;
  int64_t max_length = 8;
  int64_t unit = 0;
  // Depths, of which number k stands behind k / depths of the filler; 0: the
  // one that the benchmark draws.
  int depths = 0;
  // Questions of each length and depth.
  int samples = 20;
  // Most filler that the model was trained on, 0 when not known.
  int64_t trained_filler = 0;
};

// The benchmark's questions, whatever the seed: number t of a length is drawn
// from seed t. An answer is right if greedy decoding gives its bytes, as many
// as it has. They are read in one pass: decoding goes wrong at the first that
// is not the likeliest after the right ones. Exact match by length, with the
// metrics of ScoresByLength. Of several depths `cells` of the details has it by
// depth, in per cent, and length; otherwise `depths` by length and by the tenth
// of the filler at which the key stands: where a length has it is drawn, so
// lengths are not compared by that.
std::unique_ptr<EvaluationTask> MakePasskeyTests(
    const PasskeyTestsOptions& options);

// The same in the tokens of a file, which are counted here; `keep_going` is
// asked meanwhile, and its error passed on. Where the tokenizer puts a blank
// before a word itself, as Llama-2's does, an answer is right if greedy
// decoding gives the tokens of the key, as many as it has. Otherwise it is
// right if the number that what is decoded begins with, behind blanks, is the
// key. `prompt_tokens` of the details has the mean length of a prompt by
// length.
//
// INVALID_ARGUMENT: the tokenizer has no tokens for a prompt.
absl::StatusOr<std::unique_ptr<EvaluationTask>> OpenPasskeyTests(
    const PasskeyTestsOptions& options, PromptTokens tokens,
    const std::function<absl::Status()>& keep_going);

}  // namespace ordo::model::tasks::passkey

#endif  // ORDO_MODEL_TASKS_PASSKEY_PASSKEY_H_
