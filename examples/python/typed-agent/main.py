import os

from agent_execution.server import Context, agent
from pydantic import BaseModel
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

ORDERS = {"o-1": 20.0, "o-2": 900.0}


class Ticket(BaseModel):
    order_id: str
    message: str


class Decision(BaseModel):
    refund: bool
    usd: float


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """In place of a model: looks the order up, and refunds what is below 100 USD."""
    result = next((part for part in messages[-1].parts if part.part_kind == "tool-return"), None)
    if result is None:
        return ModelResponse([ToolCallPart("price_of", {"order_id": str(messages[0].parts[-1].content)})])
    usd = float(str(result.content))
    return ModelResponse([ToolCallPart(info.output_tools[0].name, {"refund": usd < 100, "usd": usd})])


# The agent as it would be without the service.
refunds = Agent(FunctionModel(scripted, model_name="scripted"), output_type=Decision)


@refunds.tool_plain
def price_of(order_id: str) -> float:
    """The price of an order in US dollars."""
    return ORDERS[order_id]


async def run(ticket: Ticket, context: Context) -> Decision:
    result = await refunds.run(ticket.order_id)
    used = result.usage() if callable(result.usage) else result.usage
    context.usage("scripted", used.input_tokens, used.output_tokens)
    context.step_log("decided", {"orderId": ticket.order_id})
    return result.output


app = agent(run, secret=os.environ.get("AGENT_EXECUTION_SECRET", "").split() or None)
