"""A service that gives the answers of a scenario in their order, and breaks the connection of every later request."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any]


class Service:
    """`requests`: what it received."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = [answer for answer in answers for _ in range(answer.get("times", 1))]
        self.requests: list[dict[str, Any]] = []
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.base_url = ""

    def receive(self, request: dict[str, Any]) -> Answer:
        with self.lock:
            self.requests.append(request)
            index = len(self.requests) - 1
        return self.answers[index] if index < len(self.answers) else {"drop": True}


@contextmanager
def scripted_service(answers: list[Answer]) -> Iterator[Service]:
    """Serves until the block ends."""
    service = Service(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(length).decode()
            answer = service.receive({"method": self.command, "path": self.path, "headers": headers, "body": body})
            self.close_connection = True
            if "hang" in answer:
                service.stopped.wait()
            elif "cut" in answer:
                self.head(200, {"Content-Type": "application/json", "Content-Length": "100"})
                self.wfile.write(b'{"a":')
            elif "drop" not in answer:
                self.send(answer)

        def send(self, answer: Answer) -> None:
            if "events" in answer:
                self.head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **answer.get("headers", {})})
                for part in answer["events"]:
                    data = to_event(part).encode()
                    self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    self.wfile.flush()
                if answer["then"] == "end":
                    self.wfile.write(b"0\r\n\r\n")
                elif answer["then"] == "stay":
                    service.stopped.wait()
                return
            status, body = to_body(answer)
            self.head(status, {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.get("headers", {})})
            self.wfile.write(body)

        def head(self, status: int, headers: dict[str, str]) -> None:
            self.send_response_only(status)
            for name, value in {**headers, "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST = do_PUT = do_DELETE = respond

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # The client went away.

        def shutdown_request(self, request: Any) -> None:
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.close_request(request)

    server = Server(("127.0.0.1", 0), Handler)
    service.base_url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


def to_body(answer: Answer) -> tuple[int, bytes]:
    """The status and the body of an answer in the notation of `scenarios.json`."""
    if "page" in answer:
        return answer["page"], b"<h1>Sorry</h1>"
    if "problem" in answer:
        status, code, *members = answer["problem"]
        problem = {"code": code, "detail": f"It is {code}.", "status": status, **(members[0] if members else {})}
        return status, json.dumps(problem).encode()
    text = json.dumps(answer["json"]) if "json" in answer else answer["text"]
    return answer.get("status", 200), text.encode()


def to_event(part: Any) -> str:
    """A block of an event stream."""
    if isinstance(part, str):
        return part
    event, data, *id = part
    return (f"id: {id[0]}\n" if id else "") + f"event: {event}\ndata: {json.dumps(data)}\n\n"
