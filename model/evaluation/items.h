#ifndef ORDO_MODEL_EVALUATION_ITEMS_H_
#define ORDO_MODEL_EVALUATION_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/tasks/task.h"
#include "proto/ordo/training/v1/progress.pb.h"

// The file of an evaluation's report that says what became of each item, a line
// of JSON for each in the order of the task. Results are compared by it, item
// by item. No LibTorch here.

namespace ordo::model::evaluation {

inline constexpr char kItemsFile[] = "items.jsonl";
// Of an output in the file.
inline constexpr size_t kMaxOutputBytes = 1024;

struct Item {
  // EvaluationTask::ItemId and UnitId.
  std::string id;
  std::string unit;
  // More is better. EvaluationTask::ItemScore: of a decoded answer 1 or 0.
  // Where a likelihood is measured, ln p by the number of tokens; of what goes
  // on inside of a model tasks::Inside::score.
  double score = 0;
  // Of an answer that was read at places; empty of one that was decoded.
  tasks::Marks marks;
  // What was produced, as text; of what goes on inside the text that was read.
  std::string output;
  // Whether there was more than `output` has.
  bool output_cut = false;
};

// What an evaluation found, its items in the order of the task.
struct Outcome {
  tasks::Scores scores;
  std::vector<Item> items;
};

// Sets the output to `text`, cut after the last whole character that fits into
// kMaxOutputBytes.
void SetOutput(std::string_view text, Item* item);

// The line of an item, with its end. Bytes that are no UTF-8 become U+FFFD. A
// unit that is the id, marks of a decoded answer, and output_cut that is false
// are left out.
std::string ItemLine(const Item& item);

// Writes `folder`/items.jsonl, durable, in parts: at no time is more than a
// small one in memory beside `items`. Errors of `files`.
absl::StatusOr<ordo::training::v1::FileInfo> WriteItems(
    base::Filesystem& files, const std::string& folder,
    const std::vector<Item>& items);

// Reads such a file, from its beginning, in parts. Not thread-safe.
class ItemReader {
 public:
  // NOT_FOUND when there is no such file.
  static absl::StatusOr<ItemReader> Open(base::Filesystem& files,
                                         const std::string& path);

  // The next item; nothing at the end. DATA_LOSS naming the file, the line and
  // what is wrong with it; after an error it is not called again.
  absl::StatusOr<std::optional<Item>> Next();

 private:
  ItemReader(std::string path, std::unique_ptr<base::ReadableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  // The next line without its end; nothing at the end of the file.
  absl::StatusOr<std::optional<std::string>> NextLine();
  absl::Status Damaged(const std::string& what) const;

  std::string path_;
  std::unique_ptr<base::ReadableFile> file_;
  uint64_t offset_ = 0;
  // Read, of which the first `used_` bytes were given out.
  std::string buffer_;
  size_t used_ = 0;
  // Of the last line that was given out, from 1.
  int64_t line_ = 0;
};

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_ITEMS_H_
