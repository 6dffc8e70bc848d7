#include "services/spec/spec_cache.h"

#include <utility>

#include "base/status/status.h"
#include "base/text/proto_bytes.h"
#include "model/catalog/fields.h"
#include "services/spec/expand.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;

absl::StatusOr<SpecCache::ResolvedPtr> ResolveAnew(const JobSpec& spec) {
  ORDO_ASSIGN_OR_RETURN(JobSpec full, ResolveJobSpec(spec));
  auto resolved = std::make_shared<ResolvedSpec>();
  resolved->notices = NoticesOf(full);
  full.clear_name();
  resolved->spec = std::make_shared<const JobSpec>(std::move(full));
  return resolved;
}

}  // namespace

SpecCache::ResolvedPtr SpecCache::Find(const std::string& key) const {
  base::MutexLock lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second;
}

void SpecCache::Remember(const std::string& key, ResolvedPtr resolved) {
  base::MutexLock lock(mutex_);
  if (known_.size() >= kMaxSpecs) known_.clear();
  known_[key] = std::move(resolved);
}

size_t SpecCache::size() const {
  base::MutexLock lock(mutex_);
  return known_.size();
}

absl::StatusOr<SpecCache::ResolvedPtr> SpecCache::Resolve(
    const JobSpec& spec, const std::string& bytes) {
  // What is wrong with a name, and with the rest too, is told at once.
  if (!model::catalog::IsId(spec.name())) return ResolveAnew(spec);
  // Names of parts, which may be too long, begin with it.
  if (HasParts(spec.kind())) return ResolveAnew(spec);
  const std::string key = base::WithoutField(bytes, JobSpec::kNameFieldNumber);
  if (ResolvedPtr known = Find(key)) return known;
  auto resolved = ResolveAnew(spec);
  if (resolved.ok() && key.size() <= kMaxBytes) Remember(key, *resolved);
  return resolved;
}

}  // namespace ordo::services::spec
