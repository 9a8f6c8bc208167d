import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import type { ClientOptions } from '../../../clients/typescript/src/options.ts'
import { startServer } from '../../support/service/start-server.ts'

/** For `expect.poll`, on a loaded machine. */
export const SOON = { timeout: 20_000 }

export type Received = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** Milliseconds, on a steady clock. */
  at: number
  /** Resolves when the client closes the connection. */
  closed: Promise<unknown>
}

export type Answer = (response: ServerResponse, request: Received) => void

/** A service that gives these answers in this order, and breaks the connection of every later request. */
export async function scriptedService(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const requests: Received[] = []
  const { url: baseUrl, stop } = await startServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming
    const closed = once(response, 'close')
    const request = { method, path: url, headers, body: await text(incoming), at: performance.now(), closed }
    const answer = answers[requests.push(request) - 1] ?? drop
    answer(response, request)
  })
  onTestFinished(stop)
  return { requests, baseUrl, client: new Client({ baseUrl, token: 'aes_test', ...options }) }
}

type Headers = Record<string, string>

export const json =
  (status: number, body: unknown, headers: Headers = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

export const problem = (status: number, code: string, members: object = {}, headers: Headers = {}): Answer =>
  json(
    status,
    { type: 'urn:x', title: code, status, detail: `It is ${code}.`, instance: 'r-1', code, ...members },
    headers,
  )

/** What a proxy sends, without problem details. */
export const html =
  (status: number, headers: Headers = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'text/html', ...headers })
    response.end('<h1>Sorry</h1>')
  }

/** Closes the connection without a response. */
export const drop: Answer = (response) => void response.destroy()

/** Closes the connection in the middle of the body, whose length is announced. */
export const cut: Answer = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
  response.write('{"a":', () => response.destroy())
}

/** Never responds. */
export const hang: Answer = () => undefined

/** Sends parts of an event stream, and then ends the response or breaks the connection. */
export const events =
  (parts: string[], then: 'end' | 'break' | 'stay' = 'end', headers: Headers = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers })
    const send = ([part, ...rest]: string[]) => {
      if (part !== undefined) response.write(part, () => setImmediate(send, rest))
      else if (then === 'end') response.end()
      else if (then === 'break') response.destroy()
    }
    response.flushHeaders()
    send(parts)
  }

/** The record of a batch, as the service answers while it runs and when it has ended. */
export const batchAnswers = (id: string) => {
  const record = (lines: number, fields: object) => ({
    ...{ id, lines, costUsd: 0.5, counts: { IN_PROGRESS: 0, SUCCESS: lines, ERROR: 0 } },
    ...fields,
  })
  const open = { status: 'IN_PROGRESS' }
  return {
    created: (lines: number, fields: object = {}) => json(202, record(lines, { ...open, ...fields })),
    running: (lines: number) => json(200, record(lines, open), { 'Retry-After': '0' }),
    ended: (lines: number, fields: object = {}) => json(200, record(lines, { status: 'ENDED', ...fields })),
  }
}

/** Sends bytes of the results of a batch, and then ends the response or breaks the connection. */
export const results =
  (text: string | Buffer, then: 'end' | 'break' | 'stay' = 'end', headers: Headers = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson', ...headers })
    response.write(text, () => {
      if (then === 'end') response.end()
      else if (then === 'break') response.destroy()
    })
  }
