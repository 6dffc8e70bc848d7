#include "model/text/task/question_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/scoring/continuation.h"

namespace ordo::model::text::task {
namespace {

using questions::AnswerLimits;
using questions::TextQuestion;
using questions::TextQuestions;

class RowMaker {
 public:
  RowMaker(const tokenizers::TextTokenizer& tokenizer,
           const QuestionRowOptions& options, const TextQuestions& questions)
      : tokenizer_(tokenizer),
        options_(options),
        questions_(questions),
        of_choices_(questions::IsOfChoices(questions.metric)) {
    if (options.begin) begin_ = tokenizer.begin_token();
  }

  absl::Status Add(size_t index) {
    const TextQuestion& question = questions_.items[index];
    if (!of_choices_) return AddInWords(index, question);
    for (size_t choice = 0; choice < question.choices.size(); ++choice) {
      ORDO_RETURN_IF_ERROR(AddChoice(index, question, choice));
    }
    return absl::OkStatus();
  }

  QuestionRows Finish() { return std::move(made_); }

 private:
  absl::Status AddInWords(size_t index, const TextQuestion& question) {
    ORDO_ASSIGN_OR_RETURN(
        std::vector<int64_t> tokens,
        base::AddContext(tokenizer_.Encode(question.prompt), Name(question)));
    QuestionRow row;
    row.question = index;
    ORDO_ASSIGN_OR_RETURN(tokens, Cut(question, questions_.limits.answer_tokens,
                                      std::move(tokens)));
    return Take(tokens, std::move(row));
  }

  absl::Status AddChoice(size_t index, const TextQuestion& question,
                         size_t choice) {
    ORDO_ASSIGN_OR_RETURN(
        scoring::Continuation split,
        base::AddContext(
            scoring::SplitContinuation(
                tokenizer_, question.prompt,
                absl::StrCat(questions_.delimiter, question.choices[choice])),
            Name(question)));
    QuestionRow row;
    row.question = index;
    row.choice = choice;
    row.num_scored = split.continuation.size();
    ORDO_ASSIGN_OR_RETURN(
        std::vector<int64_t> tokens,
        Cut(question, row.num_scored, std::move(split.context)));
    tokens.insert(tokens.end(), split.continuation.begin(),
                  split.continuation.end());
    return Take(tokens, std::move(row));
  }

  // What of a prompt's tokens stands before `num_said` others, with the mark.
  absl::StatusOr<std::vector<int64_t>> Cut(const TextQuestion& question,
                                           size_t num_said,
                                           std::vector<int64_t> tokens) {
    if (begin_.has_value()) tokens.insert(tokens.begin(), *begin_);
    if (tokens.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Name(question),
                       ": its prompt has no token, so that the first of its "
                       "answer has nothing before it: give it text"));
    }
    const auto most = static_cast<size_t>(options_.max_tokens);
    if (num_said >= most) {
      return base::InvalidField(
          options_.field + ".max_tokens",
          absl::StrCat(Name(question), " has an answer of up to ", num_said,
                       " tokens, which leaves none of ", most,
                       " for its prompt: raise it",
                       of_choices_ ? "" : ", or lower answer_tokens"));
    }
    const size_t before = tokens.size();
    tokens = CutPrompt(LimitsFor(most - num_said), std::move(tokens));
    if (tokens.size() < before) ++made_.num_cut;
    return tokens;
  }

  // The questions' limits for prompts of at most `room` tokens, at least one.
  AnswerLimits LimitsFor(size_t room) const {
    AnswerLimits limits = questions_.limits;
    if (limits.head_tokens + limits.tail_tokens > 0) {
      return questions::LimitsWithin(limits, room);
    }
    limits.head_tokens = begin_.has_value() ? 1 : 0;
    limits.tail_tokens = room - limits.head_tokens;
    return limits;
  }

  absl::Status Take(const std::vector<int64_t>& tokens, QuestionRow row) {
    num_tokens_ += static_cast<int64_t>(tokens.size());
    if (num_tokens_ > kMaxQuestionTokens) {
      return absl::ResourceExhaustedError(absl::StrCat(
          options_.field, ": the questions have more than ", kMaxQuestionTokens,
          " tokens: split the file, or lower max_questions or max_tokens"));
    }
    row.tokens.assign(tokens.begin(), tokens.end());
    made_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  static std::string Name(const TextQuestion& question) {
    return absl::StrCat("question '", question.id, "'");
  }

  const tokenizers::TextTokenizer& tokenizer_;
  const QuestionRowOptions& options_;
  const TextQuestions& questions_;
  const bool of_choices_;
  std::optional<int64_t> begin_;
  QuestionRows made_;
  int64_t num_tokens_ = 0;
};

}  // namespace

absl::StatusOr<QuestionRows> MakeQuestionRows(
    const tokenizers::TextTokenizer& tokenizer,
    const QuestionRowOptions& options, TextQuestions* questions) {
  RowMaker maker(tokenizer, options, *questions);
  for (size_t index = 0; index < questions->items.size(); ++index) {
    ORDO_RETURN_IF_ERROR(options.keep_going());
    ORDO_RETURN_IF_ERROR(maker.Add(index));
    std::string().swap(questions->items[index].prompt);
  }
  return maker.Finish();
}

}  // namespace ordo::model::text::task
