#ifndef ORDO_MODEL_TEXT_QUESTIONS_ARC_H_
#define ORDO_MODEL_TEXT_QUESTIONS_ARC_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/questions/questions.h"

// ARC, easy or challenge (Clark et al., 2018), as EleutherAI's
// lm-evaluation-harness asks it, from the files of allenai/ai2_arc that a user
// has: JSON lines with `id`, `question`, `choices` (an object of two lists,
// `text` and `label`) and `answerKey`, one of the labels. As there, texts that
// are equal or empty are asked as they stand, so that a set has all its items:
// of equal ones the first is chosen, and an empty one is never by acc_norm.

namespace ordo::model::text::questions {

struct ArcOptions {
  std::string test_path;
  // Examples before each question: the first so many lines of the file of
  // examples, such as the training split. The harness draws them.
  int few_shot = 0;
  // Needed for examples only.
  std::string examples_path;
};

// Scored by acc_norm, with acc beside it. INVALID_ARGUMENT with file, line and
// field: a field is missing or of another kind, there are fewer than two texts,
// the key is no label, there is no question, or there are too few examples.
// Otherwise as ObjectReader.
absl::StatusOr<TextQuestions> ReadArc(base::Filesystem& files,
                                      const ArcOptions& options);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_ARC_H_
