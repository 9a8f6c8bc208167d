import * as z from 'zod/mini'
import { MAX_CONCURRENCY } from '../../core/batch.ts'
import { isJsonPointer } from '../../core/json/pointer.ts'
import { MAX_CODE_STEPS, MAX_COST_USD } from '../../core/limits.ts'
import { MAX_IGNORED, MAX_TRIAL_RUNS, REPLAY_SOURCES, TRIAL_FEEDBACK, TRIAL_RUNS } from '../../core/trial.ts'
import { tenant } from '../parameters/parameter-types.ts'
import { schema } from '../records/fields.ts'
import { oneToMany, uuid, within } from './fields.ts'

/** `recorded` or `live`. */
const replaySource = (description: string) =>
  z.optional(z.enum(REPLAY_SOURCES, { error: SOURCE_ERROR })).check(z.describe(description))

const SOURCE_ERROR = `must be ${REPLAY_SOURCES.map((each) => `"${each}"`).join(' or ')}`
const MAX_POINTER = 1_000

/** What a replay takes from the recording of its original. */
const replayFields = (defaults: { tools: string; models: string; steps: string; only?: string }) => {
  const pointerError = `must be a JSON Pointer (RFC 6901) of at most ${MAX_POINTER} characters, such as "/date"`
  const rootError =
    'must not be the empty JSON Pointer: that is the whole value, so nothing would be compared'
  const ignoreError = `must be a list of at most ${MAX_IGNORED} JSON Pointers`
  const pointer = z.string({ error: pointerError }).check(
    z.maxLength(MAX_POINTER, { error: pointerError }),
    z.refine((text) => isJsonPointer(text) && text.isWellFormed(), { error: pointerError }),
    z.refine((text) => text !== '', { error: rootError }),
  )
  return {
    tools: z
      .optional(
        z.record(z.string(), z.enum(REPLAY_SOURCES, { error: SOURCE_ERROR }), {
          error: `must be a JSON object by the names of tools, whose values are ${REPLAY_SOURCES.join(' or ')}`,
        }),
      )
      .check(
        z.describe(
          `By the name of a tool, or \`default\` for all others. \`recorded\`: calls get the results that the original got. \`live\`: they are made${defaults.only ?? ''}. Default: ${defaults.tools}.`,
        ),
      ),
    models: replaySource(
      `\`recorded\`: responses of the original, up to the first request that differs. \`live\`: models are called. Default: ${defaults.models}.`,
    ),
    steps: replaySource(
      `Of code agents. \`recorded\`: steps and waits have the values of the original. \`live\`: they are executed, with all that they do. Default: ${defaults.steps}.`,
    ),
    ignore: z
      .optional(
        z.array(pointer, { error: ignoreError }).check(z.maxLength(MAX_IGNORED, { error: ignoreError })),
      )
      .check(z.describe('JSON Pointers into arguments of tools and into outputs: what is not compared.')),
  }
}

/** A trial of a version. */
export const trialBody = /* @__PURE__ */ schema(() => {
  const timeError = 'must be a date and time with a time zone, such as 2026-11-22T09:30:00Z, or null'
  const time = (description: string) =>
    z.nullish(z.iso.datetime({ offset: true, error: timeError })).check(z.describe(description))
  const idsError = `must be a list of 1 to ${MAX_TRIAL_RUNS} IDs of executions`
  const ids = oneToMany(uuid('must be the ID of an execution (a UUID)'), MAX_TRIAL_RUNS, idsError)
  const feedbackError = `must be ${TRIAL_FEEDBACK.map((each) => `"${each}"`).join(' or ')}, or null`
  return z
    .strictObject({
      from: time('Only executions that were created at this time or later (RFC 3339).'),
      to: time('Only executions that were created before this time (RFC 3339).'),
      limit: within(
        TRIAL_RUNS,
        `How many executions it repeats at most: the newest ones. Default: ${TRIAL_RUNS.default}.`,
      ),
      tenantId: z.nullish(tenant()).check(z.describe('Only executions of this tenant.')),
      feedback: z
        .nullish(z.enum(TRIAL_FEEDBACK, { error: feedbackError }))
        .check(z.describe('Only executions that a reviewer has corrected, or rated.')),
      executions: z
        .optional(ids)
        .check(z.describe('These executions, instead of those that the other fields select.')),
      ...replayFields({
        tools: '`recorded`',
        models: '`live`',
        steps: '`recorded`',
        only: ', only of tools that the document marks with `readOnly: true`',
      }),
      maxTrialCostUsd: within(
        MAX_COST_USD,
        'The maximum price in US dollars of all model responses together. Required if models are live. If they are recorded and it is missing, no model is called: runs end where they would.',
        false,
      ),
      maxConcurrency: within(MAX_CONCURRENCY, 'How many executions are in progress at the same time.'),
    })
    .check(z.meta({ id: 'TrialBody' }))
})

/** A rerun of an execution. */
export const rerunBody = /* @__PURE__ */ schema(() => {
  const rest = '`live`'
  return z
    .strictObject({
      versionId: z
        .optional(uuid('must be a version ID (a UUID)').check(z.toLowerCase()))
        .check(z.describe('The version that runs. Default: the one that a new run would get.')),
      ...replayFields({ tools: rest, models: '`live`', steps: rest }),
      fromStep: within(
        { min: 1, max: MAX_CODE_STEPS },
        'Steps before this one are taken from the original as they are.',
      ),
    })
    .check(z.meta({ id: 'RerunBody' }))
})

export type TrialBody = z.output<typeof trialBody>
