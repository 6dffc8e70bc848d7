"""Becomes a program that a service manager waits for, and hears it.

  python3 notified.py FILE PROGRAM ARGUMENT...

FILE is written once the program says that it serves (systemd, Type=notify).
"""

import os
import socket
import sys


def main(arguments):
    heard, program = arguments[1], arguments[2:]
    name = "\0ordo-notified-%d" % os.getpid()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(name)
    if os.fork() == 0:
        manager.settimeout(60)
        said = manager.recv(4096)
        with open(heard + ".part", "wb") as file:
            file.write(said)
        if said == b"READY=1":
            os.rename(heard + ".part", heard)
        os._exit(0)
    manager.close()
    os.environ["NOTIFY_SOCKET"] = "@" + name[1:]
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv)
