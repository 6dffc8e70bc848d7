#ifndef ORDO_MODEL_TEXT_SOURCE_DOCUMENTS_H_
#define ORDO_MODEL_TEXT_SOURCE_DOCUMENTS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"

namespace ordo::model::text::source {

// What is one document of a file of UTF-8 text.
enum class TextFormat {
  kFile,       // all of it
  kLines,      // each line, without the end of line (LF or CRLF)
  kJsonLines,  // a field of the object in each line
};

struct DocumentOptions {
  TextFormat format = TextFormat::kFile;
  // Of kJsonLines: the field of the outermost object; a string.
  std::string field = "text";
  // A document, and a line of JSON, are read into memory whole.
  size_t max_bytes = size_t{1} << 30;
};

// The documents of a file, in order. Empty ones, lines of blanks and a byte
// order mark at the beginning of the file are left out. Not thread-safe.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;

  // The next document, well-formed UTF-8; nothing after the last.
  //
  // INVALID_ARGUMENT, with the file, line and byte: it is not UTF-8, a line is
  // not a JSON object, or its field is missing, there twice, or no string.
  // RESOURCE_EXHAUSTED: it has more than max_bytes. Otherwise as ByteSource.
  // After an error, no further call.
  virtual absl::StatusOr<std::optional<std::string>> Next() = 0;

  // Where the document lies that Next gave last: "read a.txt, line 3".
  virtual std::string Where() const = 0;
};

// `files` outlives the reader. The file may be compressed (ByteSource).
absl::StatusOr<std::unique_ptr<DocumentReader>> OpenDocuments(
    base::Filesystem& files, const std::string& path,
    const DocumentOptions& options);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_DOCUMENTS_H_
