#include "services/queues/queue_check.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "model/catalog/fields.h"
#include "scheduler/scheduler.h"
#include "services/spec/durations.h"

namespace ordo::services::queues {
namespace {

using google::protobuf::FieldDescriptor;
using ordo::queues::v1::Queue;
using Violations = std::vector<base::FieldViolation>;

// What a person sets of a queue.
const std::vector<std::string>& Settable() {
  static const auto& names =
      *new std::vector<std::string>{"weight",
                                    "quotas",
                                    "max_devices_per_owner",
                                    "max_queued_jobs",
                                    "default_run_time_limit",
                                    "max_run_time_limit"};
  return names;
}

const FieldDescriptor* FieldNamed(const std::string& name) {
  return Queue::descriptor()->FindFieldByName(name);
}

bool IsSet(const Queue& queue, const std::string& name) {
  const FieldDescriptor* field = FieldNamed(name);
  return field->is_repeated()
             ? queue.GetReflection()->FieldSize(queue, field) > 0
             : queue.GetReflection()->HasField(queue, field);
}

// Makes a field of `to` what it is in `from`, set or not.
void CopyField(const std::string& name, const Queue& from, Queue* to) {
  to->GetReflection()->ClearField(to, FieldNamed(name));
  Queue alone = from;
  // Of a later version; it would be added each time that a field is copied.
  alone.DiscardUnknownFields();
  std::vector<const FieldDescriptor*> fields;
  alone.GetReflection()->ListFields(alone, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->name() != name) alone.GetReflection()->ClearField(&alone, field);
  }
  to->MergeFrom(alone);
}

void CheckQuota(const ordo::queues::v1::Quota& quota, const std::string& path,
                std::set<std::string>* seen, Violations* violations) {
  static const auto& kinds = *new std::vector<std::string>{"cpu", "cuda"};
  if (std::find(kinds.begin(), kinds.end(), quota.device()) == kinds.end()) {
    violations->push_back(
        {path + ".device",
         quota.device().empty()
             ? "required; cpu or cuda"
             : absl::StrCat("no kind of device is called '",
                            quota.device().substr(0, 64), "'",
                            base::SuggestName(quota.device(), kinds))});
  } else if (!seen->insert(quota.device()).second) {
    violations->push_back(
        {path + ".device",
         absl::StrCat("'", quota.device(),
                      "' has a quota already; leave one out")});
  }
  if (quota.guaranteed() < 0 ||
      quota.guaranteed() > scheduler::kMaxQueueDevices) {
    violations->push_back(
        {path + ".guaranteed",
         absl::StrCat("must be 0..", scheduler::kMaxQueueDevices, ", is ",
                      quota.guaranteed())});
    return;
  }
  if (quota.has_limit() && (quota.limit() < quota.guaranteed() ||
                            quota.limit() > scheduler::kMaxQueueDevices)) {
    violations->push_back(
        {path + ".limit",
         absl::StrCat("must be from what is guaranteed, ", quota.guaranteed(),
                      ", to ", scheduler::kMaxQueueDevices, ", is ",
                      quota.limit())});
  }
}

void CheckRunTimes(const Queue& queue, Violations* violations) {
  const bool has_default = queue.has_default_run_time_limit();
  const bool has_max = queue.has_max_run_time_limit();
  const bool default_valid =
      !has_default ||
      spec::CheckDuration({"queue.default_run_time_limit"},
                          queue.default_run_time_limit(), violations);
  const bool max_valid =
      !has_max || spec::CheckDuration({"queue.max_run_time_limit"},
                                      queue.max_run_time_limit(), violations);
  if (has_default && has_max && default_valid && max_valid &&
      spec::IsLonger(queue.default_run_time_limit(),
                     queue.max_run_time_limit())) {
    violations->push_back({"queue.default_run_time_limit",
                           "must not be longer than max_run_time_limit"});
  }
}

}  // namespace

absl::StatusOr<Queue> ResolveQueue(const Queue& queue) {
  Queue resolved;
  for (const std::string& name : Settable()) {
    CopyField(name, queue, &resolved);
  }
  Violations violations;
  model::catalog::ResolveNumber(
      {"weight", scheduler::kMinQueueWeight, scheduler::kMaxQueueWeight,
       scheduler::kDefaultQueueWeight},
      "queue", &resolved, &violations);
  if (resolved.quotas_size() > scheduler::kMaxQuotas) {
    violations.push_back(
        {"queue.quotas",
         absl::StrCat("has ", resolved.quotas_size(), " entries; at most ",
                      scheduler::kMaxQuotas)});
  } else {
    std::set<std::string> seen;
    for (int i = 0; i < resolved.quotas_size(); ++i) {
      CheckQuota(resolved.quotas(i), absl::StrCat("queue.quotas[", i, "]"),
                 &seen, &violations);
    }
  }
  if (resolved.has_max_devices_per_owner()) {
    model::catalog::ResolveNumber(
        {"max_devices_per_owner", 1, scheduler::kMaxQueueDevices, {}}, "queue",
        &resolved, &violations);
  }
  model::catalog::ResolveNumber(
      {"max_queued_jobs", 1, scheduler::kMaxQueuedJobs,
       scheduler::kDefaultMaxQueuedJobs},
      "queue", &resolved, &violations);
  CheckRunTimes(resolved, &violations);
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return resolved;
}

absl::StatusOr<Queue> MergeQueue(const Queue& queue, const Queue& change,
                                 const google::protobuf::FieldMask& mask) {
  std::vector<std::string> paths(mask.paths().begin(), mask.paths().end());
  if (paths.empty()) {
    for (const std::string& name : Settable()) {
      if (IsSet(change, name)) paths.push_back(name);
    }
  } else if (paths.size() == 1 && paths[0] == "*") {
    paths = Settable();
  }
  if (paths.empty()) {
    return base::InvalidField("queue",
                              absl::StrCat("nothing to change; set one of ",
                                           absl::StrJoin(Settable(), ", ")));
  }
  Queue merged = queue;
  Violations violations;
  for (const std::string& path : paths) {
    const std::vector<std::string>& known = Settable();
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      violations.push_back(
          {"update_mask",
           absl::StrCat("'", path.substr(0, 64), "' of a queue cannot be set",
                        base::SuggestName(path, known))});
      continue;
    }
    CopyField(path, change, &merged);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return merged;
}

absl::Status CheckQueueId(const std::string& id) {
  if (model::catalog::IsId(id)) return absl::OkStatus();
  return base::InvalidField("queue_id",
                            absl::StrCat(id.empty() ? "required; " : "must be ",
                                         model::catalog::IdRule()));
}

}  // namespace ordo::services::queues
