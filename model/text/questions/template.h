#ifndef ORDO_MODEL_TEXT_QUESTIONS_TEMPLATE_H_
#define ORDO_MODEL_TEXT_QUESTIONS_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::questions {

// Text with the fields of an item in it: "Question: {question}\nAnswer:". Two
// braces stand for one. Immutable, thread-safe.
class Template {
 public:
  // Nothing.
  Template() = default;

  // INVALID_ARGUMENT, with what is wrong and the fix: a brace stands alone, or
  // a name is empty.
  static absl::StatusOr<Template> Parse(std::string_view text);

  // The text with the fields of `item`, an object: strings as they stand,
  // numbers and booleans as JSON has them. INVALID_ARGUMENT with the field: it
  // is missing (the nearest one is named) or holds something else.
  absl::StatusOr<std::string> Fill(const nlohmann::json& item) const;

  // The value of the field, where the text is nothing but one that `item` has;
  // otherwise null.
  const nlohmann::json* OnlyValue(const nlohmann::json& item) const;

 private:
  struct Part {
    bool is_field = false;
    // The field's name, or the text.
    std::string text;
  };
  std::vector<Part> parts_;
};

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_TEMPLATE_H_
