#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "tests/bench/measure.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

constexpr int kRounds = 30;

absl::StatusOr<double> MillisecondsOf(const std::vector<std::string>& argv,
                                      const std::string& folder) {
  base::SpawnOptions spawn;
  spawn.argv = argv;
  spawn.stdout_file = folder + "/output";
  const absl::Time start = absl::Now();
  ORDO_ASSIGN_OR_RETURN(const base::ProcessId child, base::Spawn(spawn));
  ORDO_ASSIGN_OR_RETURN(const base::ExitStatus status,
                        base::WaitForExit(child.pid, absl::Seconds(10)));
  if (!status.ok()) return absl::InternalError(argv[0] + status.ToString());
  return absl::ToDoubleMilliseconds(absl::Now() - start);
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkCliStart(
    const BenchmarkOptions& options) {
  const std::string ordo = harness::Program("ordo");
  std::vector<double> version;
  std::vector<double> encodings;
  std::vector<double> nothing;
  for (int round = options.Count(kRounds, 2); round > 0; --round) {
    ORDO_ASSIGN_OR_RETURN(const double a,
                          MillisecondsOf({ordo, "version"}, options.folder));
    ORDO_ASSIGN_OR_RETURN(
        const double b,
        MillisecondsOf({ordo, "list", "encodings"}, options.folder));
    ORDO_ASSIGN_OR_RETURN(const double c,
                          MillisecondsOf({"/bin/true"}, options.folder));
    version.push_back(a);
    encodings.push_back(b);
    nothing.push_back(c);
  }
  return std::vector<Measurement>{
      MedianOf(
          {"cli_start", "wall", 0, "ms", {{"command", "version"}}, "", 0, 0},
          version),
      MedianOf({"cli_start",
                "wall",
                0,
                "ms",
                {{"command", "list encodings"}},
                "",
                0,
                0},
               encodings),
      MedianOf(
          {"cli_start", "wall", 0, "ms", {{"command", "/bin/true"}}, "", 0, 0},
          nothing),
  };
}

}  // namespace ordo::tests::bench
