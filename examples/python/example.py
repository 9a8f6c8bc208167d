import os
import uuid

from agent_execution import AgentError, Client, InputSchemaMismatch
from agent_types import RedactPiiInput, RedactPiiOutput, WaitOutput

client = Client(os.environ.get("BASE_URL", "http://127.0.0.1:3000"), os.environ.get("API_TOKEN", "none"))

# A run returns the output, however long it takes. `python -m agent_execution types` has written its type.
text: RedactPiiInput = {"content": "Write to ada@example.com."}
redaction = client.run("redact-pii", text, output=RedactPiiOutput)
print(f"sync: {redaction['redactedContent']}")

# An asynchronous run returns an execution record, which can be waited for later.
execution = client.start("wait", {"seconds": 1})
print(f"async: {execution['status']}")
output: WaitOutput = client.wait(execution)["output"]
print(f"async: waited {round(output['waitedSeconds'])} second")

# The same key and input lead to the same execution, so a program that starts again can repeat a run safely.
key = str(uuid.uuid4())
first = client.start("wait", {"seconds": 0}, idempotency_key=key)
second = client.start("wait", {"seconds": 0}, idempotency_key=key)
print(f"idempotency: same execution {str(first['id'] == second['id']).lower()}")

# Branch on the class or the code of an error, not on its text.
try:
    client.run("redact-pii", {"contents": "Hello"}, enforce_input_schema=True)
except InputSchemaMismatch as error:
    print(f"error: {error.status} {error.code} at {', '.join(each['path'] for each in error.errors)}")
except AgentError as error:
    print(f"error: {error.code}")
    raise
