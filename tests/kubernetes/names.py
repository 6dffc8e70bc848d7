"""The names of a cluster: a server of DNS that knows its services."""

import socket
import struct
import threading

_PORT = 53
_A = 1
_RESPONSE = 0x8180
_NO_SUCH_NAME = 3
_TTL_S = 5


def resolver(namespace, server):
    """What Kubernetes puts into /etc/resolv.conf of a pod."""
    domain = "svc.cluster.local"
    return "search %s.%s %s cluster.local\nnameserver %s\noptions ndots:5\n" % (
        namespace, domain, domain, server)


def answer(query, addresses):
    """The answer to a query, both as they are on the wire. `addresses` has that
    of each whole name; a name has no others, of IPv6 for instance."""
    end = query.index(b"\0", 12) + 1
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("ascii").lower())
        at += 1 + query[at]
    (kind,) = struct.unpack_from(">H", query, end)
    address = addresses.get(".".join(labels))
    found = address is not None and kind == _A
    head = query[:2] + struct.pack(
        ">HHHHH", _RESPONSE | (0 if address else _NO_SUCH_NAME), 1,
        1 if found else 0, 0, 0)
    record = b""
    if found:
        # 0xc00c: the name that was asked for.
        record = struct.pack(">HHHIH", 0xc00c, _A, 1, _TTL_S, 4)
        record += socket.inet_aton(address)
    return head + query[12:end + 4] + record


def serve(host, addresses):
    """Answers at `host` until the process ends."""
    door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    door.bind((host, _PORT))

    def work():
        while True:
            query, client = door.recvfrom(4096)
            door.sendto(answer(query, addresses), client)

    threading.Thread(target=work, daemon=True).start()
