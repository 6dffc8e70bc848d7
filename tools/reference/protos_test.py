import unittest

from tools.reference import protos

FILE = """
syntax = "proto3";
package ordo.a.v1;
import "google/protobuf/duration.proto";

// What a job is.
// In two lines.
message Job {
  // Whether it runs.
  enum State {
    // Refused.
    STATE_UNSPECIFIED = 0;
    // It runs; { and " are signs.
    RUNNING = 1;
  }
  reserved 7;
  // Its name.
  string name = 1 [
    (google.api.field_behavior) = REQUIRED,
    (google.api.resource_reference).type = "ordo.dev/Job"
  ];
  // By key.
  map<string, google.protobuf.Value> values = 2
      [(google.api.field_behavior) = OPTIONAL];
  optional int32 count = 3 [(google.api.field_behavior) = OUTPUT_ONLY];
  oneof place {
    // Where.
    State state = 4;
  }
  // After the oneof.
  repeated Job parts = 5;
}

service Jobs {
  // Gets one.
  rpc Get(Job) returns (Job) { option (a) = "b"; }
}
"""


class ProtosTest(unittest.TestCase):

    def setUp(self):
        self.protos = protos.Protos({"a.proto": FILE})

    def test_messages_have_their_comments_on_one_line(self):
        self.assertEqual(list(self.protos.messages), ["ordo.a.v1.Job"])
        self.assertEqual(self.protos.messages["ordo.a.v1.Job"].comment,
                         "What a job is. In two lines.")

    def test_fields_have_type_label_behaviour_and_comment(self):
        found = self.protos.messages["ordo.a.v1.Job"].fields
        self.assertEqual(found, [
            protos.Field("name", "string", "", "REQUIRED", "Its name."),
            protos.Field("values", "map<string, google.protobuf.Value>", "",
                         "OPTIONAL", "By key."),
            protos.Field("count", "int32", "optional", "OUTPUT_ONLY", ""),
            protos.Field("state", "State", "", "", "Where."),
            protos.Field("parts", "Job", "repeated", "", "After the oneof."),
        ])

    def test_enums_have_their_values(self):
        self.assertEqual(self.protos.enums["ordo.a.v1.Job.State"].values, [
            ("STATE_UNSPECIFIED", "Refused."),
            ("RUNNING", 'It runs; { and " are signs.'),
        ])

    def test_names_are_looked_up_from_the_inside(self):
        find = self.protos.find
        self.assertEqual(find("State", "ordo.a.v1.Job").name,
                         "ordo.a.v1.Job.State")
        self.assertEqual(find("a.v1.Job", "ordo.b.v1.Other").name,
                         "ordo.a.v1.Job")
        self.assertIsNone(find("State", "ordo.a.v1"))

    def test_what_is_not_known_is_refused(self):
        with self.assertRaisesRegex(protos.ProtoError, "a: 'extend' is unknown"):
            protos.Protos({"a": "extend Job {}"})
        with self.assertRaisesRegex(protos.ProtoError, "a: ends too early"):
            protos.Protos({"a": "message Job {"})


if __name__ == "__main__":
    unittest.main()
