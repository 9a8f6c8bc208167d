import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_PAYLOAD_BYTES } from '../../../lib/core/limits.ts'
import type { Model } from '../../../lib/core/model.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { closeNow } from '../../../local/emulators/private-socket.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()
const text = 'x'.repeat(100_000)
const tooLarge = {
  isTransient: false,
  isTooLarge: true,
  message: `The response of the model exceeds the limit of ${MAX_PAYLOAD_BYTES} bytes. Reading it was stopped.`,
}

const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta }] })}\n\n`
const call = (piece: string) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
const STREAM = 'text/event-stream'

/** How a response begins, and what follows for ever. */
const ENDLESS: Record<string, { status?: number; type: string; first: string; next: string }> = {
  'a stream of text': { type: STREAM, first: '', next: chunk({ content: text }) },
  'a stream of reasoning': { type: STREAM, first: '', next: chunk({ reasoning_content: text }) },
  'the input of a call': {
    type: STREAM,
    first: chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'add', arguments: '' } }] }),
    next: chunk(call(text)),
  },
  'one event of a stream': { type: STREAM, first: 'data: {"id":"', next: text },
  'one event in many lines': { type: STREAM, first: '', next: `data: ${text}\n` },
  'a JSON document': { type: 'application/json', first: '{"id":"', next: text },
  'an error': { status: 500, type: 'application/json', first: '{"error":"', next: text },
}

describe('a response without an end', () => {
  let sent = 0
  let closed: Promise<unknown> = Promise.resolve()
  const server = createServer((request, response) => {
    const {
      status = 200,
      type,
      first,
      next,
    } = ENDLESS[decodeURIComponent(request.url ?? '').split('/')[1] ?? ''] ?? {}
    closed = once(response, 'close')
    response.writeHead(status, { 'content-type': type }).write(first)
    send(response, next ?? '')
  })
  const send = (response: ServerResponse, next: string) => {
    if (response.destroyed) return
    sent += next.length
    response.write(next, () => send(response, next))
  }
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => closeNow(server))

  it.each(Object.keys(ENDLESS))('is read to the limit, and its connection is closed: %s', async (name) => {
    sent = 0
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(name)}`
    const model: Model = await openModel('openai-compatible/m', { OPENAI_COMPATIBLE_BASE_URL: url })
    await expect(model.respond(requestOf(model))).rejects.toMatchObject(tooLarge)
    await closed
    // With what is in the buffers of the sockets.
    expect(sent).toBeLessThan(5 * MAX_PAYLOAD_BYTES)
  })
})

describe.each(SCRIPTED_PROVIDERS)('a response of %s', (provider) => {
  it('may not be larger than the limit', async () => {
    const script = [{ text: 'x'.repeat(MAX_PAYLOAD_BYTES + 1) }, { text: 'Short.' }]
    const { model, requests } = await openScripted(scripted.server, provider, script)
    await expect(model.respond(requestOf(model))).rejects.toMatchObject(tooLarge)
    expect(requests()).toHaveLength(1)
    expect((await model.respond(requestOf(model))).text).toBe('Short.')
  })
})
