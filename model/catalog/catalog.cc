#include "model/catalog/catalog.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/text/nearest.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"
#include "model/catalog/pairs.h"

namespace ordo::model::catalog {
namespace {

using ::google::protobuf::Value;
using ::ordo::training::v1::Component;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMaxParams = 64;
constexpr int kMaxNumbers = 4096;
constexpr int kMaxStrings = 256;
// Largest integer that every JSON number keeps exactly.
constexpr double kMaxInteger = 9007199254740992.0;

std::string Path(std::string_view field, std::string_view name) {
  std::string path(field);
  if (!path.empty()) path += ".";
  return path.append(name);
}

std::string NumberText(double number) {
  if (number == std::floor(number) && std::abs(number) < kMaxInteger) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  return absl::StrCat(number);
}

std::string_view ValueTypeName(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return "a number";
    case Value::kBoolValue:
      return "a bool";
    case Value::kStringValue:
      return "a string";
    case Value::kListValue:
      return "a list";
    case Value::kStructValue:
      return "a map";
    default:
      return "null";
  }
}

// What is wrong with one number, or empty.
std::string CheckNumber(const Param& param, double number) {
  if (!std::isfinite(number)) return "must be finite";
  if (param.type == ParamType::kInteger &&
      (number != std::floor(number) || std::abs(number) > kMaxInteger)) {
    return absl::StrCat("must be an integer, is ", NumberText(number));
  }
  if ((param.min.has_value() && number < *param.min) ||
      (param.max.has_value() && number > *param.max)) {
    return absl::StrCat("must be ", RangeText(param), ", is ",
                        NumberText(number));
  }
  return "";
}

std::string CheckNumbers(const Param& param,
                         const google::protobuf::ListValue& list) {
  if (list.values_size() > kMaxNumbers) {
    return absl::StrCat("has ", list.values_size(), " numbers; at most ",
                        kMaxNumbers);
  }
  for (int i = 0; i < list.values_size(); ++i) {
    const Value& element = list.values(i);
    std::string wrong = element.has_number_value()
                            ? CheckNumber(param, element.number_value())
                            : "must be a number";
    if (!wrong.empty()) return absl::StrCat("element ", i, " ", wrong);
  }
  return "";
}

std::string CheckStrings(const google::protobuf::ListValue& list) {
  if (list.values_size() > kMaxStrings) {
    return absl::StrCat("has ", list.values_size(), " strings; at most ",
                        kMaxStrings);
  }
  for (int i = 0; i < list.values_size(); ++i) {
    if (!list.values(i).has_string_value()) {
      return absl::StrCat("element ", i, " must be a string, is ",
                          std::string(ValueTypeName(list.values(i))));
    }
  }
  return "";
}

// What multiples stand for is for lengths.h.
std::string CheckLengths(const Param& param,
                         const google::protobuf::ListValue& list) {
  if (list.values_size() > kMaxNumbers) {
    return absl::StrCat("has ", list.values_size(), " numbers; at most ",
                        kMaxNumbers);
  }
  for (int i = 0; i < list.values_size(); ++i) {
    const Value& element = list.values(i);
    const std::string& text = element.string_value();
    const bool is_multiple =
        text.size() > 1 && text.size() < 8 && text.back() == 'x' &&
        text.front() != '0' &&
        std::all_of(text.begin(), text.end() - 1,
                    [](unsigned char c) { return absl::ascii_isdigit(c); });
    if (is_multiple) continue;
    const std::string wrong =
        element.has_number_value()
            ? CheckNumber(param, element.number_value())
            : "must be a number, or a multiple of the trained length such as "
              "2x";
    if (!wrong.empty()) return absl::StrCat("element ", i, " ", wrong);
  }
  return "";
}

std::string CheckString(const Param& param, const std::string& text) {
  if (param.choices.empty() ||
      std::count(param.choices.begin(), param.choices.end(), text) > 0) {
    return "";
  }
  const std::string nearest = base::Nearest(text, param.choices);
  return absl::StrCat(
      "'", text, "' is not one of ", absl::StrJoin(param.choices, ", "),
      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"));
}

// What is wrong with a value, or empty.
std::string CheckValue(const Param& param, const Value& value) {
  switch (param.type) {
    case ParamType::kInteger:
    case ParamType::kNumber:
      if (!value.has_number_value()) break;
      return CheckNumber(param, value.number_value());
    case ParamType::kBool:
      if (!value.has_bool_value()) break;
      return "";
    case ParamType::kString:
      if (!value.has_string_value()) break;
      return CheckString(param, value.string_value());
    case ParamType::kNumbers:
      if (!value.has_list_value()) break;
      return CheckNumbers(param, value.list_value());
    case ParamType::kStrings:
      if (!value.has_list_value()) break;
      return CheckStrings(value.list_value());
    case ParamType::kLengths:
      if (!value.has_list_value()) break;
      return CheckLengths(param, value.list_value());
  }
  return absl::StrCat("must be of type ", std::string(TypeName(param.type)),
                      param.type == ParamType::kLengths
                          ? ", such as [1x, 2x] or [20, 40], is "
                          : ", is ",
                      std::string(ValueTypeName(value)));
}

std::vector<std::string> ParamNames(const Entry& entry) {
  std::vector<std::string> names;
  for (const Param& param : entry.params) names.push_back(param.name);
  return names;
}

std::vector<std::string> TasksWithLengths() {
  std::vector<std::string> names;
  for (const Entry* entry : EntriesOf(Kind::kEvaluationTask)) {
    if (entry->evaluation.length.trained_task.empty()) continue;
    names.push_back(entry->name);
  }
  return names;
}

// Parameters that say how far the cells of a grid go; none of other tasks.
std::vector<std::string> SidesOfGrid(const Entry& entry) {
  std::vector<std::string> names;
  if (!absl::EndsWith(entry.name, "_grid")) return names;
  for (const Param& param : entry.params) {
    if (absl::StartsWith(param.name, "max_")) names.push_back(param.name);
  }
  return names;
}

// How an evaluation task without the parameter `lengths` asks its lengths.
std::string SuggestLengths(const Entry& task) {
  const std::vector<std::string> sides = SidesOfGrid(task);
  if (sides.empty()) {
    return absl::StrCat(
        "; its questions have no length to vary: leave it out, "
        "or take one of ",
        absl::StrJoin(TasksWithLengths(), ", "));
  }
  return absl::StrCat("; its lengths are the cells of its grid, each asked ",
                      "apart: leave it out, and set ",
                      absl::StrJoin(sides, " and "), " to how far they go");
}

// How a complaint ends about a parameter that an entry lacks: the nearest of
// its own, or, where few others have one of that name, who does.
std::string SuggestParam(const Entry& entry, const std::string& name) {
  constexpr size_t kFew = 4;
  if (entry.kind == Kind::kEvaluationTask && name == "lengths") {
    return SuggestLengths(entry);
  }
  const std::vector<std::string> own = ParamNames(entry);
  std::vector<std::string> others;
  for (const Entry* other : EntriesOf(entry.kind)) {
    if (FindParam(*other, name) != nullptr) others.push_back(other->name);
  }
  if (base::Nearest(name, own).empty() && !others.empty() &&
      others.size() <= kFew) {
    return absl::StrCat("; it is one of ", absl::StrJoin(others, ", "),
                        ": leave it out or take that ",
                        std::string(KindName(entry.kind)));
  }
  return own.empty() ? ", which takes none" : base::SuggestName(name, own);
}

// The same of what may not be `with` an entry: a name that nothing has is one
// that was mistyped.
std::string SuggestWith(const Entry& entry, const std::string& name) {
  return !name.empty() && Find(entry.kind, name) == nullptr
             ? base::SuggestName(name, entry.with)
             : "; possible: " + absl::StrJoin(entry.with, ", ");
}

void ResolveTree(Kind kind, std::string_view field,
                 ordo::training::v1::Component* component,
                 Violations* violations);

void ResolveWith(const Entry& entry, const std::string& field,
                 ordo::training::v1::Component* component,
                 Violations* violations) {
  if (component->with_size() > entry.max_with) {
    std::vector<std::string> given;
    for (const auto& other : component->with()) {
      given.push_back(absl::StrCat("'", other.name(), "'"));
    }
    const std::string names = absl::StrJoin(given, " and ");
    violations->push_back(
        {Path(field, "with"),
         entry.max_with == 0
             ? absl::StrCat(entry.name, " cannot be combined with ", names,
                            "; it takes no others")
             : absl::StrCat(entry.name, " takes at most ", entry.max_with,
                            ", not ", names,
                            "; possible: ", absl::StrJoin(entry.with, ", "))});
    return;
  }
  if (component->with_size() < entry.min_with) {
    violations->push_back(
        {Path(field, "with"),
         absl::StrCat(entry.name, " needs at least ", entry.min_with,
                      " of: ", absl::StrJoin(entry.with, ", "))});
  }
  for (int i = 0; i < component->with_size(); ++i) {
    ordo::training::v1::Component* other = component->mutable_with(i);
    const std::string path = absl::StrCat(Path(field, "with"), "[", i, "]");
    if (std::count(entry.with.begin(), entry.with.end(), other->name()) == 0) {
      violations->push_back(
          {Path(path, "name"),
           absl::StrCat(entry.name, " cannot be combined with '", other->name(),
                        "'", SuggestWith(entry, other->name()))});
      continue;
    }
    ResolveTree(entry.kind, path, other, violations);
  }
}

void ResolveTree(Kind kind, std::string_view field,
                 ordo::training::v1::Component* component,
                 Violations* violations) {
  const Entry* entry =
      ResolveName(kind, Path(field, "name"), component->name(), violations);
  if (entry == nullptr) return;
  ResolveParams(*entry, field, component->mutable_params(), violations);
  ResolveWith(*entry, std::string(field), component, violations);
}

const EncodingTraits& TraitsOf(const Component& encoding) {
  const Entry* entry = Find(Kind::kEncoding, encoding.name());
  ORDO_CHECK(entry != nullptr) << encoding.name() << " not resolved";
  return entry->encoding;
}

// The least of what a trait says of an encoding and of those `with` it; 0: it
// says nothing of any.
int64_t Least(const Component& encoding, LengthLimit EncodingTraits::*trait) {
  const LengthLimit of = TraitsOf(encoding).*trait;
  int64_t least = of == nullptr ? 0 : of(encoding);
  for (const Component& other : encoding.with()) {
    const int64_t theirs = Least(other, trait);
    if (theirs > 0 && (least == 0 || theirs < least)) least = theirs;
  }
  return least;
}

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kEncoding:
      return "encoding";
    case Kind::kTrainingTask:
      return "training task";
    case Kind::kEvaluationTask:
      return "evaluation task";
  }
  return "";
}

std::string_view ItemScoresText(ItemScores scores) {
  switch (scores) {
    case ItemScores::kRightOrWrong:
      return "right or wrong, 1 or 0";
    case ItemScores::kShares:
      return "the share that is right, 0 to 1";
    case ItemScores::kLogLikelihoods:
      return "ln p for each token, at most 0";
    case ItemScores::kNone:
      return "none";
  }
  return "";
}

double ScoreRange(ItemScores scores) {
  return scores == ItemScores::kLogLikelihoods
             ? std::numeric_limits<double>::infinity()
             : 1;
}

std::string_view TypeName(ParamType type) {
  switch (type) {
    case ParamType::kInteger:
      return "integer";
    case ParamType::kNumber:
      return "number";
    case ParamType::kBool:
      return "bool";
    case ParamType::kString:
      return "string";
    case ParamType::kNumbers:
      return "list of numbers";
    case ParamType::kStrings:
      return "list of strings";
    case ParamType::kLengths:
      return "list of lengths";
  }
  return "";
}

const std::vector<Entry>& Entries() {
  static const auto* const entries = [] {
    auto* sorted = new std::vector<Entry>(AllEntries());
    std::sort(sorted->begin(), sorted->end(),
              [](const Entry& a, const Entry& b) {
                return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
              });
    return sorted;
  }();
  return *entries;
}

std::vector<const Entry*> EntriesOf(Kind kind) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : Entries()) {
    if (entry.kind == kind) entries.push_back(&entry);
  }
  return entries;
}

const Entry* Find(Kind kind, std::string_view name) {
  for (const Entry& entry : Entries()) {
    if (entry.kind == kind && entry.name == name) return &entry;
  }
  return nullptr;
}

const Param* FindParam(const Entry& entry, std::string_view name) {
  for (const Param& param : entry.params) {
    if (param.name == name) return &param;
  }
  return nullptr;
}

int VocabularyOf(const Entry& task, const ParamMap& params) {
  return task.vocabulary_of == nullptr ? task.vocabulary_size
                                       : task.vocabulary_of(params);
}

google::protobuf::Value DefaultValue(const Param& param) {
  Value value;
  switch (param.type) {
    case ParamType::kInteger:
      value.set_number_value(
          static_cast<double>(std::get<int64_t>(param.default_value)));
      break;
    case ParamType::kNumber:
      value.set_number_value(std::get<double>(param.default_value));
      break;
    case ParamType::kBool:
      value.set_bool_value(std::get<bool>(param.default_value));
      break;
    case ParamType::kString:
      value.set_string_value(std::get<std::string>(param.default_value));
      break;
    case ParamType::kLengths:
    case ParamType::kNumbers: {
      auto* list = value.mutable_list_value();
      for (double x : std::get<std::vector<double>>(param.default_value)) {
        list->add_values()->set_number_value(x);
      }
      break;
    }
    case ParamType::kStrings: {
      auto* list = value.mutable_list_value();
      for (const std::string& text :
           std::get<std::vector<std::string>>(param.default_value)) {
        list->add_values()->set_string_value(text);
      }
      break;
    }
  }
  return value;
}

std::string RangeText(const Param& param) {
  if (!param.choices.empty()) return absl::StrJoin(param.choices, " | ");
  if (param.min.has_value() && param.max.has_value()) {
    return absl::StrCat(NumberText(*param.min), "..", NumberText(*param.max));
  }
  if (param.min.has_value()) return absl::StrCat(">= ", NumberText(*param.min));
  if (param.max.has_value()) return absl::StrCat("<= ", NumberText(*param.max));
  return "";
}

void ResolveParams(const Entry& entry, std::string_view field, ParamMap* params,
                   Violations* violations) {
  const std::string path = Path(field, "params");
  if (params->size() > kMaxParams) {
    violations->push_back(
        {path, absl::StrCat("has ", params->size(), " entries; at most ",
                            kMaxParams)});
    return;
  }
  const size_t num_before = violations->size();
  std::vector<std::string> names;
  for (const auto& [name, value] : *params) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const Param* param = FindParam(entry, name);
    if (param == nullptr) {
      violations->push_back(
          {Path(path, name),
           absl::StrCat("no such parameter of ",
                        std::string(KindName(entry.kind)), " ", entry.name,
                        SuggestParam(entry, name))});
      continue;
    }
    const std::string wrong = CheckValue(*param, params->at(name));
    if (!wrong.empty()) violations->push_back({Path(path, name), wrong});
  }
  for (const Param& param : entry.params) {
    if (param.filled_in && params->count(param.name) == 0) {
      (*params)[param.name] = DefaultValue(param);
    }
  }
  if (entry.check_params != nullptr && violations->size() == num_before) {
    entry.check_params(field, *params, violations);
  }
}

const Entry* ResolveName(Kind kind, std::string_view field,
                         std::string_view name, Violations* violations) {
  const Entry* entry = Find(kind, name);
  if (entry != nullptr) return entry;
  std::vector<std::string> names;
  for (const Entry* other : EntriesOf(kind)) names.push_back(other->name);
  const std::string kind_name(KindName(kind));
  violations->push_back(
      {std::string(field),
       name.empty()
           ? absl::StrCat("must name one of: ", absl::StrJoin(names, ", "))
           : absl::StrCat("no ", kind_name, " is called '", std::string(name),
                          "'", base::SuggestName(name, names))});
  return nullptr;
}

void ResolveComponent(Kind kind, std::string_view field,
                      ordo::training::v1::Component* component,
                      Violations* violations) {
  const size_t before = violations->size();
  ResolveTree(kind, field, component, violations);
  if (kind == Kind::kEncoding && violations->size() == before) {
    CheckPairs(field, *component, violations);
  }
}

void CheckShape(std::string_view field, const Component& encoding,
                const ModelShape& shape, Violations* violations) {
  const EncodingTraits& traits = TraitsOf(encoding);
  if (traits.causal_only && !shape.causal) {
    violations->push_back(
        {Path(field, "name"),
         absl::StrCat(encoding.name(),
                      " is defined under a causal mask only; leave out "
                      "model.causal or take another encoding")});
  }
  if (traits.check_shape != nullptr) {
    traits.check_shape(field, encoding, shape, violations);
  }
  for (int i = 0; i < encoding.with_size(); ++i) {
    CheckShape(absl::StrCat(Path(field, "with"), "[", i, "]"), encoding.with(i),
               shape, violations);
  }
}

int64_t CountParameters(const Component& encoding, const ModelShape& shape) {
  const EncodingTraits& traits = TraitsOf(encoding);
  int64_t count = traits.count_parameters == nullptr
                      ? 0
                      : traits.count_parameters(encoding, shape);
  if (!traits.sums_with) return count;
  for (const Component& other : encoding.with()) {
    count += CountParameters(other, shape);
  }
  return count;
}

ExtraCost CountCost(const Component& encoding, const ModelShape& shape,
                    const CostQuery& query) {
  const EncodingTraits& traits = TraitsOf(encoding);
  ExtraCost cost = traits.count_cost(encoding, shape, query);
  if (!traits.sums_with) return cost;
  CostQuery beside = query;
  beside.turned = query.turned || traits.rotates;
  for (const Component& other : encoding.with()) {
    cost = Sum(cost, CountCost(other, shape, beside));
  }
  return cost;
}

int64_t MaxLength(const Component& encoding) {
  return Least(encoding, &EncodingTraits::limit_length);
}

int64_t SteadyLength(const Component& encoding) {
  return Least(encoding, &EncodingTraits::steady_length);
}

const Value& Params::Get(const std::string& name) const {
  const auto found = map_.find(name);
  ORDO_CHECK(found != map_.end()) << "parameter " << name << " not resolved";
  return found->second;
}

bool IsRelative(const Component& encoding) {
  const EncodingTraits& traits = TraitsOf(encoding);
  const bool relative = traits.is_relative == nullptr
                            ? traits.relative
                            : traits.is_relative(encoding);
  return relative &&
         std::all_of(encoding.with().begin(), encoding.with().end(),
                     [](const Component& other) { return IsRelative(other); });
}

std::string NeedsOrderedPositions(const Component& encoding) {
  if (TraitsOf(encoding).ordered_positions) return encoding.name();
  for (const Component& other : encoding.with()) {
    std::string name = NeedsOrderedPositions(other);
    if (!name.empty()) return name;
  }
  return "";
}

bool Params::Has(const std::string& name) const { return map_.count(name) > 0; }

int64_t Params::Integer(const std::string& name) const {
  return static_cast<int64_t>(Number(name));
}

double Params::Number(const std::string& name) const {
  const Value& value = Get(name);
  ORDO_CHECK(value.has_number_value()) << name;
  return value.number_value();
}

bool Params::Bool(const std::string& name) const {
  const Value& value = Get(name);
  ORDO_CHECK(value.has_bool_value()) << name;
  return value.bool_value();
}

std::string Params::String(const std::string& name) const {
  const Value& value = Get(name);
  ORDO_CHECK(value.has_string_value()) << name;
  return value.string_value();
}

std::vector<double> Params::Numbers(const std::string& name) const {
  const Value& value = Get(name);
  ORDO_CHECK(value.has_list_value()) << name;
  std::vector<double> numbers;
  for (const Value& element : value.list_value().values()) {
    numbers.push_back(element.number_value());
  }
  return numbers;
}

std::vector<std::string> Params::Strings(const std::string& name) const {
  const Value& value = Get(name);
  ORDO_CHECK(value.has_list_value()) << name;
  std::vector<std::string> strings;
  for (const Value& element : value.list_value().values()) {
    strings.push_back(element.string_value());
  }
  return strings;
}

}  // namespace ordo::model::catalog
