"""`run` of runs.py returns the output of a run that waits for an approval, not the record that says so."""

import os
import threading
import time

import httpx
import runs

BASE_URL = os.environ["BASE_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['API_TOKEN']}"}


def approve() -> None:
    with httpx.Client(base_url=f"{BASE_URL}/v1", headers=HEADERS) as client:
        while not (approvals := client.get("/approvals?agent=refund-order").json()):
            time.sleep(0.1)
        path = f"/agent_executions/{approvals[0]['executionId']}/approvals/{approvals[0]['id']}"
        client.post(path, json={"decision": "approve"}).raise_for_status()


threading.Thread(target=approve, daemon=True).start()
output = runs.run(runs.connect(BASE_URL, os.environ["API_TOKEN"]), "refund-order", {"orderId": "7012", "usd": 200})
print(output["refunded"], output["usd"])
