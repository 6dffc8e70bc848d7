#include "base/metrics/process_metrics.h"

#include <cstdint>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/log/log.h"
#include "base/process/use.h"
#include "base/version/version.h"
#include "base/version/worker_protocol.h"

namespace ordo::base {
namespace {

// Digits of the build id: enough to tell releases apart.
constexpr size_t kBuildDigits = 12;

struct ProcessMetrics {
  ProcessMetrics(const std::string& prefix, MetricsRegistry& registry);
  void Update();

  GaugeFamily build;
  CounterFamily cpu;
  GaugeFamily resident;
  GaugeFamily threads;
  GaugeFamily open_files;
  GaugeFamily open_files_limit;
  GaugeFamily start;
  GaugeFamily clock;
  CounterFamily lines;
  CounterFamily held_back;
  bool has_build = false;
};

std::vector<std::string> LevelNames() {
  std::vector<std::string> names;
  for (const LogLevel level : kLogLevels) names.emplace_back(NameOf(level));
  return names;
}

ProcessMetrics::ProcessMetrics(const std::string& prefix,
                               MetricsRegistry& registry)
    : build(registry.AddGauge(
          {prefix + "build_info",
           "Always 1; the first digits of the SHA-256 of the program's file, "
           "and the version of the protocol between scheduler and workers.",
           {{"build"}, {"protocol"}}})),
      cpu(registry.AddCounter({prefix + "process_cpu_seconds_total",
                               "Processor time that the process has used."})),
      resident(registry.AddGauge({prefix + "process_resident_bytes",
                                  "Main memory that the process has."})),
      threads(registry.AddGauge(
          {prefix + "process_threads", "Threads of the process."})),
      open_files(
          registry.AddGauge({prefix + "process_open_files",
                             "Files, sockets and the like that are open."})),
      open_files_limit(
          registry.AddGauge({prefix + "process_open_files_limit",
                             "How many of these may be open at a time."})),
      start(registry.AddGauge({prefix + "process_start_timestamp_seconds",
                               "When the process began, seconds since 1970."})),
      clock(registry.AddGauge(
          {prefix + "process_clock_timestamp_seconds",
           "The wall clock when the page was made, seconds since 1970."})),
      lines(registry.AddCounter({prefix + "log_lines_total",
                                 "Lines of the log, by level.",
                                 {{"level", LevelNames()}}})),
      held_back(registry.AddCounter(
          {prefix + "log_lines_held_back_total",
           "Lines of the log that were not written because the same was "
           "written a moment before."})) {}

void ProcessMetrics::Update() {
  clock.With({}).Set(
      absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch()));
  // The program's file is read once: it may be large.
  if (!has_build) {
    has_build = true;
    const auto id = BuildId();
    build
        .With({id.ok() ? id->substr(0, kBuildDigits) : "unknown",
               std::to_string(kWorkerProtocol)})
        .Set(1);
  }
  if (const auto use = UseOf(getpid()); use.ok()) {
    RaiseTo(use->cpu_seconds, cpu.With({}));
    resident.With({}).Set(static_cast<double>(use->resident_bytes));
    threads.With({}).Set(static_cast<double>(use->num_threads));
    if (start.With({}).Value() == 0) {
      start.With({}).Set(
          absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch() -
                                absl::Seconds(use->age_seconds)));
    }
  }
  if (const auto count = CountOpenFiles(getpid()); count.ok()) {
    open_files.With({}).Set(static_cast<double>(*count));
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    open_files_limit.With({}).Set(static_cast<double>(limit.rlim_cur));
  }
  for (const LogLevel level : kLogLevels) {
    RaiseTo(static_cast<double>(NumLogLines(level)),
            lines.With({NameOf(level)}));
  }
  RaiseTo(static_cast<double>(NumHeldBackLogLines()), held_back.With({}));
}

}  // namespace

void AddProcessMetrics(const std::string& part, MetricsRegistry& registry) {
  const auto metrics =
      std::make_shared<ProcessMetrics>("ordo_" + part + "_", registry);
  registry.OnCollect([metrics] { metrics->Update(); });
}

}  // namespace ordo::base
