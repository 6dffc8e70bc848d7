#ifndef ORDO_SCHEDULER_POLICY_FAIR_H_
#define ORDO_SCHEDULER_POLICY_FAIR_H_

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/decisions.h"

namespace ordo::scheduler::policy {

// The policy `fair`: queues by weighted share of used device-time, those below
// their guarantee first; within a queue by priority and age; gangs whole, on as
// few workers as there is room; room kept for what is blocked, and nothing
// started that would delay it; preemption by priority within a queue, and by
// queues that take back their guarantee.
//
// Nothing starves. A point of priority is worth BoardOptions.aging of age, so a
// job of priority p is overtaken by none that is submitted more than aging *
// (p_max - p) after it. Whoever is then the first of those that wait for a kind
// of device, and that its queue and owner may hold and the workers offer, has
// room kept for it as soon as what was kept for others is used; nobody has any
// kept before it. So with a limit of at most L on all attempts and a grace g it
// starts within 2 (L + g), and with n jobs before it within (n + 1) times that;
// as long as workers and queues stay as they are, jobs before it start once,
// and nobody is stopped for later ones. Attempts without a limit count by when
// they end. A worker that will be drained counts for those who have ended
// before, by their limit and the grace, from their start or from when room is
// free for them at the latest. Of several queues each has its turn again after
// some half-lives, whatever it had used, if it uses nothing meanwhile;
// docs/design has the bound. Those behind a job of their queue for which no
// room can be kept come after all others, so that they do not use up its turn.
//
// Stateless and idempotent: carried out, and asked again at the same moment, it
// answers nothing. Each job and each device at most once.
Decisions PlaceFair(const Board& board, absl::Duration now);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_FAIR_H_
