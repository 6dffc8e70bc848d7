#include "model/text/source/documents.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/text/source/byte_source.h"
#include "model/text/source/json_field.h"
#include "model/text/source/utf8.h"

namespace ordo::model::text::source {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Part of the text, and where it begins.
struct Part {
  std::string text;
  // From 0, of the decompressed text.
  uint64_t offset = 0;
  // From 1.
  uint64_t line = 1;
};

std::string Where(const std::string& path, uint64_t line) {
  return absl::StrCat("read ", path, ", line ", line);
}

absl::Status CheckUtf8(const std::string& path, const Part& part) {
  const auto invalid = FirstInvalidUtf8(part.text);
  if (!invalid.has_value()) return absl::OkStatus();
  const auto end = part.text.begin() + static_cast<int64_t>(*invalid);
  const uint64_t line = part.line + std::count(part.text.begin(), end, '\n');
  return absl::InvalidArgumentError(absl::StrCat(
      Where(path, line), ": byte ", part.offset + *invalid + 1,
      CompressionOf(path) == Compression::kNone ? " of the file"
                                                : " of the decompressed text",
      " is not UTF-8: convert the file to UTF-8"));
}

// Takes lines, or all that there is, from a source.
class PartReader {
 public:
  PartReader(std::unique_ptr<ByteSource> source, std::string path,
             size_t max_bytes)
      : source_(std::move(source)),
        path_(std::move(path)),
        max_bytes_(max_bytes) {}

  // Up to `end`, which is taken too but not part of it, or to the end of the
  // file; nothing when nothing is left. Without `end`, all.
  absl::StatusOr<std::optional<Part>> Next(std::optional<char> end) {
    if (!begun_) ORDO_RETURN_IF_ERROR(SkipByteOrderMark());
    Part part;
    part.offset = offset_;
    part.line = line_;
    bool ended = false;
    while (!ended) {
      ORDO_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) break;
      const size_t at =
          end.has_value() ? chunk_.find(*end) : std::string_view::npos;
      ended = at != std::string_view::npos;
      const std::string_view taken = chunk_.substr(0, at);
      if (part.text.size() + taken.size() > max_bytes_) return TooLong(part);
      part.text.append(taken);
      Advance(taken.size() + (ended ? 1 : 0));
    }
    if (ended) ++line_;
    if (!ended && part.text.empty()) return std::optional<Part>();
    return std::optional<Part>(std::move(part));
  }

 private:
  // Whether there is a byte left; then chunk_ has some.
  absl::StatusOr<bool> Fill() {
    if (chunk_.empty() && !at_end_) {
      ORDO_ASSIGN_OR_RETURN(chunk_, source_->Next());
      at_end_ = chunk_.empty();
    }
    return !at_end_;
  }

  void Advance(size_t num_bytes) {
    chunk_.remove_prefix(num_bytes);
    offset_ += num_bytes;
  }

  absl::Status SkipByteOrderMark() {
    begun_ = true;
    ORDO_ASSIGN_OR_RETURN(const bool more, Fill());
    // A source gives fewer bytes only if its file is that short.
    if (more && chunk_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      Advance(kByteOrderMark.size());
    }
    return absl::OkStatus();
  }

  absl::Status TooLong(const Part& part) const {
    return absl::ResourceExhaustedError(absl::StrCat(
        Where(path_, part.line), ": a document or line has more than ",
        max_bytes_, " bytes: split it"));
  }

  const std::unique_ptr<ByteSource> source_;
  const std::string path_;
  const size_t max_bytes_;
  std::string_view chunk_;
  bool begun_ = false;
  bool at_end_ = false;
  // Of what comes next.
  uint64_t offset_ = 0;
  uint64_t line_ = 1;
};

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

class TextReader : public DocumentReader {
 public:
  TextReader(std::unique_ptr<ByteSource> source, std::string path,
             DocumentOptions options)
      : path_(path),
        options_(std::move(options)),
        parts_(std::move(source), std::move(path), options_.max_bytes) {}

  absl::StatusOr<std::optional<std::string>> Next() override {
    const bool in_lines = options_.format != TextFormat::kFile;
    while (true) {
      ORDO_ASSIGN_OR_RETURN(
          std::optional<Part> part,
          parts_.Next(in_lines ? std::optional<char>('\n') : std::nullopt));
      if (!part.has_value()) return std::optional<std::string>();
      line_ = part->line;
      ORDO_RETURN_IF_ERROR(CheckUtf8(path_, *part));
      std::string& text = part->text;
      if (in_lines && IsBlank(text)) continue;
      if (options_.format == TextFormat::kJsonLines) {
        ORDO_ASSIGN_OR_RETURN(text, Field(text));
      } else if (in_lines && text.back() == '\r') {
        text.pop_back();
      }
      if (!text.empty()) return std::optional<std::string>(std::move(text));
    }
  }

  std::string Where() const override { return source::Where(path_, line_); }

 private:
  absl::StatusOr<std::string> Field(const std::string& text) const {
    absl::StatusOr<std::string> value = JsonStringField(text, options_.field);
    if (value.ok()) return value;
    return absl::InvalidArgumentError(
        absl::StrCat(Where(), ": ", value.status().message()));
  }

  const std::string path_;
  const DocumentOptions options_;
  PartReader parts_;
  uint64_t line_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentReader>> OpenDocuments(
    base::Filesystem& files, const std::string& path,
    const DocumentOptions& options) {
  ORDO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                        OpenBytes(files, path));
  return std::make_unique<TextReader>(std::move(source), path, options);
}

}  // namespace ordo::model::text::source
