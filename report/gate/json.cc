#include "report/gate/json.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report::gate {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

template <typename T>
Value NumberOrNothing(const std::optional<T>& number) {
  return NumberOrNull(number.has_value() ? static_cast<double>(*number) : NAN);
}

Value CountValue(int64_t count) {
  return NumberOrNull(static_cast<double>(count));
}

Value SubjectValue(const Subject& subject) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["role"] = TextValue(subject.role);
  map["name"] = TextValue(subject.name);
  map["digest"] = TextValue(subject.digest);
  return StructValue(std::move(fields));
}

Value ItemValue(const WorseItem& item) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["id"] = TextValue(item.id);
  map["reference_score"] = NumberOrNull(item.reference);
  map["candidate_score"] = NumberOrNull(item.candidate);
  map["reference_output"] = TextValue(item.reference_output);
  map["candidate_output"] = TextValue(item.candidate_output);
  if (!item.unit.empty()) map["unit"] = TextValue(item.unit);
  if (!item.prompt.empty()) map["prompt"] = TextValue(item.prompt);
  return StructValue(std::move(fields));
}

Value ResultValue(const Result& result, const Power& power) {
  const stats::GateResult& gate = result.gate;
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["task"] = TextValue(result.task);
  map["reference"] = TextValue(NameOf(result.reference));
  map["verdict"] = TextValue(NameOf(gate.verdict));
  map["margin"] = NumberOrNull(result.options.margin);
  map["difference"] = NumberOrNull(gate.estimate.mean);
  map["standard_error"] = NumberOrNull(gate.estimate.standard_error);
  map["interval"] = ListOf(
      std::vector<double>{gate.interval.low, gate.interval.high}, NumberOrNull);
  map["num_items"] = CountValue(gate.estimate.num_items);
  map["num_units"] = CountValue(gate.estimate.num_units);
  map["num_better"] = CountValue(result.num_better);
  map["num_worse"] = CountValue(result.num_worse);
  map["discordance"] = NumberOrNull(gate.discordance);
  map["power"] = NumberOrNothing(power.equal_passes);
  map["needed_items"] = NumberOrNothing(power.needed_items);
  if (!power.why_not.empty()) map["why_no_power"] = TextValue(power.why_not);
  if (result.budget > 0) map["budget"] = CountValue(result.budget);
  map["differences"] = ListOf(result.differences, TextValue);
  map["worse"] = ListOf(result.worse, ItemValue);
  return StructValue(std::move(fields));
}

}  // namespace

std::string ToJson(const Account& account) {
  const Decision& decision = account.decision;
  Struct json;
  auto& map = *json.mutable_fields();
  map["job"] = TextValue(account.job);
  map["kind"] = TextValue("gate");
  map["created"] = TextValue(account.created);
  map["command"] = TextValue(account.command);
  map["verdict"] = TextValue(NameOf(decision.verdict));
  map["outcome"] = TextValue(NameOf(decision.outcome));
  map["level"] = NumberOrNull(decision.options.level);
  map["fail_below"] = TextValue(NameOf(decision.options.fail_below));
  map["on_inconclusive"] = TextValue(NameOf(decision.options.on_inconclusive));
  map["checkpoints"] = ListOf(account.subjects, SubjectValue);
  map["joint_power"] = NumberOrNothing(JointPower(account.powers));
  Value comparisons;
  for (size_t i = 0; i < decision.results.size(); ++i) {
    *comparisons.mutable_list_value()->add_values() =
        ResultValue(decision.results[i], account.powers[i]);
  }
  map["comparisons"] = comparisons;
  return base::WriteMessage(json, base::TextForm::kJson);
}

}  // namespace ordo::report::gate
