#include "model/text/questions/scrolls.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "model/text/questions/layouts.h"
#include "model/text/questions/object_lines.h"

namespace ordo::model::text::questions {
namespace {

// Goes up with whatever gives the same file other questions or scores.
constexpr char kVersion[] = "scrolls 2";

constexpr size_t kMaxWords = 15000;
constexpr AnswerLimits kQuestionLimits = {7991, 0, 200};
constexpr AnswerLimits kSummaryLimits = {7184, 7, 1000};

// Documents of thousands of words differ at their ends. Two that do not count
// as one unit, which errs on the safe side.
constexpr size_t kUnitBytes = 1000;

std::string FirstWords(const std::string& text) {
  size_t end = 0;
  for (size_t words = 0; words < kMaxWords; ++words) {
    end = text.find(' ', words == 0 ? 0 : end + 1);
    if (end == std::string::npos) return text;
  }
  return text.substr(0, end);
}

std::string UnitOf(const std::string& input) {
  const size_t begin =
      input.size() > kUnitBytes ? input.size() - kUnitBytes : 0;
  return base::Sha256Hex(input.substr(begin)).substr(0, 16);
}

struct Line {
  std::string id;
  std::string input;
  std::string output;
};

absl::StatusOr<Line> ReadLine(const ObjectLine& object) {
  Line line;
  ORDO_ASSIGN_OR_RETURN(line.id, StringField(object, "id"));
  ORDO_ASSIGN_OR_RETURN(line.input, StringField(object, "input"));
  const auto output = object.object.find("output");
  if (output != object.object.end() && output->is_null()) {
    return WrongField(object, "output",
                      "is null: answers of the test split are not public, take "
                      "the validation split");
  }
  ORDO_ASSIGN_OR_RETURN(line.output, StringField(object, "output"));
  return line;
}

// A question of which there was a line before.
struct Seen {
  size_t index = 0;
  std::string input_digest;
};

}  // namespace

const std::vector<ScrollsSet>& ScrollsSets() {
  static const auto& sets = *new std::vector<ScrollsSet>{
      {"qasper", Metric::kF1, false},
      {"contract_nli", Metric::kExactMatch, false},
      {"narrative_qa", Metric::kF1, false},
      {"quality", Metric::kExactMatch, false},
      {"qmsum", Metric::kRouge, true},
      {"summ_screen_fd", Metric::kRouge, true},
      {"gov_report", Metric::kRouge, true},
  };
  return sets;
}

absl::StatusOr<ScrollsSet> FindScrollsSet(const std::string& name) {
  std::vector<std::string> names;
  for (const ScrollsSet& set : ScrollsSets()) {
    if (set.name == name) return set;
    names.emplace_back(set.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", name, "' is no set of SCROLLS", base::SuggestName(name, names)));
}

std::string ScrollsPrompt(const ScrollsSet& set, const std::string& input) {
  if (!set.is_summary) return FirstWords(input);
  return absl::StrCat("Context:\n", input, "\n Please summarize this report:");
}

absl::StatusOr<TextQuestions> ReadScrolls(base::Filesystem& files,
                                          const std::string& path,
                                          const ScrollsSet& set) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectReader> reader,
                        ObjectReader::Open(files, path, LineLayout(set.name)));
  TextQuestions questions;
  questions.metric = set.metric;
  questions.limits = set.is_summary ? kSummaryLimits : kQuestionLimits;
  questions.lines_are_sentences = false;
  std::map<std::string, Seen> seen;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<ObjectLine> object,
                          reader->Next());
    if (!object.has_value()) break;
    ORDO_ASSIGN_OR_RETURN(Line line, ReadLine(*object));
    const std::string digest = base::Sha256Hex(line.input);
    const auto [found, is_first] =
        seen.emplace(line.id, Seen{questions.items.size(), digest});
    if (!is_first) {
      if (found->second.input_digest != digest) {
        return WrongField(*object, "input",
                          absl::StrCat("differs from that of an earlier line ",
                                       "with id '", line.id, "'"));
      }
      questions.items[found->second.index].references.push_back(
          std::move(line.output));
      continue;
    }
    TextQuestion question;
    question.id = line.id;
    question.unit = UnitOf(line.input);
    question.prompt = ScrollsPrompt(set, line.input);
    question.references = {std::move(line.output)};
    ORDO_RETURN_IF_ERROR(AddQuestion(path, std::move(question), &questions));
  }
  if (questions.items.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("read ", path, ": it has no lines; each should be ",
                     LineLayout(set.name)));
  }
  questions.version = base::Sha256Hex(
      absl::StrCat(kVersion, " ", set.name, " ", reader->FinishDigest()));
  return questions;
}

}  // namespace ordo::model::text::questions
