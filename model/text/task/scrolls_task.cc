#include "model/text/task/scrolls_task.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/tasks/epochs.h"
#include "model/text/questions/questions.h"
#include "model/text/questions/scrolls.h"
#include "model/text/task/locations.h"
#include "model/text/task/token_data.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::task {
namespace {

using questions::AnswerLimits;
using questions::ScrollsLine;
using questions::ScrollsSet;
using tasks::DataAccess;

// The tokens of all rows, one behind the other.
struct Rows {
  struct Place {
    size_t begin = 0;
    // Where the answer begins, and where it ends.
    size_t answer = 0;
    size_t end = 0;
  };
  std::vector<int32_t> tokens;
  std::vector<Place> places;
};

// Makes a row of each line.
class RowMaker {
 public:
  // All outlive it.
  RowMaker(const tokenizers::TextTokenizer& tokenizer,
           const ScrollsOptions& options, const ScrollsSet& set)
      : tokenizer_(tokenizer),
        options_(options),
        set_(set),
        limits_(questions::ScrollsLimits(set)) {
    if (options.answer_tokens > 0) {
      limits_.answer_tokens = static_cast<size_t>(options.answer_tokens);
    }
  }

  absl::Status Add(const ScrollsLine& line) {
    ORDO_ASSIGN_OR_RETURN(const std::vector<int64_t> answer, AnswerOf(line));
    ORDO_ASSIGN_OR_RETURN(const std::vector<int64_t> prompt, PromptOf(line));
    Rows::Place place;
    place.begin = rows_.tokens.size();
    place.answer = place.begin + prompt.size();
    place.end = place.answer + answer.size();
    if (place.end > static_cast<size_t>(kMaxScrollsTokens)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          options_.field, ".path: the rows have more than ", kMaxScrollsTokens,
          " tokens: split the file, or lower max_tokens"));
    }
    rows_.tokens.insert(rows_.tokens.end(), prompt.begin(), prompt.end());
    rows_.tokens.insert(rows_.tokens.end(), answer.begin(), answer.end());
    rows_.places.push_back(place);
    return absl::OkStatus();
  }

  Rows Finish() { return std::move(rows_); }

 private:
  // The first tokens, with the marks.
  absl::StatusOr<std::vector<int64_t>> AnswerOf(const ScrollsLine& line) const {
    ORDO_ASSIGN_OR_RETURN(
        std::vector<int64_t> tokens,
        base::AddContext(tokenizer_.Encode(line.output), line.where));
    const auto begin = tokenizer_.begin_token();
    if (options_.answer_begin && begin.has_value()) {
      tokens.insert(tokens.begin(), *begin);
    }
    if (tokens.size() > limits_.answer_tokens) {
      tokens.resize(limits_.answer_tokens);
    }
    const auto end = tokenizer_.end_token();
    if (end.has_value()) tokens.push_back(*end);
    if (!tokens.empty()) return tokens;
    return base::AddContext(
        base::InvalidField("output",
                           "has no token, so that nothing is to be said: give "
                           "it text, or take the line out"),
        line.where);
  }

  absl::StatusOr<std::vector<int64_t>> PromptOf(const ScrollsLine& line) const {
    ORDO_ASSIGN_OR_RETURN(
        std::vector<int64_t> tokens,
        base::AddContext(
            tokenizer_.Encode(questions::ScrollsPrompt(set_, line.input)),
            line.where));
    const auto begin = tokenizer_.begin_token();
    if (options_.begin && begin.has_value()) {
      tokens.insert(tokens.begin(), *begin);
    }
    if (tokens.empty()) {
      return base::AddContext(
          base::InvalidField("input",
                             "has no token, so that the first of the answer "
                             "has nothing before it: give it text"),
          line.where);
    }
    const auto most = static_cast<size_t>(options_.max_tokens);
    const size_t num_said = limits_.answer_tokens + 1;
    if (num_said >= most) {
      return base::InvalidField(
          options_.field + ".max_tokens",
          absl::StrCat("is ", most, ", of which answers with their end take ",
                       num_said, ": raise it, or lower answer_tokens"));
    }
    return questions::CutPrompt(
        questions::LimitsWithin(limits_, most - num_said), std::move(tokens));
  }

  const tokenizers::TextTokenizer& tokenizer_;
  const ScrollsOptions& options_;
  const ScrollsSet& set_;
  AnswerLimits limits_;
  Rows rows_;
};

class ScrollsTask : public tasks::TrainingTask {
 public:
  ScrollsTask(std::unique_ptr<tokenizers::TextTokenizer> tokenizer, Rows rows,
              int row_length, const std::string& version)
      : tokenizer_(std::move(tokenizer)),
        rows_(std::move(rows)),
        row_length_(row_length),
        fingerprint_(
            base::Sha256Hex(absl::StrCat(version, " ", tokenizer_->digest()))) {
  }

  const tasks::Tokenizer& tokenizer() const override { return *tokenizer_; }
  int row_length() const override { return row_length_; }
  std::string data_fingerprint() const override { return fingerprint_; }

  absl::StatusOr<tasks::Sample> Generate(uint64_t seed,
                                         uint64_t index) const override {
    const Rows::Place& place =
        rows_.places[tasks::RowOfSet(seed, index, rows_.places.size())];
    tasks::Sample sample;
    sample.tokens.assign(&rows_.tokens[place.begin],
                         rows_.tokens.data() + place.end);
    sample.scored.assign(place.answer - place.begin, 0);
    sample.scored.resize(place.end - place.begin, 1);
    return sample;
  }

 private:
  const std::unique_ptr<tokenizers::TextTokenizer> tokenizer_;
  const Rows rows_;
  const int row_length_;
  const std::string fingerprint_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<tasks::TrainingTask>> OpenScrolls(
    const DataAccess& access, const ScrollsOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const ScrollsSet set,
                        base::AddContext(questions::FindScrollsSet(options.set),
                                         options.field + ".set"));
  ORDO_ASSIGN_OR_RETURN(
      auto tokenizer,
      OpenTokenizer(access, options.field + ".tokenizer", options.tokenizer));
  const std::string field = options.field + ".path";
  ORDO_ASSIGN_OR_RETURN(const std::string path,
                        LocateFile(access, field, options.path));
  RowMaker maker(*tokenizer, options, set);
  auto version = questions::ReadScrollsLines(
      *access.files, path, set, [&](const ScrollsLine& line) {
        const absl::Status go_on = access.keep_going();
        return go_on.ok() ? maker.Add(line) : go_on;
      });
  if (absl::IsNotFound(version.status())) {
    return base::AddContext(version.status(), field);
  }
  ORDO_RETURN_IF_ERROR(version.status());
  return std::make_unique<ScrollsTask>(std::move(tokenizer), maker.Finish(),
                                       static_cast<int>(options.max_tokens),
                                       *version);
}

}  // namespace ordo::model::text::task
