#ifndef ORDO_BASE_MUTEX_H_
#define ORDO_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

// std::mutex with the annotations of clang's thread-safety analysis
// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html), under which clang
// refuses an access to a guarded member without its lock. Other compilers
// ignore the annotations. std::mutex and not absl::Mutex, because the thread
// sanitizer reports false races on Debian's uninstrumented Abseil.

#if defined(__clang__)
#define ORDO_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define ORDO_THREAD_ANNOTATION(x)
#endif

// On a member: only touched while holding the named mutex.
#define ORDO_GUARDED_BY(x) ORDO_THREAD_ANNOTATION(guarded_by(x))
// On a function: the caller holds the named mutex.
#define ORDO_REQUIRES(...) \
  ORDO_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
// On a function: the caller does not hold the named mutex.
#define ORDO_EXCLUDES(...) ORDO_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace ordo::base {

class ORDO_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ORDO_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void Unlock() ORDO_THREAD_ANNOTATION(release_capability()) {
    mutex_.unlock();
  }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex for the scope. The mutex must outlive it.
class ORDO_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex)
      ORDO_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ORDO_THREAD_ANNOTATION(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Condition variable for Mutex. Waits may wake without cause: call them in a
// loop that tests the condition.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex& mutex) ORDO_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }

  // False when `deadline` passed without a notification.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      ORDO_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_MUTEX_H_
