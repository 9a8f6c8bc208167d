from agent_execution.server import AgentFailure, Context, agent


def run(input: dict[str, str], context: Context) -> dict[str, str]:
    if not input["question"]:
        raise AgentFailure("Ask something.")
    context.step_log("think", {"hard": True})
    context.delta("Because.")
    context.usage("scripted", 10, 2)
    return {"answer": f"{input['question']} Because."}


app = agent(run)
