import * as z from 'zod'

export const feedbackRecord = z
  .object({
    rating: z.literal([1, -1]),
    correctedOutput: z.record(z.string(), z.unknown()).nullable(),
    note: z.string().nullable(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Feedback' })
