import os

from agent_execution import InvalidWebhook, parse_webhook
from fastapi import FastAPI, Request, Response

app = FastAPI()
handled: set[str] = set()


@app.post("/")
async def receive(request: Request) -> Response:
    try:
        event = parse_webhook(await request.body(), request.headers, os.environ["WEBHOOK_SECRET"].split())
    except InvalidWebhook as error:
        return Response(error.reason, 400)
    # The same event can arrive more than once. Keep the IDs in your database.
    id = request.headers["webhook-id"]
    if id not in handled:
        handled.add(id)
        print(event["type"], event["data"].get("id"), flush=True)
    return Response(status_code=204)
