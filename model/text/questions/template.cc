#include "model/text/questions/template.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "model/text/questions/object_lines.h"

namespace ordo::model::text::questions {

absl::StatusOr<Template> Template::Parse(std::string_view text) {
  Template result;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) result.parts_.push_back({false, literal});
    literal.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool opens = rest[0] == '{';
    if (!opens && rest[0] != '}') {
      literal.push_back(rest[0]);
      ++at;
      continue;
    }
    if (rest.size() > 1 && rest[1] == rest[0]) {
      literal.push_back(rest[0]);
      at += 2;
      continue;
    }
    const size_t end = rest.find_first_of("{}", 1);
    if (!opens || end == std::string_view::npos || rest[end] != '}') {
      return absl::InvalidArgumentError(absl::StrCat(
          "the '", std::string(rest.substr(0, 1)), "' at byte ", at,
          " has no other half: write {{ or }} for the character itself"));
    }
    if (end == 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the {} at byte ", at, " names no field: write {name}"));
    }
    end_literal();
    result.parts_.push_back({true, std::string(rest.substr(1, end - 1))});
    at += end + 1;
  }
  end_literal();
  return result;
}

absl::StatusOr<std::string> Template::Fill(const Json& item) const {
  std::string text;
  for (const Part& part : parts_) {
    if (!part.is_field) {
      text.append(part.text);
      continue;
    }
    const auto value = item.find(part.text);
    if (value == item.end()) {
      return base::InvalidField(part.text, NoField(item, part.text));
    }
    if (value->is_string()) {
      text.append(value->get_ref<const std::string&>());
    } else if (value->is_number() || value->is_boolean()) {
      text.append(value->dump());
    } else {
      return base::InvalidField(part.text,
                                "must be a string, a number or a boolean");
    }
  }
  return text;
}

const Json* Template::OnlyValue(const Json& item) const {
  if (parts_.size() != 1 || !parts_[0].is_field) return nullptr;
  const auto value = item.find(parts_[0].text);
  return value == item.end() ? nullptr : &*value;
}

}  // namespace ordo::model::text::questions
