#include "model/training/loaded_libraries.h"

#include <algorithm>
#include <link.h>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"

namespace ordo::model::training {
namespace {

constexpr size_t kDigits = 16;

struct Found {
  const std::vector<std::string>& prefixes;
  std::vector<std::string> libraries;
};

// The program headers of a library, then its notes.
std::string BuildOf(const dl_phdr_info& info) {
  std::string bytes(reinterpret_cast<const char*>(info.dlpi_phdr),
                    info.dlpi_phnum * sizeof(*info.dlpi_phdr));
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives numbers.
    bytes.append(reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr),
                 header.p_memsz);
  }
  return bytes;
}

int Look(dl_phdr_info* info, size_t, void* data) {
  auto* found = static_cast<Found*>(data);
  const std::string name = base::NameOf(info->dlpi_name);
  for (const std::string& prefix : found->prefixes) {
    if (!absl::StartsWith(name, prefix)) continue;
    found->libraries.push_back(name + " " + base::Sha256Hex(BuildOf(*info)));
    break;
  }
  return 0;
}

}  // namespace

std::string DigestOfLoaded(const std::vector<std::string>& prefixes) {
  Found found{prefixes, {}};
  dl_iterate_phdr(Look, &found);
  // The order in which they were loaded does not matter.
  std::sort(found.libraries.begin(), found.libraries.end());
  return base::Sha256Hex(absl::StrJoin(found.libraries, "\n"))
      .substr(0, kDigits);
}

}  // namespace ordo::model::training
