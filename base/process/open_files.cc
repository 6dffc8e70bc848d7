#include "base/process/open_files.h"

#include <algorithm>
#include <sys/resource.h>

namespace ordo::base {

uint64_t RaiseOpenFileLimit(uint64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur =
      std::max(before, std::min(static_cast<rlim_t>(wanted), limit.rlim_max));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace ordo::base
