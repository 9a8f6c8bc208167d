import { STATUS_CODES } from 'node:http'
import type { Json } from '../../core/json.ts'
import type { ToolResult } from '../../core/model.ts'
import { type ReadText, readText } from '../egress/read-text.ts'
import { connectionError, type Outgoing, type Reach, sendRequest } from '../egress/send-request.ts'
import { cutText } from '../limit-result.ts'
import { MAX_ERROR_READ_BYTES, MAX_READ_BYTES } from '../limits.ts'
import type { Secrets } from '../secrets.ts'
import { declarationOf, failed, single, succeeded, ToolError, type ToolGroup } from '../tool.ts'
import type { HttpDocument, ToolDocument } from '../tool-document.ts'
import { httpRequest } from './http-request.ts'

type Params = { document: ToolDocument; http: HttpDocument; secrets: Secrets; lookup: Reach['lookup'] }

/** A tool that sends one HTTP request; `httpRequest` says where its inputs go. */
export function httpTool({ document, http, secrets, lookup }: Params): ToolGroup {
  return single({
    declaration: declarationOf(document),
    timeoutSeconds: document.timeoutSeconds,
    async call(input, { idempotencyKey, signal }) {
      const { url, body } = httpRequest(http, input)
      const headers = {
        accept: 'application/json, */*;q=0.5',
        'user-agent': 'agent-execution-service',
        ...(body !== null && { 'content-type': 'application/json' }),
        ...(await secrets.fillHeaders(http.headers)),
        'idempotency-key': idempotencyKey,
      }
      const request = { method: http.method, url, headers, body, signal }
      return send(request, { allowedHosts: http.allowedHosts, lookup }, secrets)
    },
  })
}

async function send(request: Outgoing, reach: Reach, secrets: Secrets): Promise<ToolResult> {
  const answer = await sendRequest(request, reach)
  const status = answer.statusCode ?? 0
  if (status >= 400) {
    const read = await readText(answer, MAX_ERROR_READ_BYTES).catch(() => null)
    const text = read?.text ? `: ${read.text}` : '.'
    return failed(`The answer is an error, HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() + text)
  }
  const read = await readText(answer, MAX_READ_BYTES).catch((error: Error) => {
    throw error instanceof ToolError ? error : connectionError(error, request.url)
  })
  if (!read.isComplete) return succeeded(cutText(secrets.maskText(read.text), { isComplete: false }))
  return jsonOrText(read)
}

function jsonOrText({ text, mediaType }: ReadText): ToolResult {
  if (text === '') return succeeded(null)
  if (!/^application\/(.*\+)?json$/.test(mediaType)) return succeeded(text)
  try {
    return succeeded(JSON.parse(text) as Json)
  } catch {
    return failed(`The answer says that it is JSON (${mediaType}), and is not: ${text}`)
  }
}
