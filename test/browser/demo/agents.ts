import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import type { Reply } from '../../support/scripted-model/turn.ts'

/** The documents and the code of the demonstration, by slug. `tools` is the address of the server of its tools. */
export const demoAgents = (tools: string): Record<string, { document: string; code?: string }> => ({
  'order-support': {
    document: `---
title: Order support
description: Answers a customer's question about an order, and decides whether it is refunded.
model: openai-compatible/qwen3-32b
input:
  orderId: { type: string, description: "The number of the order, such as A-1042.", minLength: 1 }
  question: { type: string, description: The question of the customer. }
  channel: { type: string, enum: [email, chat, phone], default: email, description: How the customer asked. }
  attachments:
    type: array
    required: false
    description: Files that the customer sent.
    items:
      type: object
      properties:
        name: { type: string, description: The name of the file. }
        bytes: { type: integer, minimum: 0, description: Its size. }
output:
  answer: { type: string, description: The answer to the customer. }
  refund: { type: boolean, description: Whether the order is refunded. }
  confidence: { type: number, minimum: 0, maximum: 1, description: How certain the answer is. }
tools:
  - name: get_order
    description: Looks an order up.
    input: { orderId: { type: string, description: The number of the order. } }
    http: { method: GET, url: "${tools}/orders/{orderId}", allowedHosts: ["${new URL(tools).host}"] }
  - name: get_shipment
    description: Says where a parcel is.
    input: { orderId: { type: string, description: The number of the order. } }
    http: { method: GET, url: "${tools}/shipments/{orderId}", allowedHosts: ["${new URL(tools).host}"] }
  - name: redact
    agent: redact-pii
execution: { maxAgentSteps: 8, timeoutSeconds: 120 }
---
You answer questions about orders. Look the order and its shipment up. Redact what you quote.
`,
  },
  'import-contacts': {
    document: `---
title: Import contacts
description: Imports a list of contacts in batches.
code: true
input:
  count: { type: integer, minimum: 1, maximum: 100000, description: How many contacts there are. }
  pauseMs: { type: integer, default: 0, description: How long a batch takes. }
  fail: { type: boolean, default: false, description: Whether the last batch fails. }
  gate: { type: string, required: false, description: The name of what the second batch waits for. }
output:
  imported: { type: integer, description: How many contacts were imported. }
---
`,
    code: `export default async function run({ count, pauseMs = 0, fail = false, gate }, { step }) {
  let imported = 0
  for (let batch = 1; batch <= 4; batch++) {
    imported += await step(\`batch \${batch}\`, async () => {
      console.log(\`batch \${batch}: \${Math.ceil(count / 4)} contacts\`)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (gate && batch === 2) await fetch(\`${tools}/gates/\${gate}\`)
      if (fail && batch === 4) throw new Error('The address book is locked by another import.')
      return Math.ceil(count / 4)
    })
  }
  return { imported }
}
`,
  },
})

/** What `order-support` answers about the order L-1. */
export const SLOW_ANSWER = {
  firstTokenMs: 2_000,
  output: { answer: 'Your parcel waits in Lisbon.', refund: false, confidence: 0.8 },
}

const USAGE = { inputTokens: 1_240, outputTokens: 96 }

/**
 * The model of `order-support`: looks order and shipment up in parallel, redacts the customer's address, answers. The
 * order B-9 makes the provider fail. A draft that always looks up decides differently about some orders, and for one
 * makes a call that no run has made before. The answer about L-1 begins after 2 s, and is complete 15 s later.
 */
export function supportModel({ instructions, history }: RecordedRequest): Reply {
  const orderId = /[ABL]-\d+/.exec(JSON.stringify(history))?.[0] ?? 'A-1'
  if (orderId === 'B-9') return { status: 400, message: 'The model is overloaded with nonsense.' }
  if (orderId === 'L-1')
    return {
      delayMs: SLOW_ANSWER.firstTokenMs,
      pause: { ms: 15_000, chunk: -1 },
      calls: [{ name: 'final_answer', input: SLOW_ANSWER.output }],
    }
  const isDraft = instructions.includes('Always look')
  if (isDraft && orderId === 'A-1003') return { calls: [{ name: 'get_order', input: { orderId: 'A-9' } }] }
  switch (history.filter(({ type }) => type === 'result').length) {
    case 0:
      return {
        delayMs: 300,
        text: `I look up the order ${orderId} and where its parcel is.`,
        calls: [
          { name: 'get_order', input: { orderId } },
          { name: 'get_shipment', input: { orderId } },
        ],
        usage: USAGE,
      }
    case 2:
      return {
        delayMs: 450,
        text: 'The parcel is on its way. I remove personal data before I answer.',
        calls: [{ name: 'redact', input: { content: 'The order of ada@example.com is in Leipzig.' } }],
        usage: USAGE,
      }
    default:
      return {
        delayMs: 250,
        calls: [
          {
            name: 'final_answer',
            input: {
              answer: 'Your parcel is in Leipzig and arrives on 24 November.',
              refund: isDraft && /[27]$/.test(orderId),
              confidence: 0.93,
            },
          },
        ],
        usage: USAGE,
      }
  }
}
