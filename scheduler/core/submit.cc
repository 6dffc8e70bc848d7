#include "scheduler/core/submit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "scheduler/core/admin.h"
#include "scheduler/core/needs.h"
#include "scheduler/core/pace.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/references.h"
#include "scheduler/core/trials.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

bool IsId(const std::string& id) {
  return !id.empty() && id.size() <= kMaxIdLength &&
         absl::ascii_islower(id[0]) &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

absl::Status RequestIdReused(const std::string& request_id,
                             const std::string& job) {
  base::ErrorInfo info;
  info.reason = "REQUEST_ID_REUSED";
  info.metadata["job"] = job;
  return base::WithErrorInfo(
      absl::InvalidArgumentError(absl::StrCat(
          "request_id '", request_id, "' made job ", job,
          " from another request; send another request_id for another job")),
      info);
}

absl::Status TakenByRetired(const std::string& what, const std::string& job) {
  return absl::AlreadyExistsError(absl::StrCat(
      what, " ", job,
      ", which has ended and was archived; names and request ids are unique "
      "for ever: choose another"));
}

// What a call asks for, judged before anything is changed.
struct Plan {
  // Of jobs that have left the store: states by id, ids by request id.
  std::map<std::string, JobState> retired;
  std::map<std::string, std::string> retired_requests;
  // Of all jobs of the call.
  std::set<std::string> names;
  // In the order of the call: the id of each job.
  std::vector<std::string> ids;
  // Those to create, with references resolved.
  std::map<std::string, NewJob> created;
  // Ids in the order of creation.
  std::vector<std::string> order;
  // Of those to create: what they ask for, once for all that came with the same
  // object. Nobody else shares it, so that it is stored with them, and is there
  // as long as one of them is.
  std::map<SpecPtr, SpecHandlePtr> specs;
  // Id by request id, of those to create.
  std::map<std::string, std::string> request_ids;
};

// OK when no job that has left the store has the name or the request id.
absl::Status CheckNotRetired(const NewJob& job, const Plan& plan) {
  const auto request = plan.retired_requests.find(job.request_id);
  if (request != plan.retired_requests.end()) {
    return TakenByRetired("the request has made job", request->second);
  }
  if (plan.retired.count(job.name) > 0) {
    return TakenByRetired("there was a job", job.name);
  }
  return absl::OkStatus();
}

// Whether the job is the repeat of a request, which is then planned as that.
absl::StatusOr<bool> PlanRepeat(const State& state, const NewJob& job,
                                Plan* plan) {
  if (job.request_id.empty()) return false;
  const auto known = state.requests.find(std::string_view(job.request_id));
  if (known != state.requests.end()) {
    const JobFacts& facts = **known;
    if (facts.request.fingerprint() != job.fingerprint) {
      return RequestIdReused(job.request_id, facts.id);
    }
    plan->ids.push_back(facts.id);
    return true;
  }
  const auto planned = plan->request_ids.find(job.request_id);
  if (planned == plan->request_ids.end()) return false;
  if (plan->created.at(planned->second).fingerprint != job.fingerprint) {
    return RequestIdReused(job.request_id, planned->second);
  }
  plan->ids.push_back(planned->second);
  return true;
}

// Moves the job into the plan: it is to be created.
absl::Status PlanNew(const State& state, NewJob& job, Plan* plan) {
  const std::string id = job.name;
  if (!IsId(id)) {
    return base::InvalidField(
        "name",
        "must be lower-case letters, digits and '-', start with a "
        "letter and have at most 63 characters");
  }
  if (state.jobs.count(id) > 0 || plan->created.count(id) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a job ", id,
                     " already; names are unique for ever: choose "
                     "another, or see: ordo show ",
                     id));
  }
  ORDO_RETURN_IF_ERROR(CheckNotRetired(job, *plan));
  ORDO_RETURN_IF_ERROR(job.refusal);
  const NamedJobs named{plan->names, plan->retired};
  ORDO_ASSIGN_OR_RETURN(job.spec, ResolveReferences(state, named, job.spec));
  if (job.spec->has_tuned_by()) {
    ORDO_RETURN_IF_ERROR(
        CheckTrials(state, named, DemandOf(*job.spec).tuned_by));
  }
  if (job.spec->has_paced_by()) {
    ORDO_RETURN_IF_ERROR(CheckPaces(state, named, *job.spec));
  }
  if (!job.request_id.empty()) plan->request_ids[job.request_id] = id;
  plan->created.emplace(id, std::move(job));
  plan->order.push_back(id);
  plan->ids.push_back(id);
  return absl::OkStatus();
}

// What one request of a call asks for: the job at `end`, with its parts, which
// begin at `begin`, before it.
struct Request {
  size_t begin = 0;
  size_t end = 0;
};

// OK when the job at `end` has the jobs from `begin` on as its parts, none of
// which another request could have made.
absl::Status CheckParts(const std::vector<NewJob>& jobs, size_t begin,
                        size_t end) {
  const NewJob& parent = jobs[end];
  bool fits = parent.parent.empty() && parent.parts.size() == end - begin;
  for (size_t i = begin; fits && i < end; ++i) {
    fits = jobs[i].name == parent.parts[i - begin] &&
           jobs[i].parent == parent.name && jobs[i].request_id.empty() &&
           jobs[i].parts.empty();
  }
  if (fits) return absl::OkStatus();
  return base::InvalidField(
      "parts",
      "must be the jobs before it in the call that name it as their "
      "parent, in their order");
}

absl::Status PlanRequest(const State& state, const Request& request,
                         std::vector<NewJob>* jobs, Plan* plan) {
  const auto& [begin, end] = request;
  ORDO_RETURN_IF_ERROR(CheckParts(*jobs, begin, end));
  NewJob& job = (*jobs)[end];
  ORDO_ASSIGN_OR_RETURN(const bool is_repeat, PlanRepeat(state, job, plan));
  if (is_repeat) return absl::OkStatus();
  for (size_t i = begin; i < end; ++i) {
    NewJob& part = (*jobs)[i];
    const std::string name = part.name;
    ORDO_RETURN_IF_ERROR(
        base::AddContext(PlanNew(state, part, plan), JobName(name)));
  }
  return PlanNew(state, job, plan);
}

// Plans all that the call asks for.
absl::Status PlanAll(const State& state, std::vector<NewJob>* jobs,
                     Plan* plan) {
  const bool is_batch =
      std::count_if(jobs->begin(), jobs->end(),
                    [](const NewJob& job) { return job.parent.empty(); }) > 1;
  size_t begin = 0;
  for (int request = 0; begin < jobs->size(); ++request) {
    size_t end = begin;
    while (end + 1 < jobs->size() && !(*jobs)[end].parent.empty()) ++end;
    absl::Status status = PlanRequest(state, {begin, end}, jobs, plan);
    if (!status.ok() && is_batch) {
      status =
          base::AddContext(status, absl::StrCat("requests[", request, "]"));
    }
    ORDO_RETURN_IF_ERROR(status);
    begin = end + 1;
  }
  return absl::OkStatus();
}

// Ends the job before it begins: what it holds is there.
void TakeImported(Turn& turn, const NewJob& created, JobRecord* job,
                  JobEntry* entry) {
  const std::string& id = job->id();
  auto checkpoint =
      std::make_shared<checkpoints::v1::Checkpoint>(*created.imported);
  const CheckpointKey key{0, checkpoint->step()};
  checkpoint->set_name(CheckpointName(id, CheckpointId(key)));
  checkpoint->set_attempt(0);
  checkpoint->set_state(checkpoints::v1::Checkpoint::AVAILABLE);
  checkpoint->set_origin(checkpoints::v1::Checkpoint::IMPORTED);
  *checkpoint->mutable_create_time() = ToTimestamp(turn.now.wall);
  job->state = jobs::v1::Job::SUCCEEDED;
  job->reason = reason::kImported;
  job->message =
      absl::StrCat("holds the uploaded checkpoint ", checkpoint->name());
  job->end_ns = job->facts->create_ns;
  entry->place = Ended{};
  entry->checkpoints[key] = checkpoint;
  turn.Counted(Count::What::kCheckpoint, "imported");
}

FactsPtr MakeFacts(Turn& turn, NewJob& created, Plan* plan) {
  SpecHandlePtr& spec = plan->specs[created.spec];
  if (spec == nullptr) spec = turn.state.specs.Keep(created.spec);
  auto facts = std::make_shared<JobFacts>(FactsOf(*created.spec, spec));
  facts->id = std::move(created.name);
  facts->sequence = turn.state.next_sequence++;
  facts->user = created.owner.user();
  facts->user_verified = created.owner.verified();
  facts->notices = std::move(created.notices);
  facts->request = RequestMark(created.request_id, created.fingerprint,
                               created.trace_parent);
  facts->create_ns = absl::ToUnixNanos(turn.now.wall);
  facts->parent = std::move(created.parent);
  facts->part = std::move(created.part);
  SetParts(std::move(created.parts), facts.get());
  return facts;
}

// Whether it is created on hold, by its spec or by that of what it is part of.
bool IsHeld(const Plan& plan, const NewJob& job) {
  const auto parent = plan.created.find(job.parent);
  return job.spec->hold() ||
         (parent != plan.created.end() && parent->second.spec->hold());
}

// Makes the job known, so that others of its call can need it.
std::shared_ptr<JobRecord> AddJob(Turn& turn, NewJob& created, Plan* plan) {
  State& state = turn.state;
  const bool is_held = IsHeld(*plan, created);
  auto job = std::make_shared<JobRecord>();
  job->facts = MakeFacts(turn, created, plan);
  job->version = 1;
  job->state = jobs::v1::Job::QUEUED;
  const JobFacts& facts = *job->facts;
  job->priority = created.spec->priority();
  if (is_held) {
    job->held_by = facts.user.empty() ? kUnknownUser : facts.user;
  }
  JobEntry& entry = state.jobs[facts.id];
  entry.job = job;
  entry.order_ns = NextOrder(state, facts);
  if (!facts.request.empty()) state.requests.insert(job->facts);
  if (created.imported.has_value()) {
    TakeImported(turn, created, job.get(), &entry);
  }
  return job;
}

// Of those that will wait.
std::map<std::string, int64_t> NumByQueue(const Plan& plan) {
  std::map<std::string, int64_t> num_jobs;
  for (const auto& [id, job] : plan.created) {
    if (!job.imported.has_value()) ++num_jobs[QueueOf(*job.spec)];
  }
  return num_jobs;
}

// Lets it wait, if it is not over, and records it.
void BeginJob(Turn& turn, JobRecord& job) {
  JobEntry& entry = turn.state.jobs.at(job.id());
  if (!std::holds_alternative<Ended>(entry.place)) {
    AddPins(turn.state, *job.facts);
    CountUnfinished(turn.state, *job.facts, 1);
    EnterQueue(turn, entry, job, absl::ZeroDuration());
    job.reason = WaitReason(job, std::get<Queued>(entry.place));
  }
  turn.Emit(Record{entry.job});
  for (const auto& [key, checkpoint] : entry.checkpoints) {
    turn.Emit(Record{checkpoint});
  }
}

}  // namespace

void HandleSubmit(Turn& turn, Submit submit) {
  Plan plan;
  for (const RetiredJob& job : submit.retired) {
    plan.retired[job.id] = job.state;
    if (!job.request_id.empty()) plan.retired_requests[job.request_id] = job.id;
  }
  for (const NewJob& job : submit.jobs) plan.names.insert(job.name);
  if (absl::Status status = PlanAll(turn.state, &submit.jobs, &plan);
      !status.ok()) {
    turn.Emit(Answer{submit.call, status});
    return;
  }
  if (absl::Status status = CheckNeeds(turn.state, plan.created, plan.retired);
      !status.ok()) {
    turn.Emit(Answer{submit.call, status});
    return;
  }
  if (absl::Status status = CheckQueues(turn.state, NumByQueue(plan));
      !status.ok()) {
    turn.Emit(Answer{submit.call, status});
    return;
  }
  std::vector<std::shared_ptr<JobRecord>> created;
  created.reserve(plan.order.size());
  for (const std::string& id : plan.order) {
    created.push_back(AddJob(turn, plan.created[id], &plan));
  }
  for (const auto& job : created) BeginJob(turn, *job);
  std::vector<JobPtr> jobs;
  jobs.reserve(plan.ids.size());
  for (const std::string& id : plan.ids) {
    jobs.push_back(turn.state.jobs.at(id).job);
  }
  turn.Emit(Answer{submit.call, std::move(jobs)});
}

}  // namespace ordo::scheduler::core
