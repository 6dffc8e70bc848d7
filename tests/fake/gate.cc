// Holds the real trainer at a moment of a test's choice, loaded into it with
// LD_PRELOAD: its call of open or rename on the path that ends in
// $ORDO_GATE_PATH makes the file $ORDO_GATE_KEY.held and then waits until
// $ORDO_GATE_KEY is there.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace {

constexpr int kPeriodMs = 2;

void Pass(const std::string& path) {
  const char* const gate = std::getenv("ORDO_GATE_PATH");
  const char* const key = std::getenv("ORDO_GATE_KEY");
  if (gate == nullptr || key == nullptr) return;
  const std::string end = gate;
  if (path.size() < end.size() ||
      path.compare(path.size() - end.size(), end.size(), end) != 0 ||
      access(key, F_OK) == 0) {
    return;
  }
  std::FILE* const held = std::fopen((std::string(key) + ".held").c_str(), "w");
  if (held != nullptr) std::fclose(held);
  while (access(key, F_OK) != 0) poll(nullptr, 0, kPeriodMs);
}

// The function of this name that the program would call without this library.
template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// <fcntl.h> may define open itself and is not included. A mode that was not
// given is passed on as it is found and looked at by nobody.
extern "C" int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  Pass(path);
  return Real<int(const char*, int, ...)>("open")(path, flags, mode);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  Pass(to);
  return Real<int(const char*, const char*)>("rename")(from, to);
}
