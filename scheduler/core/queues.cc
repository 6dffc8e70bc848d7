#include "scheduler/core/queues.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::TextFormat;
using queues::v1::Queue;

// No queue is changed as often.
constexpr int64_t kMaxRevision = int64_t{1} << 60;

// What a person sets of it, and nothing else.
Queue SettingsOf(const Queue& queue) {
  Queue settings = queue;
  settings.clear_name();
  settings.clear_etag();
  settings.clear_create_time();
  settings.clear_update_time();
  settings.clear_delete_time();
  settings.clear_changes();
  settings.clear_queued_jobs();
  settings.clear_active_jobs();
  settings.clear_held_devices();
  return settings;
}

// As people give it: "cuda=4:8", guaranteed and limit.
void AppendQuota(std::string* text, const queues::v1::Quota& quota) {
  absl::StrAppend(text, quota.device(), "=", quota.guaranteed());
  if (quota.has_limit()) absl::StrAppend(text, ":", quota.limit());
}

std::string DurationText(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Seconds(duration.seconds()) +
                              absl::Nanoseconds(duration.nanos()));
}

// As people give it; "none" when it is not set.
std::string ValueText(const Queue& queue, const FieldDescriptor* field) {
  const auto* reflection = queue.GetReflection();
  if (field->is_repeated() ? reflection->FieldSize(queue, field) == 0
                           : !reflection->HasField(queue, field)) {
    return "none";
  }
  switch (field->number()) {
    case Queue::kQuotasFieldNumber:
      return absl::StrJoin(queue.quotas(), ", ", AppendQuota);
    case Queue::kDefaultRunTimeLimitFieldNumber:
      return DurationText(queue.default_run_time_limit());
    case Queue::kMaxRunTimeLimitFieldNumber:
      return DurationText(queue.max_run_time_limit());
    default:
      std::string text;
      TextFormat::PrintFieldValueToString(queue, field, -1, &text);
      return text;
  }
}

// "weight: 2; quotas: cuda=4:8"; empty when nothing is set.
std::string SettingsText(const Queue& settings) {
  const auto* descriptor = Queue::descriptor();
  std::vector<std::string> set;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const std::string value = ValueText(settings, field);
    if (value != "none")
      set.push_back(absl::StrCat(field->name(), ": ", value));
  }
  return absl::StrJoin(set, "; ");
}

// "weight: 1 -> 2; max_queued_jobs: ..."; empty when nothing differs.
std::string Difference(const Queue& from, const Queue& to) {
  const auto* descriptor = Queue::descriptor();
  std::vector<std::string> differences;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const std::string before = ValueText(from, field);
    const std::string after = ValueText(to, field);
    if (before == after) continue;
    differences.push_back(
        absl::StrCat(field->name(), ": ", before, " -> ", after));
  }
  return absl::StrJoin(differences, "; ");
}

// Gives a changed queue its next etag and its time.
QueuePtr Sealed(Queue queue, const std::string& previous_etag, absl::Time now) {
  int64_t revision = 0;
  // Ours, so a number.
  static_cast<void>(absl::SimpleAtoi(previous_etag, &revision));
  queue.set_etag(absl::StrCat(revision + 1));
  *queue.mutable_update_time() = ToTimestamp(now);
  return std::make_shared<const Queue>(std::move(queue));
}

absl::Status CheckEtag(const Queue& queue, const std::string& etag) {
  if (etag == queue.etag()) return absl::OkStatus();
  const std::string id = IdOf(queue.name());
  const std::string by =
      queue.changes().empty()
          ? ""
          : absl::StrCat(" by ", queue.changes().rbegin()->user(), " (",
                         queue.changes().rbegin()->action(), ")");
  return absl::AbortedError(absl::StrCat(
      "the queue ", id, " was changed meanwhile", by, ": its etag is ",
      queue.etag(), ", not ", etag, "; see: ordo queues show ", id));
}

bool IsSound(const queues::v1::Quota& quota) {
  return !quota.device().empty() && quota.guaranteed() >= 0 &&
         quota.guaranteed() <= kMaxQueueDevices &&
         (!quota.has_limit() || (quota.limit() >= quota.guaranteed() &&
                                 quota.limit() <= kMaxQueueDevices));
}

int64_t MaxQueuedJobs(const Queue& queue) {
  return queue.has_max_queued_jobs() ? queue.max_queued_jobs()
                                     : kDefaultMaxQueuedJobs;
}

const QueuePtr& UntouchedDefault() {
  static const QueuePtr& untouched = *new QueuePtr([] {
    auto queue = std::make_shared<Queue>();
    queue->set_name(QueueName(kDefaultQueue));
    queue->set_weight(kDefaultQueueWeight);
    queue->set_max_queued_jobs(kDefaultMaxQueuedJobs);
    queue->set_etag("0");
    return queue;
  }());
  return untouched;
}

}  // namespace

std::string QueueName(const std::string& queue) {
  return absl::StrCat("queues/", queue);
}

QueuePtr FindQueue(const Queues& queues, const std::string& queue) {
  const auto found = queues.find(queue);
  if (found == queues.end()) {
    return queue == kDefaultQueue ? UntouchedDefault() : nullptr;
  }
  return found->second->has_delete_time() ? nullptr : found->second;
}

absl::StatusOr<QueuePtr> GetQueue(const Queues& queues,
                                  const std::string& queue) {
  QueuePtr found = FindQueue(queues, queue);
  if (found != nullptr) return found;
  std::vector<std::string> names;
  for (const auto& [id, each] : AllQueues(queues)) names.push_back(id);
  const std::string nearest = base::Nearest(queue, names);
  return absl::NotFoundError(absl::StrCat(
      "there is no queue ", queue,
      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"),
      "; see: ordo queues list"));
}

Queues AllQueues(const Queues& queues) {
  Queues all;
  for (const auto& [id, queue] : queues) {
    if (!queue->has_delete_time()) all[id] = queue;
  }
  all.emplace(kDefaultQueue, UntouchedDefault());
  return all;
}

absl::Status CheckRoom(const Queues& queues, const std::string& queue,
                       int64_t held, int64_t added) {
  ORDO_ASSIGN_OR_RETURN(const QueuePtr found, GetQueue(queues, queue));
  const int64_t limit = MaxQueuedJobs(*found);
  if (held + added <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the queue ", queue, " has ", held, " of its max_queued_jobs, ", limit,
      ", and no room for ", added,
      " more; wait until some have ended, or take another queue"));
}

bool IsSound(const std::string& id, const Queue& queue) {
  int64_t revision = 0;
  return !id.empty() && queue.name() == QueueName(id) &&
         IdOf(queue.name()) == id &&
         (queue.etag().empty() || absl::SimpleAtoi(queue.etag(), &revision)) &&
         revision >= 0 && revision < kMaxRevision &&
         (!queue.has_weight() || (queue.weight() >= kMinQueueWeight &&
                                  queue.weight() <= kMaxQueueWeight)) &&
         queue.quotas_size() <= kMaxQuotas &&
         std::all_of(queue.quotas().begin(), queue.quotas().end(),
                     [](const auto& quota) { return IsSound(quota); }) &&
         queue.max_devices_per_owner() >= 0 && queue.max_queued_jobs() >= 0 &&
         !(queue.has_delete_time() && id == kDefaultQueue);
}

absl::StatusOr<QueuePtr> CreatedQueue(const Queues& queues, const Queue& wanted,
                                      const Author& author, absl::Time now) {
  const std::string id = IdOf(wanted.name());
  if (FindQueue(queues, id) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(
        "the queue ", id, " exists; choose another name, or update it"));
  }
  if (AllQueues(queues).size() >= kMaxQueues) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kMaxQueues,
                     " queues, and no more can be made; delete one that "
                     "nobody needs: ordo queues delete"));
  }
  Queue queue = SettingsOf(wanted);
  queue.set_name(QueueName(id));
  *queue.mutable_create_time() = ToTimestamp(now);
  std::string etag;
  if (const auto old = queues.find(id); old != queues.end()) {
    *queue.mutable_changes() = old->second->changes();
    etag = old->second->etag();
  }
  const std::string settings = SettingsText(SettingsOf(wanted));
  AddChange(settings.empty() ? "create" : absl::StrCat("create: ", settings),
            author, now, queue.mutable_changes());
  return Sealed(std::move(queue), etag, now);
}

absl::StatusOr<QueuePtr> UpdatedQueue(const Queues& queues, const Queue& wanted,
                                      const Author& author, absl::Time now) {
  ORDO_ASSIGN_OR_RETURN(QueuePtr old, GetQueue(queues, IdOf(wanted.name())));
  ORDO_RETURN_IF_ERROR(CheckEtag(*old, wanted.etag()));
  const std::string difference =
      Difference(SettingsOf(*old), SettingsOf(wanted));
  if (difference.empty()) return old;
  Queue queue = SettingsOf(wanted);
  queue.set_name(old->name());
  if (old->has_create_time()) *queue.mutable_create_time() = old->create_time();
  *queue.mutable_changes() = old->changes();
  AddChange(difference, author, now, queue.mutable_changes());
  return Sealed(std::move(queue), old->etag(), now);
}

absl::StatusOr<QueuePtr> DeletedQueue(const Queues& queues,
                                      const QueueDeletion& deletion,
                                      const Author& author, absl::Time now) {
  ORDO_ASSIGN_OR_RETURN(const QueuePtr old, GetQueue(queues, deletion.queue));
  if (!deletion.etag.empty()) {
    ORDO_RETURN_IF_ERROR(CheckEtag(*old, deletion.etag));
  }
  if (deletion.queue == kDefaultQueue) {
    return absl::FailedPreconditionError(
        "the queue default is always there; to keep jobs out of it set a "
        "limit of 0 devices");
  }
  if (deletion.num_jobs > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the queue ", deletion.queue, " has ", deletion.num_jobs,
        deletion.num_jobs == 1 ? " job that has" : " jobs that have",
        " not ended; wait, or cancel what you see with: ordo list jobs "
        "--all-users --filter queue=",
        deletion.queue));
  }
  Queue queue = *old;
  *queue.mutable_delete_time() = ToTimestamp(now);
  AddChange("delete", author, now, queue.mutable_changes());
  return Sealed(std::move(queue), old->etag(), now);
}

std::string QueueToForget(const Queues& queues) {
  size_t num_deleted = 0;
  std::string first;
  absl::Time first_time = absl::InfiniteFuture();
  for (const auto& [id, queue] : queues) {
    if (!queue->has_delete_time()) continue;
    ++num_deleted;
    const absl::Time time = ToTime(queue->delete_time());
    if (time >= first_time) continue;
    first = id;
    first_time = time;
  }
  return num_deleted > kMaxDeletedQueues ? first : "";
}

}  // namespace ordo::scheduler::core
