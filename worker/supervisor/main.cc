// Parent of one task; started by ordo-worker. Example:
//   ordo-supervisor --task-dir /var/lib/ordo/tasks/a.1
//       --attempt-dir /mnt/ordo/jobs/a/attempts/1 --step-timeout-ms 600000
//       --grace-ms 30000 --deployment /var/lib/ordo
//       -- /usr/bin/ordo-trainer train task.json --out /mnt/ordo/jobs/a
// With --launcher, what the tasks' parents are forked from; see launcher.h.
#include <cstdio>
#include <string>
#include <vector>

#include "worker/supervisor/launcher.h"
#include "worker/supervisor/options.h"
#include "worker/supervisor/supervisor.h"

int main(int argc, char** argv) {
  using ordo::worker::supervisor::AnswerTo;
  using ordo::worker::supervisor::IsLauncher;
  using ordo::worker::supervisor::Options;
  using ordo::worker::supervisor::ParseOptions;
  using ordo::worker::supervisor::RunLauncher;
  using ordo::worker::supervisor::Say;
  using ordo::worker::supervisor::Supervisor;
  using ordo::worker::supervisor::Usage;
  const std::vector<std::string> arguments(argv, argv + argc);
  const std::string answer = AnswerTo(arguments);
  if (!answer.empty()) {
    std::fputs(answer.c_str(), stdout);
    return 0;
  }
  if (IsLauncher(arguments)) return RunLauncher();
  Options options;
  std::string error;
  if (!ParseOptions(arguments, &options, &error)) {
    Say(options, error);
    std::fputs(Usage().c_str(), stderr);
    return 2;
  }
  return Supervisor(options).Run();
}
