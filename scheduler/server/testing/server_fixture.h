#ifndef ORDO_SCHEDULER_SERVER_TESTING_SERVER_FIXTURE_H_
#define ORDO_SCHEDULER_SERVER_TESTING_SERVER_FIXTURE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/policy/fair.h"
#include "scheduler/server/server.h"
#include "scheduler/store/sqlite_store.h"

namespace ordo::scheduler::server::testing {

// Longer than anything that comes at all.
inline constexpr std::chrono::seconds kPatience(20);

// The result of a callback that comes later.
template <typename T>
class Later {
 public:
  std::function<void(T)> callback() {
    return
        [promise = promise_](T value) { promise->set_value(std::move(value)); };
  }
  T Get() {
    auto future = promise_->get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

 private:
  std::shared_ptr<std::promise<T>> promise_ =
      std::make_shared<std::promise<T>>();
};

// A server over a store in a file, on the real clock.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { Open(); }

  // A scheduler's life. The store lives on.
  void Open() {
    auto store = store::OpenSqliteStore({folder_.Path("ordo.db")});
    ASSERT_THAT(store, base::testing::IsOk());
    store_ = *std::move(store);
    ServerOptions options = OptionsOf(*store_);
    options.core.lease = lease_;
    options.core.heartbeat = absl::Milliseconds(50);
    options.core.retry_backoff = absl::Milliseconds(20);
    options.storage_root = folder_.path();
    options.retention = retention_;
    auto server = Server::Start(std::move(options));
    ASSERT_THAT(server, base::testing::IsOk());
    server_ = *std::move(server);
  }
  void Close() {
    server_.reset();
    store_.reset();
  }

  // Of a server with this store and what else the fixture has.
  ServerOptions OptionsOf(store::Store& store) {
    ServerOptions options;
    options.core.place = &policy::PlaceFair;
    options.store = &store;
    options.clock = &clock_;
    options.files = &files_;
    options.metrics = &metrics_;
    return options;
  }

  absl::StatusOr<std::vector<jobs::v1::Job>> Create(
      const std::vector<NewJob>& jobs) {
    Later<absl::StatusOr<std::vector<jobs::v1::Job>>> later;
    server_->CreateJobs(jobs, later.callback());
    return later.Get();
  }
  absl::StatusOr<jobs::v1::Job> Cancel(const std::string& job) {
    Later<absl::StatusOr<jobs::v1::Job>> later;
    server_->CancelJob(job, "ada", later.callback());
    return later.Get();
  }
  // Waits for a job to be in a state.
  jobs::v1::Job WaitFor(const std::string& job, jobs::v1::Job::State state) {
    auto reached = std::make_shared<std::promise<jobs::v1::Job>>();
    auto done = std::make_shared<std::atomic<bool>>(false);
    const auto watch = server_->WatchJob(
        job, [reached, done, state](const jobs::v1::Job& seen, bool) {
          if (seen.state() == state && !done->exchange(true)) {
            reached->set_value(seen);
          }
        });
    EXPECT_THAT(watch, base::testing::IsOk());
    auto future = reached->get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready)
        << job << " is " << server_->GetJob(job)->ShortDebugString();
    server_->StopWatch(*watch);
    return future.get();
  }

  RetentionOptions retention_;
  // Longer than any test.
  absl::Duration lease_ = absl::Seconds(60);
  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::MetricsRegistry registry_;
  SchedulerMetrics metrics_{registry_};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Server> server_;
};

}  // namespace ordo::scheduler::server::testing

#endif  // ORDO_SCHEDULER_SERVER_TESTING_SERVER_FIXTURE_H_
