#include "services/auth/rights.h"

#include <algorithm>
#include <iterator>

namespace ordo::services::auth {
namespace {

constexpr bool kChanges = true;

constexpr MethodRule kRules[] = {
    {"ordo.access.v1.AccessService/CreateToken", Right::kAdminister, kChanges},
    {"ordo.access.v1.AccessService/ListTokens", Right::kAdminister},
    {"ordo.access.v1.AccessService/RevokeToken", Right::kAdminister, kChanges},
    {"ordo.access.v1.AccessService/WhoAmI", Right::kNobodyNeeded},
    {"ordo.access.v1.AccessService/Join", Right::kJoin, kChanges},
    {"ordo.agent.v1.SchedulerAgentService/Announce", Right::kWorker},
    {"ordo.agent.v1.WorkerAgentService/SetDesired", Right::kScheduler},
    {"ordo.checkpoints.v1.CheckpointsService/GetCheckpoint", Right::kRead},
    {"ordo.checkpoints.v1.CheckpointsService/ListCheckpoints", Right::kRead},
    {"ordo.checkpoints.v1.CheckpointsService/ReadFile", Right::kRead},
    {"ordo.checkpoints.v1.CheckpointsService/CreateUpload", Right::kSubmit,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/WriteUpload", Right::kSubmit},
    {"ordo.checkpoints.v1.CheckpointsService/CommitUpload", Right::kSubmit,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/PinCheckpoint", Right::kSubmit,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/UnpinCheckpoint", Right::kSubmit,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/ThinCheckpoint", Right::kChangeOwn,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/DeleteCheckpoint",
     Right::kChangeOwn, kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/GetAlias", Right::kRead},
    {"ordo.checkpoints.v1.CheckpointsService/ListAliases", Right::kRead},
    {"ordo.checkpoints.v1.CheckpointsService/SetAlias", Right::kSubmit,
     kChanges},
    {"ordo.checkpoints.v1.CheckpointsService/DeleteAlias", Right::kSubmit,
     kChanges},
    {"ordo.data.v1.DataService/CreateUpload", Right::kSubmit, kChanges},
    {"ordo.data.v1.DataService/CommitUpload", Right::kSubmit, kChanges},
    {"ordo.data.v1.DataService/ListData", Right::kRead},
    {"ordo.data.v1.DataService/DeleteData", Right::kChangeOwn, kChanges},
    {"ordo.jobs.v1.JobsService/CreateJob", Right::kSubmit, kChanges},
    {"ordo.jobs.v1.JobsService/BatchCreateJobs", Right::kSubmit, kChanges},
    {"ordo.jobs.v1.JobsService/GetJob", Right::kRead},
    {"ordo.jobs.v1.JobsService/ListJobs", Right::kRead},
    {"ordo.jobs.v1.JobsService/CancelJob", Right::kChangeOwn, kChanges},
    {"ordo.jobs.v1.JobsService/HoldJob", Right::kChangeOwn, kChanges},
    {"ordo.jobs.v1.JobsService/ReleaseJob", Right::kChangeOwn, kChanges},
    {"ordo.jobs.v1.JobsService/SetJobPriority", Right::kChangeOwn, kChanges},
    {"ordo.jobs.v1.JobsService/WatchJob", Right::kRead},
    {"ordo.jobs.v1.JobsService/ReadLogs", Right::kRead},
    {"ordo.jobs.v1.JobsService/Explain", Right::kRead},
    {"ordo.queues.v1.QueuesService/CreateQueue", Right::kAdminister, kChanges},
    {"ordo.queues.v1.QueuesService/GetQueue", Right::kRead},
    {"ordo.queues.v1.QueuesService/ListQueues", Right::kRead},
    {"ordo.queues.v1.QueuesService/UpdateQueue", Right::kAdminister, kChanges},
    {"ordo.queues.v1.QueuesService/DeleteQueue", Right::kAdminister, kChanges},
    {"ordo.reports.v1.ReportsService/GetReport", Right::kRead},
    {"ordo.reports.v1.ReportsService/ListReports", Right::kRead},
    {"ordo.reports.v1.ReportsService/ReadFile", Right::kRead},
    {"ordo.usage.v1.UsageService/ReportUsage", Right::kRead},
    {"ordo.workers.v1.WorkersService/GetWorker", Right::kRead},
    {"ordo.workers.v1.WorkersService/ListWorkers", Right::kRead},
    {"ordo.workers.v1.WorkersService/CordonWorker", Right::kAdminister,
     kChanges},
    {"ordo.workers.v1.WorkersService/DrainWorker", Right::kAdminister,
     kChanges},
    {"ordo.workers.v1.WorkersService/UncordonWorker", Right::kAdminister,
     kChanges},
    {"ordo.workers.v1.WorkersService/ReleaseDevice", Right::kAdminister,
     kChanges},
    {"grpc.health.v1.Health/Check", Right::kNobodyNeeded},
    {"grpc.health.v1.Health/Watch", Right::kNobodyNeeded},
    {"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     Right::kNobodyNeeded},
};

}  // namespace

const std::vector<MethodRule>& MethodRules() {
  static const auto* const rules =
      new std::vector<MethodRule>(std::begin(kRules), std::end(kRules));
  return *rules;
}

const MethodRule* FindRule(std::string_view method) {
  const auto& rules = MethodRules();
  const auto found = std::find_if(
      rules.begin(), rules.end(),
      [method](const auto& rule) { return rule.method == method; });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace ordo::services::auth
