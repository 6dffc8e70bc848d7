#include "model/catalog/resolve_resources.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/labels.h"
#include "model/catalog/fields.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr int kMaxLabels = 64;
constexpr double kMaxBytes = int64_t{1} << 50;

}  // namespace

void ResolveResources(std::string_view field, v1::Resources* resources,
                      Violations* violations, int max_ranks) {
  if (!resources->has_ranks()) resources->set_ranks(1);
  const int ranks = resources->ranks();
  const std::string path = FieldPath(field, "ranks");
  const bool ranks_valid = ranks >= 1 && ranks <= max_ranks;
  if (!ranks_valid && max_ranks == 1) {
    violations->push_back(
        {path, absl::StrCat("only 1 is possible here today, is ", ranks)});
  } else if (!ranks_valid) {
    violations->push_back(
        {path, absl::StrCat("must be 1..", max_ranks, ", is ", ranks)});
  }
  ResolveChoice({"device", {"cpu", "cuda"}, {"gpu", "cuda"}}, field, resources,
                violations);
  ResolveNumber({"threads", 1, 1024, 2}, field, resources, violations);
  // A release that knows none of what follows takes a spec that asks for none.
  const NumberField requests[] = {
      {"devices", 1, 64, 1},
      {"device_memory_bytes", 0, kMaxBytes, 0},
      {"cpus", 0, 1024, 0},
      {"memory_bytes", 0, kMaxBytes, 0},
  };
  for (const NumberField& request : requests) {
    ResolveRequest(request, field, resources, violations);
  }
  base::CheckLabels(resources->labels(),
                    {FieldPath(field, "labels"), kMaxLabels}, violations);
  if (!resources->exclusive()) resources->clear_exclusive();
}

}  // namespace ordo::model::catalog
