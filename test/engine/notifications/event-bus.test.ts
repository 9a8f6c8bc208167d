import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { isWithinEntryLimit, sendToEventBus } from '../../../lib/engine/notifications/event-bus.ts'
import { failure, OK } from '../../support/notifications/an-outbox.ts'
import { json, listen, serve } from '../../tools/serve.ts'

const SECRET = 'confidential'
const EVENT = {
  type: 'execution.succeeded',
  occurredAt: '2026-11-25T08:00:00.600Z',
  detail: '{"output":"größe, confidential","amount":12345678901234567890.10}',
}

const environmentOf = (url: string) => ({
  EVENT_BUS: 'orders',
  EVENTBRIDGE_ENDPOINT: url,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKID',
  AWS_SECRET_ACCESS_KEY: SECRET,
  AWS_SESSION_TOKEN: 'session',
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

describe('sendToEventBus', () => {
  it('puts the event on the bus, signed', async () => {
    const { url, received } = await serve((response) =>
      json(response, { FailedEntryCount: 0, Entries: [{ EventId: '1' }] }),
    )
    expect(await sendToEventBus(EVENT, environmentOf(url))).toEqual(OK)
    const signature = /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/events\/aws4_request, /
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AWSEvents.PutEvents',
      'x-amz-security-token': 'session',
      authorization: expect.stringMatching(signature),
    }
    expect(received).toMatchObject([{ method: 'POST', path: '/', headers }])
    const Time = Date.parse('2026-11-25T08:00:01Z') / 1000
    const source = { EventBusName: 'orders', Source: 'agent-execution-service' }
    const entry = { ...source, DetailType: 'execution.succeeded', Time, Detail: EVENT.detail }
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ Entries: [entry] })
  })

  it.each([
    [
      200,
      { FailedEntryCount: 1, Entries: [{ ErrorCode: 'Throttled', ErrorMessage: SECRET }] },
      ': Throttled',
    ],
    [400, { __type: 'com.amazonaws.events#Throttled', message: SECRET }, ': Throttled'],
    [400, { __type: 'AccessDeniedException', message: SECRET }, ': AccessDeniedException'],
    [429, { message: SECRET }, ''],
    [500, SECRET, ''],
    [200, SECRET, ''],
    [200, null, ''],
    [200, { Entries: [] }, ''],
    [307, { FailedEntryCount: 0 }, ''],
  ])('fails for %i %j, and sends one request', async (status, body, code) => {
    const { url, received } = await serve((response) => {
      response.setHeader('location', '/elsewhere')
      json(response, body, status)
    })
    const error = `EventBridge answered ${status}${code}.`
    expect(await sendToEventBus(EVENT, environmentOf(url))).toEqual(failure(error, status))
    expect(received).toHaveLength(1)
  })

  it('fails without an answer', async () => {
    let requests = 0
    const silent = await listen(() => void requests++)
    const half = await listen((_, response) => {
      requests++
      response.writeHead(200).write('{')
    })
    const error = 'No answer from EventBridge within 3 seconds.'
    const sendTo = (host: string) =>
      sendToEventBus(EVENT, environmentOf(`http://${host}`), { timeoutMs: 3_000 })
    const sending = Promise.all([sendTo(silent.host), sendTo(half.host)])
    await Promise.race([sending, vi.waitUntil(() => requests === 2, { timeout: 60_000 })])
    // What only the garbage collector can take must not be what ends the request.
    for (let collections = 0; collections < 3; collections++) {
      await setImmediate()
      collectGarbage()
    }
    expect(await sending).toEqual([failure(error), failure(error, 200)])
    const dropping = await listen((request) => request.socket.destroy())
    // The end of the socket is seen while the request is written, or after it.
    const dropped = /^The connection to EventBridge failed: (UND_ERR_SOCKET|ECONNRESET|EPIPE)\.$/
    expect(await sendTo(dropping.host)).toEqual(failure(expect.stringMatching(dropped)))
    expect(await sendTo('127.0.0.1:9')).toMatchObject(failure(expect.stringContaining('EventBridge failed')))
  })

  it('does not send an event that EventBridge would reject', async () => {
    const { url, received } = await serve((response) => json(response, { FailedEntryCount: 0 }))
    const limit = 256 * 1024 - 'agent-execution-service'.length - 'execution.succeeded'.length - 14
    const start = `{"ü":"${'ä'.repeat(100_000)}`
    const detailOf = (bytes: number) =>
      `${start.padEnd(bytes - Buffer.byteLength(start) + start.length - 2, 'x')}"}`
    expect(Buffer.byteLength(detailOf(limit))).toBe(limit)
    expect(isWithinEntryLimit({ ...EVENT, detail: detailOf(limit - 1) })).toBe(true)
    const error = 'The event is not smaller than 256 kB, as EventBridge requires.'
    const tooLarge = { ...EVENT, detail: detailOf(limit) }
    expect(await sendToEventBus(tooLarge, environmentOf(url))).toEqual(failure(error))
    expect(received).toHaveLength(0)
  })

  it.each(['EVENT_BUS', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
    'fails without %s',
    async (name) => {
      const environment = { ...environmentOf('http://127.0.0.1:9'), [name]: undefined }
      expect(await sendToEventBus(EVENT, environment)).toMatchObject(failure(expect.stringContaining(name)))
    },
  )
})
