#include "scheduler/core/changes.h"

#include "base/text/cut.h"
#include "scheduler/core/moment.h"

namespace ordo::scheduler::core {

void AddChange(const std::string& action, const Author& author, absl::Time now,
               google::protobuf::RepeatedPtrField<audit::v1::Change>* changes) {
  audit::v1::Change* change = changes->Add();
  *change->mutable_time() = ToTimestamp(now);
  change->set_user(author.owner.user());
  change->set_verified(author.owner.verified());
  change->set_action(base::Cut(action, kMaxActionBytes));
  change->set_reason(author.reason);
  const int too_many = changes->size() - kMaxChanges;
  if (too_many > 0) changes->DeleteSubrange(0, too_many);
}

}  // namespace ordo::scheduler::core
