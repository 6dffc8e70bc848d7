#include "services/jobs/new_jobs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/text/proto_bytes.h"
#include "services/data/spec_data.h"
#include "services/jobs/alias_binder.h"
#include "services/jobs/best_checkpoint.h"
#include "services/jobs/checkpoint_models.h"
#include "services/jobs/known_jobs.h"
#include "services/jobs/queue_rules.h"
#include "services/spec/data_paths.h"
#include "services/spec/expand.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::BatchCreateJobsRequest;
using ordo::jobs::v1::CreateJobRequest;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Owner;
using scheduler::NewJob;
using Violations = std::vector<base::FieldViolation>;

// "job.spec" and a field of the spec, "" for the spec itself.
std::string SpecField(const std::string& field) {
  return field.empty() ? "job.spec" : absl::StrCat("job.spec.", field);
}

// Adds what is wrong with a spec to what is wrong with its request.
void AddToSpec(const Violations& of_spec, Violations* violations) {
  for (const base::FieldViolation& violation : of_spec) {
    violations->push_back({SpecField(violation.field), violation.description});
  }
}

// Those of all workers that the scheduler knows. Nothing: there is none, or one
// that does not say.
data::DataRoots DataRootsOf(const scheduler::Scheduler& scheduler) {
  std::set<std::string> roots;
  scheduler::Page page;
  bool any = false;
  do {
    const auto workers = scheduler.ListWorkers(page);
    if (!workers.ok()) return std::nullopt;
    for (const auto& worker : workers->items) {
      if (!worker.has_data_roots()) return std::nullopt;
      any = true;
      roots.insert(worker.data_roots().paths().begin(),
                   worker.data_roots().paths().end());
    }
    page.before = workers->next;
  } while (!page.before.empty());
  if (!any) return std::nullopt;
  return std::vector<std::string>(roots.begin(), roots.end());
}

// What the jobs of one call share.
struct Call {
  const NewJobContext& context;
  const Owner& owner;
  QueueRules queues{context.scheduler};
  // Of the jobs made so far; keeps known.made alive.
  std::vector<scheduler::SpecPtr> specs = {};
  KnownJobs known{context.scheduler};
  data::DataVersions versions{
      context.storage, [this] { return DataRootsOf(context.scheduler); }};
  AliasBinder aliases{context.scheduler};

  void Know(const std::string& id, const scheduler::SpecPtr& spec) {
    specs.push_back(spec);
    known.made[id] = spec.get();
  }
};

// Its spec as it will be kept, but for the rules of its queue. `bytes` are the
// spec's.
absl::StatusOr<spec::SpecCache::ResolvedPtr> Resolve(
    const JobSpec& spec, const std::string& bytes, Call* call,
    std::vector<std::string>* notices) {
  spec::SpecCache& specs = call->context.specs;
  if (!NamesAModel(spec) && !NamesAnAlias(spec) && !HasBound(spec) &&
      !spec::NamesData(spec) && !NamesBest(spec)) {
    return specs.Resolve(spec, bytes);
  }
  Violations violations;
  JobSpec filled = spec;
  ClearBound(&filled);
  call->aliases.Bind(&filled, &violations);
  FillBest(call->known, &filled, notices, &violations);
  FillModel(call->known, &filled, &violations);
  call->versions.Pin(&filled, &violations);
  auto resolved = specs.Resolve(filled, base::DeterministicBytes(filled));
  for (auto& violation : base::FieldViolations(resolved.status())) {
    violations.push_back(std::move(violation));
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return resolved;
}

// Adds what a queue says to what is wrong with the request, or to the job's
// refusal when it may be the repeat of one that its queue let in.
void AddOfQueue(const Violations& of_queue, NewJob* job,
                Violations* violations) {
  if (of_queue.empty()) return;
  if (job->request_id.empty()) {
    AddToSpec(of_queue, violations);
    return;
  }
  Violations refused;
  AddToSpec(of_queue, &refused);
  job->refusal = base::InvalidFields(refused);
}

// Specs are kept without their names.
scheduler::SpecPtr Unnamed(JobSpec spec) {
  spec.clear_name();
  return std::make_shared<const JobSpec>(std::move(spec));
}

// A notice of several parts, with the first of these.
std::string NoticeOf(const std::vector<std::string>& parts,
                     const std::string& notice) {
  const std::string more =
      parts.size() == 1 ? "" : absl::StrCat(" and ", parts.size() - 1, " more");
  return absl::StrCat(parts.front(), more, ": ", notice);
}

// Makes a job that has parts, and these; `job` is it so far.
class ParentMaker {
 public:
  ParentMaker(Call* call, NewJob job) : call_(*call), job_(std::move(job)) {}

  // Appends the parts and the job.
  void Make(JobSpec spec, std::vector<NewJob>* jobs, Violations* violations) {
    ClearBound(&spec);
    spec::PartFillers fillers;
    fillers.references = [this](JobSpec* part, Violations* wrong) {
      call_.aliases.Bind(part, wrong);
      FillBest(call_.known, part, &job_.notices, wrong);
    };
    fillers.model = [this](JobSpec* part, Violations* wrong) {
      FillModel(call_.known, part, wrong);
    };
    fillers.data = [this](JobSpec* part, Violations* wrong) {
      call_.versions.Pin(part, wrong);
    };
    const auto expansion = spec::Expand(std::move(spec), fillers);
    if (!expansion.ok()) {
      AddToSpec(base::FieldViolations(expansion.status()), violations);
      jobs->push_back(std::move(job_));
      return;
    }
    for (std::string& notice : spec::NoticesOf(expansion->spec)) {
      job_.notices.push_back(std::move(notice));
    }
    Violations of_queue;
    job_.spec = call_.queues.Apply(Unnamed(expansion->spec), &of_queue);
    for (const spec::Part& part : expansion->parts) MakePart(part);
    // Each may evaluate what another trains.
    for (size_t i = 0; i < parts_.size(); ++i) {
      CheckPart(expansion->parts[i], &parts_[i]);
    }
    Violations of_spec;
    wrong_.MoveTo(expansion->parts, &of_spec);
    AddToSpec(of_spec, violations);
    wrong_of_queue_.MoveTo(expansion->parts, &of_queue);
    AddOfQueue(of_queue, &job_, violations);
    for (const auto& [notice, parts] : notices_) {
      job_.notices.push_back(NoticeOf(parts, notice));
    }
    for (NewJob& part : parts_) jobs->push_back(std::move(part));
    jobs->push_back(std::move(job_));
  }

 private:
  void MakePart(const spec::Part& part) {
    NewJob made;
    made.name = part.spec.name();
    made.owner = job_.owner;
    made.parent = job_.name;
    made.part = part.label;
    made.notices = spec::NoticesOf(part.spec);
    made.fingerprint = base::Sha256Hex(base::DeterministicBytes(part.spec));
    JobSpec bound = part.spec;
    Violations of_aliases;
    call_.aliases.Bind(&bound, &of_aliases);
    wrong_.Add(part, of_aliases);
    Violations of_queue;
    made.spec = call_.queues.Apply(Unnamed(std::move(bound)), &of_queue);
    wrong_of_queue_.Add(part, of_queue);
    call_.Know(made.name, made.spec);
    job_.parts.push_back(made.name);
    parts_.push_back(std::move(made));
  }

  void CheckPart(const spec::Part& part, NewJob* made) {
    Violations of_models;
    CheckModels(call_.known, *made->spec, &made->notices, &of_models);
    wrong_.Add(part, of_models);
    for (const std::string& notice : made->notices) {
      notices_[notice].push_back(made->name);
    }
  }

  Call& call_;
  NewJob job_;
  std::vector<NewJob> parts_;
  spec::PartViolations wrong_;
  spec::PartViolations wrong_of_queue_;
  // What is worth knowing, and of which parts.
  std::map<std::string, std::vector<std::string>> notices_;
};

// Appends what the request asks for.
void Make(const CreateJobRequest& request, Call* call,
          std::vector<NewJob>* jobs, Violations* violations) {
  NewJob job;
  if (request.request_id().size() > kMaxRequestIdLength) {
    violations->push_back(
        {"request_id",
         absl::StrCat("must be at most ", kMaxRequestIdLength,
                      " characters, has ", request.request_id().size())});
  }
  const JobSpec& spec = request.job().spec();
  const std::string bytes = base::DeterministicBytes(spec);
  job.name = spec.name();
  job.request_id = request.request_id();
  job.fingerprint = base::Sha256Hex(bytes);
  job.owner = call->owner;
  if (spec::HasParts(spec.kind())) {
    ParentMaker(call, std::move(job)).Make(spec, jobs, violations);
    return;
  }
  std::vector<std::string> notices;
  const auto resolved = Resolve(spec, bytes, call, &notices);
  Violations of_spec = base::FieldViolations(resolved.status());
  if (resolved.ok()) {
    notices.insert(notices.end(), (*resolved)->notices.begin(),
                   (*resolved)->notices.end());
    job.notices = std::move(notices);
    CheckModels(call->known, *(*resolved)->spec, &job.notices, &of_spec);
  }
  if (resolved.ok() && of_spec.empty()) {
    Violations of_queue;
    job.spec = call->queues.Apply((*resolved)->spec, &of_queue);
    AddOfQueue(of_queue, &job, violations);
    call->Know(job.name, job.spec);
  }
  AddToSpec(of_spec, violations);
  jobs->push_back(std::move(job));
}

// Adds a violation when `value` was seen before.
void CheckUnique(const std::string& value, const std::string& field,
                 std::map<std::string, std::string>* seen,
                 Violations* violations) {
  const auto [first, added] = seen->emplace(value, field);
  if (!added) {
    violations->push_back(
        {field, absl::StrCat("'", value, "' is that of ", first->second,
                             " too; give each its own")});
  }
}

}  // namespace

absl::StatusOr<std::vector<NewJob>> MakeNewJob(const NewJobContext& context,
                                               const CreateJobRequest& request,
                                               const Owner& owner) {
  Call call{context, owner};
  Violations violations;
  std::vector<NewJob> jobs;
  Make(request, &call, &jobs, &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return jobs;
}

absl::StatusOr<std::vector<NewJob>> MakeNewJobs(
    const NewJobContext& context, const BatchCreateJobsRequest& request,
    const Owner& owner) {
  if (request.requests().empty() || request.requests_size() > kMaxBatch) {
    return base::InvalidField(
        "requests", absl::StrCat("must have 1..", kMaxBatch, " entries, has ",
                                 request.requests_size()));
  }
  Call call{context, owner};
  Violations violations;
  std::vector<NewJob> jobs;
  std::map<std::string, std::string> names;
  std::map<std::string, std::string> request_ids;
  for (int i = 0; i < request.requests_size(); ++i) {
    const CreateJobRequest& one = request.requests(i);
    const std::string path = absl::StrCat("requests[", i, "].");
    Violations found;
    const size_t num_before = jobs.size();
    Make(one, &call, &jobs, &found);
    if (jobs.size() > size_t{kMaxBatch}) {
      return base::InvalidField(
          "requests",
          absl::StrCat("make more than ", kMaxBatch,
                       " jobs with the parts of sweeps, comparisons and "
                       "pipelines; create them in several calls"));
    }
    for (const auto& violation : found) {
      violations.push_back({path + violation.field, violation.description});
    }
    for (size_t k = num_before; k < jobs.size(); ++k) {
      if (jobs[k].name.empty()) continue;
      CheckUnique(jobs[k].name, path + "job.spec.name", &names, &violations);
    }
    if (!one.request_id().empty()) {
      CheckUnique(one.request_id(), path + "request_id", &request_ids,
                  &violations);
    }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return jobs;
}

std::vector<Job> WithoutParts(std::vector<Job> jobs) {
  jobs.erase(
      std::remove_if(jobs.begin(), jobs.end(),
                     [](const Job& job) { return !job.parent().empty(); }),
      jobs.end());
  return jobs;
}

}  // namespace ordo::services::jobs
