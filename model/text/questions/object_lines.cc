#include "model/text/questions/object_lines.h"

#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"

namespace ordo::model::text::questions {
namespace {

// A line holds one question with its document.
constexpr size_t kMaxLineBytes = size_t{64} << 20;

// A field that an object has twice, anywhere in it. The parser would keep the
// last one without a word.
class DoubleField {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names_.emplace_back();
    if (event == Json::parse_event_t::object_end) names_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names_.back().insert(name).second && !found_.has_value()) {
        found_ = name;
      }
    }
    return true;
  }
  const std::optional<std::string>& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> names_;
  std::optional<std::string> found_;
};

absl::StatusOr<const Json*> Find(const ObjectLine& line,
                                 const std::string& field) {
  const auto found = line.object.find(field);
  if (found == line.object.end()) {
    return WrongField(line, field, NoField(line.object, field));
  }
  return &*found;
}

}  // namespace

absl::Status WrongField(const ObjectLine& line, std::string_view field,
                        std::string_view description) {
  return base::AddContext(base::InvalidField(field, description), line.where);
}

std::string NoField(const Json& object, const std::string& field) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return absl::StrCat("it has no field '", field, "'",
                      base::SuggestName(field, names));
}

std::optional<std::vector<std::string>> StringsOf(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> strings;
  for (const Json& value : list) {
    if (!value.is_string()) return std::nullopt;
    strings.push_back(value.get<std::string>());
  }
  return strings;
}

absl::StatusOr<std::string> StringField(const ObjectLine& line,
                                        const std::string& field) {
  ORDO_ASSIGN_OR_RETURN(const Json* value, Find(line, field));
  if (!value->is_string()) {
    return WrongField(line, field, "must be a string");
  }
  return value->get<std::string>();
}

absl::StatusOr<std::vector<std::string>> StringsField(
    const ObjectLine& line, const std::string& field) {
  ORDO_ASSIGN_OR_RETURN(const Json* value, Find(line, field));
  auto strings = StringsOf(*value);
  if (!strings.has_value()) {
    return WrongField(line, field, "must be a list of strings");
  }
  return *std::move(strings);
}

absl::StatusOr<int64_t> IntegerField(const ObjectLine& line,
                                     const std::string& field) {
  ORDO_ASSIGN_OR_RETURN(const Json* value, Find(line, field));
  if (!value->is_number_integer()) {
    return WrongField(line, field, "must be a whole number");
  }
  return value->get<int64_t>();
}

absl::StatusOr<Json> ObjectField(const ObjectLine& line,
                                 const std::string& field) {
  ORDO_ASSIGN_OR_RETURN(const Json* value, Find(line, field));
  if (!value->is_object()) {
    return WrongField(line, field, "must be an object");
  }
  return *value;
}

absl::StatusOr<std::unique_ptr<ObjectReader>> ObjectReader::Open(
    base::Filesystem& files, const std::string& path,
    const std::string& layout) {
  source::DocumentOptions options;
  options.format = source::TextFormat::kLines;
  options.max_bytes = kMaxLineBytes;
  auto lines = source::OpenDocuments(files, path, options);
  if (absl::IsNotFound(lines.status())) {
    return absl::NotFoundError(
        absl::StrCat("read ", path, ": it is not there: put a file there, ",
                     "each line of which is ", layout));
  }
  ORDO_RETURN_IF_ERROR(lines);
  return std::unique_ptr<ObjectReader>(new ObjectReader(*std::move(lines)));
}

absl::StatusOr<std::optional<ObjectLine>> ObjectReader::Next() {
  ORDO_ASSIGN_OR_RETURN(const std::optional<std::string> text, lines_->Next());
  if (!text.has_value()) return std::optional<ObjectLine>();
  digest_.Update(*text);
  digest_.Update("\n");
  ObjectLine line;
  line.where = lines_->Where();
  DoubleField twice;
  line.object = Json::parse(*text, std::ref(twice), /*allow_exceptions=*/false);
  if (line.object.is_discarded() || !line.object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        line.where, ": it is not a JSON object: write one {...} in each line"));
  }
  if (twice.found().has_value()) {
    return WrongField(line, *twice.found(), "is there twice: take one out");
  }
  return std::optional<ObjectLine>(std::move(line));
}

}  // namespace ordo::model::text::questions
