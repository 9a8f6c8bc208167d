"""Decodes the requests of the standard input, one in base64 a line, as an OTLP receiver does."""

import base64
import json
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)


def value_of(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(each) for each in value.array_value.values]
    return getattr(value, kind)


def attributes_of(pairs):
    return {pair.key: value_of(pair.value) for pair in pairs}


def to_span(span):
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "ms": [span.start_time_unix_nano // 10**6, span.end_time_unix_nano // 10**6],
        "attributes": attributes_of(span.attributes),
        "status": [span.status.code, span.status.message],
        "flags": span.flags,
    }


for line in sys.stdin:
    request = ExportTraceServiceRequest.FromString(base64.b64decode(line))
    for received in request.resource_spans:
        resource = attributes_of(received.resource.attributes)
        scopes = [(each.scope.name, each.scope.version) for each in received.scope_spans]
        spans = [to_span(span) for each in received.scope_spans for span in each.spans]
        print(json.dumps({"resource": resource, "scopes": scopes, "spans": spans}))
