#include "worker/supervisor/launcher.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "worker/supervisor/launch.h"
#include "worker/supervisor/options.h"
#include "worker/supervisor/supervisor.h"

namespace ordo::worker::supervisor {
namespace {

constexpr int kSocket = STDIN_FILENO;

// What a supervisor is to be. Pointers are into `texts`.
struct Request {
  std::vector<char> texts;
  std::vector<char*> arguments;
  // Ends with a null pointer.
  std::vector<char*> environment;
  // Where the environment begins in `texts`.
  size_t environment_offset = 0;
};

// False at the end of the socket.
bool ReadAll(void* data, size_t num_bytes) {
  char* next = static_cast<char*>(data);
  while (num_bytes > 0) {
    const ssize_t num_read = read(kSocket, next, num_bytes);
    if (num_read < 0 && errno == EINTR) continue;
    if (num_read <= 0) return false;
    next += num_read;
    num_bytes -= static_cast<size_t>(num_read);
  }
  return true;
}

// False when nobody hears it.
bool Answer(int32_t answer) {
  return send(kSocket, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

// False when there is none or it is not one.
bool ReadRequest(Request* request) {
  LaunchHeader header;
  if (!ReadAll(&header, sizeof(header))) return false;
  if (header.num_bytes > kMaxLaunchBytes) return false;
  request->texts.resize(header.num_bytes);
  if (!ReadAll(request->texts.data(), header.num_bytes)) return false;
  if (header.num_bytes == 0 || request->texts.back() != '\0') return false;
  request->arguments.clear();
  request->environment.clear();
  char* const end = request->texts.data() + request->texts.size();
  for (char* text = request->texts.data(); text < end;
       text += std::strlen(text) + 1) {
    if (request->arguments.size() < header.num_arguments) {
      request->arguments.push_back(text);
      request->environment_offset = static_cast<size_t>(
          text + std::strlen(text) + 1 - request->texts.data());
    } else {
      request->environment.push_back(text);
    }
  }
  request->environment.push_back(nullptr);
  return request->arguments.size() == header.num_arguments;
}

// Where the kernel says that parts of this process lie (proc(5)). 0, or errno:
// ENOSYS where it says it in another way.
int ReadLayout(prctl_mm_map* layout) {
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  char text[2048];
  const ssize_t num_bytes = read(file, text, sizeof(text) - 1);
  const int failed = num_bytes < 0 ? errno : 0;
  close(file);
  if (failed != 0) return failed;
  text[num_bytes] = '\0';
  // Behind the program's name come field 3, the state, and then numbers.
  const char* rest = std::strrchr(text, ')');
  if (rest == nullptr || std::strlen(rest) < 4) return ENOSYS;
  constexpr int kFirstNumber = 4;
  constexpr int kLastNumber = 51;
  uint64_t fields[kLastNumber + 1] = {};
  char* next = const_cast<char*>(rest) + 3;
  for (int i = kFirstNumber; i <= kLastNumber; ++i) {
    char* const begin = next;
    fields[i] = std::strtoull(begin, &next, 10);
    if (next == begin) return ENOSYS;
  }
  *layout = {};
  layout->start_code = fields[26];
  layout->end_code = fields[27];
  layout->start_stack = fields[28];
  layout->start_data = fields[45];
  layout->end_data = fields[46];
  layout->start_brk = fields[47];
  layout->arg_start = fields[48];
  layout->arg_end = fields[49];
  layout->env_start = fields[50];
  layout->env_end = fields[51];
  layout->exe_fd = ~0u;
  return 0;
}

// 0, or errno: the kernel may be built without it.
int SetLayout(prctl_mm_map layout) {
  layout.brk = reinterpret_cast<uintptr_t>(sbrk(0));
  return prctl(PR_SET_MM, PR_SET_MM_MAP, &layout, sizeof(layout), 0) == 0
             ? 0
             : errno;
}

// What /proc shows of this process is the request's from here on: by its
// command line and environment a worker that was started anew finds it.
int ShowAs(Request& request, prctl_mm_map layout) {
  char* const begin = request.texts.data();
  layout.arg_start = reinterpret_cast<uintptr_t>(begin);
  layout.arg_end = layout.arg_start + request.environment_offset;
  layout.env_start = layout.arg_end;
  layout.env_end = layout.arg_start + request.texts.size();
  return SetLayout(layout);
}

[[noreturn]] void BecomeSupervisor(Request& request,
                                   const prctl_mm_map& layout) {
  const int failed = ShowAs(request, layout);
  // What nobody knows of must not run.
  if (!Answer(failed == 0 ? getpid() : -failed) || failed != 0) _exit(1);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, kSocket) < 0) close(kSocket);
  environ = request.environment.data();
  Options options;
  std::string error;
  if (!ParseOptions({request.arguments.begin(), request.arguments.end()},
                    &options, &error)) {
    Say(options, error);
    _exit(2);
  }
  _exit(Supervisor(options).Run());
}

}  // namespace

int RunLauncher() {
  prctl_mm_map layout;
  int unfit = ReadLayout(&layout);
  if (unfit == 0) unfit = SetLayout(layout);
  Answer(-unfit);
  if (unfit != 0) return 1;
  Request request;
  const sigset_t watched = WatchedSignals();
  while (ReadRequest(&request)) {
    // A signal to the new one, whose number is known at once, waits for it.
    sigset_t own;
    sigprocmask(SIG_BLOCK, &watched, &own);
    const auto child = static_cast<pid_t>(
        syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
    if (child == 0) BecomeSupervisor(request, layout);
    if (child < 0) Answer(-errno);
    sigprocmask(SIG_SETMASK, &own, nullptr);
  }
  return 0;
}

}  // namespace ordo::worker::supervisor
