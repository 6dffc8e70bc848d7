#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "tests/sim/simulation.h"
#include "tests/sim/world.h"

namespace ordo::tests::sim {
namespace {

// Of the seeds: that the scenario is one of DrawGiants.
constexpr double kGiants = 0.04;
// And of the others, that it is one of DrawShares.
constexpr double kShares = 0.03;
// And of the others, that it is changed to one of MakeContended.
constexpr double kContended = 0.06;
// And of the others, that jobs ask more of machines than devices.
constexpr double kRequests = 0.5;
// And of those that are not contended, that a desired set has room for few
// tasks.
constexpr double kFewTasks = 0.3;

// A rate or probability: none, a little of `most`, or much.
double Amount(Dice& dice, double most) {
  const uint64_t kind = dice.Int(4);
  const double share = static_cast<double>(1 + dice.Int(100)) / 100;
  if (kind < 2) return 0;
  return kind == 2 ? most * share / 10 : most * share;
}

int Pick(Dice& dice, int low, int high) {
  return low + static_cast<int>(dice.Int(high - low + 1));
}

void DrawWishes(Dice dice, Workload* workload) {
  workload->set_gang(Amount(dice, 0.6));
  workload->set_limit(Amount(dice, 0.4));
  workload->set_need(Amount(dice, 0.4));
  workload->set_held(Amount(dice, 0.2));
  workload->set_holds_per_minute(Amount(dice, 10));
  workload->set_moves_per_minute(Amount(dice, 5));
  workload->set_closes_per_minute(Amount(dice, 8));
  workload->set_priority(Amount(dice, 1));
  workload->set_queue(Amount(dice, 1));
}

// Jobs that ask more of machines than devices.
void DrawRequests(Dice dice, Scenario* scenario) {
  Cluster& cluster = *scenario->mutable_cluster();
  cluster.set_cpus(Pick(dice, 1, 8));
  cluster.set_memory_bytes(int64_t{Pick(dice, 1, 16)} << 30);
  cluster.set_zones(Pick(dice, 1, cluster.workers()));
  Workload& workload = *scenario->mutable_workload();
  workload.set_several(Amount(dice, 0.6));
  workload.set_cores(Amount(dice, 0.8));
  workload.set_memory(Amount(dice, 0.8));
  workload.set_zone(Amount(dice, 0.6));
  workload.set_alone(Amount(dice, 0.4));
}

void DrawQueues(Dice dice, Cluster* cluster) {
  const int devices = cluster->workers() * cluster->devices();
  for (int i = Pick(dice, 0, 2); i > 0; --i) {
    Queue& queue = *cluster->add_queues();
    queue.set_weight(Pick(dice, 1, 3));
    queue.set_guaranteed(Pick(dice, 0, devices / 2));
    if (dice.Chance(0.5)) {
      queue.set_limit(Pick(dice, std::max(1, queue.guaranteed()), devices));
    }
    if (dice.Chance(0.3)) queue.set_max_per_owner(Pick(dice, 1, devices));
  }
}

void DrawNetwork(Dice dice, NetworkFaults* faults) {
  faults->set_loss(Amount(dice, 0.2));
  faults->set_duplicate(Amount(dice, 0.1));
  faults->set_slow(Amount(dice, 0.1));
  faults->set_max_delay_ms(Pick(dice, 20, 2000));
  faults->set_cuts_per_minute(Amount(dice, 8));
  faults->set_max_cut_ms(Pick(dice, 100, 40'000));
}

void DrawProcesses(Dice dice, ProcessFaults* faults) {
  faults->set_worker_kills_per_minute(Amount(dice, 6));
  faults->set_reboots_per_minute(Amount(dice, 3));
  faults->set_supervisor_kills_per_minute(Amount(dice, 6));
  faults->set_trainer_kills_per_minute(Amount(dice, 6));
  faults->set_drains_per_minute(Amount(dice, 3));
  faults->set_scheduler_kills_per_minute(Amount(dice, 6));
  faults->set_scheduler_kill_at_release(Amount(dice, 0.02));
  faults->set_stalls_per_minute(Amount(dice, 4));
  faults->set_max_away_ms(Pick(dice, 200, 30'000));
  faults->set_max_stall_ms(Pick(dice, 200, 20'000));
  faults->set_clock_jumps_per_minute(Amount(dice, 6));
  faults->set_clock_drift(Amount(dice, 0.01));
  faults->set_lacking_kernel(Amount(dice, 1));
}

void DrawTrainers(Dice dice, TrainerFaults* faults) {
  faults->set_crash(Amount(dice, 0.3));
  faults->set_error(Amount(dice, 0.3));
  faults->set_refuse(Amount(dice, 0.1));
  faults->set_hang(Amount(dice, 0.2));
  faults->set_stubborn(Amount(dice, 0.5));
  faults->set_start_failure(Amount(dice, 0.2));
  faults->set_checkpoint_failure(Amount(dice, 0.3));
}

void DrawStore(Dice dice, StoreFaults* faults) {
  faults->set_slow_per_minute(Amount(dice, 3));
  faults->set_max_commit_ms(Pick(dice, 10, 3000));
  faults->set_failures_per_minute(Amount(dice, 3));
  faults->set_full_per_minute(Amount(dice, 3));
}

// More small jobs of a high priority than there is room for, beside some that
// want all devices and have a low one; and nothing goes wrong, so that it is
// known by when whoever is first starts (scheduler/policy/fair.h).
Scenario DrawGiants(Dice dice) {
  constexpr int kMessages = 3;
  Scenario scenario;
  Cluster& cluster = *scenario.mutable_cluster();
  cluster.set_workers(Pick(dice, 1, 3));
  cluster.set_devices(Pick(dice, 1, 2));
  cluster.set_lease_ms(10'000);
  cluster.set_heartbeat_ms(2000);
  cluster.set_forget_worker_s(300);
  // Nobody is preempted.
  cluster.set_min_run_time_ms(3'600'000);
  cluster.set_aging_ms(Pick(dice, 100, 2000));
  const int grace = Pick(dice, 1, 3);
  cluster.set_stop_grace_ms(1000 * grace);
  const int devices = cluster.workers() * cluster.devices();
  Workload& workload = *scenario.mutable_workload();
  workload.set_clients(3);
  workload.set_submits_per_minute(12 * devices);
  workload.set_request_id(1);
  workload.set_max_jobs(36 * devices);
  workload.set_max_steps(40);
  workload.set_max_step_ms(200);
  workload.set_giant(0.1);
  workload.set_max_ranks(devices);
  workload.set_run_time_limit_s(Pick(dice, 5, 10));
  scenario.mutable_faults()->mutable_network()->set_max_delay_ms(
      Pick(dice, 1, 50));
  scenario.set_seconds(60);
  scenario.set_settle_seconds(1800);
  scenario.set_first_within_seconds(2 * (workload.run_time_limit_s() + grace) +
                                    kMessages);
  // Far enough that it is nothing to them.
  if (dice.Chance(0.5)) cluster.set_drained_after_s(3600);
  return scenario;
}

// Three queues each of which alone wants more than there is, one with a
// guarantee and one with a weight and a limit; and nothing goes wrong, so that
// it is known by when the first of each starts (scheduler/policy/fair.h).
Scenario DrawShares(Dice dice) {
  constexpr int kMessages = 8;
  constexpr int kDevices = 3;
  constexpr int kQueues = 3;
  Scenario scenario;
  Cluster& cluster = *scenario.mutable_cluster();
  cluster.set_workers(dice.Chance(0.5) ? kDevices : 1);
  cluster.set_devices(kDevices / cluster.workers());
  cluster.set_lease_ms(10'000);
  cluster.set_heartbeat_ms(2000);
  cluster.set_forget_worker_s(300);
  // Nobody is preempted.
  cluster.set_min_run_time_ms(3'600'000);
  cluster.set_aging_ms(Pick(dice, 100, 500));
  const int grace = Pick(dice, 1, 2);
  cluster.set_stop_grace_ms(1000 * grace);
  const int half_life = Pick(dice, 1, 3);
  cluster.set_half_life_ms(1000 * half_life);
  cluster.add_queues()->set_guaranteed(1);
  const int weight = Pick(dice, 1, 3);
  cluster.add_queues()->set_weight(weight);
  cluster.mutable_queues(1)->set_limit(2);
  Workload& workload = *scenario.mutable_workload();
  const int limit = Pick(dice, 3, 5);
  workload.set_clients(3);
  workload.set_submits_per_minute(220.0 / limit);
  workload.set_request_id(1);
  workload.set_max_jobs(300);
  workload.set_max_steps(40);
  workload.set_max_step_ms(200);
  // They run until their limit.
  workload.set_endless(1);
  workload.set_giant(0.1);
  workload.set_max_ranks(2);
  workload.set_run_time_limit_s(limit);
  workload.set_queue(0.67);
  scenario.mutable_faults()->mutable_network()->set_max_delay_ms(
      Pick(dice, 1, 50));
  // Device-seconds that count of those who had everything for ever.
  const double most_used = kDevices * half_life / std::log(2.0);
  const double turn = half_life * std::log2(2 * most_used * weight);
  scenario.set_first_within_seconds(4 * (limit + grace) +
                                    static_cast<int>(std::ceil(turn)) +
                                    (kQueues - 1) + kMessages);
  scenario.set_seconds(scenario.first_within_seconds() + 30);
  scenario.set_settle_seconds(1800);
  return scenario;
}

// Queues that contend for devices that are guaranteed to them, and workers that
// people close while clocks are set; and nothing else goes wrong, which would
// hide who pushes whom away and what starts too late for a drain.
void MakeContended(Dice dice, Scenario* scenario) {
  Cluster& cluster = *scenario->mutable_cluster();
  cluster.set_workers(Pick(dice, 2, 4));
  cluster.set_min_run_time_ms(Pick(dice, 0, 2000));
  cluster.clear_max_tasks_bytes();
  cluster.clear_queues();
  const int devices = cluster.workers() * cluster.devices();
  for (int i = 0; i < 2; ++i) {
    cluster.add_queues()->set_guaranteed(Pick(dice, 1, devices / 2));
  }
  Workload& workload = *scenario->mutable_workload();
  workload.set_submits_per_minute(40);
  workload.set_max_jobs(40);
  workload.set_max_steps(60);
  workload.set_max_step_ms(200);
  workload.set_max_ranks(devices);
  workload.set_queue(0.8);
  workload.set_priority(1);
  workload.set_gang(Amount(dice, 0.6));
  workload.set_limit(0.7);
  workload.set_closes_per_minute(12);
  workload.set_queue_changes_per_minute(0);
  workload.set_queue_makes_per_minute(0);
  Faults& faults = *scenario->mutable_faults();
  faults.Clear();
  faults.mutable_network()->set_max_delay_ms(Pick(dice, 1, 50));
  faults.mutable_processes()->set_clock_jumps_per_minute(6);
}

}  // namespace

Scenario DrawScenario(uint64_t seed) {
  if (Dice(seed, "scenario/is_giants").Chance(kGiants)) {
    return DrawGiants(Dice(seed, "scenario/giants"));
  }
  if (Dice(seed, "scenario/is_shares").Chance(kShares)) {
    return DrawShares(Dice(seed, "scenario/shares"));
  }
  Scenario scenario;
  Dice dice(seed, "scenario");
  Cluster& cluster = *scenario.mutable_cluster();
  cluster.set_workers(Pick(dice, 1, 4));
  cluster.set_devices(Pick(dice, 1, 3));
  cluster.set_lease_ms(Pick(dice, 2000, 10'000));
  cluster.set_heartbeat_ms(cluster.lease_ms() / 5);
  cluster.set_forget_worker_s(Pick(dice, 5, 300));
  Dice preemption(seed, "scenario/preemption");
  cluster.set_min_run_time_ms(Pick(preemption, 0, 20'000));
  cluster.set_aging_ms(Pick(preemption, 500, 30'000));
  DrawQueues(Dice(seed, "scenario/queues"), &cluster);
  // From one task on.
  Dice tasks(seed, "scenario/tasks");
  if (tasks.Chance(kFewTasks)) {
    cluster.set_max_tasks_bytes(Pick(tasks, 1, 600));
  }
  Workload& workload = *scenario.mutable_workload();
  workload.set_clients(Pick(dice, 1, 3));
  workload.set_submits_per_minute(Pick(dice, 3, 20));
  workload.set_batches_per_minute(Amount(dice, 4));
  workload.set_cancels_per_minute(Amount(dice, 10));
  workload.set_reference(Amount(dice, 0.6));
  workload.set_impossible(Amount(dice, 0.1));
  workload.set_endless(Amount(dice, 0.1));
  workload.set_kernel(Amount(dice, 0.3));
  workload.set_request_id(Amount(dice, 1));
  workload.set_max_jobs(Pick(dice, 5, 40));
  workload.set_max_steps(Pick(dice, 1, 60));
  workload.set_max_step_ms(Pick(dice, 1, 200));
  workload.set_max_ranks(cluster.workers() * cluster.devices());
  DrawWishes(Dice(seed, "scenario/wishes"), &workload);
  Dice changes(seed, "scenario/queue_changes");
  workload.set_queue_changes_per_minute(Amount(changes, 8));
  Dice makes(seed, "scenario/queue_makes");
  workload.set_queue_makes_per_minute(Amount(makes, 20));
  Dice parents(seed, "scenario/parents");
  workload.set_parents_per_minute(Amount(parents, 4));
  Dice stops(seed, "scenario/stops");
  workload.set_early_stop(Amount(stops, 1));
  Dice names(seed, "scenario/names");
  workload.set_names_per_minute(Amount(names, 40));
  workload.set_thin(Amount(names, 0.8));
  Dice questions(seed, "scenario/questions");
  workload.set_question(Amount(questions, 0.7));
  Dice devices(seed, "scenario/devices");
  workload.set_releases_per_minute(Amount(devices, 8));
  Faults& faults = *scenario.mutable_faults();
  faults.mutable_processes()->set_bad_device(Amount(devices, 0.6));
  faults.mutable_processes()->set_device_faults_per_minute(Amount(devices, 4));
  Dice boots(seed, "scenario/boots");
  DrawNetwork(Dice(seed, "scenario/network"), faults.mutable_network());
  DrawProcesses(Dice(seed, "scenario/processes"), faults.mutable_processes());
  faults.mutable_processes()->set_scheduler_reboots_per_minute(
      Amount(boots, 2));
  DrawStore(Dice(seed, "scenario/store"), faults.mutable_store());
  DrawTrainers(Dice(seed, "scenario/trainers"), faults.mutable_trainers());
  scenario.set_seconds(Pick(dice, 20, 90));
  scenario.set_settle_seconds(1800);
  if (Dice(seed, "scenario/is_contended").Chance(kContended)) {
    MakeContended(Dice(seed, "scenario/contended"), &scenario);
  } else if (Dice(seed, "scenario/has_requests").Chance(kRequests)) {
    DrawRequests(Dice(seed, "scenario/requests"), &scenario);
  }
  return scenario;
}

}  // namespace ordo::tests::sim
