import * as z from 'zod'

/** RFC 9457 problem details, the body of every error. */
export const problemRecord = z
  .looseObject({
    type: z.string().meta({ description: 'A URI that identifies the error code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong with this request, and how to correct it.' }),
    instance: z.string().meta({ description: 'The request ID. Quote it when you ask for support.' }),
    code: z.string(),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          line: z.int().optional().meta({ description: 'In a text that the body contains, from 1.' }),
          field: z.string().optional().meta({ description: 'In a document, as a dotted path.' }),
        }),
      )
      .optional()
      .meta({ description: 'The individual violations.' }),
  })
  .meta({ id: 'Problem' })

export type ProblemRecord = z.infer<typeof problemRecord>
