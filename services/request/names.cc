#include "services/request/names.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/details.h"

namespace ordo::services::request {
namespace {

// Longest id of any collection; report ids are the longest.
constexpr size_t kMaxIdLength = 128;
// Of a name that is not valid, as much is repeated in the message.
constexpr size_t kMaxShownLength = 200;

// Whether `id` may be the id of a resource at all; whether it exists is the
// scheduler's to say. Keeps out what would be special in a path.
bool IsId(std::string_view id) {
  if (id.empty() || id.size() > kMaxIdLength) return false;
  for (const char c : id) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' &&
        c != '_') {
      return false;
    }
  }
  return id != "-";
}

std::vector<std::string> Split(std::string_view name) {
  return absl::StrSplit(absl::string_view(name.data(), name.size()), '/');
}

absl::Status Malformed(std::string_view field, const std::string& form,
                       std::string_view name) {
  const std::string shown(name.substr(0, kMaxShownLength));
  return base::InvalidField(
      field, name.empty() ? absl::StrCat("required; of the form ", form)
                          : absl::StrCat("must be of the form ", form,
                                         " (ids of lower-case letters, "
                                         "digits, '-' and '_'), got '",
                                         shown, "'"));
}

std::string Singular(std::string_view collection) {
  return std::string(collection.substr(0, collection.size() - 1));
}

}  // namespace

absl::StatusOr<std::string> ParseName(std::string_view field,
                                      std::string_view collection,
                                      std::string_view name) {
  const std::vector<std::string> parts = Split(name);
  if (parts.size() != 2 || parts[0] != collection || !IsId(parts[1])) {
    return Malformed(
        field,
        absl::StrCat(std::string(collection), "/{", Singular(collection), "}"),
        name);
  }
  return parts[1];
}

absl::StatusOr<ChildName> ParseChildName(std::string_view collection,
                                         std::string_view name) {
  const std::vector<std::string> parts = Split(name);
  if (parts.size() != 4 || parts[0] != "jobs" || !IsId(parts[1]) ||
      parts[2] != collection || !IsId(parts[3])) {
    return Malformed("name",
                     absl::StrCat("jobs/{job}/", std::string(collection), "/{",
                                  Singular(collection), "}"),
                     name);
  }
  return ChildName{parts[1], parts[3]};
}

absl::StatusOr<std::string> ParseParent(std::string_view parent) {
  if (parent == "jobs/-") return std::string();
  const std::vector<std::string> parts = Split(parent);
  if (parts.size() != 2 || parts[0] != "jobs" || !IsId(parts[1])) {
    return Malformed("parent", "jobs/{job}, or jobs/- for all jobs", parent);
  }
  return parts[1];
}

}  // namespace ordo::services::request
