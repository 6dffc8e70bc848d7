#ifndef ORDO_MODEL_TEXT_QUESTIONS_OBJECT_LINES_H_
#define ORDO_MODEL_TEXT_QUESTIONS_OBJECT_LINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/digest/digest.h"
#include "base/files/files.h"
#include "model/text/source/documents.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::questions {

using Json = nlohmann::json;

// An object of a file of JSON lines.
struct ObjectLine {
  Json object;
  // "read a.jsonl, line 3".
  std::string where;
};

// The error of a field: INVALID_ARGUMENT, "read a.jsonl, line 3: field: what is
// wrong", with a base::FieldViolation.
absl::Status WrongField(const ObjectLine& line, std::string_view field,
                        std::string_view description);

// Fields of an object. Errors are WrongField: it is missing (the nearest one is
// named), or of another kind.
absl::StatusOr<std::string> StringField(const ObjectLine& line,
                                        const std::string& field);
absl::StatusOr<std::vector<std::string>> StringsField(const ObjectLine& line,
                                                      const std::string& field);
absl::StatusOr<int64_t> IntegerField(const ObjectLine& line,
                                     const std::string& field);
absl::StatusOr<Json> ObjectField(const ObjectLine& line,
                                 const std::string& field);

// The strings of a list; nothing where it is no list of strings alone.
std::optional<std::vector<std::string>> StringsOf(const Json& list);

// "it has no field 'x'; did you mean 'y'?"
std::string NoField(const Json& object, const std::string& field);

// The objects of a file of JSON lines, in order. Lines of blanks are left out.
// Not thread-safe.
class ObjectReader {
 public:
  // `files` outlives the reader. The file may be compressed
  // (source/byte_source.h). NOT_FOUND: there is none, with `layout`, what its
  // lines should be. Otherwise as Filesystem.
  static absl::StatusOr<std::unique_ptr<ObjectReader>> Open(
      base::Filesystem& files, const std::string& path,
      const std::string& layout);

  // The next object, or nothing after the last. INVALID_ARGUMENT, with file and
  // line: it is no UTF-8, no JSON object, or has a field twice. Otherwise as
  // source::DocumentReader. After an error, no further call.
  absl::StatusOr<std::optional<ObjectLine>> Next();

  // SHA-256 over the lines read, each with a line feed behind it: that of the
  // decompressed file, where no line is blank. Once, after the last line.
  std::string FinishDigest() { return digest_.FinishHex(); }

 private:
  explicit ObjectReader(std::unique_ptr<source::DocumentReader> lines)
      : lines_(std::move(lines)) {}

  const std::unique_ptr<source::DocumentReader> lines_;
  base::Sha256 digest_;
};

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_OBJECT_LINES_H_
