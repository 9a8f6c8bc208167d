import type { IncomingMessage } from 'node:http'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import { MAX_PAYLOAD_BYTES } from '../../core/limits.ts'
import { parseRetryAfter } from '../../models/responses/reported-error.ts'
import type { EgressPolicy } from '../../tools/egress/egress-policy.ts'
import { type ResponseText, readText } from '../../tools/egress/read-text.ts'
import { sendRequest, toConnectionError } from '../../tools/egress/send-request.ts'
import { ToolError } from '../../tools/tool.ts'
import { readLines } from './read-lines.ts'
import { RemoteFailure, toReportedFailure, toStatusFailure } from './remote-failure.ts'

/** What an agent answers. `tellsCancel`: it wants to know if the run is cancelled while it works. */
export type Answer = { output: Json } | { isAccepted: true; tellsCancel: boolean }

export type Request = {
  url: URL
  headers: Record<string, string>
  body: string
  policy: EgressPolicy
  signal: AbortSignal
  /** Milliseconds since the epoch. */
  now: () => number
  /** Gets the lines of a stream, one after the other. */
  onLine: (line: JsonObject) => Promise<void>
}

/** The service reads no more of an answer that has no output. */
const MAX_READ_BYTES = 64_000

const STREAM = /^application\/(x-ndjson|jsonl|ndjson|jsonlines|x-jsonlines)$/

/**
 * One request to a remote agent on a connection of its own, which is closed whatever comes.
 * @throws RemoteFailure; the reason of the signal; what `onLine` throws
 */
export async function sendToRemote(request: Request): Promise<Answer> {
  const { url, headers, body, policy, signal } = request
  let response: IncomingMessage | undefined
  try {
    response = await sendRequest({ method: 'POST', url, headers, body, signal }, policy)
    return await readAnswer(response, request)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ToolError || isSocketError(error)) {
      const { message, isTransient } = toToolError(error, url)
      throw new RemoteFailure(message, { isTransient })
    }
    throw error
  } finally {
    response?.destroy()
  }
}

async function readAnswer(response: IncomingMessage, { onLine, now }: Request): Promise<Answer> {
  const { statusCode: status = 0, headers } = response
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (status === 200 && STREAM.test(type)) return readStream(response, onLine)
  if (status === 200) return { output: parseOutput(await readText(response, MAX_PAYLOAD_BYTES), type) }
  const { text } = await readText(response, MAX_READ_BYTES).catch((error: unknown) => {
    // The status decides, whatever the body is.
    if (error instanceof ToolError) return { text: '' }
    throw error
  })
  if (status !== 202)
    throw toStatusFailure(status, text, parseRetryAfter({ 'retry-after': headers['retry-after'] }, now()))
  const accepted = parsePartnerJson(text)
  return { isAccepted: true, tellsCancel: isJsonObject(accepted) && accepted.cancel === true }
}

async function readStream(response: IncomingMessage, onLine: Request['onLine']): Promise<Answer> {
  for await (const line of readLines(response)) {
    await onLine(line)
    if (line.error !== undefined) throw toReportedFailure(line.error)
    if (line.output !== undefined) return { output: line.output }
  }
  throw new RemoteFailure('The stream of the agent ended without an output.', { isTransient: true })
}

function parseOutput({ text, isComplete }: ResponseText, type: string): Json {
  if (!isComplete)
    throw new RemoteFailure(`The answer of the agent has more than ${MAX_PAYLOAD_BYTES} bytes.`, {
      code: 'OutputTooLarge',
    })
  if (type !== '' && !/^application\/(.*\+)?json$/.test(type))
    throw new RemoteFailure(
      `The agent answered with the content type ${type}. It must be application/json or application/x-ndjson.`,
    )
  const output = parsePartnerJson(text)
  if (output === undefined) throw new RemoteFailure('The agent answered with invalid JSON.')
  return output
}

/** An error of Node.js, such as `ECONNRESET`, or of its HTTP parser. */
const isSocketError = (error: unknown): error is Error =>
  error instanceof Error && /^(E[A-Z]+|HPE_\w+)$/.test(String((error as NodeJS.ErrnoException).code))

const toToolError = (error: Error, url: URL): ToolError =>
  error instanceof ToolError ? error : toConnectionError(error, url)
