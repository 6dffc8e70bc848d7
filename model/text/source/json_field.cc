#include "model/text/source/json_field.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::source {
namespace {

using Json = nlohmann::json;

// As many names are kept for a message.
constexpr size_t kMaxNames = 32;

// Keeps the field and the names beside it. Each call says whether to go on.
class Finder : public nlohmann::json_sax<Json> {
 public:
  explicit Finder(const std::string& field) : field_(field) {}

  bool null() override { return Other("null"); }
  bool boolean(bool) override { return Other("a boolean"); }
  bool number_integer(int64_t) override { return Other("a number"); }
  bool number_unsigned(uint64_t) override { return Other("a number"); }
  bool number_float(double, const std::string&) override {
    return Other("a number");
  }
  bool binary(Json::binary_t&) override { return Other("binary"); }
  bool string(std::string& value) override {
    if (!wanted_) return Other("a string");
    wanted_ = false;
    found_ = std::move(value);
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ > 0 && !Other("an object")) return false;
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    if (!Other("a list")) return false;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ != 1) return true;
    wanted_ = name == field_;
    if (names_.size() < kMaxNames) names_.push_back(name);
    if (wanted_ && found_.has_value()) {
      return Fail(absl::StrCat("field '", field_, "' is there twice"));
    }
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const Json::exception&) override {
    return Fail(
        absl::StrCat("it is not JSON at byte ", position, " of the line"));
  }

  absl::StatusOr<std::string> Result() {
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    if (found_.has_value()) return *std::move(found_);
    return absl::InvalidArgumentError(absl::StrCat(
        "it has no field '", field_, "'", base::SuggestName(field_, names_)));
  }

 private:
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }
  // A value that is not what is looked for.
  bool Other(const char* kind) {
    if (depth_ == 0) {
      return Fail(absl::StrCat("it is ", kind, ", not an object"));
    }
    if (wanted_) {
      return Fail(
          absl::StrCat("field '", field_, "' is ", kind, ", not a string"));
    }
    return true;
  }

  const std::string& field_;
  int64_t depth_ = 0;
  // Whether the value that follows is the field's; at depth 1 only.
  bool wanted_ = false;
  std::optional<std::string> found_;
  std::vector<std::string> names_;
  std::string error_;
};

}  // namespace

absl::StatusOr<std::string> JsonStringField(const std::string& text,
                                            const std::string& field) {
  Finder finder(field);
  Json::sax_parse(text, &finder);
  return finder.Result();
}

}  // namespace ordo::model::text::source
