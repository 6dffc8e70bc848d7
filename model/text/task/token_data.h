#ifndef ORDO_MODEL_TEXT_TASK_TOKEN_DATA_H_
#define ORDO_MODEL_TEXT_TASK_TOKEN_DATA_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/text/source/documents.h"
#include "model/text/store/import.h"
#include "model/text/store/token_store.h"
#include "model/text/tokenizers/tokenizer.h"

// Text that users bring, as tokens.

namespace ordo::model::text::task {

struct TextOptions {
  // Path of the parameters, for messages: "data.params".
  std::string field;
  // As FindData takes them.
  std::vector<std::string> data;
  // Flat token files, rather than text as `documents` says.
  bool token_files = false;
  source::DocumentOptions documents;
  // "bytes", or the path of a tokenizer.json or of a file of SentencePiece,
  // whose name ends in .model.
  std::string tokenizer = "bytes";
  store::Marks marks;
};

// INVALID_ARGUMENT, with the field: it is not a tokenizer, or lies where
// nothing may be read. NOT_FOUND: it is not there.
absl::StatusOr<std::unique_ptr<tokenizers::TextTokenizer>> OpenTokenizer(
    const tasks::DataAccess& access, const std::string& field,
    const std::string& name);

// The tokens of each of options.data. They are made the first time, in
// access.work_folder, and kept in access.store_folder under a name that says
// what of: the tokenizer, the options, and path, size and time of each file.
// One process makes them; others that need the same wait for it meanwhile and
// ask access.keep_going, and one of them goes on where it dies or fails.
// `access.files` outlives the stores.
//
// INVALID_ARGUMENT, with the file: it is no UTF-8, no JSON, of another
// tokenizer, or leads out of what may be read. NOT_FOUND: it is not there.
// DATA_LOSS: it is damaged. ABORTED: it was changed meanwhile. RESOURCE_
// EXHAUSTED: the disk is full. Errors of access.keep_going are passed on.
absl::StatusOr<std::vector<std::unique_ptr<store::TokenStore>>> OpenTokenData(
    const tasks::DataAccess& access, const TextOptions& options,
    const tokenizers::TextTokenizer& tokenizer);

// SHA-256 over the stores' fingerprints; that of the only one.
std::string FingerprintOf(
    const std::vector<std::unique_ptr<store::TokenStore>>& stores);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_TOKEN_DATA_H_
