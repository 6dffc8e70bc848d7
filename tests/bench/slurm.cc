#include "tests/bench/slurm.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

constexpr char kMunged[] = "/usr/sbin/munged";
constexpr char kController[] = "/usr/sbin/slurmctld";
constexpr char kNode[] = "/usr/sbin/slurmd";
constexpr char kEnv[] = "/usr/bin/env";
constexpr absl::Duration kStart = absl::Seconds(30);
constexpr absl::Duration kCommand = absl::Seconds(60);
constexpr absl::Duration kDeadline = absl::Minutes(5);
constexpr absl::Duration kLook = absl::Milliseconds(50);
// Seldom, while many jobs are left: squeue takes processor time from them.
constexpr absl::Duration kLookAtJobs = absl::Milliseconds(500);
// More often for the last ones, so that their end is not seen late. They are
// more than end between two seldom looks.
constexpr absl::Duration kLookAtLastJobs = absl::Milliseconds(100);
constexpr int kLastJobs = 50;
constexpr size_t kMaxOutput = 1 << 20;

// A port that was free a moment ago.
absl::StatusOr<int> FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = file >= 0 && bind(file, generic, length) == 0 &&
                     getsockname(file, generic, &length) == 0;
  if (file >= 0) close(file);
  if (!bound) return absl::UnavailableError("no free port");
  return ntohs(address.sin_port);
}

// The three daemons of one Slurm, below one folder.
class Slurm {
 public:
  Slurm(std::string folder, int cpus, std::string script)
      : folder_(std::move(folder)), cpus_(cpus), script_(std::move(script)) {}
  ~Slurm() {
    std::reverse(daemons_.begin(), daemons_.end());
    for (const base::ProcessId& daemon : daemons_) {
      base::SignalProcess(daemon, SIGTERM).IgnoreError();
      if (!base::WaitForExit(daemon.pid, kStart).ok()) {
        base::SignalProcess(daemon, SIGKILL).IgnoreError();
        base::WaitForExit(daemon.pid, kStart).status().IgnoreError();
      }
    }
  }

  absl::Status Start() {
    for (const char* part : {"munge", "state", "spool"}) {
      ORDO_RETURN_IF_ERROR(files_.MakeFolders(Path(part)));
    }
    ORDO_RETURN_IF_ERROR(WriteFiles());
    ORDO_RETURN_IF_ERROR(StartDaemon(
        {kMunged, "--foreground", "--force", "--socket", Path("munge/socket"),
         "--key-file", Path("munge/key"), "--pid-file", Path("munge/pid"),
         "--seed-file", Path("munge/seed"), "--log-file", Path("munge/log")}));
    ORDO_RETURN_IF_ERROR(WaitUntil("munged has a socket", [this] {
      return base::Exists(files_, Path("munge/socket"));
    }));
    ORDO_RETURN_IF_ERROR(StartDaemon({kController, "-D"}));
    ORDO_RETURN_IF_ERROR(StartDaemon({kNode, "-D"}));
    return WaitUntil("Slurm's node is idle", [this] {
      const auto state = Call({"sinfo", "-h", "-o", "%t"});
      return state.ok() && *state == "idle";
    });
  }

  absl::StatusOr<double> NoopRate(int jobs) {
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(Call({"sbatch", absl::StrCat("--array=1-", jobs),
                               "--output=/dev/null", Path("job.sh")}));
    const absl::Time deadline = start + kDeadline;
    while (absl::Now() < deadline) {
      ORDO_ASSIGN_OR_RETURN(const std::string left,
                            Call({"squeue", "--array", "-h", "-o", "%i"}));
      if (left.empty()) {
        return jobs / absl::ToDoubleSeconds(absl::Now() - start);
      }
      // A line for each.
      const auto num_left = 1 + std::count(left.begin(), left.end(), '\n');
      harness::Pass(num_left > kLastJobs ? kLookAtJobs : kLookAtLastJobs);
    }
    return absl::DeadlineExceededError("Slurm's jobs did not end");
  }

 private:
  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }

  absl::Status WriteFiles() {
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    const std::string name =
        std::string(host).substr(0, std::string(host).find('.'));
    ORDO_ASSIGN_OR_RETURN(const int controller, FreePort());
    ORDO_ASSIGN_OR_RETURN(const int node, FreePort());
    const std::string configuration = absl::StrCat(
        "ClusterName=bench\nSlurmctldHost=", name, "(127.0.0.1)\n",
        "SlurmUser=root\nSlurmctldPort=", controller, "\nSlurmdPort=", node,
        "\nAuthType=auth/munge\nAuthInfo=socket=", Path("munge/socket"),
        "\nStateSaveLocation=", Path("state"),
        "\nSlurmdSpoolDir=", Path("spool"),
        "\nSlurmctldPidFile=", Path("slurmctld.pid"),
        "\nSlurmdPidFile=", Path("slurmd.pid"),
        "\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
        "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0\n"
        "MpiDefault=none\nReturnToService=2\nMaxJobCount=100000\n"
        "MaxArraySize=100000\nEpilog=",
        Path("epilog.sh"), "\nNodeName=", name,
        " NodeAddr=127.0.0.1 CPUs=", cpus_, " State=UNKNOWN\n",
        "PartitionName=bench Nodes=", name,
        " Default=YES MaxTime=INFINITE State=UP\n");
    for (const auto& [file, text] :
         std::vector<std::pair<std::string, std::string>>{
             {"slurm.conf", configuration},
             {"munge/key", std::string(1024, 'k')},
             {"epilog.sh", "#!/bin/sh\nexit 0\n"},
             {"job.sh", script_}}) {
      ORDO_RETURN_IF_ERROR(base::AtomicWrite(files_, Path(file), text));
    }
    if (chmod(Path("munge/key").c_str(), 0600) != 0 ||
        chmod(Path("epilog.sh").c_str(), 0755) != 0) {
      return absl::InternalError("cannot set the modes of Slurm's files");
    }
    return absl::OkStatus();
  }

  std::vector<std::string> WithConfiguration(
      const std::vector<std::string>& command) const {
    std::vector<std::string> argv = {kEnv, "SLURM_CONF=" + Path("slurm.conf")};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }

  absl::Status StartDaemon(const std::vector<std::string>& command) {
    base::SpawnOptions spawn;
    spawn.argv = WithConfiguration(command);
    spawn.stdout_file = Path("log");
    spawn.stderr_file = Path("log");
    ORDO_ASSIGN_OR_RETURN(const auto process, base::Spawn(spawn));
    daemons_.push_back(process);
    return absl::OkStatus();
  }

  // What a command prints; INTERNAL when it fails.
  absl::StatusOr<std::string> Call(const std::vector<std::string>& command) {
    const std::string output = Path("output");
    ORDO_RETURN_IF_ERROR(base::AtomicWrite(files_, output, ""));
    base::SpawnOptions spawn;
    spawn.argv = WithConfiguration(command);
    spawn.stdout_file = output;
    spawn.stderr_file = output;
    ORDO_ASSIGN_OR_RETURN(const auto process, base::Spawn(spawn));
    ORDO_ASSIGN_OR_RETURN(const auto status,
                          base::WaitForExit(process.pid, kCommand));
    ORDO_ASSIGN_OR_RETURN(std::string text,
                          base::ReadFile(files_, output, kMaxOutput));
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat(command[0], ": ", text));
    }
    return std::string(absl::StripAsciiWhitespace(text));
  }

  template <typename Done>
  absl::Status WaitUntil(const std::string& what, Done done) {
    const absl::Time deadline = absl::Now() + kStart;
    while (!done()) {
      if (absl::Now() > deadline) {
        return absl::DeadlineExceededError(absl::StrCat(
            "never: ", what, "; its logs:\n",
            base::ReadFile(files_, Path("log"), kMaxOutput).value_or("")));
      }
      harness::Pass(kLook);
    }
    return absl::OkStatus();
  }

  const std::string folder_;
  const int cpus_;
  const std::string script_;
  base::PosixFilesystem files_;
  std::vector<base::ProcessId> daemons_;
};

}  // namespace

absl::StatusOr<double> SlurmNoopRate(const std::string& folder, int cpus,
                                     const std::string& script, int jobs) {
  base::PosixFilesystem files;
  for (const char* program : {kMunged, kController, kNode}) {
    if (!base::Exists(files, program)) {
      return absl::NotFoundError(
          absl::StrCat("no figure beside Slurm: ", program,
                       " is not there (apt-get install slurm-wlm munge)"));
    }
  }
  if (getuid() != 0) {
    return absl::NotFoundError("no figure beside Slurm: it needs root");
  }
  Slurm slurm(folder + "/slurm", cpus, script);
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder + "/slurm"));
  ORDO_RETURN_IF_ERROR(slurm.Start());
  return slurm.NoopRate(jobs);
}

}  // namespace ordo::tests::bench
