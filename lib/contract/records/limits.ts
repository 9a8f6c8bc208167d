import * as z from 'zod'
import {
  countedFromOf,
  type LimitSubject,
  type LimitsUse,
  leftOf,
  ownerOf,
  type StoredLimits,
} from '../../core/usage-limits.ts'
import { nullableTime, schema } from './fields.ts'

/** In answers to requests that set limits or publish. */
export const costWarnings = /* @__PURE__ */ schema(() =>
  z
    .array(z.string())
    .optional()
    .describe('Models without a price, which limits in US dollars do not count. Absent without any.'),
)

const limits = /* @__PURE__ */ schema(() => ({
  maxOpenExecutions: z.int().nullable(),
  maxRunsPerMinute: z.int().nullable(),
  maxCostUsd: z.object({ day: z.number().nullable(), month: z.number().nullable() }),
  warnAt: z.number().nullable(),
  queueWhenFull: z.boolean(),
  updatedAt: z.iso.datetime(),
  costCountedFrom: nullableTime.describe(
    'From when on costs count: the beginning (UTC) of the month in which there was a cost limit first. Null without one.',
  ),
}))

const limitsFields = /* @__PURE__ */ schema(() =>
  z.object({
    tenantId: z.string().optional().describe('Present if the limits are those of a tenant.'),
    agentId: z.uuid().optional().describe('Present if the limits are those of an agent.'),
    ...limits,
  }),
)

/** The fields that a body sets have the same names there. Null: no limit. */
export const limitsRecord = /* @__PURE__ */ schema(() =>
  limitsFields.extend({ warnings: costWarnings }).meta({ id: 'Limits' }),
)

export const limitsDetails = /* @__PURE__ */ schema(() =>
  limitsFields
    .extend({
      spentUsd: z
        .object({ day: z.number(), month: z.number() })
        .describe('What was spent in the current day and month (UTC), from `costCountedFrom` on.'),
      openExecutions: z.int().describe('Executions in progress that were accepted with `maxOpenExecutions`.'),
    })
    .meta({ id: 'LimitsDetails' }),
)

/** The limits of the tenant of a token. */
export const ownLimits = /* @__PURE__ */ schema(() =>
  z.object({
    ...limits,
    left: z
      .object({
        openExecutions: z.int().nullable(),
        costUsd: z.object({ day: z.number().nullable(), month: z.number().nullable() }),
      })
      .describe('What is left of them now. Null: no limit.'),
  }),
)

export type LimitsRecord = z.infer<typeof limitsRecord>
export type LimitsDetails = z.infer<typeof limitsDetails>
export type OwnLimits = z.infer<typeof ownLimits>

export const toLimitsRecord = ({
  subject,
  ...limits
}: StoredLimits & { subject: LimitSubject }): LimitsRecord => ({ ...ownerOf(subject), ...shown(limits) })

const shown = ({ spentBefore, ...limits }: StoredLimits) => ({
  ...limits,
  costCountedFrom: countedFromOf({ ...limits, ...(spentBefore && { spentBefore }) }),
})

export const toLimitsDetails = ({
  use,
  ...limits
}: Parameters<typeof toLimitsRecord>[0] & { use: LimitsUse }): LimitsDetails => ({
  ...toLimitsRecord(limits),
  ...use,
})

export const toOwnLimits = (limits: StoredLimits, use: LimitsUse): OwnLimits => ({
  ...shown(limits),
  left: leftOf(limits, use),
})
