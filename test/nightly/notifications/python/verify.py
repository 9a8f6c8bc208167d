"""Runs the function `receive` of docs/webhooks.md. Input: JSON with the page's code and a list of requests."""

import json
import sys

given = json.load(sys.stdin)
scope: dict = {}
exec(given["code"], scope)
for request in given["requests"]:
    body = request["body"].encode()
    print(scope["receive"](body, request["headers"], request["secret"]))
