#include "model/text/store/import.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/store/facts.h"

namespace ordo::model::text::store {
namespace {

absl::Status CheckMark(const char* field, bool wanted,
                       const std::optional<int64_t>& token) {
  if (!wanted || token.has_value()) return absl::OkStatus();
  return base::InvalidField(field,
                            "the tokenizer has no such token: name one, or "
                            "leave it out");
}

}  // namespace

absl::Status ImportDocuments(source::DocumentReader* reader,
                             const tokenizers::TextTokenizer& tokenizer,
                             Marks marks, StoreWriter* writer) {
  const std::optional<int64_t> begin = tokenizer.begin_token();
  const std::optional<int64_t> end = tokenizer.end_token();
  ORDO_RETURN_IF_ERROR(CheckMark("begin", marks.begin, begin));
  ORDO_RETURN_IF_ERROR(CheckMark("end", marks.end, end));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                          reader->Next());
    if (!text.has_value()) return absl::OkStatus();
    absl::StatusOr<std::vector<int64_t>> encoded = tokenizer.Encode(*text);
    if (!encoded.ok()) {
      return absl::Status(
          encoded.status().code(),
          absl::StrCat(reader->Where(), ": ", encoded.status().message()));
    }
    std::vector<int64_t> tokens = *std::move(encoded);
    if (marks.begin) tokens.insert(tokens.begin(), *begin);
    if (marks.end) tokens.push_back(*end);
    ORDO_RETURN_IF_ERROR(writer->Add(tokens, FactsOfText(*text)));
  }
}

absl::Status ImportTokens(source::TokenReader* reader,
                          std::optional<int64_t> end, StoreWriter* writer) {
  std::vector<int64_t> document;
  const auto add = [&]() -> absl::Status {
    ORDO_RETURN_IF_ERROR(writer->Add(document, FactsOfTokens(document)));
    document.clear();
    return absl::OkStatus();
  };
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, reader->Next());
    if (tokens.empty()) return add();
    for (const int64_t token : tokens) {
      document.push_back(token);
      if (token == end || document.size() == kMaxDocumentTokens) {
        ORDO_RETURN_IF_ERROR(add());
      }
    }
  }
}

}  // namespace ordo::model::text::store
