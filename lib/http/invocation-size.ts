import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { PayloadTooLarge } from '../core/request-errors.ts'

/**
 * What Lambda accepts as an event, and as a result that is not streamed: bytes of its JSON, in which the body is a
 * string. Each quote, backslash and line break of it takes two.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const MAX_INVOCATION_BYTES = 6 * 1024 * 1024

/** JSON takes at most this many bytes for a UTF-16 code unit: those of \u0000. */
const MAX_ESCAPED_BYTES = 6

/** Of the headers that are added to a result later. */
const ADDED_BYTES = 4_096

const exceedsInvocation = (value: { body: string | null }, maxBytes: number): boolean =>
  (value.body?.length ?? 0) * MAX_ESCAPED_BYTES > maxBytes - ADDED_BYTES &&
  Buffer.byteLength(JSON.stringify(value)) > maxBytes

const AS_STRING =
  'as a JSON string, in which each quote, backslash and line break takes two bytes: at most 6,291,456 bytes with its headers.'

/** For an event that API Gateway cannot pass to Lambda. */
export class RequestTooLarge extends PayloadTooLarge {
  constructor() {
    super(
      `The request exceeds what Lambda accepts. It passes the body ${AS_STRING} Split a batch into several.`,
    )
  }
}

/** @throws RequestTooLarge */
export function assertFitsInvocation(event: APIGatewayProxyEvent): void {
  if (exceedsInvocation(event, MAX_INVOCATION_BYTES)) throw new RequestTooLarge()
}

/** @throws PayloadTooLarge, which is better than the failure of the invocation that Lambda makes of it */
export function assertFitsResult(result: APIGatewayProxyResult): APIGatewayProxyResult {
  if (exceedsInvocation(result, MAX_INVOCATION_BYTES - ADDED_BYTES))
    throw new PayloadTooLarge(`The response exceeds what Lambda returns. It passes the body ${AS_STRING}`)
  return result
}
