import { STATUS_CODES } from 'node:http'
import type { JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import type { ToolResult } from '../../core/model.ts'
import type { HttpDocument, ToolDocument } from '../document/tool-fields.ts'
import type { EgressPolicy } from '../egress/egress-policy.ts'
import { MAX_READ_BYTES, type ResponseText, readBody, readText, toText } from '../egress/read-text.ts'
import { type OutgoingRequest, sendRequest, toConnectionError } from '../egress/send-request.ts'
import { truncateText } from '../limit-result.ts'
import type { Secrets } from '../secrets.ts'
import { failed, succeeded, ToolError, type ToolGroup, toDeclaration, toGroup, toSentKey } from '../tool.ts'
import { describeImage, toImage } from '../tool-image.ts'
import { appendQuery, fillPath, getPlaceholders } from './url-template.ts'

const MAX_ERROR_READ_BYTES = 64_000

const METHODS_WITHOUT_BODY = ['GET', 'HEAD', 'DELETE']

type Params = {
  document: ToolDocument
  http: HttpDocument
  secrets: Secrets
  lookup: EgressPolicy['lookup']
}

/** A tool that sends one HTTP request. */
export function openHttpTool({ document, http, secrets, lookup }: Params): ToolGroup {
  return toGroup({
    declaration: toDeclaration(document),
    timeoutSeconds: document.timeoutSeconds,
    async call(input, { idempotencyKey, traceparent, signal }) {
      const { url, body } = toUrlAndBody(http, input)
      const headers = {
        accept: 'application/json, */*;q=0.5',
        'user-agent': 'agent-execution-service',
        ...(body !== null && { 'content-type': 'application/json' }),
        ...(traceparent && { traceparent }),
        ...(await secrets.fillHeaders(http.headers)),
        'idempotency-key': toSentKey(idempotencyKey),
      }
      const request = { method: http.method, url, headers, body, signal }
      const policy = { allowedHosts: http.allowedHosts, lookup }
      return send(request, policy, { secrets, maxBytes: document.maxResultBytes })
    },
  })
}

/**
 * Distributes the inputs: to the path if it has a placeholder; else to the query or body if listed there; else to the
 * query for GET, HEAD and DELETE, and to the JSON body for the other methods. Without inputs there is no body.
 * @throws ToolError
 */
function toUrlAndBody(http: HttpDocument, input: JsonObject): { url: URL; body: string | null } {
  const inPath = new Set(getPlaceholders(http.url))
  const url = fillPath(http.url, input)
  const others = Object.entries(input).filter(([name]) => !inPath.has(name))
  const isQuery = ([name]: [string, unknown]) =>
    http.query.includes(name) || (!http.body.includes(name) && METHODS_WITHOUT_BODY.includes(http.method))
  appendQuery(url, Object.fromEntries(others.filter(isQuery)))
  const body = others.filter((entry) => !isQuery(entry))
  return { url, body: body.length > 0 ? JSON.stringify(Object.fromEntries(body)) : null }
}

async function send(
  request: OutgoingRequest,
  policy: EgressPolicy,
  { secrets, maxBytes }: { secrets: Secrets; maxBytes: number | undefined },
): Promise<ToolResult> {
  const response = await sendRequest(request, policy)
  const status = response.statusCode ?? 0
  if (status >= 400) {
    const body = await readText(response, MAX_ERROR_READ_BYTES).catch(() => null)
    const text = body ? secrets.maskText(body.text, { end: !body.isComplete }) : ''
    const details = text ? `: ${text}` : '.'
    return failed(`The request failed with HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() + details)
  }
  const content = await readBody(response, MAX_READ_BYTES).catch((error: Error) => {
    throw error instanceof ToolError ? error : toConnectionError(error, request.url)
  })
  const image = content.mediaType.startsWith('image/') && content.isComplete ? toImage(content.bytes) : null
  if (image) return succeeded(describeImage(image, content.bytes.length), [image])
  const body = toText(content)
  // Masked here as well: a secret at the end of the text that was read may be cut.
  if (!body.isComplete)
    return succeeded(
      truncateText(secrets.maskText(body.text, { end: true }), { maxBytes, isComplete: false }),
    )
  return parseBody(body)
}

function parseBody({ text, mediaType }: ResponseText): ToolResult {
  if (text === '') return succeeded(null)
  if (!/^application\/(.*\+)?json$/.test(mediaType)) return succeeded(text)
  const value = parsePartnerJson(text)
  if (value !== undefined) return succeeded(value)
  return failed(`The response has the content type ${mediaType}, but is not valid JSON: ${text}`)
}
