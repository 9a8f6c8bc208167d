import * as z from 'zod'
import { ROLLOUT_KEYS } from '../../core/rollout.ts'

const rolloutFields = {
  versionId: z.uuid().describe('The version that runs beside the current one.'),
  percent: z.number().describe('The share of the runs that get it.'),
  key: z.enum(ROLLOUT_KEYS).describe('What decides. `tenant`: all runs of a tenant get the same version.'),
  startedAt: z.iso.datetime().describe('A new percentage does not change it.'),
  updatedAt: z.iso.datetime(),
}

/** Of an agent, as its record shows it. */
export const agentRollout = z.object(rolloutFields)

export const rolloutRecord = z
  .object({
    documentId: z.uuid().describe('The agent.'),
    currentVersionId: z.uuid(),
    ...rolloutFields,
    abort: z
      .object({
        maxErrorRate: z.number().nullable(),
        maxCostIncrease: z.number().nullable(),
        minRuns: z.int(),
      })
      .nullable()
      .describe('When the service ends it by itself. Null: never.'),
  })
  .meta({ id: 'Rollout' })

export type RolloutRecord = z.infer<typeof rolloutRecord>
