import * as z from 'zod'

/** One event of a stream, field by field. OpenAPI 3.1 has no way to say that a stream consists of them. */
export const sentEvent = z
  .object({
    event: z.string().meta({
      description: 'status, step, tool or done for an execution; message for the Model Context Protocol.',
    }),
    data: z.string().meta({
      description:
        'JSON. status: `id` and `status`. step: a record of the list of steps. tool: a tool call of a step, and its number as `step`. done: the execution.',
    }),
    id: z
      .string()
      .optional()
      .meta({ description: 'The number of the last step, for `Last-Event-ID`. Only `step` sets it.' }),
  })
  .meta({ id: 'SentEvent', description: 'One server-sent event.' })
