#ifndef ORDO_BASE_LOG_FIELDS_H_
#define ORDO_BASE_LOG_FIELDS_H_

// What the fields of log lines are called; tools/tidy refuses a line with
// another. The names do not change from release to release: people search logs
// by them.

namespace ordo::base {

struct LogFieldName {
  const char* name;
  const char* meaning;
};

// Of every line, in JSON: `time` (UTC, RFC 3339), `level` (DEBUG, INFO, WARNING
// or ERROR) and `event` (what happened, the same words each time).
inline constexpr const char* kLogLineNames[] = {"time", "level", "event"};

inline constexpr LogFieldName kLogFieldNames[] = {
    // Whom a line concerns: in every line that concerns one.
    {"job", "Id of the job."},
    {"attempt", "Number of its attempt; 0: there was none."},
    {"rank", "Rank of the attempt."},
    {"worker", "Id of the worker; in each line of a worker's own log."},
    {"request_id", "The request that made the job, as its caller called it."},
    {"trace_id", "Trace that the job is part of: 32 hexadecimal digits."},
    {"device", "Device of the worker, such as cuda:0."},
    {"user", "Who asked for it."},
    // What happened.
    {"state", "State that the job has now; digest of what a trainer has."},
    {"reason", "Machine-readable reason, or that which a person gave."},
    {"message", "A sentence for people."},
    {"error", "What failed and why; of a kernel its error."},
    {"held_back", "How many more lines like this one there were."},
    {"action", "What a person changed."},
    {"cause", "What ended an attempt."},
    {"checkpoints", "How many checkpoints."},
    {"failed", "How many kernels are wrong."},
    {"grace", "Time until what is asked for is enforced."},
    {"jobs", "How many jobs."},
    {"kernels", "Which kernels were used."},
    {"passed", "How many kernels are right."},
    {"reports", "How many reports."},
    {"result", "How an operation went."},
    {"running", "Whether it runs."},
    {"seconds", "How long it took."},
    {"step", "Steps done."},
    {"steps", "Steps to be done."},
    {"verdict", "What a gate decided, a sentence."},
    {"verified", "Whether the user's name was proved."},
    // What it is about.
    {"address", "HOST:PORT."},
    {"api", "HOST:PORT of the API."},
    {"bound", "What an error may be at most."},
    {"config", "The configuration."},
    {"deployment", "Folder of the deployment."},
    {"epoch", "How often the store has been opened."},
    {"field", "Path of a field of a message."},
    {"folder", "A folder."},
    {"fresh", "Weights that were not taken."},
    {"from", "Checkpoint or report that something was taken from."},
    {"id", "Id of a checkpoint or report of the job."},
    {"index", "Number of a GPU."},
    {"kernel", "Name of a kernel."},
    {"left", "Weights that were left out."},
    {"method", "Method of the API, such as ordo.jobs.v1.JobsService/GetJob."},
    {"metrics", "HOST:PORT of the metrics page."},
    {"name", "Resource name, or name of data."},
    {"number", "Number of a signal."},
    {"path", "A file."},
    {"peer", "Who calls, as gRPC says it: ipv4:HOST:PORT."},
    {"pid", "A process."},
    {"problem", "Shape that a kernel is wrong for."},
    {"report", "Id of a report."},
    {"resource", "Name of what a request is about."},
    {"store", "File of the store."},
    {"supervisor", "Process of an attempt's supervisor."},
    {"upload", "Id of an upload."},
    {"what", "What is wrong of a kernel."},
};

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_FIELDS_H_
