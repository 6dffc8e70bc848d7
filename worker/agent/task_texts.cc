#include "worker/agent/task_texts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/proto_bytes.h"
#include "google/protobuf/util/json_util.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("write the task as JSON: ", status.ToString()));
  }
  return text;
}

// What of a task its job and attempt do not tell.
template <typename Task>
Task WithoutJob(Task task) {
  task.clear_job();
  task.clear_attempt();
  return task;
}

// What was answered before, which is more with each attempt.
template <typename Task>
void ClearResults(Task* task) {
  task->clear_known_results();
  task->clear_num_results_left_out();
}
void DropResults(training::v1::EvaluateSpec* task) { ClearResults(task); }
void DropResults(training::v1::GateSpec* task) { ClearResults(task); }
template <typename Task>
void DropResults(Task* /*task*/) {}

// The same of the task of a job.
template <typename Task>
Task WithoutAttempt(const Task& task) {
  Task plain = WithoutJob(task);
  plain.clear_finished_reports();
  DropResults(&plain);
  return plain;
}

// Gives the task, which is not one that trains, to `take`.
template <typename Take>
absl::StatusOr<std::string> TakeOther(const DesiredAttempt& desired,
                                      const Take& take) {
  if (desired.has_benchmark()) return take(desired.benchmark());
  if (desired.has_summarize()) return take(desired.summarize());
  if (desired.has_gate()) return take(desired.gate());
  return take(desired.evaluate());
}

// A text with these fields before its own.
std::string WithHead(const std::string& fields, const std::string& text) {
  const char* comma = text == "{}" ? "" : ",";
  return absl::StrCat("{", fields, comma, text.substr(1), "\n");
}

std::string JobField(const DesiredAttempt& desired) {
  return absl::StrCat("\"job\":\"", desired.job(), "\"");
}

}  // namespace

absl::StatusOr<std::string> TaskTexts::Text(
    const google::protobuf::Message& task) {
  const std::string bytes = base::DeterministicBytes(task);
  if (bytes.size() > kMaxBytes) return ToJson(task);
  const std::string key = absl::StrCat(task.GetTypeName(), " ", bytes);
  {
    base::MutexLock lock(mutex_);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
  }
  ORDO_ASSIGN_OR_RETURN(std::string text, ToJson(task));
  base::MutexLock lock(mutex_);
  if (known_.size() >= kMaxTexts) known_.clear();
  known_[key] = text;
  return text;
}

absl::StatusOr<std::string> TaskTexts::OfAttempt(const DesiredAttempt& desired,
                                                 const std::string& host) {
  absl::StatusOr<std::string> text;
  if (desired.has_train()) {
    auto task = WithoutJob(desired.train());
    task.set_rank(desired.rank());
    if (task.resources().ranks() > 1) task.set_host(host);
    text = Text(task);
  } else {
    text = TakeOther(
        desired, [this](const auto& task) { return Text(WithoutJob(task)); });
  }
  ORDO_RETURN_IF_ERROR(text);
  return WithHead(
      absl::StrCat(JobField(desired), ",\"attempt\":", desired.attempt()),
      *text);
}

absl::StatusOr<std::string> TaskTexts::OfJob(const DesiredAttempt& desired) {
  absl::StatusOr<std::string> text;
  if (desired.has_train()) {
    auto task = WithoutAttempt(desired.train());
    task.clear_resume();
    task.clear_own_attempts();
    text = Text(task);
  } else {
    text = TakeOther(desired, [this](const auto& task) {
      return Text(WithoutAttempt(task));
    });
  }
  ORDO_RETURN_IF_ERROR(text);
  return WithHead(JobField(desired), *text);
}

size_t TaskTexts::size() const {
  base::MutexLock lock(mutex_);
  return known_.size();
}

}  // namespace ordo::worker::agent
