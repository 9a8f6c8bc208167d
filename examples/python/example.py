import os
import uuid

from client import AgentClient, ProblemError

client = AgentClient(os.environ.get("BASE_URL", "http://127.0.0.1:3000"), os.environ.get("API_TOKEN", ""))

# A synchronous run returns the output.
redaction = client.run("redact-pii", {"content": "Write to ada@example.com."})
print(f"sync: {redaction['redactedContent']}")

# An asynchronous run returns an execution record. Wait for its output without polling in a tight loop.
execution = client.start("wait", {"seconds": 1})
print(f"async: {execution['status']}")
output = client.wait_for_output(execution["id"])
print(f"async: waited {round(output['waitedSeconds'])} second")

# The same key and body lead to the same execution, so a request can be repeated safely.
key = str(uuid.uuid4())
first = client.start("wait", {"seconds": 0}, idempotency_key=key)
second = client.start("wait", {"seconds": 0}, idempotency_key=key)
print(f"idempotency: same execution {str(first['id'] == second['id']).lower()}")

# Branch on the code of an error, not on its text.
try:
    client.run("redact-pii", {"contents": "Hello"}, enforceInputSchema=True)
except ProblemError as error:
    if error.code == "InputSchemaMismatch":
        print(f"error: {error.status} {error.code} at {', '.join(e['path'] for e in error.errors)}")
    elif error.code == "Unauthorized":
        print("error: set API_TOKEN to a valid token")
    else:
        raise
