#include "services/auth/tokens.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/digest/secret.h"
#include "base/units/proto_time.h"

namespace ordo::services::auth {
namespace {

using ordo::access::v1::Token;

constexpr char kSecretPrefix[] = "ordo_";
constexpr size_t kSecretBytes = 32;

std::string NewSecret() {
  return absl::StrCat(kSecretPrefix, absl::WebSafeBase64Escape(
                                         base::RandomBytes(kSecretBytes)));
}

absl::Status NoToken(const std::string& id) {
  return absl::NotFoundError(
      absl::StrCat("there is no token ", id, "; see: ordo admin token list"));
}

// No token's id has a slash.
std::string NameOfWorker(const std::string& worker) {
  return absl::StrCat("workers/", worker);
}

std::string IdIn(const std::string& name) {
  return name.substr(name.find('/') + 1);
}

}  // namespace

std::string TokenId(const Token& token) { return IdIn(token.name()); }

Tokens::Tokens(scheduler::Scheduler& scheduler, const base::Clock& clock)
    : scheduler_(scheduler), clock_(clock) {
  for (const scheduler::StoredToken& stored : scheduler.ListTokens()) {
    Put(MakeEntry(stored.sha256, stored.token));
  }
}

Tokens::EntryPtr Tokens::MakeEntry(const std::string& sha256,
                                   const Token& token) {
  Visitor visitor;
  visitor.owner.set_user(token.user());
  visitor.owner.set_verified(true);
  visitor.role = token.role();
  visitor.token = TokenId(token);
  visitor.known_by = absl::StrCat("token ", visitor.token);
  visitor.expiry = base::ToTime(token.expire_time());
  if (!token.queues().empty()) {
    visitor.queues.emplace();
    for (const std::string& queue : token.queues()) {
      visitor.queues->insert(IdIn(queue));
    }
  }
  if (!token.worker().empty()) visitor.worker = IdIn(token.worker());
  return std::make_shared<const Entry>(Entry{
      sha256, token, std::make_shared<const Visitor>(std::move(visitor))});
}

bool Tokens::Holds(const Token& token, absl::Time now) const {
  return !token.has_revoke_time() && now < base::ToTime(token.expire_time());
}

void Tokens::Put(const EntryPtr& entry) {
  base::MutexLock lock(mutex_);
  by_digest_[entry->sha256] = entry;
  by_id_[TokenId(entry->token)] = entry;
}

absl::StatusOr<VisitorPtr> Tokens::Find(const std::string& sha256) const {
  EntryPtr entry;
  {
    base::MutexLock lock(mutex_);
    const auto found = by_digest_.find(sha256);
    if (found != by_digest_.end()) entry = found->second;
  }
  if (entry == nullptr) {
    return absl::UnauthenticatedError(
        "the token is not known here; an administrator makes one with: ordo "
        "admin token create NAME");
  }
  if (absl::Status status = CheckHolds(entry->token); !status.ok()) {
    return status;
  }
  return entry->visitor;
}

bool Tokens::StillHolds(const Visitor& visitor) const {
  const absl::Time now = clock_.Now();
  if (now >= visitor.expiry) return false;
  if (visitor.token.empty()) return true;
  base::MutexLock lock(mutex_);
  const auto found = by_id_.find(visitor.token);
  return found != by_id_.end() && Holds(found->second->token, now);
}

absl::Status Tokens::CheckHolds(const Token& token) const {
  if (Holds(token, clock_.Now())) return absl::OkStatus();
  const bool serves_once = token.role() == ordo::access::v1::WORKER;
  return absl::UnauthenticatedError(absl::StrCat(
      "the token ", TokenId(token),
      !token.has_revoke_time() ? " has expired"
      : serves_once            ? " was revoked, or has let its one worker join"
                               : " was revoked",
      "; an administrator makes another with: ordo admin token create NAME"));
}

absl::StatusOr<std::string> Tokens::MakeRoom() {
  if (by_id_.size() + changing_.size() < scheduler::kMaxTokens) return "";
  const absl::Time now = clock_.Now();
  EntryPtr oldest;
  for (const auto& [id, entry] : by_id_) {
    if (Holds(entry->token, now) || changing_.count(id) > 0) continue;
    if (oldest == nullptr || base::ToTime(entry->token.create_time()) <
                                 base::ToTime(oldest->token.create_time())) {
      oldest = entry;
    }
  }
  if (oldest == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat(scheduler::kMaxTokens,
                     " tokens hold, and no more are kept; revoke some with: "
                     "ordo admin token revoke NAME"));
  }
  by_id_.erase(TokenId(oldest->token));
  by_digest_.erase(oldest->sha256);
  return oldest->sha256;
}

void Tokens::Create(const Token& token, CreateCallback done) {
  const std::string id = TokenId(token);
  NewToken made{token, NewSecret()};
  *made.token.mutable_create_time() = base::ToTimestamp(clock_.Now());
  absl::StatusOr<std::string> forgotten = std::string();
  {
    base::MutexLock lock(mutex_);
    if (by_id_.count(id) > 0 || changing_.count(id) > 0) {
      forgotten = absl::AlreadyExistsError(
          absl::StrCat("there is a token ", id, " already; take another name"));
    } else {
      forgotten = MakeRoom();
    }
    if (forgotten.ok()) changing_.insert(id);
  }
  if (!forgotten.ok()) return done(forgotten.status());
  if (!forgotten->empty()) {
    // What is lost with it holds no more, whether it is forgotten or not.
    scheduler_.PutToken(*forgotten, std::nullopt, [](const absl::Status&) {});
  }
  const std::string sha256 = base::Sha256Hex(made.secret);
  scheduler_.PutToken(sha256, made.token,
                      [this, id, sha256, made,
                       done = std::move(done)](const absl::Status& status) {
                        if (status.ok()) Put(MakeEntry(sha256, made.token));
                        {
                          base::MutexLock lock(mutex_);
                          changing_.erase(id);
                        }
                        if (!status.ok()) return done(status);
                        done(made);
                      });
}

void Tokens::Revoke(const std::string& id, const std::string& revoker,
                    RevokeCallback done) {
  absl::Status refused;
  EntryPtr entry;
  {
    base::MutexLock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) entry = found->second;
    if (entry == nullptr) {
      refused = NoToken(id);
    } else if (!entry->token.has_revoke_time() &&
               !changing_.insert(id).second) {
      refused = absl::AbortedError(
          absl::StrCat("the token ", id, " is being changed; try again"));
    }
  }
  if (!refused.ok()) return done(refused);
  if (entry->token.has_revoke_time()) return done(entry->token);
  End(entry, revoker, std::move(done));
}

void Tokens::UseUp(const std::string& id, const std::string& worker,
                   RevokeCallback done) {
  absl::Status refused;
  EntryPtr entry;
  {
    base::MutexLock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) entry = found->second;
    refused = entry == nullptr ? NoToken(id) : CheckHolds(entry->token);
    if (refused.ok()) refused = CheckIsNew(entry->token, worker);
    if (refused.ok() && !changing_.insert(id).second) {
      refused = absl::UnauthenticatedError(
          absl::StrCat("the token ", id, " is being used up by another"));
    }
    if (refused.ok()) changing_.insert(NameOfWorker(worker));
  }
  if (!refused.ok()) return done(refused);
  End(entry, worker,
      [this, worker, done = std::move(done)](absl::StatusOr<Token> used) {
        {
          base::MutexLock lock(mutex_);
          changing_.erase(NameOfWorker(worker));
        }
        done(std::move(used));
      });
}

absl::Status Tokens::CheckIsNew(const Token& token,
                                const std::string& worker) const {
  if (!token.worker().empty()) return absl::OkStatus();
  const bool is_taken =
      changing_.count(NameOfWorker(worker)) > 0 ||
      std::any_of(by_id_.begin(), by_id_.end(), [&worker](const auto& each) {
        const Token& other = each.second->token;
        return other.role() == ordo::access::v1::WORKER &&
               other.has_revoke_time() && other.revoker() == worker;
      });
  if (!is_taken) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "join as ", worker, ": a worker of this name has joined, and the token ",
      TokenId(token),
      " is for new ones; an administrator makes one for it with: ordo admin "
      "token create NAME --role worker --worker ",
      worker));
}

void Tokens::End(const EntryPtr& entry, const std::string& revoker,
                 RevokeCallback done) {
  Token token = entry->token;
  *token.mutable_revoke_time() = base::ToTimestamp(clock_.Now());
  token.set_revoker(revoker);
  scheduler_.PutToken(
      entry->sha256, token,
      [this, entry, token, done = std::move(done)](const absl::Status& status) {
        if (status.ok()) Put(MakeEntry(entry->sha256, token));
        {
          base::MutexLock lock(mutex_);
          changing_.erase(TokenId(token));
        }
        if (!status.ok()) return done(status);
        done(token);
      });
}

std::vector<Token> Tokens::List() const {
  std::vector<Token> tokens;
  base::MutexLock lock(mutex_);
  for (const auto& [id, entry] : by_id_) tokens.push_back(entry->token);
  return tokens;
}

}  // namespace ordo::services::auth
