#ifndef ORDO_WORKER_TRAINER_TRAIN_TOKENIZER_H_
#define ORDO_WORKER_TRAINER_TRAIN_TOKENIZER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"

// A new tokenizer of text: the command `train-tokenizer`.

namespace ordo::worker::trainer {

// More than tokenizers have.
inline constexpr int kMaxVocabularySize = 1 << 20;

struct TrainTokenizerOptions {
  // Files and folders of text, one at least. All files of a folder count but
  // those that begin with a dot; each may be compressed (.gz, .zst).
  std::vector<std::string> data;
  // The file to make, which ends in .model: by that jobs know it.
  std::string out;
  // 1..kMaxVocabularySize.
  int vocabulary_size = 0;
  // bpe or unigram; empty: bpe.
  std::string type = {};
  // file, lines or json_lines, as the parameter of the task `text`; empty:
  // file.
  std::string format = {};
  // Of json_lines; empty: text.
  std::string field = {};
  // Bytes of text after which no more is read.
  size_t max_bytes = size_t{256} << 20;
  // The file of libordo_sentence_piece.so.
  std::string sentence_piece = {};
};

// Trains a SentencePiece model (TrainSentencePiece says how) on the documents
// in the order of the paths, and writes it at the end, whole. The same text and
// options make the same file. Gives a line that says what it is and what a job
// sets for it, one of the bytes that were read and, where there was more text,
// a warning that names the file in which reading ended.
//
// INVALID_ARGUMENT, with the flag or the file: an option is wrong, `out` is
// there already, the text is not UTF-8 or has too little for the vocabulary.
// With the reason DATA_MISSING: there is no text, or it cannot be read.
// Otherwise as LoadLibrary; STORAGE_ERROR: it cannot be written.
absl::StatusOr<std::string> TrainTokenizer(
    base::Filesystem& files, const TrainTokenizerOptions& options);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_TRAIN_TOKENIZER_H_
