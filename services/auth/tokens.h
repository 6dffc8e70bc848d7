#ifndef ORDO_SERVICES_AUTH_TOKENS_H_
#define ORDO_SERVICES_AUTH_TOKENS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/visitor.h"

namespace ordo::services::auth {

// A new token; its secret is nowhere else.
struct NewToken {
  ordo::access::v1::Token token;
  std::string secret;
};

// The tokens of the scheduler's store: all in memory, so that a check is a
// digest and a look-up. Thread-safe; callbacks run on a thread of the scheduler
// once the change is durable, and from then on a check knows of it.
class Tokens {
 public:
  using CreateCallback = std::function<void(absl::StatusOr<NewToken>)>;
  using RevokeCallback =
      std::function<void(absl::StatusOr<ordo::access::v1::Token>)>;

  // Both outlive this, and the scheduler's threads have ended before it does.
  Tokens(scheduler::Scheduler& scheduler, const base::Clock& clock);

  // The bearer of the secret with this digest. UNAUTHENTICATED: there is none,
  // or it has expired, or was revoked.
  absl::StatusOr<VisitorPtr> Find(const std::string& sha256) const;

  // Whether a caller who was identified, by a token or otherwise, still is who
  // they were.
  bool StillHolds(const Visitor& visitor) const;

  // `token` is valid, with its name, expire_time and creator. ALREADY_EXISTS;
  // RESOURCE_EXHAUSTED: as many hold as may be kept. Of those that hold no
  // more the oldest is forgotten where there is no room.
  void Create(const ordo::access::v1::Token& token, CreateCallback done);
  // By id. NOT_FOUND; ABORTED while somebody else changes it.
  void Revoke(const std::string& id, const std::string& revoker,
              RevokeCallback done);
  // Revokes one that serves once; of several at a time one gets it.
  // UNAUTHENTICATED: it was used up, or revoked, or has expired.
  // PERMISSION_DENIED: it is for any new worker, and another has let one of
  // this name join.
  void UseUp(const std::string& id, const std::string& worker,
             RevokeCallback done);
  // By name.
  std::vector<ordo::access::v1::Token> List() const;

 private:
  struct Entry {
    std::string sha256;
    ordo::access::v1::Token token;
    VisitorPtr visitor;
  };
  using EntryPtr = std::shared_ptr<const Entry>;

  static EntryPtr MakeEntry(const std::string& sha256,
                            const ordo::access::v1::Token& token);
  bool Holds(const ordo::access::v1::Token& token, absl::Time now) const;
  // The digest of the one to be forgotten for the next; empty when there is
  // room. RESOURCE_EXHAUSTED.
  absl::StatusOr<std::string> MakeRoom() ORDO_REQUIRES(mutex_);
  void Put(const EntryPtr& entry) ORDO_EXCLUDES(mutex_);
  // Of one that is in changing_.
  void End(const EntryPtr& entry, const std::string& revoker,
           RevokeCallback done) ORDO_EXCLUDES(mutex_);
  // PERMISSION_DENIED as of UseUp.
  absl::Status CheckIsNew(const ordo::access::v1::Token& token,
                          const std::string& worker) const
      ORDO_REQUIRES(mutex_);
  // Why the bearer of this one is nobody; OK while it holds.
  absl::Status CheckHolds(const ordo::access::v1::Token& token) const;

  scheduler::Scheduler& scheduler_;
  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, EntryPtr> by_digest_ ORDO_GUARDED_BY(mutex_);
  // By id.
  std::map<std::string, EntryPtr> by_id_ ORDO_GUARDED_BY(mutex_);
  // Ids of those that are on their way to the store, and names of workers that
  // join by them.
  std::set<std::string> changing_ ORDO_GUARDED_BY(mutex_);
};

// The id of "tokens/ci": "ci".
std::string TokenId(const ordo::access::v1::Token& token);

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_TOKENS_H_
