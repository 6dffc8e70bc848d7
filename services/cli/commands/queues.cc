#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "google/protobuf/util/time_util.h"
#include "services/cli/commands/caller.h"
#include "services/cli/commands/changes.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/each.h"
#include "services/cli/commands/listing.h"
#include "services/cli/commands/queue_settings.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using queues::v1::ListQueuesRequest;
using queues::v1::ListQueuesResponse;
using queues::v1::Queue;
using queues::v1::QueuesService;
using Lines = std::vector<std::pair<std::string, Cell>>;

std::string DurationText(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Nanoseconds(
      google::protobuf::util::TimeUtil::DurationToNanoseconds(duration)));
}

// "cuda 4 of at most 8, cpu at most 2".
std::string QuotasText(const Queue& queue) {
  return absl::StrJoin(queue.quotas(), ", ",
                       [](std::string* out, const queues::v1::Quota& quota) {
                         absl::StrAppend(out, quota.device(), " ",
                                         QuotaText(quota));
                       });
}

// "cuda 3, cpu 1".
std::string HeldText(const Queue& queue) {
  const std::map<std::string, int32_t> held(queue.held_devices().begin(),
                                            queue.held_devices().end());
  return absl::StrJoin(held, ", ", absl::PairFormatter(" "));
}

absl::StatusOr<Queue> GetQueue(Context& context, const std::string& name) {
  queues::v1::GetQueueRequest request;
  request.set_name(name);
  return context.client.Call(context.client.queues(),
                             &QueuesService::Stub::GetQueue, request);
}

absl::Status List(Context& context) {
  ListQueuesResponse all;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.queues(),
                         &QueuesService::Stub::ListQueues, ListQueuesRequest()},
                0,
                [&](const ListQueuesResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.queues_size();
                })
          .status());
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", ">WEIGHT", "QUOTAS", "HELD", ">QUEUED", ">ACTIVE"});
  for (const Queue& queue : all.queues()) {
    table.AddRow({ShortName(queue.name()), FormatNumber(queue.weight()),
                  QuotasText(queue), HeldText(queue),
                  absl::StrCat(queue.queued_jobs()),
                  absl::StrCat(queue.active_jobs())});
  }
  context.out << table.ToString(context.terminal);
  return absl::OkStatus();
}

absl::Status ShowOne(Context& context, const std::string& argument) {
  ORDO_ASSIGN_OR_RETURN(const std::string name, QueueName(argument));
  ORDO_ASSIGN_OR_RETURN(const Queue queue, GetQueue(context, name));
  if (PrintStructured(context, queue)) return absl::OkStatus();
  Lines lines = {
      {"Queue", ShortName(queue.name())},
      {"Weight", FormatNumber(queue.weight())},
      {"Quotas", QuotasText(queue)},
      {"Held", HeldText(queue)},
      {"Queued jobs", absl::StrCat(queue.queued_jobs())},
      {"Active jobs", absl::StrCat(queue.active_jobs())},
      // Queued and active: what the limit is of.
      {"Jobs in all", absl::StrCat(queue.queued_jobs() + queue.active_jobs(),
                                   " of ", queue.max_queued_jobs())}};
  if (queue.has_max_devices_per_owner()) {
    lines.push_back(
        {"Devices per owner", absl::StrCat(queue.max_devices_per_owner())});
  }
  if (queue.has_default_run_time_limit()) {
    lines.push_back(
        {"Default run time", DurationText(queue.default_run_time_limit())});
  }
  if (queue.has_max_run_time_limit()) {
    lines.push_back(
        {"Largest run time", DurationText(queue.max_run_time_limit())});
  }
  lines.push_back({"Etag", queue.etag()});
  context.out << KeyValueLines(lines, context.terminal);
  PrintChanges(context, queue.changes());
  return absl::OkStatus();
}

absl::Status PrintChanged(Context& context, const absl::StatusOr<Queue>& queue,
                          const std::string& what) {
  ORDO_RETURN_IF_ERROR(queue.status());
  if (PrintStructured(context, *queue)) return absl::OkStatus();
  context.out << ShortName(queue->name()) << " " << what << "\n";
  return absl::OkStatus();
}

// Whether the newest change of a queue may be ours: who asked, and why.
bool IsOurs(Context& context, const Queue& queue, const std::string& reason) {
  if (queue.changes().empty()) return false;
  const auto& newest = *queue.changes().rbegin();
  const absl::StatusOr<std::string> user = CallerName(context);
  return user.ok() && newest.user() == *user && newest.reason() == reason;
}

// A queue that exists when the answer to the first try was lost is, if we made
// it and it is as we asked, the one that was asked for.
absl::Status Create(Context& context, const std::string& argument,
                    const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const std::string name, QueueName(argument));
  ORDO_ASSIGN_OR_RETURN(const QueueSettings settings,
                        ParseQueueSettings(arguments));
  queues::v1::CreateQueueRequest request;
  *request.mutable_queue() = settings.queue;
  request.set_queue_id(ShortName(name));
  request.set_reason(arguments.Get("reason", ""));
  bool maybe_done = false;
  absl::StatusOr<Queue> queue = context.client.Call(
      context.client.queues(), &QueuesService::Stub::CreateQueue, request,
      &maybe_done);
  if (maybe_done && absl::IsAlreadyExists(queue.status())) {
    const absl::StatusOr<Queue> there = GetQueue(context, name);
    if (there.ok() && IsOurs(context, *there, request.reason()) &&
        HasOnlySettings(*there, settings.queue)) {
      queue = there;
    }
  }
  return PrintChanged(context, queue, "created");
}

// One that is no longer as its etag says, when the answer to the first try was
// lost, is done if it has what was asked for.
absl::Status Update(Context& context, const std::string& argument,
                    const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const std::string name, QueueName(argument));
  ORDO_ASSIGN_OR_RETURN(const QueueSettings settings,
                        ParseQueueSettings(arguments));
  if (settings.mask.paths().empty()) {
    return absl::InvalidArgumentError(
        "there is nothing to change; see 'ordo help queues'");
  }
  queues::v1::UpdateQueueRequest request;
  *request.mutable_queue() = settings.queue;
  request.mutable_queue()->set_name(name);
  request.mutable_queue()->set_etag(arguments.Get("etag", ""));
  *request.mutable_update_mask() = settings.mask;
  request.set_reason(arguments.Get("reason", ""));
  if (arguments.Has("quota")) {
    ORDO_ASSIGN_OR_RETURN(const Queue now, GetQueue(context, name));
    KeepOtherQuotas(now, request.mutable_queue());
    if (request.queue().etag().empty()) {
      request.mutable_queue()->set_etag(now.etag());
    }
  }
  bool maybe_done = false;
  absl::StatusOr<Queue> queue = context.client.Call(
      context.client.queues(), &QueuesService::Stub::UpdateQueue, request,
      &maybe_done);
  if (maybe_done && absl::IsAborted(queue.status())) {
    const absl::StatusOr<Queue> there = GetQueue(context, name);
    if (there.ok() &&
        HasSettings(*there, {request.queue(), request.update_mask()})) {
      queue = there;
    }
  }
  return PrintChanged(context, queue, "updated");
}

// Gone at the second try, when the answer to the first was lost, is done.
absl::Status Delete(Context& context, const std::string& argument,
                    const Arguments& arguments) {
  queues::v1::DeleteQueueRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(), QueueName(argument));
  request.set_etag(arguments.Get("etag", ""));
  request.set_reason(arguments.Get("reason", ""));
  bool maybe_done = false;
  absl::StatusOr<Queue> queue = context.client.Call(
      context.client.queues(), &QueuesService::Stub::DeleteQueue, request,
      &maybe_done);
  if (maybe_done && absl::IsNotFound(queue.status())) {
    queue.emplace();
    queue->set_name(request.name());
  }
  return PrintChanged(context, queue, "deleted");
}

// Options that the verb makes nothing of are mistakes.
absl::Status CheckOptions(const std::string& verb, const Arguments& arguments) {
  const bool changes = verb == "create" || verb == "update" || verb == "delete";
  const bool settable = verb == "create" || verb == "update";
  std::vector<std::string> wrong;
  for (const Option& option : QueueOptionTable()) {
    const bool fits = option.name == "unset" ? verb == "update" : settable;
    if (!fits && arguments.Has(option.name)) wrong.push_back(option.name);
  }
  if (arguments.Has("reason") && !changes) wrong.push_back("reason");
  if (arguments.Has("etag") && verb != "update" && verb != "delete") {
    wrong.push_back("etag");
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--", wrong[0], " has no meaning for 'ordo queues ", verb, "'"));
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::vector<std::string> verbs = {"list", "show", "create", "update",
                                          "delete"};
  std::vector<std::string> names = arguments.positional();
  const std::string verb = names.empty() ? "list" : names.front();
  if (!names.empty()) names.erase(names.begin());
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo queues ", verb, "' is no command",
                     base::SuggestName(verb, verbs)));
  }
  ORDO_RETURN_IF_ERROR(CheckOptions(verb, arguments));
  if ((verb == "list") != names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "usage: ordo queues ", verb, verb == "list" ? "" : " QUEUE..."));
  }
  if (verb == "list") {
    ORDO_RETURN_IF_ERROR(List(context));
    return ExitCode::kOk;
  }
  return ForEach(context, names,
                 [&](Context& each, const std::string& name) -> absl::Status {
                   if (verb == "show") return ShowOne(each, name);
                   if (verb == "create") return Create(each, name, arguments);
                   if (verb == "update") return Update(each, name, arguments);
                   return Delete(each, name, arguments);
                 });
}

}  // namespace

Command QueuesCommand() {
  Command command;
  command.name = "queues";
  command.arguments = "[list], show|create|update|delete QUEUE...";
  command.summary = "who gets how much of the cluster";
  command.help =
      "A job names its queue; without, it is in `default`, which is always "
      "there.\n"
      "Queues that hold less than their guaranteed devices go first, then "
      "those\n"
      "that lately used least for their weight. Above what is guaranteed a "
      "queue\n"
      "borrows what is free, up to its limit. Changes count at once, for jobs "
      "that wait\n"
      "too; nothing that runs is stopped for a smaller limit. --quota leaves "
      "those of\n"
      "other devices, --unset quota takes all away:\n"
      "  ordo queues create night --weight 2 --quota cuda=4:8\n"
      "  ordo queues update night --quota cuda=:2 --unset weight --reason "
      "exams";
  command.options = QueueOptionTable();
  command.options.push_back(
      {"etag", 0, "ETAG", "only if it is still as `show` said"});
  command.options.push_back({"reason", 0, "TEXT", "why, for others to read"});
  command.min_arguments = 0;
  command.max_arguments = kAnyNumber;
  command.completes = "list show create update delete";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
