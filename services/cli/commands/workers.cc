#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/units/proto_time.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"
#include "services/cli/times.h"

namespace ordo::services::cli {
namespace {

using workers::v1::Worker;
using workers::v1::WorkersService;

// A time this long ago is no slip of a clock or of a thought.
constexpr absl::Duration kPastTolerance = absl::Minutes(1);
constexpr char kArguments[] =
    "cordon|drain|uncordon WORKER, release WORKER DEVICE";

// What is wanted of a worker.
struct Wanted {
  std::string verb;
  // Resource name.
  std::string worker;
  // To be released.
  std::string device;
  std::string reason;
};

absl::StatusOr<Worker> Cordon(Context& context, const Wanted& wanted) {
  workers::v1::CordonWorkerRequest request;
  request.set_name(wanted.worker);
  request.set_reason(wanted.reason);
  return context.client.Call(context.client.workers(),
                             &WorkersService::Stub::CordonWorker, request);
}

absl::StatusOr<Worker> Drain(Context& context, const Wanted& wanted,
                             const Arguments& arguments) {
  workers::v1::DrainWorkerRequest request;
  request.set_name(wanted.worker);
  request.set_reason(wanted.reason);
  const std::string given = arguments.Get("at", "now");
  if (given != "now") {
    const absl::Time now = context.clock.Now();
    ORDO_ASSIGN_OR_RETURN(const absl::Time at,
                          ParseTime("at", given, now, Direction::kAhead));
    if (at < now - kPastTolerance) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--at ", given, " is in the past; what runs is stopped at once by ",
          "--at now"));
    }
    *request.mutable_drain_time() = base::ToTimestamp(at);
  }
  return context.client.Call(context.client.workers(),
                             &WorkersService::Stub::DrainWorker, request);
}

absl::StatusOr<Worker> Uncordon(Context& context, const Wanted& wanted) {
  workers::v1::UncordonWorkerRequest request;
  request.set_name(wanted.worker);
  request.set_reason(wanted.reason);
  return context.client.Call(context.client.workers(),
                             &WorkersService::Stub::UncordonWorker, request);
}

struct Released {
  Worker worker;
  // It was in quarantine.
  bool changed = false;
};

// Each change that is made is the newest of the worker's.
absl::StatusOr<Released> Release(Context& context, const Wanted& wanted) {
  workers::v1::GetWorkerRequest get;
  get.set_name(wanted.worker);
  ORDO_ASSIGN_OR_RETURN(
      const Worker before,
      context.client.Call(context.client.workers(),
                          &WorkersService::Stub::GetWorker, get));
  workers::v1::ReleaseDeviceRequest request;
  request.set_name(wanted.worker);
  request.set_device(wanted.device);
  request.set_reason(wanted.reason);
  Released released;
  ORDO_ASSIGN_OR_RETURN(
      released.worker,
      context.client.Call(context.client.workers(),
                          &WorkersService::Stub::ReleaseDevice, request));
  const auto newest = [](const Worker& worker) {
    return worker.changes().empty()
               ? std::string()
               : worker.changes().rbegin()->SerializeAsString();
  };
  released.changed = newest(before) != newest(released.worker);
  return released;
}

absl::StatusOr<Worker> Change(Context& context, const Wanted& wanted,
                              const Arguments& arguments) {
  if (wanted.verb == "cordon") return Cordon(context, wanted);
  if (wanted.verb == "drain") return Drain(context, wanted, arguments);
  return Uncordon(context, wanted);
}

// What became of it, after the worker's name.
std::string Outcome(const Worker& worker) {
  std::vector<std::string> closed;
  if (worker.cordoned()) closed.push_back("cordoned");
  if (worker.has_drain_time()) {
    closed.push_back("drains at " + FormatTime(worker.drain_time()));
  }
  return closed.empty() ? "open" : absl::StrJoin(closed, ", ");
}

absl::StatusOr<Wanted> Parse(const Arguments& arguments) {
  const std::vector<std::string> verbs = {"cordon", "drain", "uncordon",
                                          "release"};
  const std::vector<std::string>& given = arguments.positional();
  const std::string usage = absl::StrCat("usage: ordo workers ", kArguments,
                                         "; to see them: ordo list workers");
  if (given.empty()) return absl::InvalidArgumentError(usage);
  Wanted wanted;
  wanted.verb = given[0];
  if (std::find(verbs.begin(), verbs.end(), wanted.verb) == verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo workers ", wanted.verb, "' is no command",
                     base::SuggestName(wanted.verb, verbs),
                     "; to see them: ordo list workers"));
  }
  if (given.size() == 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("no worker is named; ", usage));
  }
  ORDO_ASSIGN_OR_RETURN(wanted.worker, WorkerName(given[1]));
  if (arguments.Has("at") && wanted.verb != "drain") {
    return absl::InvalidArgumentError("--at is for 'ordo workers drain'");
  }
  const bool takes_device = wanted.verb == "release";
  if (takes_device != (given.size() == 3)) {
    return absl::InvalidArgumentError(
        takes_device ? "which device? see: ordo show workers/" + given[1]
                     : "unexpected argument '" + given[2] +
                           "'; a device is for 'ordo workers release'");
  }
  if (takes_device) wanted.device = given[2];
  wanted.reason = arguments.Get("reason", "");
  return wanted;
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_ASSIGN_OR_RETURN(const Wanted wanted, Parse(arguments));
  if (wanted.verb == "release") {
    ORDO_ASSIGN_OR_RETURN(const Released released, Release(context, wanted));
    if (PrintStructured(context, released.worker)) return ExitCode::kOk;
    const std::string name = ShortName(wanted.worker);
    context.out << (released.changed
                        ? absl::StrCat(name, " ", wanted.device, " released")
                        : absl::StrCat(wanted.device, " of ", name,
                                       " was not in quarantine"))
                << "\n";
    return ExitCode::kOk;
  }
  ORDO_ASSIGN_OR_RETURN(const Worker worker,
                        Change(context, wanted, arguments));
  if (PrintStructured(context, worker)) return ExitCode::kOk;
  context.out << ShortName(worker.name()) << " " << Outcome(worker) << "\n";
  return ExitCode::kOk;
}

}  // namespace

Command WorkersCommand() {
  Command command;
  command.name = "workers";
  command.arguments = kArguments;
  command.summary = "close and open workers";
  command.help =
      "cordon    nothing starts there any more; what runs goes on\n"
      "drain     at --at (default: now) what still runs is stopped with a\n"
      "          checkpoint and queued again; before, only jobs start there\n"
      "          that must have ended by then (run_time_limit)\n"
      "uncordon  ends both\n"
      "release   ends the quarantine of a device, once it is mended\n"
      "A restart of the worker or of the scheduler changes none of this. Who "
      "did\n"
      "what, when and why: ordo show workers/WORKER.";
  command.options = {
      {"at", 0, "TIME", "when to be empty: now, 2h or 'YYYY-MM-DD HH:MM'"},
      {"reason", 0, "TEXT", "why, for others to read"},
  };
  command.min_arguments = 0;
  command.max_arguments = 3;
  command.completes = "cordon drain uncordon release";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
