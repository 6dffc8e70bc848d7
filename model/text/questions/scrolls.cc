#include "model/text/questions/scrolls.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
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

absl::StatusOr<ScrollsLine> ReadLine(const ObjectLine& object) {
  ScrollsLine line;
  line.where = object.where;
  ORDO_ASSIGN_OR_RETURN(line.id, StringField(object, "id"));
  ORDO_ASSIGN_OR_RETURN(line.input, StringField(object, "input"));
  const auto output = object.object.find("output");
  if (output != object.object.end() && output->is_null()) {
    return WrongField(object, "output",
                      "is null: answers of the test split are not public, take "
                      "the training or the validation split");
  }
  ORDO_ASSIGN_OR_RETURN(line.output, StringField(object, "output"));
  return line;
}

// The lines of a file as questions.
class Merger {
 public:
  Merger(const std::string& path, const ScrollsSet& set)
      : path_(path), set_(set) {
    questions_.metric = set.metric;
    questions_.limits = ScrollsLimits(set);
    questions_.lines_are_sentences = false;
  }

  absl::Status Add(ScrollsLine line) {
    const std::string digest = base::Sha256Hex(line.input);
    const auto [found, is_first] =
        seen_.emplace(line.id, Seen{questions_.items.size(), digest});
    if (!is_first) {
      if (found->second.input_digest != digest) {
        return base::AddContext(
            base::InvalidField(
                "input", absl::StrCat("differs from that of an earlier line ",
                                      "with id '", line.id, "'")),
            line.where);
      }
      questions_.items[found->second.index].references.push_back(
          std::move(line.output));
      return absl::OkStatus();
    }
    TextQuestion question;
    question.id = line.id;
    question.unit = UnitOf(line.input);
    question.prompt = ScrollsPrompt(set_, line.input);
    question.references = {std::move(line.output)};
    return AddQuestion(path_, std::move(question), &questions_);
  }

  TextQuestions Finish(std::string version) {
    questions_.version = std::move(version);
    return std::move(questions_);
  }

 private:
  // A question of which there was a line before.
  struct Seen {
    size_t index = 0;
    std::string input_digest;
  };

  const std::string& path_;
  const ScrollsSet& set_;
  TextQuestions questions_;
  std::map<std::string, Seen> seen_;
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

absl::StatusOr<std::string> ReadScrollsLines(
    base::Filesystem& files, const std::string& path, const ScrollsSet& set,
    const std::function<absl::Status(ScrollsLine line)>& take) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectReader> reader,
                        ObjectReader::Open(files, path, LineLayout(set.name)));
  bool has_lines = false;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<ObjectLine> object,
                          reader->Next());
    if (!object.has_value()) break;
    ORDO_ASSIGN_OR_RETURN(ScrollsLine line, ReadLine(*object));
    ORDO_RETURN_IF_ERROR(take(std::move(line)));
    has_lines = true;
  }
  if (!has_lines) {
    return absl::InvalidArgumentError(
        absl::StrCat("read ", path, ": it has no lines; each should be ",
                     LineLayout(set.name)));
  }
  return base::Sha256Hex(
      absl::StrCat(kVersion, " ", set.name, " ", reader->FinishDigest()));
}

AnswerLimits ScrollsLimits(const ScrollsSet& set) {
  return set.is_summary ? kSummaryLimits : kQuestionLimits;
}

absl::StatusOr<TextQuestions> ReadScrolls(base::Filesystem& files,
                                          const std::string& path,
                                          const ScrollsSet& set) {
  Merger merger(path, set);
  ORDO_ASSIGN_OR_RETURN(
      std::string version,
      ReadScrollsLines(files, path, set, [&merger](ScrollsLine line) {
        return merger.Add(std::move(line));
      }));
  return merger.Finish(std::move(version));
}

}  // namespace ordo::model::text::questions
