import * as z from 'zod'
import { isSlug } from '../../core/ids.ts'
import { MAX_SCORERS, type Scorer } from '../../core/score.ts'

const fraction = () => z.number().min(0).max(1).optional()

export const scorerSchema = z.strictObject({
  agent: z.string().refine(isSlug, 'must be the slug of an agent'),
  min: fraction(),
  sample: z.number().min(0).max(100).optional(),
  tolerance: fraction(),
})

/** `scorers` in an `agent.md`. */
export const scorersSchema = z.array(scorerSchema).min(1).max(MAX_SCORERS)

/** Scorers that are named twice, or that would score themselves. */
export const findScorerProblems = ({
  slug,
  scorers = [],
}: {
  slug: string
  scorers?: Scorer[] | undefined
}): { field: string; message: string }[] =>
  scorers.flatMap(({ agent }, index) => {
    const field = `scorers.${index}.agent`
    if (agent === slug) return [{ field, message: 'must be another agent: none scores itself' }]
    const isFirst = scorers.findIndex((each) => each.agent === agent) === index
    return isFirst ? [] : [{ field, message: `must not name "${agent}" twice` }]
  })
