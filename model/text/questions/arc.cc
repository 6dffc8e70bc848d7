#include "model/text/questions/arc.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/questions/layouts.h"
#include "model/text/questions/object_lines.h"

namespace ordo::model::text::questions {
namespace {

// Goes up with whatever gives the same files other questions or scores.
constexpr char kVersion[] = "arc 1";

absl::StatusOr<TextQuestion> ReadQuestion(const ObjectLine& line) {
  TextQuestion question;
  ORDO_ASSIGN_OR_RETURN(question.id, StringField(line, "id"));
  question.unit = question.id;
  ORDO_ASSIGN_OR_RETURN(const std::string text, StringField(line, "question"));
  question.prompt = absl::StrCat("Question: ", text, "\nAnswer:");
  ORDO_ASSIGN_OR_RETURN(Json choices, ObjectField(line, "choices"));
  const ObjectLine inner = {std::move(choices),
                            absl::StrCat(line.where, ": choices")};
  ORDO_ASSIGN_OR_RETURN(question.choices, StringsField(inner, "text"));
  if (question.choices.size() < 2) {
    return WrongField(inner, "text", "must be at least two");
  }
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> labels,
                        StringsField(inner, "label"));
  if (labels.size() != question.choices.size()) {
    return WrongField(inner, "label", "must have one for each text");
  }
  ORDO_ASSIGN_OR_RETURN(const std::string key, StringField(line, "answerKey"));
  const auto found = std::find(labels.begin(), labels.end(), key);
  if (found == labels.end()) {
    return WrongField(line, "answerKey",
                      absl::StrCat("'", key, "' is none of the labels: give ",
                                   "that of the right choice"));
  }
  question.right_choice = static_cast<size_t>(found - labels.begin());
  return question;
}

struct Examples {
  std::vector<std::string> shown;
  std::string digest;
};

absl::StatusOr<Examples> ReadExamples(base::Filesystem& files,
                                      const ArcOptions& options) {
  Examples examples;
  if (options.few_shot < 0) {
    return base::InvalidField("few_shot", "must be 0 or more");
  }
  const auto few_shot = static_cast<size_t>(options.few_shot);
  if (few_shot == 0) return examples;
  ORDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<ObjectReader> reader,
      ObjectReader::Open(files, options.examples_path, LineLayout("arc")));
  while (examples.shown.size() < few_shot) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<ObjectLine> line, reader->Next());
    if (!line.has_value()) {
      return base::InvalidField(
          "few_shot",
          absl::StrCat(few_shot, " is more than the ", examples.shown.size(),
                       " lines of ", options.examples_path, ": take fewer"));
    }
    ORDO_ASSIGN_OR_RETURN(const TextQuestion example, ReadQuestion(*line));
    examples.shown.push_back(absl::StrCat(
        example.prompt, " ", example.choices[example.right_choice]));
  }
  examples.digest = reader->FinishDigest();
  return examples;
}

}  // namespace

absl::StatusOr<TextQuestions> ReadArc(base::Filesystem& files,
                                      const ArcOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const Examples examples, ReadExamples(files, options));
  ORDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<ObjectReader> reader,
      ObjectReader::Open(files, options.test_path, LineLayout("arc")));
  TextQuestions questions;
  questions.metric = Metric::kAccuracyPerCharacter;
  std::set<std::string> ids;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<ObjectLine> line, reader->Next());
    if (!line.has_value()) break;
    ORDO_ASSIGN_OR_RETURN(TextQuestion question, ReadQuestion(*line));
    if (!ids.insert(question.id).second) {
      return WrongField(*line, "id",
                        absl::StrCat("'", question.id, "' is that of an ",
                                     "earlier line: take one out"));
    }
    question.prompt = JoinPrompt({"", examples.shown, "\n\n", question.prompt});
    ORDO_RETURN_IF_ERROR(
        AddQuestion(options.test_path, std::move(question), &questions));
  }
  if (questions.items.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("read ", options.test_path,
                     ": it has no lines; each should be ", LineLayout("arc")));
  }
  questions.version = base::Sha256Hex(
      absl::StrCat(kVersion, " ", options.few_shot, " ", examples.digest, " ",
                   reader->FinishDigest()));
  return questions;
}

}  // namespace ordo::model::text::questions
