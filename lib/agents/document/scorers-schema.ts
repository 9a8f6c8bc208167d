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

type Scored = {
  slug: string
  scorers?: Scorer[] | undefined
  execution: { promotion?: { scores?: Record<string, unknown> | undefined } | undefined }
}

/** Scorers that are named twice or would score themselves, and gates of scores that no trial would have. */
export function findScorerProblems({
  slug,
  scorers = [],
  execution: { promotion },
}: Scored): { field: string; message: string }[] {
  const names = scorers.map(({ agent }) => agent)
  const ofScorers = names.flatMap((agent, index) => {
    const field = `scorers.${index}.agent`
    if (agent === slug) return [{ field, message: 'must be another agent: none scores itself' }]
    return names.indexOf(agent) === index ? [] : [{ field, message: `must not name "${agent}" twice` }]
  })
  const ofGates = Object.keys(promotion?.scores ?? {}).filter((name) => !names.includes(name))
  return [
    ...ofScorers,
    ...ofGates.map((name) => ({
      field: `execution.promotion.scores.${name}`,
      message: `must be one of the scorers of the document: ${names.join(', ') || 'it has none'}`,
    })),
  ]
}
