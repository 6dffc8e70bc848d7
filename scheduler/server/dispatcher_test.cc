#include "scheduler/server/dispatcher.h"

#include <memory>
#include <string>
#include <utility>

#include "base/certificates/issue.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/tls.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/testing/fake_worker.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using testing::FakeWorker;

core::SetDesired MakeSet(const std::string& address, int64_t sequence) {
  auto request = std::make_shared<agent::v1::SetDesiredRequest>();
  request->set_worker("w");
  request->set_incarnation("w-first");
  request->set_sequence(sequence);
  return {address, request};
}

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() { Start(nullptr); }
  void Start(std::shared_ptr<base::ClientTls> tls) {
    DispatcherOptions options;
    options.tls = std::move(tls);
    options.timeout = absl::Seconds(10);
    options.on_answer = [this](const agent::v1::SetDesiredRequest& request,
                               absl::StatusOr<agent::v1::ObservedSet> set) {
      base::MutexLock lock(mutex_);
      ++num_answers_;
      last_ = std::move(set);
      last_sequence_ = request.sequence();
      changed_.NotifyAll();
    };
    dispatcher_ = std::make_unique<Dispatcher>(std::move(options));
  }
  void WaitForAnswerTo(int64_t sequence) {
    base::MutexLock lock(mutex_);
    while (last_sequence_ < sequence) changed_.Wait(mutex_);
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  int num_answers_ = 0;
  int64_t last_sequence_ = 0;
  absl::StatusOr<agent::v1::ObservedSet> last_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, ASetReachesItsWorkerAndTheAnswerComesBack) {
  FakeWorker worker("w");
  worker.Set(core::testing::AttemptBuilder("a", 1).Running());
  dispatcher_->Send(MakeSet(worker.address(), 1));
  WaitForAnswerTo(1);
  ASSERT_THAT(last_, IsOk());
  EXPECT_EQ(last_->attempts(0).job(), "a");
  EXPECT_EQ(worker.newest().sequence(), 1);
}

TEST_F(DispatcherTest, AWorkerIsToldOnlyWithTheCertificateOfItsOwnId) {
  const base::testing::TemporaryFolder folder;
  const base::testing::PemFolder pem(folder.path());
  const auto files = [&pem](const std::string& worker) -> base::TlsFiles {
    const auto paths = pem.Issue(worker, base::WorkerNames(worker));
    return {{"certificate", paths.certificate},
            {"key", paths.key},
            {"ca", pem.ca()}};
  };
  ORDO_ASSERT_OK_AND_ASSIGN(const auto tls, base::ClientTls::Load(files("s")));
  Start(tls);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto own, base::ServerTls(files("w")));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto other, base::ServerTls(files("v")));
  FakeWorker impostor("w", base::kWorkerProtocol, other);
  dispatcher_->Send(MakeSet(impostor.address(), 1));
  WaitForAnswerTo(1);
  EXPECT_THAT(last_, StatusIs(absl::StatusCode::kUnavailable));
  FakeWorker worker("w", base::kWorkerProtocol, own);
  dispatcher_->Send(MakeSet(worker.address(), 2));
  WaitForAnswerTo(2);
  EXPECT_THAT(last_, IsOk());
}

TEST_F(DispatcherTest, OfManySetsTheNewestArrives) {
  FakeWorker worker("w");
  for (int64_t i = 1; i <= 200; ++i) {
    dispatcher_->Send(MakeSet(worker.address(), i));
  }
  WaitForAnswerTo(200);
  EXPECT_EQ(worker.newest().sequence(), 200);
  EXPECT_LE(num_answers_, 200);
}

TEST_F(DispatcherTest, AnErrorOfTheWorkerIsToldWithItsCode) {
  FakeWorker worker("w");
  worker.Refuse(absl::FailedPreconditionError("another incarnation"));
  dispatcher_->Send(MakeSet(worker.address(), 1));
  WaitForAnswerTo(1);
  EXPECT_THAT(last_, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(DispatcherTest, AWorkerThatIsAwayIsUnavailable) {
  std::string address;
  {
    FakeWorker worker("w");
    address = worker.address();
  }
  dispatcher_->Send(MakeSet(address, 1));
  WaitForAnswerTo(1);
  EXPECT_THAT(last_, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(DispatcherTest, ANewAddressIsUsedAtOnce) {
  FakeWorker worker("w");
  dispatcher_->Send(MakeSet("127.0.0.1:1", 1));
  dispatcher_->Send(MakeSet(worker.address(), 2));
  WaitForAnswerTo(2);
  EXPECT_THAT(last_, IsOk());
}

TEST_F(DispatcherTest, AfterStopNothingIsTold) {
  FakeWorker worker("w");
  dispatcher_->Send(MakeSet(worker.address(), 1));
  dispatcher_->Stop();
  const int num_answers = num_answers_;
  dispatcher_->Send(MakeSet(worker.address(), 2));
  dispatcher_->Forget("w");
  EXPECT_EQ(num_answers_, num_answers);
}

}  // namespace
}  // namespace ordo::scheduler::server
