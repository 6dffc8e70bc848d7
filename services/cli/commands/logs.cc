#include "base/backoff/backoff.h"
#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::ReadLogsRequest;
using jobs::v1::ReadLogsResponse;

// Prints what one stream gives and moves `request` on to where it stopped.
grpc::Status PrintStream(Context& context, ReadLogsRequest* request,
                         bool* answered) {
  const std::unique_ptr<grpc::ClientContext> call =
      context.client.StreamContext();
  const Interrupt::Scope cancel(context.interrupt, [&] { call->TryCancel(); });
  const auto reader = context.client.jobs().ReadLogs(call.get(), *request);
  ReadLogsResponse response;
  while (reader->Read(&response)) {
    *answered = true;
    if (!PrintStructured(context, response)) context.out << response.data();
    context.out << std::flush;
    request->set_attempt(response.attempt());
    request->set_offset(response.offset() +
                        static_cast<int64_t>(response.data().size()));
  }
  return reader->Finish();
}

// Whether the server answers at all: a stream that follows a quiet log says
// nothing by itself.
bool ServerAnswers(Context& context, const std::string& job) {
  jobs::v1::GetJobRequest request;
  request.set_name(job);
  return context.client
             .Call(context.client.jobs(), &jobs::v1::JobsService::Stub::GetJob,
                   request)
             .status()
             .code() != absl::StatusCode::kUnavailable;
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ReadLogsRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(),
                        JobName(arguments.positional()[0]));
  ORDO_ASSIGN_OR_RETURN(const int64_t attempt,
                        arguments.GetInt("attempt", 0, 1, 1 << 30));
  ORDO_ASSIGN_OR_RETURN(const int64_t rank,
                        arguments.GetInt("rank", 0, 0, 1 << 20));
  request.set_attempt(static_cast<int32_t>(attempt));
  request.set_rank(static_cast<int32_t>(rank));
  request.set_follow(arguments.Has("follow"));
  request.set_metrics(arguments.Has("metrics"));
  if (request.follow()) context.interrupt.CatchSignals();

  base::BackoffOptions backoff;
  backoff.initial = absl::Milliseconds(50);
  backoff.max = absl::Seconds(1);
  absl::Duration last_contact = context.clock.Monotonic();
  for (int failures = 1;; ++failures) {
    bool answered = false;
    const grpc::Status status = PrintStream(context, &request, &answered);
    if (status.ok() || context.interrupt.triggered()) return ExitCode::kOk;
    if (!IsAway(status)) return context.client.Explain(status);
    if (answered || ServerAnswers(context, request.name())) {
      last_contact = context.clock.Monotonic();
      failures = 1;
    }
    const absl::Duration patience = request.follow()
                                        ? context.client.options().patience
                                        : context.client.options().retry_for;
    if (context.clock.Monotonic() - last_contact >= patience) {
      return context.client.Unreachable("");
    }
    if (context.interrupt.WaitFor(
            base::BackoffDelay(backoff, failures, request.name()))) {
      return ExitCode::kOk;
    }
  }
}

}  // namespace

Command LogsCommand() {
  Command command;
  command.name = "logs";
  command.arguments = "JOB";
  command.summary = "print what a job's trainer wrote";
  command.help =
      "Of the newest attempt, unless --attempt names another. With --follow "
      "it\n"
      "goes on as the log grows, into later attempts, until the job has "
      "ended.\n"
      "With --metrics it prints the losses and scores that the trainer "
      "recorded.\n"
      "With -o json or yaml each piece of the log is a message, its data in\n"
      "base64: a log may hold any bytes.";
  command.options = {
      {"follow", 'f', "", "go on until the job has ended"},
      {"attempt", 0, "NUMBER", "attempt to read; default the newest"},
      {"rank", 0, "NUMBER", "rank to read; default 0"},
      {"metrics", 0, "", "losses and scores instead, a line of JSON each"},
  };
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
