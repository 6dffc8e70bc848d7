#ifndef ORDO_MODEL_CATALOG_RESOLVE_H_
#define ORDO_MODEL_CATALOG_RESOLVE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Checks the parts of a task's specification and fills in every default, the
// same way in command line, scheduler and trainer. Ranges and defaults are
// those in proto/ordo/training/v1/spec.proto.
//
// The functions append all that is wrong to `violations`; `field` is the path
// of the message there. Resolving what is resolved changes nothing. After a
// violation the message is not to be used.

namespace ordo::model::catalog {

inline constexpr int kMaxEvaluations = 64;
// Items of an evaluation. What became of each is in memory until its report is
// written: some 300 bytes and the output, a byte for each mark, so about a GB
// at most. A grid of 80 by 80 with a hundred samples has 640 000.
inline constexpr int64_t kMaxItems = 1'000'000;
// Tokens of as many rows as there are items, each as long as the longest: no
// item has more marks than tokens.
inline constexpr int64_t kMaxItemTokens = 1'000'000'000;
// Ranks of a training task.
inline constexpr int kMaxRanks = 1024;
// Vocabulary of a model whose task does not say (SentencePiece of Llama).
inline constexpr int kDefaultVocabularySize = 32000;

// Sizes that a name stands for.
struct Preset {
  std::string name;
  int layers;
  int width;
  int heads;
  // 0: from the width, as DefaultMlpWidth says.
  int mlp_width;
  // For people.
  std::string text;
};

// All presets; the first is the default.
const std::vector<Preset>& Presets();

// The smallest multiple of 32 that is at least 8/3 of `width`: a gated MLP of
// that width has about the parameters of a plain one of 4 * width.
int DefaultMlpWidth(int width);

// What encodings depend on, of a resolved model.
ModelShape ShapeOf(const ordo::training::v1::Model& model);

// `task_vocabulary_size` is that of the training task, 0 if there is none.
void ResolveModel(std::string_view field, int task_vocabulary_size,
                  ordo::training::v1::Model* model, Violations* violations);

// Resolves the component, and checks whether it fits the model, which has been
// resolved.
void ResolveEncoding(std::string_view field,
                     const ordo::training::v1::Model& model,
                     ordo::training::v1::Component* encoding,
                     Violations* violations);

// The task's entry, nullptr when it is not known.
const Entry* ResolveData(std::string_view field, ordo::training::v1::Data* data,
                         Violations* violations);

// `ranks` is how many ranks divide a batch.
void ResolveTraining(std::string_view field, int ranks,
                     ordo::training::v1::Training* training,
                     Violations* violations);

void ResolveCheckpointPolicy(std::string_view field,
                             ordo::training::v1::CheckpointPolicy* policy,
                             Violations* violations);

// At most `max_ranks` ranks. What a job may ask of machines besides gets no
// default: where it asks for nothing the field is left out, so that releases
// that do not know it take the spec.
void ResolveResources(std::string_view field,
                      ordo::training::v1::Resources* resources,
                      Violations* violations, int max_ranks = 1);

// Where evaluations stand.
struct EvaluationsContext {
  // Path of the list.
  std::string field = "evaluations";
  // Inside a training run, where `at` and `every_steps` mean something.
  bool in_training = true;
  // Of the model; 0 when not known.
  int vocabulary_size = 0;
  // Of the model, or not known. All tasks decode, which needs it.
  bool causal = true;
  // Number of positions that the encoding has room for; 0: no limit, or not
  // known.
  int64_t max_length = 0;
  // What the model is trained on, resolved; null: not known. Not owned.
  const ordo::training::v1::Data* trained_on = nullptr;
};

void ResolveEvaluations(
    const EvaluationsContext& context,
    google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>*
        evaluations,
    Violations* violations);

// What training jobs and training tasks have in common. Not owned.
struct TrainingParts {
  ordo::training::v1::Data* data;
  // Null: not known yet, since it is that of a checkpoint; `encoding` then may
  // be null too, and neither is checked against the rest.
  ordo::training::v1::Model* model;
  ordo::training::v1::Component* encoding;
  ordo::training::v1::Training* training;
  ordo::training::v1::CheckpointPolicy* checkpoint;
  google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>*
      evaluations;
  ordo::training::v1::Resources* resources;
  int max_ranks = 1;
};

// Resolves all of it, and checks what each part asks of the others. The fields
// have the names above.
void ResolveTrainingParts(const TrainingParts& parts, Violations* violations);

// A whole task. INVALID_ARGUMENT with every violation.
absl::StatusOr<ordo::training::v1::TrainSpec> ResolveTrainSpec(
    ordo::training::v1::TrainSpec spec);
absl::StatusOr<ordo::training::v1::EvaluateSpec> ResolveEvaluateSpec(
    ordo::training::v1::EvaluateSpec spec);
absl::StatusOr<ordo::training::v1::BenchmarkSpec> ResolveBenchmarkSpec(
    ordo::training::v1::BenchmarkSpec spec);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_H_
