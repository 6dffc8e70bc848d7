#include "services/cli/commands/changes.h"

#include "services/cli/print.h"
#include "services/cli/table.h"

namespace ordo::services::cli {

void PrintChanges(
    Context& context,
    const google::protobuf::RepeatedPtrField<audit::v1::Change>& changes) {
  if (changes.empty()) return;
  Table table({"WHEN", "WHO", "WHAT", "WHY"});
  for (const auto& change : changes) {
    table.AddRow({FormatTime(change.time()), change.user(),
                  WithLocalTimes(change.action()), change.reason()});
  }
  context.out << "\n" << table.ToString(context.terminal);
}

}  // namespace ordo::services::cli
