#ifndef ORDO_SERVICES_SPEC_SPEC_CACHE_H_
#define ORDO_SERVICES_SPEC_SPEC_CACHE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

// A spec with every default filled in and without its name, and what is worth
// knowing of it.
struct ResolvedSpec {
  std::shared_ptr<const ordo::jobs::v1::JobSpec> spec;
  std::vector<std::string> notices;
};

// Resolves specs, and remembers how: jobs come by the thousand that differ in
// their names alone. Thread-safe.
class SpecCache {
 public:
  // Specs that are remembered; with the next one all are forgotten.
  static constexpr size_t kMaxSpecs = 256;
  // Longer ones, in bytes, are not remembered.
  static constexpr size_t kMaxBytes = 16 << 10;

  using ResolvedPtr = std::shared_ptr<const ResolvedSpec>;

  // What ResolveJobSpec and NoticesOf give; never null. `bytes` are the spec's
  // own, by base::DeterministicBytes.
  absl::StatusOr<ResolvedPtr> Resolve(const ordo::jobs::v1::JobSpec& spec,
                                      const std::string& bytes);

  // How many are remembered.
  size_t size() const;

 private:
  ResolvedPtr Find(const std::string& key) const;
  void Remember(const std::string& key, ResolvedPtr resolved);

  mutable base::Mutex mutex_;
  // By the bytes of the spec as it came, without its name.
  std::unordered_map<std::string, ResolvedPtr> known_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_SPEC_CACHE_H_
