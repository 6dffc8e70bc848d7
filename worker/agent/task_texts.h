#ifndef ORDO_WORKER_AGENT_TASK_TEXTS_H_
#define ORDO_WORKER_AGENT_TASK_TEXTS_H_

#include <cstddef>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "google/protobuf/message.h"
#include "proto/ordo/agent/v1/agent.pb.h"

namespace ordo::worker::agent {

// Tasks as JSON. Jobs come by the thousand that differ in their names alone:
// the text of what they have in common is made once and remembered. A job's id
// has nothing in it that JSON would escape (Core sees to it). Thread-safe.
class TaskTexts {
 public:
  // Tasks that are remembered; with the next one all are forgotten.
  static constexpr size_t kMaxTexts = 64;
  // Longer ones, in bytes of their messages, are not remembered.
  static constexpr size_t kMaxBytes = 64 << 10;

  // As its trainer reads it; `host` is where others reach the rank.
  // INVALID_ARGUMENT when it cannot be written as JSON, here and below.
  absl::StatusOr<std::string> OfAttempt(
      const ::ordo::agent::v1::DesiredAttempt& desired,
      const std::string& host);
  // The same without what belongs to one attempt alone.
  absl::StatusOr<std::string> OfJob(
      const ::ordo::agent::v1::DesiredAttempt& desired);

  // How many are remembered.
  size_t size() const;

 private:
  absl::StatusOr<std::string> Text(const google::protobuf::Message& task);

  mutable base::Mutex mutex_;
  // By the name and the bytes of the message.
  std::unordered_map<std::string, std::string> known_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_TASK_TEXTS_H_
