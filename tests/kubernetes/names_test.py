"""Names are answered as the clients of pods expect."""

import struct
import unittest

from tests.kubernetes import names

_ADDRESSES = {"ordo-scheduler.ordo.svc.cluster.local": "10.78.0.10"}


def _query(name, kind):
    question = b"".join(bytes([len(label)]) + label.encode("ascii")
                        for label in name.split("."))
    return (struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question + b"\0" +
            struct.pack(">HH", kind, 1))


class NamesTest(unittest.TestCase):

    def test_a_service_has_its_address(self):
        query = _query("ordo-scheduler.ORDO.svc.cluster.local", 1)
        said = names.answer(query, _ADDRESSES)
        self.assertEqual(struct.unpack_from(">HHHHHH", said),
                         (7, 0x8180, 1, 1, 0, 0))
        self.assertEqual(said[12:len(query)], query[12:])
        self.assertEqual(said[-4:], bytes([10, 78, 0, 10]))

    def test_it_has_none_of_another_kind(self):
        said = names.answer(
            _query("ordo-scheduler.ordo.svc.cluster.local", 28), _ADDRESSES)
        self.assertEqual(struct.unpack_from(">HHHHHH", said),
                         (7, 0x8180, 1, 0, 0, 0))

    def test_another_name_is_not_there(self):
        said = names.answer(_query("ordo-scheduler", 1), _ADDRESSES)
        self.assertEqual(struct.unpack_from(">HHHHHH", said),
                         (7, 0x8183, 1, 0, 0, 0))

    def test_short_names_are_those_of_the_namespace(self):
        self.assertEqual(
            names.resolver("ordo", "10.78.0.1"),
            "search ordo.svc.cluster.local svc.cluster.local cluster.local\n"
            "nameserver 10.78.0.1\noptions ndots:5\n")


if __name__ == "__main__":
    unittest.main()
