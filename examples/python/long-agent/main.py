import time

from agent_execution.server import AgentFailure, Context, agent


def run(input: dict[str, float], context: Context) -> dict[str, float]:
    """Works for as long as it is told, also if that is longer than the service waits for an answer."""
    ends_at = time.monotonic() + input["seconds"]
    while time.monotonic() < ends_at:
        if context.wait_cancelled(min(1, max(ends_at - time.monotonic(), 0))):
            raise AgentFailure("The run was cancelled.")
    return {"waitedSeconds": input["seconds"]}


app = agent(run)
