#ifndef ORDO_MODEL_EVALUATION_ANSWER_LOG_H_
#define ORDO_MODEL_EVALUATION_ANSWER_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "base/records/records.h"
#include "model/tasks/task.h"

// What an evaluation that is not finished has answered so far, pass by pass, so
// that an interrupted one goes on where it was. No LibTorch here.

namespace ordo::model::evaluation {

// What a model said to one question.
struct Answered {
  tasks::Marks marks = {};
  std::vector<int64_t> produced = {};
  // Of Measure::kLikelihood, in the place of both.
  double nats = 0;
};

struct AnswerLogOptions {
  // Of the file, whose folder is there; one writer.
  std::string path;
  // Of all that the answers depend on: those under another key are not taken.
  std::string key;
  // Files of earlier attempts, which may be there or not.
  std::vector<std::string> earlier;
};

// Not thread-safe.
class AnswerLog {
 public:
  // Takes what the earlier files, and that of `path`, have of the key. Damaged
  // ones give what stands before the damage. Errors are those of writing.
  // `files` outlives the log.
  static absl::StatusOr<std::unique_ptr<AnswerLog>> Open(
      base::Filesystem& files, const AnswerLogOptions& options);

  // The answers of a pass, by its number, one for each of its questions; null
  // where they are not known.
  const std::vector<Answered>* Find(int64_t pass) const;

  // Appends the answers of a pass. They are not synced: a machine that fails
  // loses the last ones, which are then computed again. Of an error the answers
  // are not there for a later attempt, and no more are written.
  void Add(int64_t pass, const std::vector<Answered>& answered);

  // Removes the files, once the evaluation is done. Nothing is added any more.
  void Remove();

 private:
  AnswerLog(base::Filesystem& files, AnswerLogOptions options)
      : files_(files), options_(std::move(options)) {}

  void Read(const std::string& path);

  base::Filesystem& files_;
  const AnswerLogOptions options_;
  // Null once given up.
  std::unique_ptr<base::RecordWriter> writer_;
  std::map<int64_t, std::vector<Answered>> passes_;
};

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_ANSWER_LOG_H_
