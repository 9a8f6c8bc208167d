import * as z from 'zod'
import type { Agent } from '../../core/agent.ts'
import { ROLLOUT_KEYS, type Rollout } from '../../core/rollout.ts'
import { schema } from './fields.ts'

const rolloutFields = /* @__PURE__ */ schema(() => ({
  versionId: z.uuid().describe('The version that runs beside the current one.'),
  percent: z.number().describe('The share of the runs that get it.'),
  key: z.enum(ROLLOUT_KEYS).describe('What decides. `tenant`: all runs of a tenant get the same version.'),
  startedAt: z.iso.datetime().describe('A new percentage does not change it.'),
  updatedAt: z.iso.datetime(),
}))

/** The rollout of an agent, as its record shows it. */
export const agentRollout = /* @__PURE__ */ schema(() => z.object(rolloutFields))

export const rolloutRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      documentId: z.uuid().describe('The agent.'),
      currentVersionId: z.uuid(),
      ...rolloutFields,
      abort: z
        .object({
          maxErrorRate: z.number().nullable(),
          maxCostIncrease: z.number().nullable(),
          maxScoreDrop: z.number().nullable(),
          minRuns: z.int(),
        })
        .nullable()
        .describe('When the service ends it by itself. Null: never.'),
    })
    .meta({ id: 'Rollout' }),
)

export type RolloutRecord = z.infer<typeof rolloutRecord>

export function toRolloutRecord({
  id,
  current,
  rollout,
}: Pick<Agent, 'id' | 'current'> & { rollout: Rollout }): RolloutRecord {
  const { abort } = rollout
  return {
    documentId: id,
    currentVersionId: current?.id ?? '',
    ...toAgentRollout(rollout),
    abort: abort && {
      maxErrorRate: abort.maxErrorRate ?? null,
      maxCostIncrease: abort.maxCostIncrease ?? null,
      maxScoreDrop: abort.maxScoreDrop ?? null,
      minRuns: abort.minRuns,
    },
  }
}

/** Without what only those see who change it. */
export const toAgentRollout = ({ versionId, percent, key, startedAt, updatedAt }: Rollout) => ({
  versionId,
  percent,
  key,
  startedAt,
  updatedAt,
})
