#ifndef ORDO_SERVICES_CLI_PRINT_H_
#define ORDO_SERVICES_CLI_PRINT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "google/protobuf/timestamp.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/context.h"
#include "services/cli/table.h"

namespace ordo::services::cli {

// Prints a message as -o json (one line) or yaml (one document) asks; false,
// and nothing printed, for a table.
bool PrintStructured(Context& context,
                     const google::protobuf::Message& message);

// "RUNNING" in its colour.
Cell StateCell(jobs::v1::Job::State state);
bool HasEnded(jobs::v1::Job::State state);
// Whether it may be given the next device that comes free. One with parts only
// sums these up.
bool CouldStart(const jobs::v1::Job& job);

// "2026-11-20 21:30:05 CET", in the local zone; "-" for an unset time.
std::string FormatTime(const google::protobuf::Timestamp& time);
// A text of the scheduler's, with each time that it names, which is like
// "2026-11-20T20:30:05+00:00", as FormatTime has it.
std::string WithLocalTimes(const std::string& text);
// Time since then, "3m20s"; "-" for an unset time.
std::string FormatAge(const google::protobuf::Timestamp& time,
                      const base::Clock& clock);
// A number with as many digits as people compare: "0.4213", "1.5e-05".
std::string FormatNumber(double value);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_PRINT_H_
