#ifndef ORDO_WORKER_SUPERVISOR_SUPERVISOR_H_
#define ORDO_WORKER_SUPERVISOR_SUPERVISOR_H_

#include <cstdint>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include "worker/supervisor/cgroup.h"
#include "worker/supervisor/journal.h"
#include "worker/supervisor/options.h"
#include "worker/supervisor/proc.h"

// Parent of one task. It lives in its own session, so it survives its worker;
// the trainer leads a process group of its own and dies with the supervisor;
// what the trainer leaves behind becomes the supervisor's child (subreaper) and
// is ended. It leaves when no descendant is left.
//
// Signals: SIGTERM = stop (SIGTERM to the trainer, SIGKILL to its group after
// the grace); SIGUSR1 = kill (SIGTERM to the group, SIGKILL after the grace);
// a second SIGUSR1 = SIGKILL at once. A trainer without progress gets SIGQUIT,
// upon which it should print the stacks of its threads and die. A value sent
// along (sigqueue) is the grace in milliseconds. A grace never grows by a later
// request.

namespace ordo::worker::supervisor {

// Descendants that outlive the trainer have this long between SIGTERM and
// SIGKILL.
inline constexpr int64_t kSurvivorGraceMs = 1000;

// The signals above and SIGCHLD, which a supervisor blocks and reads.
sigset_t WatchedSignals();

// On stderr, and in supervisor.log of the attempt's folder where that is known
// (supervisor-<rank>.log beyond rank 0), which is there only when there is
// something to say. `text` is a line.
void Say(const Options& options, const std::string& text);

class Supervisor {
 public:
  explicit Supervisor(const Options& options) : options_(options) {}

  // Runs the task to its end. The process's exit code: 0 when the end is in the
  // journal (also when the trainer could not start), 1 when there is no journal
  // to write to; Say tells the reason then.
  int Run();

 private:
  bool SetUp();
  // False when it could not be started; the journal says why.
  bool StartTrainer();
  void HandleSignals();
  void Request(Phase phase, int64_t grace_ms);
  // Ends a trainer that ran out of grace or makes no progress.
  void CheckDeadlines();
  bool ProgressChanged();
  // Reaps what has ended, but the trainer, which is only noted, in exit_: its
  // zombie keeps the number of its group from being given to strangers.
  void Reap();
  // After the trainer: whether nothing is left of it; then its zombie is gone
  // too. False where the kernel does not tell.
  bool IsAlone();
  // Reaps whatever has ended; true when no descendant is left.
  bool ReapAll();
  // After the trainer: one round of ending what is left. True when no
  // descendant is left.
  bool EndSurvivors();
  void SignalSurvivors(const std::vector<ProcessStat>& survivors, int signal);
  int PollTimeoutMs() const;
  void SignalGroup(int signal);
  // Writes the last records. The scheduler hears of them at once; if it does
  // not, the worker makes them durable.
  void End();
  // Writes records; and makes one durable, with all before it.
  void Append(const std::vector<JournalRecord>& records);
  void Record(const JournalRecord& record);
  void Sync(Phase phase);
  // Says what could not be journalled; nothing for error 0.
  void Complain(uint32_t phase, int error_number);
  void RecordError(Operation operation, int error_number);

  const Options options_;
  JournalWriter journal_;
  // Of the trainer and what it starts.
  Cgroup cgroup_;
  size_t num_records_ = 0;
  int signals_ = -1;
  pid_t trainer_ = 0;
  bool trainer_exited_ = false;
  bool stop_requested_ = false;
  bool kill_requested_ = false;
  bool hung_ = false;
  bool killed_ = false;
  // How it left; written with the last record, unless something is left of it.
  JournalRecord exit_{};
  bool exit_written_ = false;
  // Monotonic milliseconds; 0 = none.
  int64_t kill_at_ms_ = 0;
  int64_t survivors_kill_at_ms_ = 0;
  bool survivors_asked_ = false;
  // Last seen state of the progress file and when it changed.
  int64_t progress_bytes_ = -1;
  int64_t progress_modified_ns_ = 0;
  int64_t progress_changed_at_ms_ = 0;
  bool progress_error_recorded_ = false;
};

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_SUPERVISOR_H_
