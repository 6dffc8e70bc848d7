#ifndef ORDO_WORKER_TRAINER_INFERENCE_H_
#define ORDO_WORKER_TRAINER_INFERENCE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/tasks/data_access.h"
#include "proto/ordo/training/v1/component.pb.h"

// What a checkpoint's model says: the commands `generate`, `logits` and
// `merge`.

namespace ordo::worker::trainer {

struct GenerateOptions {
  // Folder of the checkpoint.
  std::string checkpoint;
  // In the characters of the task that the model was trained on.
  std::string prompt;
  int max_tokens = 64;
  // The attention kernel to take, as Training.kernel; empty: the best.
  std::string kernel = {};
  // Where the tokenizer of the task lies, if in a file.
  model::tasks::DataAccess data = {};
};

// The model's greedy continuation of the prompt, up to the end mark.
// INVALID_ARGUMENT when the prompt is empty or has a character without a token,
// the checkpoint does not say what its tokens are, or the kernel cannot be
// taken.
absl::StatusOr<std::string> Generate(base::Filesystem& files,
                                     const GenerateOptions& options);

struct LogitsOptions {
  // Folder of the checkpoint.
  std::string checkpoint;
  // A safetensors file with `tokens`, int64 [B,T], and optionally `positions`
  // and `attention_mask`, int64 [B,T].
  std::string tokens_file;
  // The safetensors file to write: `logits`, float32 [B,T,V].
  std::string out_file;
  // Takes the place of the checkpoint's encoding.
  std::optional<ordo::training::v1::Component> encoding = {};
  // As GenerateOptions::kernel.
  std::string kernel = {};
};

// One whole pass over the tokens. INVALID_ARGUMENT when the tensors are not as
// above or a token is not in the vocabulary.
absl::Status Logits(base::Filesystem& files, const LogitsOptions& options);

struct MergeOptions {
  // Folder of a checkpoint with adapters.
  std::string checkpoint;
  // The folder to write; it does not exist yet.
  std::string out;
};

// Writes the checkpoint's model with its adapters added to its weights, as
// config.json, model.safetensors and MANIFEST.json. INVALID_ARGUMENT when it
// has none or the folder exists.
absl::Status Merge(base::Filesystem& files, const MergeOptions& options);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_INFERENCE_H_
