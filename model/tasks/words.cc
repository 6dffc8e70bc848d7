#include "model/tasks/words.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"

namespace ordo::model::tasks {
namespace {

// In a message, of a vocabulary that may be long.
constexpr size_t kMostNamed = 40;

}  // namespace

WordTokenizer::WordTokenizer(Ids ids, std::vector<std::string> words)
    : ids_(ids), words_(std::move(words)) {
  for (size_t i = 0; i < words_.size(); ++i) {
    const bool added =
        id_of_word_.emplace(words_[i], first_id() + static_cast<int64_t>(i))
            .second;
    ORDO_CHECK(added) << words_[i] << " is there twice";
  }
}

int WordTokenizer::vocabulary_size() const {
  return static_cast<int>(first_id() + static_cast<int64_t>(words_.size()));
}

absl::StatusOr<std::vector<int64_t>> WordTokenizer::Encode(
    std::string_view text) const {
  std::vector<int64_t> tokens;
  const std::string copy(text);
  const std::vector<std::string> words =
      absl::StrSplit(copy, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  for (const std::string& word : words) {
    const auto found = id_of_word_.find(word);
    if (found == id_of_word_.end()) {
      const size_t named = std::min(words_.size(), kMostNamed);
      return absl::InvalidArgumentError(absl::StrCat(
          "'", word, "' has no token; write these, with blanks between them: ",
          absl::StrJoin(words_.begin(), words_.begin() + named, " "),
          named < words_.size() ? " ..." : ""));
    }
    tokens.push_back(found->second);
  }
  return tokens;
}

std::string WordTokenizer::Decode(const std::vector<int64_t>& tokens) const {
  std::vector<std::string> words;
  for (const int64_t token : tokens) {
    if (has_marks() && (token == kPad || token == kBegin || token == kEnd)) {
      continue;
    }
    const int64_t place = token - first_id();
    const bool known =
        place >= 0 && place < static_cast<int64_t>(words_.size());
    words.push_back(known ? words_[static_cast<size_t>(place)] : "?");
  }
  return absl::StrJoin(words, " ");
}

int64_t WordTokenizer::IdOf(std::string_view word) const {
  const auto found = id_of_word_.find(word);
  ORDO_CHECK(found != id_of_word_.end())
      << std::string(word) << " is not a word";
  return found->second;
}

}  // namespace ordo::model::tasks
