#include "model/text/questions/questions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "model/text/questions/layouts.h"

namespace ordo::model::text::questions {

const char* NameOf(Metric metric) {
  return MetricNames()[static_cast<size_t>(metric)].c_str();
}

std::optional<Metric> MetricOf(std::string_view name) {
  const std::vector<std::string>& names = MetricNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Metric>(found - names.begin());
}

bool IsOfChoices(Metric metric) {
  return metric == Metric::kAccuracy || metric == Metric::kAccuracyPerCharacter;
}

std::string JoinPrompt(const PromptParts& parts) {
  std::string prompt = parts.description;
  for (const std::string& example : parts.examples) {
    prompt.append(example).append(parts.separator);
  }
  return prompt.append(parts.question);
}

absl::Status CheckChoices(std::string_view field,
                          const std::vector<std::string>& choices) {
  if (choices.size() < 2) {
    return base::InvalidField(field, "must be at least two");
  }
  std::set<std::string> seen;
  for (const std::string& choice : choices) {
    if (choice.empty()) {
      return base::InvalidField(field, "one is empty: give it a text");
    }
    if (!seen.insert(choice).second) {
      return base::InvalidField(
          field, absl::StrCat("'", choice, "' is there twice: take one out"));
    }
  }
  return absl::OkStatus();
}

absl::Status AddQuestion(const std::string& path, TextQuestion question,
                         TextQuestions* questions) {
  if (questions->items.size() >= kMaxQuestions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("read ", path, ": it has more than ", kMaxQuestions,
                     " questions: split it"));
  }
  questions->items.push_back(std::move(question));
  return absl::OkStatus();
}

AnswerLimits LimitsWithin(AnswerLimits limits, size_t room) {
  if (limits.head_tokens + limits.tail_tokens <= room) return limits;
  limits.tail_tokens = std::min(limits.tail_tokens, room);
  limits.head_tokens = room - limits.tail_tokens;
  return limits;
}

std::vector<int64_t> CutPrompt(const AnswerLimits& limits,
                               std::vector<int64_t> tokens) {
  const size_t kept = limits.head_tokens + limits.tail_tokens;
  if (kept == 0 || tokens.size() <= kept) return tokens;
  const auto head = tokens.begin() + static_cast<int64_t>(limits.head_tokens);
  const auto tail = tokens.end() - static_cast<int64_t>(limits.tail_tokens);
  tokens.erase(head, tail);
  return tokens;
}

std::string_view CutAtStops(const std::vector<std::string>& stops,
                            std::string_view answer) {
  size_t end = answer.size();
  for (const std::string& stop : stops) {
    end = std::min(end, answer.find(stop));
  }
  return answer.substr(0, end);
}

}  // namespace ordo::model::text::questions
