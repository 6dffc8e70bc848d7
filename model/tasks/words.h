#ifndef ORDO_MODEL_TASKS_WORDS_H_
#define ORDO_MODEL_TASKS_WORDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/tasks/task.h"

namespace ordo::model::tasks {

enum class Ids {
  // The words' ids begin at 0; there are no marks.
  kWords,
  // The words' ids begin after the marks.
  kMarksAndWords,
};

// Words with blanks between them, each a token. Immutable, thread-safe.
class WordTokenizer : public Tokenizer {
 public:
  // `words` are different from each other and have no blanks.
  WordTokenizer(Ids ids, std::vector<std::string> words);

  int vocabulary_size() const override;
  bool has_marks() const override { return ids_ == Ids::kMarksAndWords; }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override;
  // With blanks between the words.
  std::string Decode(const std::vector<int64_t>& tokens) const override;

  // Of a word that it has; another is a programmer's error.
  int64_t IdOf(std::string_view word) const;

 private:
  int64_t first_id() const { return has_marks() ? kEnd + 1 : 0; }

  const Ids ids_;
  const std::vector<std::string> words_;
  std::map<std::string, int64_t, std::less<>> id_of_word_;
};

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_WORDS_H_
