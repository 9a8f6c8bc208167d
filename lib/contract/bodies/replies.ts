import * as z from 'zod/mini'
import { schema } from '../records/fields.ts'

export const MAX_NOTE_CHARACTERS = 2_000

const NOTE_ERROR = `must be a string of at most ${MAX_NOTE_CHARACTERS} characters, or null`
const OUTPUT_ERROR = 'must be a JSON object that matches the output schema, or null'

/** Replaces the previous feedback on the execution. */
export const feedbackBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      rating: z
        .literal([1, -1], { error: 'must be 1 or -1' })
        .check(z.meta({ description: '1 for a good result, -1 for a bad one.', type: 'integer' })),
      correctedOutput: z
        .nullish(z.record(z.string(), z.unknown(), { error: OUTPUT_ERROR }))
        .check(z.describe('The correct output. It must match the output schema of the version that ran.')),
      note: z
        .nullish(
          z.string({ error: NOTE_ERROR }).check(z.maxLength(MAX_NOTE_CHARACTERS, { error: NOTE_ERROR })),
        )
        .check(z.describe('A comment for people. It is never shown to a model.')),
    })
    .check(z.meta({ id: 'FeedbackBody' })),
)

/** A decision on an approval. */
export const decisionBody = /* @__PURE__ */ schema(() =>
  z
    .strictObject({
      decision: z.enum(['approve', 'reject'], { error: 'must be "approve" or "reject"' }),
      input: z
        .nullish(z.record(z.string(), z.unknown(), { error: 'must be a JSON object, or null' }))
        .check(
          z.describe(
            'Replaces the arguments of the call, and must match the input schema of the tool; of a code agent, the data. Only with `approve`.',
          ),
        ),
      note: z
        .nullish(
          z.string({ error: NOTE_ERROR }).check(
            z.maxLength(MAX_NOTE_CHARACTERS, { error: NOTE_ERROR }),
            z.refine((text) => text.isWellFormed(), { error: NOTE_ERROR }),
          ),
        )
        .check(z.describe('A comment, which the model or the code agent gets.')),
    })
    .check(z.meta({ id: 'DecisionBody' })),
)
