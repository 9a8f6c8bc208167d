"""A client for the Agent Execution Service. Needs Python 3.9 or later, no packages."""

import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

MAX_ATTEMPTS = 4
RETRYABLE_STATUSES = (429, 503)
WAIT_SECONDS = 20  # The service accepts at most 25.
TIMEOUT_SECONDS = 300  # A synchronous run can take 270 seconds.


class ProblemError(Exception):
    """Problem details (RFC 9457). Branch on `code`; `detail` is for people."""

    def __init__(self, problem):
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.problem = problem
        self.code = problem["code"]
        self.status = problem["status"]
        self.errors = problem.get("errors", [])


class ExecutionError(Exception):
    """An execution that this client waited for ended in ERROR."""

    def __init__(self, execution):
        super().__init__(f"{execution['error']['code']}: {execution['error']['message']}")
        self.execution = execution


class AgentClient:
    def __init__(self, base_url, token):
        self._base_url = base_url.rstrip("/")
        self._token = token

    def run(self, agent, input, **options):
        """Run an agent synchronously and return its output."""
        try:
            return self._post(agent, input, "sync", options)
        except ProblemError as error:
            # The run continues without a caller: after 270 seconds, or when a retry found the first request
            # still running.
            execution_id = error.problem.get("executionId")
            if error.code not in ("ExecutionStillRunning", "ExecutionInProgress") or not execution_id:
                raise
        return self.wait_for_output(execution_id)

    def start(self, agent, input, **options):
        """Start an asynchronous run and return its execution record at once."""
        return self._post(agent, input, "async", options)

    def get_execution(self, execution_id, wait_seconds=0):
        """With `wait_seconds`, return when the execution is final or the time has passed."""
        headers = {"Prefer": f"wait={wait_seconds}"} if wait_seconds else {}
        return self._send("GET", f"/v1/agent_executions/{execution_id}", headers=headers)

    def wait_for_output(self, execution_id):
        """Raise ExecutionError when the execution ends in ERROR."""
        while True:
            execution = self.get_execution(execution_id, wait_seconds=WAIT_SECONDS)
            if execution["status"] == "SUCCESS":
                return execution["output"]
            if execution["status"] == "ERROR":
                raise ExecutionError(execution)

    def _post(self, agent, input, exec_mode, options):
        """`options` are query parameters, and `idempotency_key`. By default each call gets a new key."""
        parameters = dict(options)
        key = parameters.pop("idempotency_key", None) or str(uuid.uuid4())
        query = {"execMode": exec_mode}
        for name, value in parameters.items():
            query[name] = str(value).lower() if isinstance(value, bool) else value
        path = f"/v1/agents/{urllib.parse.quote(agent, safe='')}/executions?{urllib.parse.urlencode(query)}"
        return self._send("POST", path, body=input, headers={"Idempotency-Key": key})

    def _send(self, method, path, body=None, headers=None):
        """Retry lost connections and responses with a retryable status. The idempotency key makes this safe."""
        headers = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        for attempt in range(1, MAX_ATTEMPTS + 1):
            request = urllib.request.Request(self._base_url + path, data=data, headers=headers, method=method)
            retry_after = 0
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code not in RETRYABLE_STATUSES or attempt == MAX_ATTEMPTS:
                    raise ProblemError(json.load(error)) from None
                retry_after = int(error.headers.get("Retry-After", 0))
            except OSError:
                if attempt == MAX_ATTEMPTS:
                    raise
            time.sleep(retry_after + random.random() * 0.2 * 2**attempt)
