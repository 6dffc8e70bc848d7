#include "services/cli/interrupt.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace ordo::services::cli {

Interrupt::~Interrupt() {
  if (!watcher_.joinable()) return;
  const uint64_t one = 1;
  const ssize_t written = write(stop_fd_, &one, sizeof(one));
  ORDO_CHECK(written == sizeof(one)) << "an eventfd takes a number";
  watcher_.join();
  close(signal_fd_);
  close(stop_fd_);
}

void Interrupt::CatchSignals() {
  if (watcher_.joinable()) return;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  ORDO_CHECK(signal_fd_ >= 0 && stop_fd_ >= 0) << "out of file descriptors";
  watcher_ = std::thread([this] { WatchSignals(); });
}

void Interrupt::WatchSignals() {
  while (true) {
    pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) Trigger();
  }
}

void Interrupt::Trigger() {
  base::MutexLock lock(mutex_);
  if (triggered_) return;
  triggered_ = true;
  for (const auto& [id, callback] : callbacks_) callback();
  changed_.NotifyAll();
}

bool Interrupt::triggered() const {
  base::MutexLock lock(mutex_);
  return triggered_;
}

void Interrupt::Reset() {
  base::MutexLock lock(mutex_);
  triggered_ = false;
}

bool Interrupt::WaitFor(absl::Duration timeout) {
  // An infinite timeout would overflow the clock.
  const auto deadline =
      std::chrono::steady_clock::now() +
      absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365)));
  base::MutexLock lock(mutex_);
  while (!triggered_) {
    if (!changed_.WaitUntil(mutex_, deadline)) return triggered_;
  }
  return true;
}

Interrupt::Scope::Scope(Interrupt& interrupt, std::function<void()> callback)
    : interrupt_(interrupt) {
  base::MutexLock lock(interrupt_.mutex_);
  id_ = interrupt_.next_id_++;
  if (interrupt_.triggered_) callback();
  interrupt_.callbacks_[id_] = std::move(callback);
}

Interrupt::Scope::~Scope() {
  base::MutexLock lock(interrupt_.mutex_);
  interrupt_.callbacks_.erase(id_);
}

}  // namespace ordo::services::cli
