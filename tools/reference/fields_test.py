import unittest

from tools.reference import fields
from tools.reference import protos


class FieldsTest(unittest.TestCase):

    def test_defaults_are_read_from_comments(self):
        for comment, default in (
                ("Attempts, 1..100; default 3. Lost ones do not count.", "3"),
                ("Epsilon, (0, 1]; default 1e-8.", "1e-8"),
                ("Confidence; default 0.95.", "0.95"),
                ("Seeds; default 1, 2, 3.", "1, 2, 3"),
                ("`swiglu` (default) or `geglu`.", "`swiglu`"),
                ("`fail` (default: stop, no retry) or `skip`.", "`fail`"),
                ("Default: jobs stay for ever.", "jobs stay for ever"),
                ("Default 200000: only a wild one meets it.", "200000"),
                ("Default on a CPU: batch 2; on a GPU: 8.", "on a CPU: batch 2"),
                ("File; default: `store` with .jsonl added.",
                 "`store` with .jsonl added"),
                ("A spec of kind train (the default here).", ""),
                ("Every field has its default.", ""),
                ("Left out where they have their defaults.", "")):
            self.assertEqual(fields.default_of(comment), default, comment)

    def test_limits_are_read_from_comments(self):
        for comment, limits in (
                ("Attempts, 1..100; default 3.", "1..100"),
                ("Waits, 1 s..366 days; default: never.", "1 s..366 days"),
                ("Priority, -1000..1000.", "-1000..1000"),
                ("Bytes, 0..2^50; default 0.", "0..2^50"),
                ("Items, 100..1 000 000: more.", "100..1 000 000"),
                ("Cores, 1 to 65536.", "1 to 65536"),
                ("Share, [0, 0.999999]; default 0.", "[0, 0.999999]"),
                ("Beta, [0, 1); Rate, (0, 10].", "[0, 1); (0, 10]"),
                ("At most 64, keys at most 63 bytes.",
                 "at most 64; at most 63 bytes"),
                ("At most 1000; all runs at most 1000.", "at most 1000"),
                ("A job. At most 1 MiB.", "at most 1 MiB"),
                ("At least 1 s.", "at least 1 s"),
                ("Its name.", "")):
            self.assertEqual(fields.limits_of(comment), limits, comment)

    def test_signs_of_markdown_are_kept_as_they_are(self):
        self.assertEqual(fields.cell("<a>-b_c | 2*3 `d_<e>`"),
                         "&lt;a&gt;-b\\_c \\| 2\\*3 `d_<e>`")

    def test_a_message_has_tables_of_all_that_it_is_made_of(self):
        known = protos.Protos({"a.proto": """
package ordo.a.v1;
// One job.
message Job {
  // What it is.
  enum Kind {
    // Refused.
    KIND_UNSPECIFIED = 0;
    // Trains.
    TRAIN = 1;
  }
  // Its kind.
  Kind kind = 1 [(google.api.field_behavior) = REQUIRED];
  // Its parts, at most 64.
  repeated Part parts = 2 [(google.api.field_behavior) = OPTIONAL];
  // Filled in.
  string state = 3 [(google.api.field_behavior) = OUTPUT_ONLY];
}
// One part.
message Part {
  // By key; default: none.
  map<string, Job> jobs = 1;
  // Default 2 s.
  google.protobuf.Duration wait = 2;
}
message Other {}
"""})
        self.assertEqual(fields.Page(known, ["ordo.a.v1.Job"]).tables(), """\
## Job

One job.

| field | type | default | limits | meaning |
|---|---|---|---|---|
| `kind` | [Job.Kind](#jobkind) | required |  | Its kind. |
| `parts` | list of [Part](#part) |  | at most 64 | Its parts, at most 64. |

## Job.Kind

What it is.

| value | meaning |
|---|---|
| `train` | Trains. |

## Part

One part.

| field | type | default | limits | meaning |
|---|---|---|---|---|
| `jobs` | map of [Job](#job) by text | none |  | By key; default: none. |
| `wait` | duration | 2 s |  | Default 2 s. |
""")


if __name__ == "__main__":
    unittest.main()
