#ifndef ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_
#define ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/questions/questions.h"

// SCROLLS (Shaham et al., EMNLP 2022): seven sets of questions over long texts,
// from the files of tau/scrolls that a user has: JSON lines with `id`, `input`
// (the query, if there is one, a blank line, and the document) and `output`.

namespace ordo::model::text::questions {

struct ScrollsSet {
  const char* name;
  Metric metric;
  // The document is to be summarized, without a query or with one.
  bool is_summary;
};

// Qasper, ContractNLI, NarrativeQA, QuALITY, QMSum, SummScreenFD, GovReport.
const std::vector<ScrollsSet>& ScrollsSets();

// INVALID_ARGUMENT, with the nearest: there is none of this name.
absl::StatusOr<ScrollsSet> FindScrollsSet(const std::string& name);

// What stands before the model. Of a question its first 15 000 words between
// single blanks; of a summary all of it, with the instruction at its end.
std::string ScrollsPrompt(const ScrollsSet& set, const std::string& input);

// The questions of the validation file at `path`. Lines with one id are one
// question with several references. The unit is the document, known by the last
// thousand bytes of the input. Prompts are cut to 7991 tokens, of summaries to
// the first 7184 and the last 7, and answers to 200 and 1000, as the TAPE
// paper's evaluation does; there the summaries are drawn.
// Lines are not sentences: the public metric breaks texts by a trained splitter
// (NLTK's Punkt) before it takes ROUGE-Lsum, which is therefore not taken here.
//
// INVALID_ARGUMENT with file, line and field: a field is missing or no string,
// lines with one id differ in their input, or there is no line. Otherwise as
// ObjectReader.
absl::StatusOr<TextQuestions> ReadScrolls(base::Filesystem& files,
                                          const std::string& path,
                                          const ScrollsSet& set);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_
