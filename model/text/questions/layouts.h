#ifndef ORDO_MODEL_TEXT_QUESTIONS_LAYOUTS_H_
#define ORDO_MODEL_TEXT_QUESTIONS_LAYOUTS_H_

#include <string>
#include <string_view>
#include <vector>

// What the files of questions look like, for people whose file is missing,
// empty or another. Free of everything else: the scheduler says it too.

namespace ordo::model::text::questions {

// What each line of a file of that format is: "own", "mmlu", "arc", or any set
// of SCROLLS.
inline const char* LineLayout(std::string_view format) {
  if (format == "own") {
    return "an item, and the first {\"prompt\": ..., \"metric\": ..., ...}";
  }
  if (format == "mmlu") {
    return R"({"question": "...", "subject": "...", "choices": [four], )"
           R"("answer": 0 to 3}, as cais/mmlu has them)";
  }
  if (format == "arc") {
    return R"({"id": "...", "question": "...", "choices": {"text": [...], )"
           R"("label": [...]}, "answerKey": "..."}, as allenai/ai2_arc has )"
           R"(them)";
  }
  return R"({"id": "...", "input": "...", "output": "..."}, as tau/scrolls )"
         R"(has them)";
}

// All fields that the first line of a file of format "own" may have.
inline const std::vector<std::string>& FirstLineFields() {
  static const auto& fields = *new std::vector<std::string>{
      "prompt",   "metric",   "target",      "choices",   "answer",
      "examples", "few_shot", "description", "delimiter", "separator",
      "id",       "unit",     "group",       "stop",      "max_answer_tokens"};
  return fields;
}

// The values of `metric` in that line, in the order of Metric.
inline const std::vector<std::string>& MetricNames() {
  static const auto& names = *new std::vector<std::string>{
      "exact_match", "f1", "rouge", "acc", "acc_norm"};
  return names;
}

// The fields without which the first line of a file of that format is wrong.
inline std::vector<std::string> NeededFields(std::string_view format) {
  if (format == "own") return {"prompt", "metric"};
  if (format == "mmlu") return {"subject", "question", "choices", "answer"};
  if (format == "arc") return {"id", "question", "choices", "answerKey"};
  return {"id", "input", "output"};
}

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_LAYOUTS_H_
