#include "model/catalog/lengths.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/catalog/fields.h"

namespace ordo::model::catalog {
namespace {

using google::protobuf::Value;
using ordo::training::v1::Data;
using Violations = std::vector<base::FieldViolation>;

constexpr int64_t kMaxMultiple = 1'000'000;

// 2 of "2x".
std::optional<int64_t> MultipleOf(const Value& value) {
  absl::string_view text = value.string_value();
  int64_t multiple = 0;
  if (text.empty() || text.back() != 'x' ||
      !absl::SimpleAtoi(text.substr(0, text.size() - 1), &multiple) ||
      multiple < 1 || multiple > kMaxMultiple ||
      absl::StrCat(multiple, "x") != text) {
    return std::nullopt;
  }
  return multiple;
}

// The list of a task that has lengths; null: there is none.
const google::protobuf::ListValue* ListOf(const Entry& task,
                                          const ParamMap& params) {
  if (task.evaluation.length.trained_task.empty()) return nullptr;
  const auto found = params.find(kLengths);
  if (found == params.end() || !found->second.has_list_value()) return nullptr;
  return &found->second.list_value();
}

std::string PathOf(std::string_view field, int i) {
  return absl::StrCat(FieldPath(field, "params.lengths"), "[", i, "]");
}

// What is wrong with a number as a length of the task, or empty.
std::string WrongNumber(const Entry& task, double number) {
  if (number != std::floor(number)) {
    return absl::StrCat("must be an integer, is ", number);
  }
  for (const std::string& name : task.evaluation.length.params) {
    const Param* param = FindParam(task, name);
    if ((param->min.has_value() && number < *param->min) ||
        (param->max.has_value() && number > *param->max)) {
      return absl::StrCat("must be ", RangeText(*param), ", as ", name, ", is ",
                          number);
    }
  }
  return "";
}

// What cuts rows of the task does so no sooner than at its usual length.
void RaiseLimit(const Entry& task, int64_t length, ParamMap* params) {
  const LengthAxis& axis = task.evaluation.length;
  if (axis.limit_param.empty()) return;
  const Params given(*params);
  const auto usual = static_cast<double>(given.Integer(axis.params.front()));
  const auto limit = static_cast<double>(given.Integer(axis.limit_param));
  const double ratio = std::max(1.0, static_cast<double>(length) / usual);
  (*params)[axis.limit_param].set_number_value(std::min(
      std::ceil(limit * ratio), *FindParam(task, axis.limit_param)->max));
}

// Why there is no trained length.
std::string NotTrained(const Entry& task, const Data& trained_on) {
  return absl::StrCat(
      "is of the trained length, and the model was trained on ",
      trained_on.task().empty() ? "what is not known" : trained_on.task(),
      ", not on ", task.evaluation.length.trained_task,
      "; give the length itself");
}

}  // namespace

int64_t TrainedLength(const Entry& task, const Data* trained_on) {
  const LengthAxis& axis = task.evaluation.length;
  if (trained_on == nullptr || axis.trained_task.empty() ||
      trained_on->task() != axis.trained_task) {
    return 0;
  }
  return Params(trained_on->params()).Integer(axis.trained_param);
}

void ResolveLengths(const AskedLengths& asked, ParamMap* params,
                    Violations* violations) {
  const auto& [task, field, trained_on] = asked;
  const google::protobuf::ListValue* given = ListOf(task, *params);
  if (given == nullptr) return;
  // Otherwise the task checks the numbers itself.
  const bool checks = !task.evaluation.length.params.empty();
  if (checks && given->values_size() > kMaxLengths) {
    violations->push_back({FieldPath(field, "params.lengths"),
                           absl::StrCat("has ", given->values_size(),
                                        " lengths; at most ", kMaxLengths)});
    return;
  }
  const int64_t trained = TrainedLength(task, trained_on);
  google::protobuf::ListValue resolved = *given;
  std::set<std::string> seen;
  for (int i = 0; i < resolved.values_size(); ++i) {
    Value& value = *resolved.mutable_values(i);
    const auto multiple = MultipleOf(value);
    std::string text = value.string_value();
    std::string wrong;
    if (multiple && trained > 0) {
      value.set_number_value(static_cast<double>(*multiple * trained));
    } else if (multiple && trained_on != nullptr) {
      wrong = absl::StrCat("'", text, "' ", NotTrained(task, *trained_on));
    }
    if (checks && value.has_number_value()) {
      text = absl::StrCat(value.number_value());
      wrong = WrongNumber(task, value.number_value());
    }
    if (checks && wrong.empty() && !seen.insert(text).second) {
      wrong = absl::StrCat(text, " is there twice");
    }
    if (!wrong.empty()) violations->push_back({PathOf(field, i), wrong});
  }
  *(*params)[kLengths].mutable_list_value() = std::move(resolved);
}

std::vector<int64_t> LengthsOf(const Entry& task, const ParamMap& params) {
  std::vector<int64_t> lengths;
  const google::protobuf::ListValue* list = ListOf(task, params);
  if (list == nullptr) return lengths;
  for (const Value& value : list->values()) {
    if (!value.has_number_value()) continue;
    lengths.push_back(static_cast<int64_t>(value.number_value()));
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

void RefuseMultiples(const Entry& task, std::string_view field,
                     const ParamMap& params, Violations* violations) {
  const google::protobuf::ListValue* list = ListOf(task, params);
  if (list == nullptr) return;
  for (int i = 0; i < list->values_size(); ++i) {
    if (!list->values(i).has_string_value()) continue;
    violations->push_back(
        {PathOf(field, i), absl::StrCat("'", list->values(i).string_value(),
                                        "' ", NotTrained(task, Data()))});
    return;
  }
}

ParamMap AtLength(const Entry& task, ParamMap params, int64_t length) {
  RaiseLimit(task, length, &params);
  for (const std::string& name : task.evaluation.length.params) {
    params[name].set_number_value(static_cast<double>(length));
  }
  return params;
}

int64_t LongestRow(const Entry& task, const ParamMap& params) {
  const std::vector<int64_t> lengths = LengthsOf(task, params);
  if (lengths.empty()) return task.row_length(params);
  int64_t longest = 0;
  for (const int64_t length : lengths) {
    longest =
        std::max(longest, task.row_length(AtLength(task, params, length)));
  }
  return longest;
}

int64_t ItemsPerSample(const Entry& task, const ParamMap& params) {
  if (FindParam(task, "samples") == nullptr) return 0;
  const auto items = [&task](const ParamMap& of_length) {
    return task.evaluation.items_per_sample == nullptr
               ? 1
               : task.evaluation.items_per_sample(of_length);
  };
  if (task.evaluation.length.params.empty()) return items(params);
  const std::vector<int64_t> lengths = LengthsOf(task, params);
  if (lengths.empty()) return items(params);
  int64_t sum = 0;
  for (const int64_t length : lengths) {
    sum += items(AtLength(task, params, length));
  }
  return sum;
}

}  // namespace ordo::model::catalog
