#include "services/cli/commands/outcome.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "services/cli/commands/parts.h"
#include "services/cli/follow.h"
#include "services/cli/live_view.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// Between two listings of parts: a thousand of them are much to send, so those
// that take long are made seldom.
constexpr absl::Duration kPartsPeriod = absl::Seconds(2);
constexpr int kPartsPause = 20;

std::vector<std::string> NotEnded(const std::vector<FollowedJob>& jobs) {
  std::vector<std::string> names;
  for (const FollowedJob& job : jobs) {
    if (!HasEnded(job.job.state())) names.push_back(ShortName(job.name));
  }
  return names;
}

// The parts of the jobs that have some, listed anew now and then: a parent
// hears nothing of them before they have ended.
class PartsLister {
 public:
  explicit PartsLister(Context& context) : context_(context) {}

  const PartsByParent& List(const std::vector<FollowedJob>& jobs) {
    const absl::Duration start = context_.clock.Monotonic();
    const bool is_due = start >= due_;
    bool has_listed = false;
    for (const FollowedJob& job : jobs) {
      if (!job.connected || job.job.parts().empty() ||
          ended_.count(job.name) > 0) {
        continue;
      }
      const bool has_ended = HasEnded(job.job.state());
      if (!is_due && !has_ended) continue;
      has_listed = true;
      auto parts = ListParts(context_, job.job);
      // What was known stays: it is the job that is waited for.
      if (!parts.ok()) continue;
      parts_[job.name] = *std::move(parts);
      // Once more at the end, and then no more.
      if (has_ended) ended_.insert(job.name);
    }
    if (has_listed) {
      const absl::Duration end = context_.clock.Monotonic();
      due_ = end + std::max(kPartsPeriod, kPartsPause * (end - start));
    }
    return parts_;
  }

 private:
  Context& context_;
  absl::Duration due_ = -absl::InfiniteDuration();
  std::set<std::string> ended_;
  PartsByParent parts_;
};

absl::StatusOr<FollowEnd> Follow(Context& context, const StayOptions& options,
                                 LiveView& view,
                                 std::vector<FollowedJob>& jobs) {
  PartsLister parts(context);
  FollowOptions follow;
  follow.timeout = options.timeout;
  if (options.live) {
    follow.tick = absl::Seconds(1);
    follow.on_change = [&](const std::vector<FollowedJob>& current) {
      view.Update(current, parts.List(current));
    };
  }
  return FollowJobs(context, jobs, follow);
}

absl::Status CancelAll(Context& context, std::vector<FollowedJob> jobs) {
  // None starts on a device that another leaves.
  std::stable_partition(jobs.begin(), jobs.end(), [](const FollowedJob& job) {
    return CouldStart(job.job);
  });
  for (const FollowedJob& job : jobs) {
    if (HasEnded(job.job.state())) continue;
    jobs::v1::CancelJobRequest request;
    request.set_name(job.name);
    const auto cancelled =
        context.client.Call(context.client.jobs(),
                            &jobs::v1::JobsService::Stub::CancelJob, request);
    // It may have ended in between.
    if (!cancelled.ok() &&
        cancelled.status().code() != absl::StatusCode::kFailedPrecondition) {
      return cancelled.status();
    }
  }
  return absl::OkStatus();
}

ExitCode PrintOutcome(Context& context, const std::vector<FollowedJob>& jobs,
                      const StayOptions& options) {
  ExitCode code = ExitCode::kOk;
  for (const FollowedJob& job : jobs) {
    code = Worse(code, ExitCodeOf(job.job.state()));
    if (!options.tells_success && job.job.state() == jobs::v1::Job::SUCCEEDED) {
      continue;
    }
    if (PrintStructured(context, job.job)) continue;
    // The live view's last line of a job says it already.
    if (options.live) continue;
    const Cell state = StateCell(job.job.state());
    context.out << ShortName(job.name) << " "
                << Paint(context.terminal, state.color, state.text);
    // A gate that succeeded says its verdict.
    const bool says_more = job.job.state() != jobs::v1::Job::SUCCEEDED ||
                           job.job.spec().kind() == jobs::v1::JobSpec::GATE;
    if (says_more && !job.job.message().empty()) {
      context.out << "  " << Printable(job.job.message());
    }
    context.out << "\n";
  }
  return code;
}

}  // namespace

std::vector<Option> StayOptionTable() {
  return {
      {"wait", 0, "", "stay until the job has ended; exit code as its end"},
      {"watch", 0, "", "as --wait, and show how it goes"},
      {"cancel-on-interrupt", 0, "",
       "with --wait or --watch: Ctrl-C cancels the job"},
  };
}

absl::StatusOr<ExitCode> StayUntilEnded(Context& context,
                                        const std::vector<std::string>& names,
                                        const StayOptions& options) {
  context.interrupt.CatchSignals();
  ORDO_ASSIGN_OR_RETURN(std::vector<FollowedJob> jobs, JobsToFollow(names));
  LiveView view(context);
  ORDO_ASSIGN_OR_RETURN(FollowEnd end, Follow(context, options, view, jobs));
  if (end == FollowEnd::kInterrupted && options.cancel_on_interrupt) {
    context.interrupt.Reset();
    context.err << "ordo: cancelling " << absl::StrJoin(NotEnded(jobs), " ")
                << "\n";
    ORDO_RETURN_IF_ERROR(CancelAll(context, jobs));
    ORDO_ASSIGN_OR_RETURN(end, Follow(context, options, view, jobs));
  }
  if (end == FollowEnd::kAllEnded) {
    return PrintOutcome(context, jobs, options);
  }
  const std::vector<std::string> left = NotEnded(jobs);
  context.err << "ordo: "
              << (end == FollowEnd::kTimedOut ? "the time is up" : "detached")
              << "; still going: " << absl::StrJoin(left, " ")
              << " (come back with: ordo " << options.back << " "
              << absl::StrJoin(left, " ") << ")\n";
  for (FollowedJob& job : jobs) {
    // The scheduler may not have said a word yet.
    job.job.set_name(job.name);
    if (PrintStructured(context, job.job)) continue;
    if (HasEnded(job.job.state()) || options.names_are_out) continue;
    context.out << ShortName(job.name) << "\n";
  }
  return ExitCode::kTimedOut;
}

absl::Status PrepareToStay(Context& context, const Arguments& arguments) {
  const bool stays = arguments.Has("wait") || arguments.Has("watch");
  if (arguments.Has("cancel-on-interrupt") && !stays) {
    return absl::InvalidArgumentError(
        "--cancel-on-interrupt needs --wait or --watch");
  }
  if (stays) context.interrupt.CatchSignals();
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> StayIfAsked(Context& context,
                                     const Arguments& arguments,
                                     const std::vector<std::string>& names) {
  StayOptions options;
  options.live = arguments.Has("watch");
  options.cancel_on_interrupt = arguments.Has("cancel-on-interrupt");
  options.names_are_out = context.output == OutputForm::kTable;
  if (!options.live && !arguments.Has("wait")) return ExitCode::kOk;
  return StayUntilEnded(context, names, options);
}

}  // namespace ordo::services::cli
