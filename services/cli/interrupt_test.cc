#include "services/cli/interrupt.h"

#include <csignal>
#include <thread>

#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

TEST(InterruptTest, TriggerEndsAWait) {
  Interrupt interrupt;
  std::thread other([&] { interrupt.Trigger(); });
  EXPECT_TRUE(interrupt.WaitFor(absl::InfiniteDuration()));
  other.join();
  EXPECT_TRUE(interrupt.triggered());
}

TEST(InterruptTest, WaitGivesUpInTime) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.WaitFor(absl::Milliseconds(1)));
}

TEST(InterruptTest, CallbackRunsOnceAndOnlyWithinItsScope) {
  Interrupt interrupt;
  int before = 0;
  int within = 0;
  {
    const Interrupt::Scope gone(interrupt, [&] { ++before; });
  }
  const Interrupt::Scope scope(interrupt, [&] { ++within; });
  interrupt.Trigger();
  interrupt.Trigger();
  EXPECT_EQ(before, 0);
  EXPECT_EQ(within, 1);
}

TEST(InterruptTest, ScopeAfterTheTriggerRunsAtOnce) {
  Interrupt interrupt;
  interrupt.Trigger();
  int calls = 0;
  const Interrupt::Scope scope(interrupt, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(InterruptTest, CountsAnewAfterReset) {
  Interrupt interrupt;
  interrupt.Trigger();
  interrupt.Reset();
  EXPECT_FALSE(interrupt.triggered());
  EXPECT_FALSE(interrupt.WaitFor(absl::ZeroDuration()));
}

TEST(InterruptTest, SignalTriggersInsteadOfEndingTheProcess) {
  Interrupt interrupt;
  interrupt.CatchSignals();
  kill(getpid(), SIGINT);
  EXPECT_TRUE(interrupt.WaitFor(absl::Seconds(10)));
}

}  // namespace
}  // namespace ordo::services::cli
