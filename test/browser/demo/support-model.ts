import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import type { Reply } from '../../support/scripted-model/turn.ts'

const USAGE = { inputTokens: 1_240, outputTokens: 96 }

/**
 * The model of `order-support`: looks order and shipment up in parallel, redacts the customer's address, answers. The
 * order B-9 makes the provider fail. A draft that always looks up decides differently about some orders, and for one
 * makes a call that no run has made before.
 */
export function supportModel({ instructions, history }: RecordedRequest): Reply {
  const orderId = /[AB]-\d+/.exec(JSON.stringify(history))?.[0] ?? 'A-1'
  if (orderId === 'B-9') return { status: 400, message: 'The model is overloaded with nonsense.' }
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
