import { createServer, type Socket } from 'node:net'
import { EventStreamCodec } from '@smithy/core/event-streams'
import { afterAll } from 'vitest'
import type { ModelRequest, ModelResponse } from '../../../lib/core/model.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { TRAITS } from '../../../lib/models/providers/providers.ts'
import type { Chunk } from '../../support/scripted-model/format.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { FORMATS, KEY } from '../../support/scripted-model/start-scripted-model.ts'
import { requestOf } from '../support.ts'

/** What a server writes to its socket after the head. `holds`: and keeps the connection open. */
type Raw = {
  body: string | Uint8Array | Chunk[]
  status?: number
  contentType?: string
  holds?: boolean
}

/** Answers the first request of each connection with the same bytes. */
async function startRawServer(responses: Raw[]) {
  const sockets = new Set<Socket>()
  let index = 0
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    let head = ''
    let isAnswered = false
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      const start = head.indexOf('\r\n\r\n')
      if (isAnswered || start < 0 || head.length < start + 4 + Number(length ?? 0)) return
      isAnswered = true
      const { body, status = 200, contentType = 'text/event-stream', holds } = responses[index++] as Raw
      socket.write(`HTTP/1.1 ${status} X\r\ncontent-type: ${contentType}\r\nconnection: close\r\n\r\n`)
      for (const chunk of typeof body === 'string' || body instanceof Uint8Array ? [body] : body)
        socket.write(chunk)
      if (!holds) socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** Opens a model of a server that writes these bytes, one response after the other. */
export async function openRaw(format: ScriptedProvider, ...responses: Raw[]) {
  const { url, stop } = await startRawServer(responses)
  stops.push(stop)
  const { variables } = TRAITS[format]
  const names = [...variables.required, ...variables.secrets, 'AWS_ACCESS_KEY_ID']
  const keys = Object.fromEntries(names.map((name) => [name, name === 'AWS_REGION' ? 'eu-central-1' : KEY]))
  const { AWS_SESSION_TOKEN, AWS_BEARER_TOKEN_BEDROCK, ...environment } = keys
  const base = format === 'bedrock' ? url : `${url}/v1`
  return openModel(`${format}/raw`, { ...environment, [variables.baseUrl]: base })
}

export async function respond(format: ScriptedProvider, raw: Raw, request: Partial<ModelRequest> = {}) {
  const contentType = format === 'bedrock' ? FORMATS.bedrock.contentType : 'text/event-stream'
  const model = await openRaw(format, { contentType, ...raw })
  return model.respond(requestOf(model, request))
}

/** What tests compare: without ids, which a server may omit. */
export const summaryOf = ({ text, toolCalls, usage, stopReason }: ModelResponse) => ({
  text,
  calls: toolCalls.map(({ name, input, error }) => ({ name, input, error })),
  usage,
  stopReason,
})

/** Server-sent events; a text is sent as it is. */
export const sse = (...frames: unknown[]) =>
  frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join('')

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
)
const header = (value: string) => ({ type: 'string' as const, value })
export const message = (kind: string, type: string, body: unknown) =>
  codec.encode({
    headers: { ':message-type': header(kind), [`:${kind}-type`]: header(type) },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })
/** Frames of Converse: `{ type: body }`. */
export const binary = (...frames: Record<string, unknown>[]): Chunk[] =>
  frames.flatMap((frame) => Object.entries(frame).map(([type, body]) => message('event', type, body)))
