#ifndef ORDO_SERVICES_CLI_INTERRUPT_H_
#define ORDO_SERVICES_CLI_INTERRUPT_H_

#include <functional>
#include <map>
#include <thread>

#include "absl/time/time.h"
#include "base/mutex.h"

namespace ordo::services::cli {

// That the person (or the system) asked this command to leave. Thread-safe.
class Interrupt {
 public:
  Interrupt() = default;
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // From here on SIGINT, SIGTERM and SIGHUP trigger this instead of ending the
  // process. Call before other threads start: they must inherit the mask.
  void CatchSignals();

  void Trigger();
  bool triggered() const;
  // Forgets the trigger, so that the next one counts anew.
  void Reset();

  // True when triggered within `timeout`.
  bool WaitFor(absl::Duration timeout);

  // Runs a callback once, at the trigger (at once when that has been), while
  // the scope lives. The callback may not create or end scopes.
  class Scope {
   public:
    Scope(Interrupt& interrupt, std::function<void()> callback);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupt& interrupt_;
    int id_;
  };

 private:
  void WatchSignals();

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool triggered_ ORDO_GUARDED_BY(mutex_) = false;
  int next_id_ ORDO_GUARDED_BY(mutex_) = 0;
  std::map<int, std::function<void()>> callbacks_ ORDO_GUARDED_BY(mutex_);
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::thread watcher_;
};

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_INTERRUPT_H_
