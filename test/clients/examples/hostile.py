"""Calls a server that responds with something else than the service: every error is an AgentError."""

import socket
import threading

import runs

BODIES = {
    "page": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
    "null": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull",
    "list": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
    "text": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n"a"',
    "object": b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "half": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    "problem": b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "proxy": b"HTTP/1.1 503 Busy\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\nContent-Length: 4\r\n\r\nbusy",
    "nothing": b"",
    "garbage": b"\x00\x01\x02\r\n\r\n",
}


def serve(listener: socket.socket, body: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            # No other request may be on its way when the connection is closed, nor a part of this one.
            connection.sendall(body.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def code_of(body: bytes) -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener, body), daemon=True).start()
        client = runs.connect(f"http://127.0.0.1:{listener.getsockname()[1]}", "token")
        codes = set()
        for call in (
            lambda: runs.run(client, "echo", {"text": "x"}),
            lambda: runs.start(client, "echo", {"text": "x"}),
            lambda: runs.wait(client, "01a2003a-d1f2-7169-a695-5ea4428d9251"),
        ):
            try:
                # Each status of a run has its own type, so that a strange body may be a valid output.
                codes.add(f"returned {call()}")
            except runs.AgentError as error:
                assert error.status >= 0 and str(error)
                codes.add(error.code)
        return " ".join(sorted(codes))


runs.time.sleep = lambda seconds: None  # type: ignore[attr-defined]
for name, body in BODIES.items():
    print(f"{name}: {code_of(body)}")
try:
    runs.run(runs.connect("http://127.0.0.1:9", "token"), "echo", {"text": "x"}, unknown=True)
except TypeError as error:
    print(f"parameter: {error}")
