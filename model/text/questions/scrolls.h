#ifndef ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_
#define ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

// A line of a file.
struct ScrollsLine {
  std::string id;
  std::string input;
  std::string output;
  // "read a.jsonl, line 3".
  std::string where;
};

// Gives `take` each line of the file at `path`, in order; an error of its ends
// the work, and is passed on. What it returns is a version: SHA-256, 64
// lower-case hexadecimal digits, over the lines and the set.
//
// INVALID_ARGUMENT with file, line and field: a field is missing or no string,
// or there is no line. Otherwise as ObjectReader.
absl::StatusOr<std::string> ReadScrollsLines(
    base::Filesystem& files, const std::string& path, const ScrollsSet& set,
    const std::function<absl::Status(ScrollsLine line)>& take);

// What of a prompt the model reads, and how much it says: 7991 tokens, of a
// summary the first 7184 and the last 7, and answers of 200 and 1000, as the
// TAPE paper's code has them.
AnswerLimits ScrollsLimits(const ScrollsSet& set);

// What stands before the model. Of a question its first 15 000 words between
// single blanks; of a summary all of it, with the instruction at its end.
std::string ScrollsPrompt(const ScrollsSet& set, const std::string& input);

// The questions of the validation file at `path`. Lines with one id are one
// question with several references. The unit is the document, known by the last
// thousand bytes of the input. In the paper's evaluation summaries are drawn;
// here that is the evaluation's to say.
// Lines are not sentences: the public metric breaks texts by a trained splitter
// (NLTK's Punkt) before it takes ROUGE-Lsum, which is therefore not taken here.
//
// As ReadScrollsLines; INVALID_ARGUMENT too where lines with one id differ in
// their input.
absl::StatusOr<TextQuestions> ReadScrolls(base::Filesystem& files,
                                          const std::string& path,
                                          const ScrollsSet& set);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_SCROLLS_H_
