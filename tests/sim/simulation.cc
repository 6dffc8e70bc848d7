#include "tests/sim/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/table.h"
#include "tests/sim/client.h"
#include "tests/sim/faults.h"
#include "tests/sim/librarian.h"
#include "tests/sim/machine.h"
#include "tests/sim/network.h"
#include "tests/sim/operator.h"
#include "tests/sim/oracle.h"
#include "tests/sim/requests.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/sim_worker.h"
#include "tests/sim/world.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;

constexpr int kMaxWorkers = 1000;
constexpr size_t kMaxScenarioBytes = 1 << 20;
constexpr int kMaxDevices = 64;
// How often it is looked whether everything has settled.
constexpr absl::Duration kLookPeriod = absl::Seconds(1);

core::Options OptionsOf(const Cluster& cluster) {
  core::Options options;
  options.place =
      scheduler::policy::FindPolicy(scheduler::policy::kDefaultPolicy)->place;
  options.lease = absl::Milliseconds(cluster.lease_ms());
  options.heartbeat = absl::Milliseconds(cluster.heartbeat_ms());
  options.forget_worker = absl::Seconds(cluster.forget_worker_s());
  options.board.min_run_time = absl::Milliseconds(cluster.min_run_time_ms());
  if (cluster.aging_ms() > 0) {
    options.board.aging = absl::Milliseconds(cluster.aging_ms());
  }
  if (cluster.half_life_ms() > 0) {
    options.board.half_life = absl::Milliseconds(cluster.half_life_ms());
  }
  if (cluster.stop_grace_ms() > 0) {
    options.stop_grace = absl::Milliseconds(cluster.stop_grace_ms());
  }
  if (cluster.max_tasks_bytes() > 0) {
    options.max_tasks_bytes = cluster.max_tasks_bytes();
  }
  return options;
}

std::vector<scheduler::policy::Queue> QueuesOf(const Cluster& cluster) {
  std::vector<scheduler::policy::Queue> queues;
  for (const Queue& given : cluster.queues()) {
    scheduler::policy::Queue& queue = queues.emplace_back();
    queue.name = absl::StrCat("queue-", queues.size() - 1);
    queue.weight = std::max(1, given.weight());
    scheduler::policy::Quota& quota = queue.quotas["cpu"];
    quota.guaranteed = given.guaranteed();
    if (given.limit() > 0) quota.limit = given.limit();
    if (given.max_per_owner() > 0) queue.max_per_owner = given.max_per_owner();
  }
  return queues;
}

class Simulation {
 public:
  Simulation(uint64_t seed, const Scenario& scenario)
      : scenario_(scenario),
        world_(seed),
        network_(world_, scenario.faults().network()),
        queues_(QueuesOf(scenario.cluster())),
        oracle_(world_),
        scheduler_(world_, network_, storage_, oracle_),
        operator_(world_, network_, scheduler_),
        librarian_(world_, network_, scheduler_) {
    if (scenario_.first_within_seconds() > 0) {
      oracle_.order().ExpectFirstWithin(
          absl::Seconds(scenario_.first_within_seconds()));
    }
    for (int i = 0; i < scenario_.cluster().workers(); ++i) AddWorker(i);
  }

  Outcome Run() {
    StartScheduler();
    for (const auto& worker : workers_) worker->Start();
    StartClients();
    Trouble trouble(world_, scenario_.faults(), Targets());
    trouble.Begin();
    RunUntil(absl::Seconds(scenario_.seconds()));
    world_.EndTrouble();
    network_.Heal();
    for (const auto& client : clients_) client->Settle();
    operator_.Settle();
    librarian_.Settle();
    Settle();
    return Result();
  }

 private:
  void AddWorker(int index) {
    MachineOptions options;
    options.id = absl::StrCat("worker-", index);
    options.faults = scenario_.faults().trainers();
    options.max_step_ms = scenario_.workload().max_step_ms();
    options.clock_drift = scenario_.faults().processes().clock_drift();
    const Offer offer = OffersOf(scenario_.cluster())[index];
    options.num_devices = offer.devices;
    oracle_.KnowMachine(options.id, offer);
    options.bad_device =
        world_.MakeDice(options.id + "/device")
            .Chance(scenario_.faults().processes().bad_device());
    machines_.push_back(
        std::make_unique<Machine>(world_, storage_, oracle_, options));
    Machine& machine = *machines_.back();
    machine.set_is_live(
        [this](const AttemptKey& key) { return scheduler_.IsLive(key); });
    workers_.push_back(std::make_unique<SimWorker>(
        world_, network_, machine,
        SimWorkerOptions{machine.id(), offer,
                         scenario_.faults().processes().lacking_kernel()}));
    workers_.back()->set_announce(
        [this](const agent::v1::AnnounceRequest& request,
               const Reply<agent::v1::AnnounceResponse>& reply) {
          scheduler_.Announce(request, reply);
        });
  }

  void StartScheduler() {
    SimSchedulerOptions options;
    options.core = OptionsOf(scenario_.cluster());
    options.queues = queues_;
    options.store = scenario_.faults().store();
    const ProcessFaults& processes = scenario_.faults().processes();
    options.kill_at_release = processes.scheduler_kill_at_release();
    options.max_away = absl::Milliseconds(processes.max_away_ms());
    options.clock_drift = processes.clock_drift();
    scheduler_.Begin(options,
                     [this](const agent::v1::SetDesiredRequest& request,
                            const Reply<agent::v1::SetDesiredResponse>& reply) {
                       for (const auto& worker : workers_) {
                         if (worker->id() == request.worker()) {
                           return worker->SetDesired(request, reply);
                         }
                       }
                       reply(absl::UnavailableError("no such machine"));
                     });
  }

  void StartClients() {
    const Workload& workload = scenario_.workload();
    for (int i = 0; i < workload.clients(); ++i) {
      clients_.push_back(
          std::make_unique<Client>(world_, network_, scheduler_, oracle_));
      clients_.back()->Begin(
          absl::StrCat("client-", i),
          {workload, workload.max_jobs() / workload.clients(), queues_,
           OffersOf(scenario_.cluster())});
    }
    OperatorOptions options;
    options.closes_per_minute = workload.closes_per_minute();
    options.queue_changes_per_minute = workload.queue_changes_per_minute();
    options.releases_per_minute = workload.releases_per_minute();
    options.queue_makes_per_minute = workload.queue_makes_per_minute();
    options.num_workers = scenario_.cluster().workers();
    options.drained_after =
        absl::Seconds(scenario_.cluster().drained_after_s());
    options.num_devices =
        scenario_.cluster().workers() * scenario_.cluster().devices();
    options.queues = queues_;
    operator_.Begin(std::move(options));
    librarian_.Begin(workload.names_per_minute());
  }

  FaultTargets Targets() {
    FaultTargets targets;
    targets.network = &network_;
    targets.scheduler = &scheduler_;
    for (const auto& worker : workers_) targets.workers.push_back(worker.get());
    return targets;
  }

  void RunUntil(absl::Duration time) {
    bool over = false;
    world_.After(time - world_.now(), "", [&over] { over = true; });
    while (!over && !world_.failed() && world_.RunNext()) {
    }
  }

  bool IsSettled() const {
    if (!scheduler_.IsIdle() || !operator_.IsIdle() || !librarian_.IsIdle()) {
      return false;
    }
    for (const auto& client : clients_) {
      if (!client->IsIdle()) return false;
    }
    for (const auto& worker : workers_) {
      if (!worker->IsClean()) return false;
    }
    return oracle_.Unfinished(scheduler_.state()).empty();
  }

  void Settle() {
    const absl::Duration end =
        world_.now() + absl::Seconds(scenario_.settle_seconds());
    while (!world_.failed() && world_.now() < end) {
      RunUntil(world_.now() + kLookPeriod);
      if (IsSettled()) break;
    }
    if (world_.failed()) return;
    CheckEnd();
  }

  void CheckEnd() {
    if (!scheduler_.runs()) return world_.Fail("the scheduler does not run");
    oracle_.AtEnd(scheduler_.state());
    for (const auto& worker : workers_) {
      if (!worker->IsClean()) {
        world_.Fail(worker->id() + " still runs or keeps something");
      }
    }
    for (const std::string& name : DeletedCheckpoints(scheduler_.Stored())) {
      if (storage_.Has(name)) world_.Fail(name + " is deleted and there");
    }
    for (const std::string& name : AvailableCheckpoints(scheduler_.Stored())) {
      if (!storage_.Has(name)) world_.Fail(name + " is available and gone");
    }
    for (const std::string& name : ThinnedCheckpoints(scheduler_.Stored())) {
      if (storage_.IsWhole(name)) world_.Fail(name + " is thinned and whole");
    }
    if (!IsSettled()) world_.Fail("something is still under way");
  }

  Outcome Result() const {
    Outcome outcome;
    outcome.seed = world_.seed();
    if (world_.failed()) {
      outcome.status = absl::InternalError(world_.failure());
    }
    outcome.digest = world_.digest();
    outcome.last_lines.assign(world_.last_lines().begin(),
                              world_.last_lines().end());
    outcome.num_events = world_.num_events();
    outcome.num_applies = scheduler_.num_applies();
    outcome.num_lives = scheduler_.num_lives();
    outcome.num_jobs = oracle_.num_jobs();
    outcome.num_attempts = oracle_.num_attempts();
    outcome.num_quarantines = oracle_.num_quarantines();
    outcome.longest_straggle_seconds =
        absl::ToDoubleSeconds(oracle_.longest_straggle());
    outcome.longest_gap_seconds = absl::ToDoubleSeconds(oracle_.longest_gap());
    outcome.longest_first_seconds =
        absl::ToDoubleSeconds(oracle_.order().longest_first());
    outcome.num_queues_deleted = oracle_.num_queues_deleted();
    outcome.num_stopped_early = oracle_.num_stopped_early();
    outcome.num_taken = oracle_.num_taken();
    outcome.num_began_late = oracle_.num_began_late();
    outcome.virtual_seconds = absl::ToDoubleSeconds(world_.now());
    return outcome;
  }

  const Scenario scenario_;
  World world_;
  Network network_;
  Storage storage_;
  const std::vector<scheduler::policy::Queue> queues_;
  Oracle oracle_;
  SimScheduler scheduler_;
  Operator operator_;
  Librarian librarian_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::vector<std::unique_ptr<Client>> clients_;
};

absl::Status CheckScenario(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster();
  const Workload& workload = scenario.workload();
  const struct {
    const char* field;
    int value;
    int most;
  } kLimits[] = {
      {"cluster.workers", cluster.workers(), kMaxWorkers},
      {"cluster.devices", cluster.devices(), kMaxDevices},
      {"cluster.lease_ms", cluster.lease_ms(), 3'600'000},
      {"cluster.heartbeat_ms", cluster.heartbeat_ms(), 3'600'000},
      {"cluster.forget_worker_s", cluster.forget_worker_s(), 86'400},
      {"workload.clients", workload.clients(), 1000},
      {"workload.max_jobs", workload.max_jobs(), 100'000},
      {"workload.max_steps", workload.max_steps(), 1'000'000},
      {"workload.max_step_ms", workload.max_step_ms(), 60'000},
      {"seconds", scenario.seconds(), 86'400},
      {"settle_seconds", scenario.settle_seconds(), 864'000},
  };
  for (const auto& limit : kLimits) {
    if (limit.value < 1 || limit.value > limit.most) {
      return absl::InvalidArgumentError(absl::StrCat(
          limit.field, ": must be 1 to ", limit.most, ", not ", limit.value));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Scenario> ReadScenario(const std::string& path) {
  base::PosixFilesystem files;
  ORDO_ASSIGN_OR_RETURN(const base::TextForm form, base::TextFormOfFile(path));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxScenarioBytes));
  Scenario scenario;
  absl::Status status = base::ReadMessage(text, form, &scenario);
  if (status.ok()) status = CheckScenario(scenario);
  if (!status.ok()) return base::AddContext(status, path);
  return scenario;
}

Outcome Simulate(uint64_t seed, const Scenario& scenario) {
  return Simulation(seed, scenario).Run();
}

std::string Describe(const Outcome& outcome, const Scenario& scenario) {
  std::string text = absl::StrFormat(
      "seed %d: %s, %d jobs, %d attempts, %d scheduler lives, %d events, "
      "%.0f s, digest %016x",
      outcome.seed, outcome.status.ok() ? "ok" : "FAILED", outcome.num_jobs,
      outcome.num_attempts, outcome.num_lives, outcome.num_events,
      outcome.virtual_seconds, outcome.digest);
  if (outcome.status.ok()) return text;
  return absl::StrCat(
      text, "\n  ", outcome.status.message(), "\n  event ", outcome.num_events,
      "; the newest (virtual microseconds):\n    ",
      absl::StrJoin(outcome.last_lines, "\n    "),
      "\n  scenario: ", scenario.ShortDebugString(),
      "\n  again: tools/simulate --seeds 1 --first-seed ", outcome.seed,
      scenario.name().empty() ? ""
                              : absl::StrCat(" --scenario tests/sim/scenarios/",
                                             scenario.name(), ".textproto"));
}

}  // namespace ordo::tests::sim
