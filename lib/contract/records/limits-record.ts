import * as z from 'zod'

/** In answers to requests that set limits or publish. */
export const costWarnings = z
  .array(z.string())
  .optional()
  .describe('Models without a price, which limits in US dollars do not count. Absent without any.')

const limits = {
  maxOpenExecutions: z.int().nullable(),
  maxRunsPerMinute: z.int().nullable(),
  maxCostUsd: z.object({ day: z.number().nullable(), month: z.number().nullable() }),
  warnAt: z.number().nullable(),
  queueWhenFull: z.boolean(),
  updatedAt: z.iso.datetime(),
}

const limitsFields = z.object({
  tenantId: z.string().optional().describe('Present if the limits are those of a tenant.'),
  agentId: z.uuid().optional().describe('Present if the limits are those of an agent.'),
  ...limits,
})

/** The fields that a body sets have the same names there. Null: no limit. */
export const limitsRecord = limitsFields.extend({ warnings: costWarnings }).meta({ id: 'Limits' })

export const limitsDetails = limitsFields
  .extend({
    spentUsd: z
      .object({ day: z.number(), month: z.number() })
      .describe('What was spent in the current day and month (UTC) while there was a cost limit.'),
    openExecutions: z.int().describe('Executions in progress that were accepted with `maxOpenExecutions`.'),
  })
  .meta({ id: 'LimitsDetails' })

/** Those of the tenant of a token. */
export const ownLimits = z.object({
  ...limits,
  left: z
    .object({
      openExecutions: z.int().nullable(),
      costUsd: z.object({ day: z.number().nullable(), month: z.number().nullable() }),
    })
    .describe('What is left of them now. Null: no limit.'),
})

export type LimitsRecord = z.infer<typeof limitsRecord>
export type LimitsDetails = z.infer<typeof limitsDetails>
export type OwnLimits = z.infer<typeof ownLimits>
