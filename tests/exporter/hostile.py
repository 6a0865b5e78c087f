#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile.py PATH KIND: a socket in the place of the agent's, which answers as no agent does."""
import json
import os
import socket
import sys

path, kind = sys.argv[1:]
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(path)
os.chmod(path, 0o666)
server.listen(0 if kind == "full" else 16)

evil = 'x"} 1\n# EOF\n\\\x1b[2J\u202e' + "y" * 200


def strange():
    """A status whose members have wrong types, repeated names, absurd numbers and foreign texts."""
    gpu = {"device": evil, "driver": evil, "readable": 1, "vram_total": 2**62, "vram_used": -5, "gtt_total": 2**53 - 1,
           "gtt_used": 2**53 - 1, "visible_total": 1e300, "evictions": "many", "temperature_c": -1, "clients": 7,
           "rings": [{"age_ns": 2**63 - 1}, 3, None], "throttled_by": [evil, 5]}
    workload = {"workload": 2**63 - 1, "adopted": True, "in_force": [{"act": evil, "hazard": evil}] * 3}
    return {"op": "status", "mode": evil, "events": -(2**63), "now_ns": 2**63 - 1, "started_ns": -(2**63), "sensors":
            [{"name": evil, "state": evil}] * 3 + [9], "gpus": [gpu] * 3 + [[], {}], "workloads": [workload] * 2 + [0],
            "processes": [{"pid": 1, "workload": -1, "engine": evil}, {"pid": 2, "workload": 1, "graphs": 2**52,
                           "runs_permille": -7}] * 9, "alarms": [{"hazard": evil, "level": i, "device": evil} for i in range(9)],
            "breakers": [{"device": evil, "state": evil}] * 2, "foresight": {"classes": {evil: 1}, "hazards": []},
            "actions": {"pause": {"go": 2**53}}, "vram": 3, "reader": [], "crowding": None, "connections": {"refused": 1}}


def many():
    """More series than there is room for, in one message."""
    return {"op": "status", "sensors": [{"name": "%d" % i, "state": "l"} for i in range(1900)]}


answers = {
    "garbage": os.urandom(4000), "deep": b"[" * 60000, "text": b"HTTP/1.1 200 OK\r\n\r\n", "empty": b"{}",
    "cut": b'{"op": "status", "gpus": [', "other": b'{"op": "released"}', "error": b'{"op": "error", "why": "no"}',
    "wrong": b'{"op": 5}', "strange": json.dumps(strange()).encode(), "many": json.dumps(many(), separators=(",", ":")).encode(),
    "endless": b'{"op": "' + b"s" * 60000,
}
held = []
while True:
    if kind == "full":
        import time
        time.sleep(1000)
    client = server.accept()[0]
    if kind == "nothing":
        held.append(client)
    elif kind != "closed":
        try:
            client.send(answers[kind])
            while kind == "endless":
                client.send(answers[kind])
        except OSError:
            pass
    client = None
