#ifndef ORDO_MODEL_TEXT_QUESTIONS_MMLU_H_
#define ORDO_MODEL_TEXT_QUESTIONS_MMLU_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/questions/questions.h"

// MMLU (Hendrycks et al., ICLR 2021) as EleutherAI's lm-evaluation-harness asks
// it, from the files of cais/mmlu that a user has: JSON lines with `question`,
// `subject`, `choices` (four) and `answer` (0 to 3).

namespace ordo::model::text::questions {

struct MmluOptions {
  // The test split, all subjects one behind the other.
  std::string test_path;
  // Examples before each question: the first so many of its subject in the dev
  // split, which has five of each.
  int few_shot = 0;
  // Needed for examples only.
  std::string dev_path;
};

// The categories of the 57 subjects: humanities, social_sciences, stem, other.
const std::map<std::string, std::string>& MmluCategories();

// Questions with the choices A to D; groups are subjects. INVALID_ARGUMENT with
// file, line and field: a field is missing or of another kind, the subject is
// unknown, there is no question, or a subject has too few examples. Otherwise
// as ObjectReader.
absl::StatusOr<TextQuestions> ReadMmlu(base::Filesystem& files,
                                       const MmluOptions& options);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_MMLU_H_
