#include "services/spec/spec_cache.h"

#include <utility>

#include "base/status/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "model/catalog/resolve.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;

// Equal only for specs that are equal.
std::string KeyOf(const JobSpec& spec) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  spec.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

absl::StatusOr<ResolvedSpec> ResolveAnew(JobSpec spec) {
  ResolvedSpec resolved;
  ORDO_ASSIGN_OR_RETURN(resolved.spec, ResolveJobSpec(std::move(spec)));
  resolved.notices = NoticesOf(resolved.spec);
  return resolved;
}

}  // namespace

SpecCache::Known SpecCache::Find(const std::string& key) const {
  base::MutexLock lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second;
}

void SpecCache::Remember(const std::string& key, const ResolvedSpec& resolved) {
  auto known = std::make_shared<const ResolvedSpec>(resolved);
  base::MutexLock lock(mutex_);
  if (known_.size() >= kMaxSpecs) known_.clear();
  known_[key] = std::move(known);
}

size_t SpecCache::size() const {
  base::MutexLock lock(mutex_);
  return known_.size();
}

absl::StatusOr<ResolvedSpec> SpecCache::Resolve(JobSpec spec) {
  // What is wrong with a name, and with the rest too, is told at once.
  if (!model::catalog::IsId(spec.name())) return ResolveAnew(std::move(spec));
  std::string name = std::move(*spec.mutable_name());
  spec.clear_name();
  const std::string key = KeyOf(spec);
  if (const Known known = Find(key); known != nullptr) {
    ResolvedSpec resolved = *known;
    resolved.spec.set_name(std::move(name));
    return resolved;
  }
  spec.set_name(std::move(name));
  absl::StatusOr<ResolvedSpec> resolved = ResolveAnew(std::move(spec));
  if (resolved.ok() && key.size() <= kMaxBytes) Remember(key, *resolved);
  return resolved;
}

}  // namespace ordo::services::spec
