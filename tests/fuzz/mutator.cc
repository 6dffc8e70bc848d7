#include "tests/fuzz/mutator.h"

#include <cstring>
#include <iterator>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace ordo::tests::fuzz {
namespace {

using base::RandomSequence;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Deeper messages are left as they are.
constexpr int kMaxDepth = 8;
constexpr int kMaxRepeated = 8;

int64_t Number(RandomSequence& dice) {
  switch (dice.Int(4)) {
    case 0:
      return static_cast<int64_t>(dice.Int(4));
    case 1:
      return -1 - static_cast<int64_t>(dice.Int(4));
    case 2:
      return static_cast<int64_t>(uint64_t{1} << dice.Int(63));
    default:
      return dice.Int(2) == 0 ? std::numeric_limits<int64_t>::max()
                              : std::numeric_limits<int64_t>::min();
  }
}

std::string Text(const std::vector<std::string>& words, RandomSequence& dice) {
  const std::string& word = words[dice.Int(words.size())];
  switch (dice.Int(8)) {
    case 0:
      return "";
    case 1:
      return absl::StrCat(word, words[dice.Int(words.size())]);
    default:
      return word;
  }
}

double Real(RandomSequence& dice) {
  const double values[] = {0,
                           -1,
                           0.5,
                           1e300,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  return values[dice.Int(std::size(values))];
}

// Sets a field, or adds an element to it.
void Put(const std::vector<std::string>& words, RandomSequence& dice,
         const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const bool add = field.is_repeated();
  switch (field.cpp_type()) {
#define ORDO_PUT(type, Method, value)                        \
  case FieldDescriptor::CPPTYPE_##type:                      \
    add ? reflection.Add##Method(&message, &field, (value))  \
        : reflection.Set##Method(&message, &field, (value)); \
    break
    ORDO_PUT(INT32, Int32, static_cast<int32_t>(Number(dice)));
    ORDO_PUT(INT64, Int64, Number(dice));
    ORDO_PUT(UINT32, UInt32, static_cast<uint32_t>(Number(dice)));
    ORDO_PUT(UINT64, UInt64, static_cast<uint64_t>(Number(dice)));
    ORDO_PUT(DOUBLE, Double, Real(dice));
    ORDO_PUT(FLOAT, Float, static_cast<float>(Real(dice)));
    ORDO_PUT(BOOL, Bool, dice.Int(2) == 1);
    ORDO_PUT(ENUM, EnumValue,
             static_cast<int>(dice.Int(field.enum_type()->value_count() + 1)));
    ORDO_PUT(STRING, String, Text(words, dice));
#undef ORDO_PUT
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (add) {
        reflection.AddMessage(&message, &field);
      } else {
        reflection.MutableMessage(&message, &field);
      }
      break;
  }
}

void ChangeRepeated(const std::vector<std::string>& words, RandomSequence& dice,
                    const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  const int one = size == 0 ? 0 : static_cast<int>(dice.Int(size));
  switch (size == 0 ? 0 : dice.Int(5)) {
    case 0:
    case 4:
      if (size < kMaxRepeated) Put(words, dice, field, message);
      break;
    case 1:
      reflection.SwapElements(&message, &field, one, size - 1);
      reflection.RemoveLast(&message, &field);
      break;
    case 2:
      reflection.SwapElements(&message, &field, one,
                              static_cast<int>(dice.Int(size)));
      break;
    default:
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
          size >= kMaxRepeated) {
        break;
      }
      Message* const copy = reflection.AddMessage(&message, &field);
      copy->CopyFrom(reflection.GetRepeatedMessage(message, &field, one));
      break;
  }
}

// A message that this one holds; null when there is none.
Message* AnyChild(RandomSequence& dice, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  std::vector<Message*> children;
  for (const FieldDescriptor* field : set) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      children.push_back(reflection.MutableMessage(&message, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      children.push_back(reflection.MutableRepeatedMessage(&message, field, i));
    }
  }
  return children.empty() ? nullptr : children[dice.Int(children.size())];
}

}  // namespace

void Mutate(const std::vector<std::string>& words, RandomSequence* dice,
            Message* message) {
  for (int depth = 0; depth < kMaxDepth && dice->Int(4) > 0; ++depth) {
    Message* const child = AnyChild(*dice, *message);
    if (child == nullptr) break;
    message = child;
  }
  const auto& descriptor = *message->GetDescriptor();
  if (descriptor.field_count() == 0) return;
  const FieldDescriptor& field =
      *descriptor.field(static_cast<int>(dice->Int(descriptor.field_count())));
  if (field.is_repeated()) {
    ChangeRepeated(words, *dice, field, *message);
  } else if (dice->Int(8) == 0) {
    message->GetReflection()->ClearField(message, &field);
  } else {
    Put(words, *dice, field, *message);
  }
}

size_t MutateText(const std::vector<std::string>& words, unsigned int seed,
                  const Message& empty, Input input) {
  const std::unique_ptr<Message> message(empty.New());
  const std::string text(reinterpret_cast<const char*>(input.data), input.size);
  if (!google::protobuf::TextFormat::ParseFromString(text, message.get())) {
    message->Clear();
  }
  RandomSequence dice(seed, "mutator");
  for (uint64_t i = 0, changes = 1 + dice.Int(4); i < changes; ++i) {
    Mutate(words, &dice, message.get());
  }
  std::string changed;
  google::protobuf::TextFormat::PrintToString(*message, &changed);
  if (changed.size() > input.max_size) return input.size;
  std::memcpy(input.data, changed.data(), changed.size());
  return changed.size();
}

}  // namespace ordo::tests::fuzz
