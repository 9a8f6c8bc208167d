import type { Context, Input, Output } from './agent.types.ts'

/** What nobody has to approve. */
const LIMIT_USD = 100

export default async function run({ orderId, usd }: Input, context: Context): Promise<Output> {
  // What is no amount fails in `refund`.
  if (!(usd > LIMIT_USD)) return refund(orderId, usd, 'below the limit', context)
  const { decision, data, note, by } = await context.waitForApproval('refund', {
    title: `Refund ${usd} dollars of order ${orderId}?`,
    data: { orderId, usd },
  })
  if (decision === 'timeout') return { refunded: false, usd: 0, reason: 'nobody decided in time' }
  const who = `${by ?? 'somebody'}${note === null ? '' : `: ${note}`}`
  if (decision === 'reject') return { refunded: false, usd: 0, reason: `rejected by ${who}` }
  return refund(orderId, data.usd, `approved by ${who}`, context)
}

/** A step: it is not repeated if the run resumes in another worker. */
async function refund(orderId: string, usd: number, reason: string, context: Context): Promise<Output> {
  if (typeof usd !== 'number' || !(usd > 0)) throw new RangeError('usd must be a positive number.')
  await context.step('pay', () => console.log(`Refunded ${usd} dollars of order ${orderId}.`))
  return { refunded: true, usd, reason }
}
