// Parent of one task; started by ordo-worker. Example:
//   ordo-supervisor --task-dir /var/lib/ordo/tasks/a.1
//       --attempt-dir /mnt/ordo/jobs/a/attempts/1 --step-timeout-ms 600000
//       --grace-ms 30000 --deployment /var/lib/ordo
//       -- /usr/bin/ordo-trainer train task.json --out /mnt/ordo/jobs/a
#include <cstdio>
#include <string>
#include <vector>

#include "worker/supervisor/options.h"
#include "worker/supervisor/supervisor.h"

int main(int argc, char** argv) {
  using ordo::worker::supervisor::Options;
  using ordo::worker::supervisor::ParseOptions;
  using ordo::worker::supervisor::Supervisor;
  Options options;
  std::string error;
  if (!ParseOptions(std::vector<std::string>(argv, argv + argc), &options,
                    &error)) {
    std::fprintf(stderr,
                 "ordo-supervisor: %s\n"
                 "usage: ordo-supervisor --task-dir DIR --attempt-dir DIR "
                 "--step-timeout-ms N --grace-ms N --deployment DIR "
                 "[--rank N] -- TRAINER ARG...\n",
                 error.c_str());
    return 2;
  }
  return Supervisor(options).Run();
}
