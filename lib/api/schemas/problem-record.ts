import * as z from 'zod'

/** RFC 9457 problem details, the body of every error. */
export const problemRecord = z
  .looseObject({
    type: z.string().meta({ description: 'Identifies the kind of problem; one for each code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong with this request, and what to do.' }),
    instance: z.string().meta({ description: 'The request’s id, to be quoted when asking for help.' }),
    code: z.string(),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'One entry for each thing that is wrong.' }),
  })
  .meta({ id: 'Problem' })

export type ProblemRecord = z.infer<typeof problemRecord>
