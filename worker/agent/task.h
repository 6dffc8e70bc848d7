#ifndef ORDO_WORKER_AGENT_TASK_H_
#define ORDO_WORKER_AGENT_TASK_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "base/records/records.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/agent/core.h"
#include "worker/agent/facts.h"
#include "worker/agent/launcher.h"
#include "worker/agent/sandbox.h"
#include "worker/agent/spare_folders.h"
#include "worker/agent/task_texts.h"

namespace ordo::worker::agent {

// Where tasks live and what runs them.
struct TaskOptions {
  // Absolute folders.
  std::string state_folder;
  std::string storage_root;
  std::string deployment;
  // Executables.
  std::string supervisor;
  std::string trainer;
  // "NAME=value", the environment of supervisors and trainers but for what
  // their devices add.
  std::vector<std::string> environment;
  // Absolute folders whose files tasks may read, beside data/ of storage_root.
  std::vector<std::string> data_roots = {};
  // Address of this machine, or a name of it, that other workers' machines
  // reach it at: where ranks meet.
  std::string host = "127.0.0.1";
  // UUIDs of GPUs by the names of their devices.
  std::map<std::string, std::string> gpu_uuids = {};
  // What trainers may take and do.
  Sandbox sandbox = {};
  // Where the machine's devices are looked for; "" but in tests.
  std::string devices_root = {};
  // Writes the files of tasks as JSON; all copies of this share it.
  std::shared_ptr<TaskTexts> texts = std::make_shared<TaskTexts>();
  // Starts supervisors; shared likewise.
  std::shared_ptr<Launcher> launcher = std::make_shared<Launcher>();
};

// The folders of one rank of an attempt.
struct TaskFolders {
  TaskFolders(const TaskOptions& options, const AttemptKey& key);

  std::string task;     // <state>/tasks/<job>.<attempt>
  std::string job;      // <root>/jobs/<job>
  std::string attempt;  // <job>/attempts/<n>
  // Files in the attempt's folder, which ranks share: rank 0 has the plain
  // name, rank r the same with -r before the ending.
  std::string progress;        // The progress records.
  std::string task_file;       // The task as its trainer reads it.
  std::string task_message;    // The same of what sums up, as a message.
  std::string supervisor_log;  // What its supervisor has to say.
};

// An environment with `added` put in or replaced.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& old,
    const std::vector<std::pair<std::string, std::string>>& added);

// Files and processes of one attempt on this machine. Not thread-safe.
class Task {
 public:
  // `options`, `files` and `spares` outlive the task.
  Task(const TaskOptions& options, base::Filesystem& files,
       SpareFolders& spares, AttemptKey key);
  // The supervisor goes on.
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const TaskFolders& folders() const { return folders_; }

  // Writes task.json, task.pb and an empty progress file, and starts the
  // supervisor. What sums up others may be longer than a text that a trainer
  // reads, and is handed to it as a message. After an error nothing runs; the
  // message says what to mend, and `cause` whether it is the storage root
  // (START_FAILED), this machine (HOST_FAILED), or an attempt that was started
  // in its folder before (FOLDER_TAKEN, with ALREADY_EXISTS). The trainer does
  // without the wrong kernels.
  absl::Status Start(const ::ordo::agent::v1::DesiredAttempt& desired,
                     ::ordo::agent::v1::ObservedAttempt::Cause* cause,
                     const std::vector<std::string>& wrong_kernels = {});
  // What was stored of an attempt that an earlier process started; only job and
  // attempt number when that is damaged.
  ::ordo::agent::v1::DesiredAttempt Stored() const;
  // Takes over its supervisor, if that still runs. One of another boot of the
  // machine is gone, whatever process has its number now.
  void Adopt();
  // Writes <job>/spec.json, unless an earlier attempt did. Not durable: the
  // scheduler's store is what keeps it.
  absl::Status WriteSpec(
      const ::ordo::agent::v1::DesiredAttempt& desired) const;

  // Makes the journal durable, so that the end that it tells of outlives the
  // machine's crash; only of a task whose journal tells its end. Writes it anew
  // where the disk does not take it. After an error only a call with `anew`,
  // which writes it anew at once, can tell that it is durable: the kernel takes
  // what it failed to write for written. NOT_FOUND when the task was removed;
  // DATA_LOSS when the journal reads back without its end, and then stays as it
  // is.
  absl::Status SyncJournal(bool anew) const;

  // What is new.
  struct Update {
    SupervisorFacts facts;
    std::vector<::ordo::training::v1::ProgressRecord> records;
    // Why not all could be read; the next call tries again.
    absl::Status trouble;
    // The attempt has ended and some of its records are lost for good; said
    // once, nothing is read after it.
    absl::Status damage;
    // `facts` is what the journal says.
    bool journal_read = false;
    // Both files were read to their end, or to the damage.
    bool complete = false;
  };
  struct ReadOptions {
    // Nothing of the attempt is left, whatever the journal says.
    bool ended = false;
    // Records of an attempt that has ended are lost if they cannot be read now.
    bool give_up = false;
  };
  // The journal is read before the progress records, so that a complete update
  // whose facts say that the group is empty has them all.
  Update Read(ReadOptions how);
  Update Read() { return Read({}); }

  // Readable when the supervisor has ended; -1 when there is none (any more).
  int supervisor_file() const { return supervisor_file_; }
  pid_t supervisor_pid() const { return supervisor_.pid; }
  bool SupervisorRuns() const;
  // Closes supervisor_file(), when it has told that the supervisor is gone.
  void ReleaseSupervisor();
  // SIGTERM (stop) or SIGUSR1 (kill) with the grace. NOT_FOUND when it is gone.
  absl::Status Signal(int signal, absl::Duration grace);
  // For a task whose supervisor is gone: kills what is left of it; the number
  // of processes that were still there.
  int EndLeftovers() const;
  // Removes the task folder, or keeps it for another task.
  absl::Status Remove();

 private:
  absl::Status WriteAttempt(const ::ordo::agent::v1::DesiredAttempt& desired,
                            ::ordo::agent::v1::ObservedAttempt::Cause* cause);
  // Hands what the trainer writes to its user, if that is another.
  absl::Status HandOver();
  absl::Status WriteState(const ::ordo::agent::v1::DesiredAttempt& desired);
  // Empty when it is damaged.
  ::ordo::agent::v1::StoredTask ReadState() const;
  void OpenSupervisor();
  absl::StatusOr<SupervisorFacts> ReadFacts() const;
  absl::Status ReadRecords(Update* update);

  const TaskOptions& options_;
  base::Filesystem& files_;
  SpareFolders& spares_;
  const AttemptKey key_;
  const TaskFolders folders_;
  base::ProcessId supervisor_;
  int supervisor_file_ = -1;
  std::optional<base::RecordReader> progress_;
  // The trainer's last record has been read.
  bool finished_ = false;
  bool damaged_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_TASK_H_
