import * as z from 'zod/mini'
import { MAX_COST_INCREASE, ROLLOUT_MIN_RUNS, ROLLOUT_PERCENT } from '../../core/limits.ts'
import { ROLLOUT_KEYS } from '../../core/rollout.ts'
import { schema } from '../records/fields.ts'
import { numberIn, uuid, within } from './fields.ts'

export const MAX_MESSAGE_CHARACTERS = 1_000

/** Tabs and line breaks are the only control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: `\p{Cc}` is unknown to many clients that read OpenAPI.
const MESSAGE = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/u
const MESSAGE_ERROR = `must be a string of at most ${MAX_MESSAGE_CHARACTERS} characters without control characters, or null`

/** What the author of a version says about it. */
export const messageSchema = /* @__PURE__ */ schema(() =>
  z.string({ error: MESSAGE_ERROR }).check(
    z.maxLength(MAX_MESSAGE_CHARACTERS, { error: MESSAGE_ERROR }),
    z.regex(MESSAGE, { error: MESSAGE_ERROR }),
    z.refine((text) => text.isWellFormed(), { error: MESSAGE_ERROR }),
  ),
)

export const publishBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      document: z
        .string({ error: 'is required and must be a string: the text of an agent.md' })
        .check(z.describe('The text of an `agent.md`.')),
      slug: z
        .optional(z.string({ error: 'must be a string' }))
        .check(z.describe('The slug if the document has none, like the name of the folder.')),
      code: z
        .nullish(z.string({ error: 'must be a string: the code as one ES module, or null' }))
        .check(
          z.describe(
            'The code of a code agent, bundled into one ES module. `agent-execution publish` does that.',
          ),
        ),
      draft: z
        .optional(z.boolean({ error: 'must be true or false' }))
        .check(z.describe('Publish a draft, which runs only when a request names it.')),
      message: z.nullish(messageSchema).check(z.describe('What the author says about the version.')),
      editedFrom: z
        .optional(uuid('must be the ID of a version of the agent'))
        .check(
          z.describe('The version that was edited to make this one, which does not come from a repository.'),
        ),
    })
    .check(z.meta({ id: 'PublishBody' })),
)

/** When the service ends a rollout by itself. */
export const abortRules = /* @__PURE__ */ schema(() => {
  const fraction = (highest: number, description: string) => {
    const error = `must be a number from 0 to ${highest}, or null`
    return z.nullish(numberIn({ min: 0, max: highest }, error)).check(z.describe(description))
  }
  const error = 'must be a JSON object with maxErrorRate, maxCostIncrease or maxScoreDrop, or null'
  return z
    .strictObject(
      {
        maxErrorRate: fraction(1, 'The share of the runs that may fail.'),
        maxCostIncrease: fraction(
          MAX_COST_INCREASE,
          'How much more a run may cost than one of the current version in the same time: 0.5 for half as much again.',
        ),
        maxScoreDrop: fraction(
          1,
          'How much lower the mean score of a scorer may be than that of the current version in the same time: the rollout ends when the 95 % confidence interval of the difference is below.',
        ),
        minRuns: within(
          ROLLOUT_MIN_RUNS,
          `How many runs of the version there have to be before, and for scores of each version. Default: ${ROLLOUT_MIN_RUNS.default}.`,
        ),
      },
      { error },
    )
    .check(
      z.refine(
        ({ minRuns: _, ...rules }) =>
          Object.values(rules).some((rule) => rule !== null && rule !== undefined),
        { error },
      ),
    )
})

/** Starts or changes the rollout of an agent. */
export const rolloutBody = /* @__PURE__ */ schema(() => {
  const { min, max } = ROLLOUT_PERCENT
  const percentError = `must be a number from ${min} to ${max} with at most two decimals`
  const keyError = `must be ${ROLLOUT_KEYS.map((key) => `"${key}"`).join(' or ')}`
  return z
    .strictObject({
      versionId: uuid('is required and must be the ID of a version').check(
        z.toLowerCase(),
        z.meta({ format: 'uuid', description: 'The version, which is not the current one.' }),
      ),
      percent: numberIn(ROLLOUT_PERCENT, percentError).check(
        z.refine((percent) => Math.round(percent * 100) / 100 === percent, { error: percentError }),
        z.describe('The share of the runs that get the version, with at most two decimals.'),
      ),
      key: z
        .optional(z.enum(ROLLOUT_KEYS, { error: keyError }))
        .check(
          z.describe(
            'Default: as it is, for a new rollout `tenant`: all runs of a tenant get the same version. `execution`: each run is on its own, as are runs without a tenant.',
          ),
        ),
      abort: z
        .nullish(abortRules)
        .check(
          z.describe('When the service ends the rollout by itself. Null: never. Default: as it is, or null.'),
        ),
      trial: z
        .nullish(
          uuid('must be the ID of a trial, or null').check(z.toLowerCase(), z.meta({ format: 'uuid' })),
        )
        .check(z.describe('The trial of the version, where the current version requires one of a draft.')),
    })
    .check(z.meta({ id: 'RolloutBody' }))
})

export type RolloutBody = z.output<typeof rolloutBody>
