#include "scheduler/core/changes.h"

#include "scheduler/core/moment.h"

namespace ordo::scheduler::core {
namespace {

constexpr char kCutMark[] = " ...";

// At most kMaxActionBytes of UTF-8 text, not cut within a character.
std::string Cut(std::string text) {
  if (text.size() <= kMaxActionBytes) return text;
  size_t size = kMaxActionBytes - (sizeof(kCutMark) - 1);
  while (size > 0 && (static_cast<unsigned char>(text[size]) >> 6) == 2) {
    --size;
  }
  text.resize(size);
  return text + kCutMark;
}

}  // namespace

void AddChange(const std::string& action, const Author& author, absl::Time now,
               google::protobuf::RepeatedPtrField<audit::v1::Change>* changes) {
  audit::v1::Change* change = changes->Add();
  *change->mutable_time() = ToTimestamp(now);
  change->set_user(author.owner.user());
  change->set_verified(author.owner.verified());
  change->set_action(Cut(action));
  change->set_reason(author.reason);
  const int too_many = changes->size() - kMaxChanges;
  if (too_many > 0) changes->DeleteSubrange(0, too_many);
}

}  // namespace ordo::scheduler::core
