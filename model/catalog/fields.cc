#include "model/catalog/fields.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/text/nearest.h"

namespace ordo::model::catalog {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* Descriptor(const Message& message,
                                  const std::string& name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  ORDO_CHECK(field != nullptr) << message.GetTypeName() << " has no " << name;
  return field;
}

double GetNumber(const Message& message, const FieldDescriptor* field) {
  const auto* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetDouble(message, field);
    default:
      ORDO_CHECK(false) << field->full_name() << " is not a number";
  }
  return 0;
}

void SetNumber(double value, const FieldDescriptor* field, Message* message) {
  const auto* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      reflection->SetInt32(message, field, static_cast<int32_t>(value));
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      reflection->SetInt64(message, field, static_cast<int64_t>(value));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection->SetDouble(message, field, value);
      return;
    default:
      ORDO_CHECK(false) << field->full_name() << " is not a number";
  }
}

// Whole numbers in full, as far as a double has them.
std::string NumberText(double number) {
  constexpr double kMaxWhole = int64_t{1} << 53;
  const bool whole =
      std::abs(number) <= kMaxWhole && std::floor(number) == number;
  return whole ? absl::StrFormat("%.0f", number)
               : absl::StrFormat("%.12g", number);
}

// "1..256", or "> 0 and <= 0.1" where a bound is not valid itself.
std::string RangeText(const NumberField& field) {
  if (!field.open_min && !field.open_max) {
    return absl::StrCat(NumberText(field.min), "..", NumberText(field.max));
  }
  return absl::StrCat(field.open_min ? "> " : ">= ", NumberText(field.min),
                      " and ",
                      field.open_max ? "< " : "<= ", NumberText(field.max));
}

// Written so that NaN is not in any range.
bool InRange(const NumberField& field, double value) {
  const bool above = field.open_min ? value > field.min : value >= field.min;
  const bool below = field.open_max ? value < field.max : value <= field.max;
  return above && below;
}

}  // namespace

std::string FieldPath(std::string_view path, std::string_view name) {
  std::string joined(path);
  if (!joined.empty()) joined += ".";
  return joined.append(name);
}

bool ResolveNumber(const NumberField& field, std::string_view path,
                   Message* message, Violations* violations) {
  const FieldDescriptor* descriptor = Descriptor(*message, field.name);
  if (!message->GetReflection()->HasField(*message, descriptor)) {
    if (field.default_value.has_value()) {
      SetNumber(*field.default_value, descriptor, message);
      return true;
    }
    violations->push_back({FieldPath(path, field.name),
                           absl::StrCat("required; ", RangeText(field))});
    return false;
  }
  const double value = GetNumber(*message, descriptor);
  if (InRange(field, value)) return true;
  violations->push_back(
      {FieldPath(path, field.name),
       absl::StrCat("must be ", RangeText(field), ", is ", NumberText(value))});
  return false;
}

bool ResolveRequest(const NumberField& field, std::string_view path,
                    Message* message, Violations* violations) {
  if (!ResolveNumber(field, path, message, violations)) return false;
  const FieldDescriptor* descriptor = Descriptor(*message, field.name);
  if (GetNumber(*message, descriptor) == *field.default_value) {
    message->GetReflection()->ClearField(message, descriptor);
  }
  return true;
}

bool ResolveChoice(const ChoiceField& field, std::string_view path,
                   Message* message, Violations* violations) {
  const FieldDescriptor* descriptor = Descriptor(*message, field.name);
  const auto* reflection = message->GetReflection();
  const std::string value = reflection->GetString(*message, descriptor);
  if (value.empty()) {
    reflection->SetString(message, descriptor, field.choices.front());
    return true;
  }
  const auto& choices = field.choices;
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return true;
  }
  const std::string nearest = value == field.synonym.first
                                  ? field.synonym.second
                                  : base::Nearest(value, choices);
  violations->push_back(
      {FieldPath(path, field.name),
       absl::StrCat("must be one of ", absl::StrJoin(choices, ", "), ", is '",
                    value, "'",
                    nearest.empty()
                        ? ""
                        : absl::StrCat("; did you mean '", nearest, "'?"))});
  return false;
}

bool ResolveNumbers(const std::vector<NumberField>& fields,
                    std::string_view path, google::protobuf::Message* message,
                    Violations* violations) {
  bool valid = true;
  for (const NumberField& field : fields) {
    valid = ResolveNumber(field, path, message, violations) && valid;
  }
  return valid;
}

bool IsId(std::string_view text) {
  if (text.empty() || text.size() > kMaxIdLength) return false;
  if (!absl::ascii_islower(text.front()) || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

std::string IdRule() {
  return absl::StrCat(
      "lower-case letters, digits and '-', starting with a letter, not ending "
      "with '-', at most ",
      kMaxIdLength, " characters");
}

}  // namespace ordo::model::catalog
