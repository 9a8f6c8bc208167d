import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeNow } from '../../../local/emulators/private-socket.ts'
import { finalAnswer } from '../engine/model-agent.ts'
import { dataOf, type RecordedRequest } from '../scripted-model/recorded-request.ts'
import type { ScriptedResponse } from '../scripted-model/turn.ts'

export const ORDERS = 'order-status'
export const MODEL = 'priced-orders'

/** What a response of 5 output tokens costs. Input is free: what a request has of it does not use up a budget. */
export const RESPONSE_USD = 0.02
export const PRICES = JSON.stringify({
  [`openai-compatible/${MODEL}`]: { input: 0, output: 4_000 },
})

/** What the model does with the inputs of one in 20 orders, because the instructions of a version say so. */
export type Rule = 'plain' | 'defect'
/** The remainder of the orders that have the defect. */
export const AFFECTED = 11
/** These orders are looked up twice: the server answers differently the second time. */
const LOOKED_UP_TWICE = 3
export const isOf = (remainder: number) => (order: number) => order % 20 === remainder

export const orderId = (order: number) => `order-${order}`
export const orderOf = (text: string): number => Number(/order-(\d+)/.exec(text)?.[1] ?? Number.NaN)

/** Counts the calls of the agent's tools by path. The result of a lookup says how often that order was looked up. */
export async function startOrderServer() {
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://orders').pathname
    const seen = (counts.get(path) ?? 0) + 1
    counts.set(path, seen)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ cents: orderOf(path) * 10 + 5, seen }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    stop: () => closeNow(server),
  }
}

/** The document of the agent. */
export function ordersDocument(host: string, rule: Rule, { slug = ORDERS, settings = '' } = {}): string {
  return `---
title: Order status
slug: ${slug}
model: openai-compatible/${MODEL}
input: { order: { type: string } }
output:
  status: { type: string }
  total: { type: number }
  lines: { type: array, items: { type: object, properties: { sku: { type: string }, price: { type: number } } } }
  seen: { type: array, items: { type: integer } }
tools:
  - name: get_order
    description: Reads an order.
    readOnly: true
    input: { id: { type: string, description: The order. } }
    http: { method: GET, url: "http://${host}/lookups/{id}", allowedHosts: ["${host}"] }
${settings}---
Say what the order costs. Rule: ${rule}
`
}

/** What the scripted model answers: a lookup or two, then the final answer from their results. */
export function answerOrder({ instructions, history }: RecordedRequest): ScriptedResponse {
  const rule = /Rule: (\w+)/.exec(instructions)?.[1]
  const input = history.find((item) => item.type === 'text' && item.role === 'user')
  const order = orderOf(input?.type === 'text' ? input.text : '')
  const results = history.flatMap((item) => (item.type === 'result' ? dataOf(item.output) : []))
  const [, cents = '0'] = /"cents":(\d+)/.exec(results[0] ?? '') ?? []
  const seen = results.flatMap((result) => /"seen":(\d+)/.exec(result)?.[1] ?? []).map(Number)
  const lookups = isOf(LOOKED_UP_TWICE)(order) ? 2 : 1
  if (results.length < lookups) return { calls: [{ name: 'get_order', input: { id: orderId(order) } }] }
  const isWrong = rule === 'defect' && isOf(AFFECTED)(order)
  const total = Number(cents) / 100
  const answer = {
    status: 'in transit',
    total: isWrong ? total + 0.01 : total,
    lines: [
      { sku: 'a', price: total },
      { sku: 'b', price: isWrong ? 1 : 0 },
    ],
    seen,
  }
  return { calls: [finalAnswer(answer)] }
}

type ReceivedEvent = { type: string; data: { id: string } }

/** A receiver of webhooks. */
export async function startReceiver() {
  const events: ReceivedEvent[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    events.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, events, stop: () => closeNow(server) }
}
