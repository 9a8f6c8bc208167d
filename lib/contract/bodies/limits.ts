import * as z from 'zod/mini'
import { MAX_COST_USD, RUNS_PER_MINUTE, TENANT_OPEN_EXECUTIONS } from '../../core/limits.ts'
import { schema } from '../records/fields.ts'
import { flag, integerIn, numberIn, type Range } from './fields.ts'

/** Replaces the limits of a tenant or an agent. */
export const limitsBody = /* @__PURE__ */ schema(() => {
  const { min, max } = MAX_COST_USD
  const costError = `must be a number from ${min.toFixed(6)} to ${max}, or null for no limit`
  const cost = (description: string) =>
    z.nullish(numberIn(MAX_COST_USD, costError)).check(z.describe(description))
  const count = (range: Range, description: string) => {
    const error = `must be an integer from ${range.min} to ${range.max}, or null for no limit`
    return z.nullish(integerIn(range, error)).check(z.describe(description))
  }
  return z
    .strictObject({
      maxOpenExecutions: count(
        TENANT_OPEN_EXECUTIONS,
        'How many executions may be in progress at the same time, from their acceptance to their end; also while they are suspended.',
      ),
      maxRunsPerMinute: count(RUNS_PER_MINUTE, 'How many runs are accepted in a minute of the clock.'),
      maxCostUsd: z
        .nullish(
          z.strictObject(
            { day: cost('Per calendar day in UTC.'), month: cost('Per calendar month in UTC.') },
            { error: 'must be a JSON object with day and month, or null for no limit' },
          ),
        )
        .check(z.describe('The price of model responses in US dollars.')),
      warnAt: z
        .nullish(numberIn({ min: 0.0001, max: 1 }, 'must be a number from 0.0001 to 1, or null'))
        .check(z.describe('The share of each cost limit at which `limit.warning` is sent.')),
      queueWhenFull: flag(
        'Whether asynchronous runs above `maxOpenExecutions` wait for their turn instead of being refused. Default: false.',
      ),
    })
    .check(z.meta({ id: 'LimitsBody' }))
})
