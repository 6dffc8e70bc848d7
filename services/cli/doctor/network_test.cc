#include "services/cli/doctor/network.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/sockets/listener.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/interrupt.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli::doctor {
namespace {

using ::testing::HasSubstr;

class PortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK_AND_ASSIGN(listener_, base::ListenAt("127.0.0.1"));
    taken_ = absl::StrCat("127.0.0.1:", listener_.port);
  }
  void TearDown() override { Close(); }
  void Close() {
    if (listener_.fd >= 0) close(listener_.fd);
    listener_.fd = -1;
  }

  base::Listener listener_;
  std::string taken_;
};

TEST_F(PortTest, IsFreeOrAnotherProgramHasIt) {
  const Finding taken = CheckListenSite({"worker", "listen", taken_, ""});
  EXPECT_EQ(taken.check, "ports/worker.listen");
  EXPECT_EQ(taken.health, Health::kFail);
  EXPECT_THAT(taken.advice, HasSubstr("set `listen` to another port"));
  // Its own service once said that it is elsewhere.
  EXPECT_EQ(CheckListenSite({"worker", "listen", taken_, "127.0.0.1:1"}).health,
            Health::kFail);
  Close();
  EXPECT_EQ(CheckListenSite({"worker", "listen", taken_, ""}).health,
            Health::kOk);
  EXPECT_EQ(CheckListenSite({"worker", "listen", "127.0.0.1:0", ""}).health,
            Health::kOk);
}

TEST_F(PortTest, TheServiceItselfHasIt) {
  const Finding finding =
      CheckListenSite({"worker", "metrics_listen", taken_, taken_});
  EXPECT_EQ(finding.health, Health::kOk);
  EXPECT_THAT(finding.seen, HasSubstr("serves at"));
}

TEST_F(PortTest, TheAddressIsNotThisMachines) {
  const Finding finding =
      CheckListenSite({"worker", "listen", "192.0.2.1:7420", ""});
  EXPECT_EQ(finding.health, Health::kFail);
  EXPECT_THAT(finding.advice, HasSubstr("an address of this machine"));
}

TEST_F(PortTest, IsReachedOrNot) {
  EXPECT_EQ(CheckReachable("scheduler", taken_).health, Health::kOk);
  Close();
  const Finding finding = CheckReachable("scheduler", taken_);
  EXPECT_EQ(finding.check, "network/scheduler");
  EXPECT_EQ(finding.health, Health::kFail);
  EXPECT_EQ(CheckReachable("scheduler", "nonsense").health, Health::kFail);
}

ServerAnswer AnAnswer() {
  ServerAnswer answer;
  answer.address = "gpu0:7420";
  answer.is_named = true;
  answer.asked = absl::FromUnixSeconds(1000);
  answer.answered = absl::FromUnixSeconds(1001);
  answer.time = absl::FromUnixSeconds(1000);
  return answer;
}

TEST(ServerTest, AnswersAndHasOurTime) {
  const Findings findings = JudgeServer(AnAnswer());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(Count(findings, Health::kOk), 2);
}

TEST(ServerTest, NobodyAnswers) {
  ServerAnswer answer = AnAnswer();
  answer.status = absl::UnavailableError("connection refused");
  Findings findings = JudgeServer(answer);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].health, Health::kFail);
  // One that nobody asked for does no harm.
  answer.is_named = false;
  EXPECT_EQ(JudgeServer(answer)[0].health, Health::kWarn);
}

TEST(ServerTest, ItRefuses) {
  ServerAnswer answer = AnAnswer();
  answer.status = absl::UnauthenticatedError("no token");
  const Findings findings = JudgeServer(answer);
  EXPECT_EQ(findings[0].health, Health::kFail);
  EXPECT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].seen, HasSubstr("no token"));
  // Who may not see the queue is served all the same.
  answer.status = absl::NotFoundError("no such queue");
  EXPECT_EQ(Count(JudgeServer(answer), Health::kOk), 2);
}

TEST(ServerTest, ItsClockIsNotOurs) {
  ServerAnswer answer = AnAnswer();
  answer.time = answer.answered + absl::Seconds(10);
  Finding finding = JudgeServer(answer)[1];
  EXPECT_EQ(finding.health, Health::kWarn);
  EXPECT_EQ(finding.seen, "the scheduler's clock is 10s ahead");
  answer.time = answer.asked - absl::Minutes(5);
  finding = JudgeServer(answer)[1];
  EXPECT_EQ(finding.health, Health::kFail);
  EXPECT_EQ(finding.seen, "the scheduler's clock is 5m behind");
  // A slow answer is no skew.
  answer = AnAnswer();
  answer.answered += absl::Minutes(5);
  EXPECT_EQ(JudgeServer(answer)[1].health, Health::kOk);
}

TEST(ServerTest, AnEarlierReleaseDoesNotTell) {
  ServerAnswer answer = AnAnswer();
  answer.time.reset();
  EXPECT_EQ(JudgeServer(answer)[1].health, Health::kWarn);
}

workers::v1::Worker AWorker(const std::string& id) {
  workers::v1::Worker worker;
  worker.set_name("workers/" + id);
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.set_protocol(base::kWorkerProtocol);
  worker.add_devices()->set_name("cuda:0");
  return worker;
}

TEST(WorkersTest, AreWell) {
  EXPECT_EQ(JudgeWorkers({AWorker("a")}).seen, "1 worker is well");
  const Finding finding = JudgeWorkers({AWorker("a"), AWorker("b")});
  EXPECT_EQ(finding.health, Health::kOk);
  EXPECT_EQ(finding.seen, "2 workers are well");
}

TEST(WorkersTest, OrNotThereLostOldOrInQuarantine) {
  EXPECT_EQ(JudgeWorkers({}).health, Health::kWarn);
  std::vector<workers::v1::Worker> workers = {AWorker("a"), AWorker("b"),
                                              AWorker("c")};
  workers[0].set_state(workers::v1::Worker::LOST);
  workers[1].set_protocol(base::kWorkerProtocol - 1);
  workers[2].mutable_devices(0)->mutable_quarantine()->set_reason("hot");
  const Finding finding = JudgeWorkers(workers);
  EXPECT_EQ(finding.health, Health::kWarn);
  EXPECT_EQ(finding.seen,
            "a is lost, b is of an earlier release, cuda:0 of c is in "
            "quarantine");
  EXPECT_THAT(finding.advice, HasSubstr("ordo workers release"));
}

TEST(ServerTest, IsAskedOverTheNetwork) {
  services::testing::Loopback loopback;
  Interrupt interrupt;
  ClientOptions options;
  options.address = loopback.server().address();
  options.user = "ada";
  Client client(options, interrupt);
  base::RealClock clock;
  const ServerAnswer answer = AskServer(client, clock);
  ASSERT_TRUE(answer.time.has_value());
  EXPECT_LE(answer.asked, *answer.time);
  loopback.scheduler().PutWorker(AWorker("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto workers, AskWorkers(client));
  EXPECT_EQ(workers.size(), 1u);
  EXPECT_LE(*answer.time, answer.answered);

  // By a clock that has stood still for years.
  base::testing::FakeClock old(absl::FromUnixSeconds(1'000'000'000));
  EXPECT_EQ(JudgeServer(AskServer(client, old))[1].health, Health::kFail);

  options.address = "127.0.0.1:1";
  Client nobody(options, interrupt);
  EXPECT_EQ(AskServer(nobody, clock).status.code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ordo::services::cli::doctor
