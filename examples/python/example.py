import os
import uuid

from agent_types import RedactPiiInput, RedactPiiOutput
from runs import AgentError, connect, run, start, wait

client = connect(os.environ.get("BASE_URL", "http://127.0.0.1:3000"), os.environ.get("API_TOKEN", ""))

# A synchronous run returns the output. `agent-execution types --python` has written its type.
text: RedactPiiInput = {"content": "Write to ada@example.com."}
redaction: RedactPiiOutput = run(client, "redact-pii", text)
print(f"sync: {redaction['redactedContent']}")

# An asynchronous run returns an execution record. Wait for its output without polling in a tight loop.
execution = start(client, "wait", {"seconds": 1})
print(f"async: {execution.status.value}")
output = wait(client, execution.id)
print(f"async: waited {round(output['waitedSeconds'])} second")

# The same key and body lead to the same execution, so a request can be repeated safely.
key = str(uuid.uuid4())
first = start(client, "wait", {"seconds": 0}, idempotency_key=key)
second = start(client, "wait", {"seconds": 0}, idempotency_key=key)
print(f"idempotency: same execution {str(first.id == second.id).lower()}")

# Branch on the code of an error, not on its text.
try:
    run(client, "redact-pii", {"contents": "Hello"}, enforce_input_schema=True)
except AgentError as error:
    if error.code == "InputSchemaMismatch":
        print(f"error: {error.status} {error.code} at {', '.join(e['path'] for e in error.problem['errors'])}")
    elif error.code == "Unauthorized":
        print("error: set API_TOKEN to a valid token")
    else:
        raise
